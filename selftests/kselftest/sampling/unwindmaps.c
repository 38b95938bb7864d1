// SPDX-License-Identifier: GPL-2.0-only
/*
 * The maps of the code of processes: what one process does to its map is not to
 * cost another one its chains.  unwind.c tests the chains that maps make.
 */
#include <sched.h>

#include <linux/perf_event.h>

#include "rate.h"
#include "unwind.h"

#define MAPS_AT		0x200000000UL
#define SPARE_AT	0x300000000UL

/* @n areas of code of @fd at @at, none of which continues the one before */
static bool map_areas(uintptr_t at, int fd, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (mmap((void *)(at + i * PAGE), PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			return false;
	return true;
}

/* Other code than before: the process' map becomes stale. */
static void map_other(int fd)
{
	map_areas(SPARE_AT, fd, 1);
}

/* Flagged samples of @pid whose user chain was to come, and the chains that came */
static unsigned int late_of(struct log *log, pid_t pid, unsigned int *answers)
{
	struct pmclog_rec rec;
	unsigned int n = 0;
	struct sample s;

	*answers = 0;
	LOG_FOR_EACH(log, rec) {
		if (log_sample(&rec, &s))
			n += s.late && s.pid == (uint32_t)pid;
		else if (IS_EXT(&rec, USERCHAIN))
			*answers += REC32(&rec, ext_userchain, pid) ==
				(uint32_t)pid;
	}
	return n;
}

static void sample_too(META, FIXTURE_DATA(unwind) *self, struct target *t,
		       int (*body)(struct target *t, void *arg), void *arg)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);

	ASSERT_TRUE(target_begin(t, body, arg));
	ASSERT_EQ(0, dev_run_on(self->dev, a, t->pid, &a.id));
}

/* ------------------------------------------------------------------------
 * A task with a large map to build that is not given a CPU
 */
#define HOG_AREAS	3000
#define STEPS		100

static void spin(void)
{
	for (;;)
		;
}

static int idle_mapper(struct target *t, void *arg)
{
	const struct sched_param none = {};
	int fd = temp_file();

	pin_to(0);
	if (!map_areas(MAPS_AT, fd, HOG_AREAS))
		return 1;
	touch(1);
	target_pause(t);
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		return 1;
	for (;;) {
		map_other(fd);
		touch(1);
	}
}

static int other_mapper(struct target *t, void *arg)
{
	int fd = temp_file();
	unsigned int i;

	pin_to(1);
	for (i = 0; i < STEPS; i++) {
		map_other(fd);
		touch(1);
		sleep_ms(10);
	}
	target_pause(t);
	return 0;
}

/* Its build goes on whenever it gets to its CPU; others do not wait for it. */
TEST_F(unwind, builder_without_cpu)
{
	struct target hog = {};
	unsigned int late, answers;
	pid_t spinner;
	int cpus[2];

	if (online_cpus(cpus, 2) < 2)
		SKIP(return, "one CPU");
	begin(_metadata, self, other_mapper, NULL);
	sample_too(_metadata, self, &hog, idle_mapper, NULL);
	EXPECT_TRUE(target_step(&hog));
	spinner = fork_pinned(0, spin);
	target_go(&hog);
	EXPECT_TRUE(target_step(&self->target));
	load_end(spinner);
	target_kill(&hog);
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
	late = late_of(&self->log, self->target.pid, &answers);
	TH_LOG("%u late, %u answers", late, answers);
	EXPECT_LE(STEPS / 2, late);
	/* one work item may be for several samples, in the kernel and in user mode */
	EXPECT_LE(late * 9, answers * 10);
}

/*
 * A process of very many mappings, which spins on a CPU that it is not given, and
 * shares its memory with another task
 */
#define ODD_PAGES	30000
#define WATCH_MS	8000
#define LONG_MS		100

struct mmap_times {
	volatile bool	ready;
	volatile unsigned int calls;
	volatile uint64_t worst;	/* ns */
	volatile uint64_t waited;	/* ns, in calls of LONG_MS and more */
	int		fd;
};

/* In another process, and in the memory of the one that is sampled */
static int time_mmap(void *arg)
{
	const uint64_t end = now_ns() + WATCH_MS * 1000000ULL;
	struct mmap_times *times = arg;
	uint64_t since, took;

	pin_to(1);
	while (now_ns() < end) {
		since = now_ns();
		map_other(times->fd);
		took = now_ns() - since;
		if (took > times->worst)
			times->worst = took;
		if (took >= LONG_MS * 1000000ULL)
			times->waited += took;
		times->calls++;
		sleep_ms(1);
	}
	return 0;
}

