// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps of processes without room for them, or for the files in them: the chains are
 * those of frame pointers then.
 */
#include <sys/syscall.h>

#include <linux/perf_event.h>

#include "limit.h"
#include "recorder.h"
#include "tracefs.h"
#include "unwind.h"
#include "user.h"

#define USER		1000
#define SKIPPED		77
#define TABLES_MIB	16

/* ------------------------------------------------------------------------
 * No room for the map of a process: it has more areas than the owner may have
 */
#define MANY_AREAS	3000
#define AREAS_AT	0x200000000UL
#define ROOM_LEFT	(32 << 10)	/* for the objects, not for the map */

#define FRAMED	__attribute__((noipa, optimize("no-omit-frame-pointer", \
					       "no-optimize-sibling-calls")))

FRAMED static void framed_leaf(volatile char *page)
{
	*page = 1;
	__asm__ volatile("");
}

FRAMED static void framed_mid(volatile char *page)
{
	framed_leaf(page);
	__asm__ volatile("");
}

FRAMED static void framed_outer(volatile char *page)
{
	framed_mid(page);
	__asm__ volatile("");
}

static bool map_code(unsigned int at, int fd)
{
	return mmap((void *)(AREAS_AT + at * PAGE), PAGE, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
}

static bool map_many(int fd)
{
	unsigned int i;

	for (i = 0; i < MANY_AREAS; i++)
		if (!map_code(i, fd))
			return false;
	return true;
}

/* @arg: whether it has many areas */
static int framed_toucher(struct target *t, void *arg)
{
	volatile char *p = fresh_pages(TOUCHES);
	unsigned int i;

	if (*(bool *)arg && !map_many(temp_file()))
		return 1;
	target_pause(t);
	for (i = 0; i < TOUCHES; i++)
		framed_outer(p + i * PAGE);
	target_pause(t);
	return 0;
}

/* What may still be charged: a table is charged before it is found to be bad. */
static size_t room_left(int dev)
{
	static char bad[1 << 20];
	size_t low = 0, high = sizeof(bad), mid;

	while (high - low > 1) {
		mid = (low + high) / 2;
		if (table_give(dev, 1, bad, mid) == -EDQUOT)
			high = mid;
		else
			low = mid;
	}
	return low;
}

/* What @other has to take for @dev to have @to left */
static size_t too_much(int dev, size_t to)
{
	size_t left = room_left(dev);

	return left > to ? left - to : 0;
}

/*
 * Another device of the user takes the rest, because an owner that is refused room
 * frees tables that are not in use.  Returns that device; @object: what an object
 * takes without a table
 */
static int leave_room(int dev, size_t *object)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	int other = dev_open();
	size_t len, before;
	void *table = big_table(&len);

	if (other < 0 || dev_allocate(other, &a))
		return -1;
	while (too_much(dev, ROOM_LEFT) > len && !give_file(other, table, len))
		;
	free(table);
	before = room_left(dev);
	if (give_file(other, NULL, 0))
		return -1;
	*object = before - room_left(dev);
	return other;
}

/* @other takes what is left to @dev but for @to, or a few bytes less */
static void leave_only(int dev, int other, size_t object, size_t to)
{
	size_t most = too_much(dev, to), len;
	void *table = rows_table(2, &len);

	if (most >= object + len) {
		most -= object + len;
		free(table);
		table = rows_table(2 + (most + 5) / 6, &len);
		give_file(other, table, len);
	}
	free(table);
}

/*
 * A function that calls no other one may have no frame, then its caller is passed
 * over.
 */
static bool has_framed(struct symbols *sy, const uint64_t *pc, unsigned int n)
{
	unsigned int i;

	for (i = 1; i < 3 && i < n; i++)
		if (!strcmp(symbols_name(sy, pc[i] - 1), "framed_outer"))
			return true;
	return false;
}

/* Chains of framed_outer(), of the handler and of the task */
static unsigned int framed_chains(struct log *log)
{
	struct symbols *sy = symbols_elf("/proc/self/exe");
	uint64_t pc[3] = {};
	struct pmclog_rec rec;
	unsigned int n = 0, i;
	struct sample s;

	LOG_FOR_EACH(log, rec) {
		if (log_sample(&rec, &s)) {
			n += has_framed(sy, s.pc, s.npc);
			continue;
		}
		if (!IS_EXT(&rec, USERCHAIN) ||
		    rec.len < sizeof(struct pmclog_ext_userchain) + sizeof(pc))
			continue;
		for (i = 0; i < 3; i++)
			pc[i] = pmclog_get64(rec.data + 8 * i +
				offsetof(struct pmclog_ext_userchain, pc));
		n += has_framed(sy, pc, 3);
	}
	symbols_free(sy);
	return n;
}

/*
 * A process, with many areas or not, and no room for its map, or only for that and
 * not for a file
 */
static int leave_no_room(bool many)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	int file = temp_file(), dev, other;
	struct target t = {};
	struct log log = {};
	unsigned int n;
	size_t object;
	bool wanted;

	if (!user_stay(USER))
		return 1;
	dev = dev_open();
	if (dev < 0 || dev_configure(dev, file) || dev_allocate(dev, &a))
		return 2;
	other = leave_room(dev, &object);
	if (other < 0 || !target_begin(&t, framed_toucher, &many) ||
	    !target_step(&t) || dev_attach(dev, a.id, t.pid) || dev_start(dev, a.id) ||
	    is_wanted(dev))
		return 3;
	leave_only(dev, other, object, many ? ROOM_LEFT : object - 1);
	printf("# %zu bytes left, %zu for an object\n", room_left(dev), object);
	/* it is not sampled before it has all its areas */
	if (!target_step(&t))
		return 4;
	wanted = is_wanted(dev);
	if (target_end(&t))
		return 4;
	if (dev_closelog(dev) || !log_load(&log, file) || log_check(&log, 0))
		return 5;
	n = framed_chains(&log);
	printf("# wanted: %d; %u chains\n", wanted, n);
	return wanted != many ? 6 : n < TOUCHES - 1 ? 7 : 0;
}

static int leave_no_map(void)
{
	return leave_no_room(true);
}

static int leave_no_object(void)
{
	return leave_no_room(false);
}

TEST_F(unwind, no_room_for_map)
{
	EXPECT_EQ(0, elsewhere_with(TABLES_MIB, leave_no_map));
}

/* The smallest map has room, its files have not: code is unwound by frame pointers. */
TEST_F(unwind, no_room_for_file)
{
	EXPECT_EQ(0, elsewhere_with(TABLES_MIB, leave_no_object));
}

/* ------------------------------------------------------------------------
 * A process without a map: the task asks its mappings whether a caller is code.
 */
#define DEPTH		60

FRAMED static void framed_deep(volatile char *page, unsigned int n)
{
	if (n)
		framed_deep(page, n - 1);
	else
		*page = 1;
	__asm__ volatile("");
}

static int deep_toucher(struct target *t, void *arg)
{
	volatile char *p = fresh_pages(TOUCHES);
	unsigned int i;

	if (!map_many(temp_file()))
		return 1;
	target_pause(t);
	for (i = 0; i < TOUCHES; i++)
		framed_deep(p + i * PAGE, DEPTH);
	target_pause(t);
	return 0;
}

/*
 * A counter of how often this process, and those that it forks from now on, take an
 * mmap lock for reading; -1: the kernel has no such tracepoint
 */
static int count_locks(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.inherit = 1,
	};
	int fd;

	if (!tracefs_mount())
		return -1;
	attr.config = tracefs_id("mmap_lock/mmap_lock_acquire_returned");
	if (!attr.config)
		return -1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "write == 0") ? -1 : fd;
}

static uint64_t read_count(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* Chains of at least @depth addresses that came later */
static unsigned int deep_chains(struct log *log, unsigned int depth)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec)
		n += IS_EXT(&rec, USERCHAIN) &&
		     rec.len >= sizeof(struct pmclog_ext_userchain) + depth * 8;
	return n;
}