static int idle_spinner(struct target *t, void *arg)
{
	char *p = (char *)fresh_pages(ODD_PAGES), *stack = pages_new(16);
	const struct sched_param none = {};
	struct mmap_times *times = arg;
	pid_t pid;
	unsigned int i;

	pin_to(0);
	times->fd = temp_file();
	for (i = 0; i < ODD_PAGES; i += 2)
		if (mprotect(p + i * PAGE, PAGE, PROT_READ))
			return 1;
	pages_touch(stack, 0, 16);
	target_pause(t);
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		return 1;
	times->ready = true;
	pid = clone(time_mmap, stack + 16 * PAGE, CLONE_VM | SIGCHLD, times);
	spin();
	return pid < 0;
}

/* PREEMPT_RT */
static bool is_preempted_anywhere(void)
{
	char line[8];

	return read_line("/sys/kernel/realtime", line, sizeof(line)) &&
	       line[0] == '1';
}

/* It does not keep the other task from mapping memory. */
TEST_F_TIMEOUT(unwind, builder_without_lock, 900)
{
	/* the task has to come to map something between two samples */
	struct hwpmc_allocate a = pmc_process_sampler(PERF_TYPE_SOFTWARE,
		PERF_COUNT_SW_CPU_CLOCK, 1000000000 / affordable_hz(2000), HWPMC_F_UNWIND);
	struct mmap_times *times = shared_memory(sizeof(*times));
	unsigned int late, answers;
	pid_t spinner;
	int cpus[2];

	if (online_cpus(cpus, 2) < 2)
		SKIP(return, "one CPU");
	if (is_preempted_anywhere())
		SKIP(return, "a task may lose its CPU with the lock held");
	ASSERT_TRUE(target_begin(&self->target, idle_spinner, times));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->target.pid, &a.id));
	EXPECT_TRUE(target_step(&self->target));
	spinner = fork_pinned(0, spin);
	target_go(&self->target);
	sleep_ms(WATCH_MS + 3000);
	load_end(spinner);
	sleep_ms(500);
	target_kill(&self->target);
	end_log(_metadata, self, LOG_DROPS);
	late = late_of(&self->log, self->target.pid, &answers);
	TH_LOG("%u late, %u answers; %u calls, the longest took %.1f ms, long ones %.1f ms",
	       late, answers, times->calls, times->worst / 1e6, times->waited / 1e6);
	EXPECT_LE(1, late);
	EXPECT_LE(WATCH_MS / 100, times->calls);
	/*
	 * A chain's walk queues for the lock as a page fault does, and may be given it
	 * before it is given a CPU: seldom, and for one turn.
	 */
	EXPECT_GT(WATCH_MS / 2, times->waited / 1000000);
}

/* ------------------------------------------------------------------------
 * A file that nobody answers for: the others' maps stay.
 */
#define TICKS		80	/* of 100 ms: some times what a file waits */

/* @arg: a file whose code it maps; or NULL */
static int ticker(struct target *t, void *arg)
{
	unsigned int i;

	if (arg && !map_areas(MAPS_AT, *(int *)arg, 1))
		return 1;
	touch(1);
	target_pause(t);
	for (i = 0; i < TICKS; i++) {
		touch(1);
		sleep_ms(100);
	}
	target_pause(t);
	return 0;
}

/* Everything that is wanted has no table; but @ino gets no answer. */
static void answer_others(int dev, ino_t ino)
{
	struct hwpmc_unwindnext a;
	struct stat st;

	while (!table_next(dev, &a)) {
		if (a.fd < 0 || fstat(a.fd, &st) || st.st_ino != ino)
			table_give(dev, a.id, NULL, 0);
		if (a.fd >= 0)
			close(a.fd);
	}
}