static int ask_for_frames(void)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	int file = temp_file(), counter = count_locks(), dev, other;
	struct target t = {};
	struct log log = {};
	uint64_t before, locks;
	unsigned int deep;
	size_t object;

	if (counter < 0)
		return SKIPPED;
	if (!user_stay(USER))
		return 1;
	dev = dev_open();
	if (dev < 0 || dev_configure(dev, file) || dev_allocate(dev, &a))
		return 2;
	other = leave_room(dev, &object);
	if (other < 0 || !target_begin(&t, deep_toucher, NULL) ||
	    !target_step(&t) || dev_attach(dev, a.id, t.pid) ||
	    dev_start(dev, a.id))
		return 3;
	leave_only(dev, other, object, ROOM_LEFT);
	before = read_count(counter);
	if (!target_step(&t))
		return 4;
	locks = read_count(counter) - before;
	if (target_end(&t))
		return 4;
	if (dev_closelog(dev) || !log_load(&log, file) || log_check(&log, 0))
		return 5;
	deep = deep_chains(&log, DEPTH);
	printf("# %u deep chains; the mmap lock %lu times\n", deep,
	       (unsigned long)locks);
	return deep < TOUCHES - 1 ? 6 : locks > TOUCHES * DEPTH / 3 ? 7 : 0;
}

TEST_F(unwind, asked_once)
{
	int res;

	res = elsewhere_with(TABLES_MIB, ask_for_frames);
	if (res == SKIPPED)
		SKIP(return, "no tracepoints of mmap locks");
	EXPECT_EQ(0, res);
}

/* ------------------------------------------------------------------------
 * A map to be replaced, with room for the one or the other
 */
static int map_changer(struct target *t, void *arg)
{
	volatile char *p = fresh_pages(TOUCHES + 1);
	int fd = temp_file();
	unsigned int i;
	uint64_t took;

	if (!map_many(fd))
		return 1;
	took = raw_ns();
	framed_outer(p);	/* builds the first map */
	took = raw_ns() - took;
	target_pause(t);
	/* a process may spend a tenth of its time on maps */
	sleep_ms(scaled(200, 3000) + 15 * took / MSEC);
	if (!map_code(MANY_AREAS + 1, fd))
		return 1;
	for (i = 1; i <= TOUCHES; i++) {
		framed_outer(p + i * PAGE);
		/* no map is built while the writer thread has the lock, nor soon after that */
		if (i <= 2)
			sleep_ms(scaled(200, 3000));
	}
	target_pause(t);
	return 0;
}

/* Samples of @pid that the handler could not unwind */
static unsigned int late_samples(struct log *log, pid_t pid)
{
	unsigned int n = 0;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s)
		n += s.late && s.pid == (uint32_t)pid;
	return n;
}

static int replace_map(void)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	int file = temp_file(), dev, other, late;
	struct target t = {};
	struct log log = {};
	size_t object;

	if (!user_stay(USER))
		return 1;
	dev = dev_open();
	if (dev < 0 || dev_configure(dev, file) || dev_allocate(dev, &a))
		return 2;
	if (!target_begin(&t, map_changer, NULL) || dev_attach(dev, a.id, t.pid) ||
	    dev_start(dev, a.id) || !target_step(&t))
		return 3;
	other = leave_room(dev, &object);
	if (other < 0)
		return 4;
	leave_only(dev, other, object, ROOM_LEFT);
	if (!target_step(&t) || target_end(&t))
		return 5;
	if (dev_closelog(dev) || !log_load(&log, file) || log_check(&log, 0))
		return 6;
	late = late_samples(&log, t.pid);
	printf("# %d late\n", late);
	/* those before the first map, and one for each map */
	return late < TOUCHES / 2 ? 0 : 7;
}

TEST_F(unwind, replaced_without_room)
{
	EXPECT_EQ(0, elsewhere_with(TABLES_MIB, replace_map));
}

TEST_HARNESS_MAIN