TEST_F(unwind, others_map_stays)
{
	struct target other = {};
	unsigned int late, theirs, answers, i;
	int file = temp_file();
	struct stat st;

	ASSERT_EQ(0, fstat(file, &st));
	begin(_metadata, self, ticker, NULL);
	sample_too(_metadata, self, &other, ticker, &file);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_TRUE(target_step(&other));
	answer_others(self->dev, st.st_ino);
	target_go(&self->target);
	target_go(&other);
	for (i = 0; i < TICKS; i++) {
		answer_others(self->dev, st.st_ino);
		sleep_ms(100);
	}
	EXPECT_TRUE(target_paused(&self->target));
	EXPECT_TRUE(target_paused(&other));
	EXPECT_EQ(0, target_end(&self->target));
	EXPECT_EQ(0, target_end(&other));
	end_log(_metadata, self, 0);
	late = late_of(&self->log, self->target.pid, &answers);
	theirs = late_of(&self->log, other.pid, &answers);
	TH_LOG("%u late; %u of the other", late, theirs);
	/* it begins without a map, and is not asked to make one again */
	EXPECT_GE(2, late);
	EXPECT_LE(1, theirs);
}

/* ------------------------------------------------------------------------
 * So many files in use that they alone are more than are kept out of use
 */
#define USERS		3
#define FILES		2800	/* of each; 8192 objects are kept */

static int file_mapper(struct target *t, void *arg)
{
	unsigned int i;
	int fd;

	for (i = 0; i < FILES; i++) {
		fd = temp_file();
		if (!map_areas(MAPS_AT + i * PAGE, fd, 1))
			return 1;
		close(fd);
	}
	target_pause(t);
	touch(1);
	target_pause(t);
	return 0;
}

/* A table that nobody uses, for @fd */
static int give_spare(int dev, int fd)
{
	struct small good = small_table(usual);

	return DEV_ASK(dev, UNWINDTABLE, unwindtable, .fd = fd,
		       .data = (uintptr_t)&good, .len = sizeof(good));
}

TEST_F_TIMEOUT(unwind, spare_stays, 900)
{
	struct target user[USERS] = {};
	int fd = temp_file();
	unsigned int i;

	begin(_metadata, self, toucher, NULL);
	for (i = 0; i < USERS; i++) {
		sample_too(_metadata, self, &user[i], file_mapper, NULL);
		EXPECT_TRUE(target_step(&user[i]));
		EXPECT_TRUE(target_step(&user[i]));
	}
	/* more than a round of the writer thread, which counts them; and again */
	sleep_ms(scaled(7000, 20000));
	EXPECT_EQ(0, give_spare(self->dev, fd));
	sleep_ms(scaled(7000, 20000));
	EXPECT_EQ(-EEXIST, give_spare(self->dev, fd));
	for (i = 0; i < USERS; i++)
		EXPECT_EQ(0, target_end(&user[i]));
	close(fd);
}

/* ------------------------------------------------------------------------
 * A file in the place of another one, while the process may not build a map
 */
#define TURNS		200
#define AT_OTHER	64	/* of the other file's function, in its page */

/* A function that touches the page that is passed to it */
#if defined(__x86_64__)
static const unsigned char code[] = { 0xc6, 0x07, 0x01, 0xc3 };
#else
static const uint32_t code[] = { 0x52800021, 0x39000001, 0xd65f03c0 };
#endif

__attribute__((noipa, optimize("no-omit-frame-pointer")))
static void touch_by(uintptr_t at, volatile char *page)
{
	((void (*)(volatile char *))at)(page);
	__asm__ volatile("");
}

/* @arg: the two files */
static int replacer(struct target *t, void *arg)
{
	volatile char *p = fresh_pages(2 * TURNS + 1);
	const int *file = arg;
	unsigned int i;

	/* so many that a build takes its time */
	if (!map_areas(MAPS_AT, temp_file(), HOG_AREAS) ||
	    !map_areas(SPARE_AT, file[0], 1))
		return 1;
	touch_by(SPARE_AT, p);
	target_pause(t);
	for (i = 0; i < TURNS; i++) {
		map_areas(SPARE_AT, file[1], 1);
		touch_by(SPARE_AT + AT_OTHER, p + (2 * i + 1) * PAGE);
		map_areas(SPARE_AT, file[0], 1);
		touch_by(SPARE_AT, p + (2 * i + 2) * PAGE);
	}
	target_pause(t);
	return 0;
}

/* Chains end in the first file, and follow frame pointers in all others. */
static void answer_for_first(int dev, int first)
{
	const struct hwpmc_unwind_rule untold = { .cfa = HWPMC_CFA_UNTOLD };
	const struct small end = small_table(untold);
	struct stat st;

	fstat(first, &st);
	answer_others(dev, st.st_ino);
	DEV_ASK(dev, UNWINDTABLE, unwindtable, .fd = first,
		.data = (uintptr_t)&end, .len = sizeof(end));
}

/* Chains that begin at @pc, of the handler and of the task, and those with a caller */
static unsigned int chains_at(struct log *log, uint64_t at, unsigned int *deep)
{
	const size_t least = sizeof(struct pmclog_ext_userchain) + 8;
	struct pmclog_rec rec;
	unsigned int n = 0;
	struct sample s;
	size_t room;

	*deep = 0;
	LOG_FOR_EACH(log, rec) {
		if (log_sample(&rec, &s)) {
			if (s.late || !s.npc || s.pc[0] != at)
				continue;
			*deep += s.npc > 1;
		} else if (IS_EXT(&rec, USERCHAIN) && rec.len >= least) {
			room = rec.len - least;
			if (pmclog_get64(rec.data + least - 8) != at)
				continue;
			*deep += room >= 8;
		} else {
			continue;
		}
		n++;
	}
	return n;
}

TEST_F(unwind, replaced)
{
	int file[2] = { temp_file(), temp_file() };
	unsigned int n, deep;

	ASSERT_EQ((ssize_t)sizeof(code), pwrite(file[0], code, sizeof(code), 0));
	ASSERT_EQ((ssize_t)sizeof(code),
		  pwrite(file[1], code, sizeof(code), AT_OTHER));
	begin(_metadata, self, replacer, file);
	EXPECT_EQ(0, DEV_ASK(self->dev, UNWINDTABLE, unwindtable, .fd = file[1]));
	EXPECT_TRUE(target_step(&self->target));
	answer_for_first(self->dev, file[0]);
	finish(_metadata, self);
	n = chains_at(&self->log, SPARE_AT + AT_OTHER, &deep);
	TH_LOG("%u of %u have callers", deep, n);
	EXPECT_LE(TURNS / 2, n);
	EXPECT_EQ(n, deep);
	/* the first file again has its own table, also by a stale map */
	n = chains_at(&self->log, SPARE_AT, &deep);
	TH_LOG("%u of %u have callers", deep, n);
	EXPECT_LE(TURNS / 2, n);
	EXPECT_LT(deep, n);
}

/* ------------------------------------------------------------------------
 * Processes that outlive the log, and end before the device is closed
 */
#define CHILDREN	400

/* Each has a map, and ends when the target goes on from its second pause. */
static int parent(struct target *t, void *arg)
{
	int ready[2], end[2], i;
	char c;

	if (pipe(ready) || pipe(end))
		return 1;
	for (i = 0; i < CHILDREN; i++) {
		if (!fork_bound()) {
			close(end[1]);
			touch(1);
			_exit(write(ready[1], "", 1) != 1 ||
			      read(end[0], &c, 1));
		}
		if (read(ready[0], &c, 1) != 1)
			return 1;
	}
	target_pause(t);
	close(end[1]);
	for (i = 0; i < CHILDREN; i++)
		if (wait_for(-1))
			return 1;
	target_pause(t);
	return 0;
}

/* Address spaces that the kernel has, or -1 */
static long mm_structs(void)
{
	FILE *f = fopen("/proc/slabinfo", "r");
	char line[256];
	long n = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "mm_struct %ld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

TEST_F(unwind, ended_without_log)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND |
						     HWPMC_F_DESCENDANTS);
	long before = mm_structs(), after;

	if (before < 0)
		SKIP(return, "no slabinfo");
	if (!access("/sys/kernel/debug/kmemleak", F_OK))
		SKIP(return, "KASAN keeps freed memory");
	ASSERT_TRUE(target_begin(&self->target, parent, NULL));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->target.pid, &a.id));
	EXPECT_TRUE(target_step(&self->target));
	end_log(_metadata, self, LOG_DROPS);
	EXPECT_TRUE(target_step(&self->target));
	sleep_ms(500);		/* what RCU frees */
	after = mm_structs();
	TH_LOG("%ld address spaces, then %ld; %lu late", before, after,
	       (unsigned long)self->log.late_answered);
	EXPECT_LE(CHILDREN, self->log.late_answered);
	EXPECT_GT(before + CHILDREN / 2, after);
	EXPECT_EQ(0, target_end(&self->target));
}

TEST_HARNESS_MAIN
