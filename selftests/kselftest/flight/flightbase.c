// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a flight recorder knows of processes whose beginning has fallen out of its
 * window: it is complete at any time, whatever is attached meanwhile.
 */
#include <sys/prctl.h>

#include "crowd.h"
#include "module.h"
#include "proclog.h"
#include "snapshot.h"
#include "source.h"
#include "target.h"
#include "test.h"
#include "user.h"

#define SMALL		(256U << 10)	/* the smallest window there is */
#define TARGETS		8
#define IDLERS		60
#define CLOCK		TASK_CLOCK, NSEC / 1000

/* Takes another name again and again: a record each, that is to be kept. */
static pid_t renamer(void)
{
	pid_t pid = fork_bound();
	char name[16];
	unsigned int n;

	if (pid)
		return pid;
	for (n = 0; ; n++) {
		snprintf(name, sizeof(name), "n%u", n);
		prctl(PR_SET_NAME, name);
		/* no faster than the rings are taken out */
		if (n % 100 == 0)
			sleep_ms(2);
	}
}

static int burner(struct target *t, void *arg)
{
	for (;;) {
		compute_ms(20);
		target_pause(t);
	}
	return 0;
}

FIXTURE(flightbase)
{
	pid_t renamer;
	pid_t idlers[IDLERS];
	struct target t[TARGETS];
	int dev;
	uint32_t id;
	struct log log;
	struct snapshot s;
};

FIXTURE_SETUP(flightbase)
{
	unsigned int i;

	/* before the device is opened: a child would keep it open */
	self->renamer = renamer();
	for (i = 0; i < IDLERS; i++)
		self->idlers[i] = crowd(1);
	for (i = 0; i < TARGETS; i++)
		ASSERT_TRUE(target_begin(&self->t[i], burner, NULL));
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(flightbase)
{
	unsigned int i;

	close(self->dev);
	for (i = 0; i < TARGETS; i++)
		target_kill(&self->t[i]);
	for (i = 0; i < IDLERS; i++)
		load_end(self->idlers[i]);
	load_end(self->renamer);
}

static bool wait_more(int dev, uint64_t bytes)
{
	struct hwpmc_driverstats st;

	return !dev_stats(dev, HWPMC_STATS_OWNER, &st) &&
	       wait_bytes(dev, st.bytes_written + bytes);
}

/* A snapshot of now, sound as to PMCs, processes and mappings. */
static void shoot(META, FIXTURE_DATA(flightbase) *self)
{
	int file = temp_file();

	ASSERT_EQ(0, dev_snapshot(self->dev, file, 0));
	log_free(&self->log);
	ASSERT_TRUE(log_load(&self->log, file));
	ASSERT_PROCLOG(&self->log, LOG_DROPS);
	snapshot_look(&self->log, &self->s);
	close(file);
}

/* A PMC of its own for the @i'th, who runs then. */
static void sample_new(META, FIXTURE_DATA(flightbase) *self, unsigned int i,
		       uint32_t *id)
{
	struct hwpmc_allocate a = pmc_process_sampler(CLOCK, 0);

	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	*id = a.id;
	ASSERT_EQ(0, dev_attach(self->dev, *id, self->t[i].pid));
	ASSERT_EQ(0, dev_start(self->dev, *id));
	ASSERT_TRUE(target_step(&self->t[i]));
}

/*
 * While what is kept is made again all the time: @rounds of PMCs that come, sample
 * and go.  Each snapshot knows whose samples it has.
 */
static void come_and_go(META, FIXTURE_DATA(flightbase) *self,
			unsigned int rounds)
{
	uint32_t id[TARGETS] = {}, shrunk = 0, sampled = 0, i, n;
	uint64_t before = 0;

	for (n = 0; n < rounds || (shrunk < 3 && n < 100 * rounds); n++) {
		i = n % TARGETS;
		if (id[i])
			ASSERT_EQ(0, dev_release(self->dev, id[i]));
		sample_new(_metadata, self, i, &id[i]);
		if (n % 3)
			continue;
		shoot(_metadata, self);
		EXPECT_LE(1, log_count(&self->log, PMCLOG_T_PMCALLOCATEDYN, 16,
				       id[i]));
		EXPECT_LE(1, proc_count(&self->log, PMCLOG_T_PMCATTACH,
					self->t[i].pid));
		sampled += proc_samples(&self->log, id[i], self->t[i].pid, ANY);
		shrunk += self->s.before < before;
		before = self->s.before;
	}
	TH_LOG("%u PMCs, %u samples, made again %u times at least", n, sampled,
	       shrunk);
	/* else this was no test */
	EXPECT_LE(3, shrunk);
	EXPECT_LT(0, sampled);
}

/* Targets are told of as they are attached, wherever that falls. */
TEST_F(flightbase, targets)
{
	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_sampler(CLOCK, 0),
				self->renamer, &self->id));
	come_and_go(_metadata, self, 90);
}

/* With all processes the dump takes a while. */
TEST_F(flightbase, system)
{
	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(100), &self->id));
	come_and_go(_metadata, self, 60);
}

/* It has followed targets, and goes on with all: they come into this window. */
TEST_F(flightbase, targets_then_system)
{
	unsigned int n, mapped, unmapped;
	uint32_t id;

	for (n = 0; n < 20; n++) {
		ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
		ASSERT_EQ(0, dev_run_on(self->dev, pmc_process_sampler(CLOCK, 0),
					self->renamer, &self->id));
		/* what is kept has outgrown its limit, now or soon */
		ASSERT_TRUE(wait_more(self->dev, SMALL + n * SMALL / 16));
		ASSERT_EQ(0, dev_run(self->dev, pmc_clock(500), &id));
		ASSERT_TRUE(target_step(&self->t[0]));
		shoot(_metadata, self);
		unmapped = unmapped_samples(&self->log, &mapped);
		EXPECT_EQ(0, unmapped);
		ASSERT_EQ(0, dev_closelog(self->dev));
		ASSERT_EQ(0, dev_release(self->dev, id));
		ASSERT_EQ(0, dev_release(self->dev, self->id));
	}
}

/* Counts of processes that are told at the start of the snapshot, or behind it. */
static unsigned int counts(FIXTURE_DATA(flightbase) *self, bool at_start)
{
	return COUNT_RECORDS(&self->log, rec,
			     (rec.type == PMCLOG_T_PROCCSW ||
			      rec.type == PMCLOG_T_PROCEXIT) &&
			     (rec.offset < self->s.before) == at_start);
}

/* Counts are those of the window, and no others, however often it is made again. */
TEST_F(flightbase, counts)
{
	struct hwpmc_allocate a = pmc_process_counter(TASK_CLOCK,
						      HWPMC_F_LOG_PROCCSW);
	unsigned int i, shrunk = 0, early = 0, seen = 0;
	uint64_t before = 0;

	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20), NULL));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->renamer, &self->id));
	for (i = 0; i < 1000 && shrunk < 5; i++) {
		ASSERT_TRUE(wait_more(self->dev, SMALL / 8));
		shoot(_metadata, self);
		early += counts(self, true);
		seen += counts(self, false);
		shrunk += self->s.before < before;
		before = self->s.before;
	}
	TH_LOG("%u snapshots, %u counts", i, seen);
	EXPECT_EQ(5, shrunk);
	EXPECT_EQ(0, early);
	EXPECT_LT(0, seen);
}

/* ------------------------------------------------------------------------
 * Kernel modules that come and go
 */
static const char * const modules[] = { "overlay", "loop", "virtio_blk" };

static const char *find_module(char path[PATH_MAX])
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modules); i++)
		if (other_module_find(modules[i], path) && !other_module_load(path) &&
		    !other_module_unload(modules[i]))
			return modules[i];
	return NULL;
}

/* Of the kernel's mappings at @start from byte @from on, those of record @type */
static unsigned int at_address(const struct log *log, uint64_t start, uint64_t from,
			       uint32_t type)
{
	return COUNT_RECORDS(log, rec,
			     rec.type == type && rec.offset > from &&
			     REC32(&rec, map_in, pid) == PMCLOG_PID_KERNEL &&
			     REC64(&rec, map_in, start) == start);
}

/* Records of modules that are of no use: a later record ends the same address. */
static unsigned int useless(const struct log *log)
{
	return COUNT_RECORDS(log, rec,
			     (rec.type == PMCLOG_T_MAP_IN || rec.type == PMCLOG_T_MAP_OUT) &&
			     REC32(&rec, map_in, pid) == PMCLOG_PID_KERNEL &&
			     at_address(log, REC64(&rec, map_in, start), rec.offset,
					PMCLOG_T_MAP_OUT));
}

/* However many came and went, no snapshot has more of them than there are addresses. */
TEST_F(flightbase, modules)
{
	unsigned int i, found, ends = 0, more = ~0U;
	char path[PATH_MAX];
	const char *name = find_module(path);

	if (!name)
		SKIP(return, "no module that can be loaded");
	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20), &self->id));
	for (i = 0; i < scaled(30, 10); i++) {
		ASSERT_EQ(0, other_module_load(path));
		ASSERT_EQ(0, other_module_unload(name));
	}
	shoot(_metadata, self);
	found = useless(&self->log);
	/* until they have left the window, and what is kept is made again */
	for (i = 0; i < 100 && more; i++) {
		ASSERT_TRUE(wait_more(self->dev, SMALL / 4));
		shoot(_metadata, self);
		more = useless(&self->log);
	}
	ends = COUNT_RECORDS(&self->log, rec, rec.type == PMCLOG_T_MAP_OUT &&
			     REC32(&rec, map_out, pid) == PMCLOG_PID_KERNEL);
	TH_LOG("%u useless records, then %u and %u ends after %u snapshots", found,
	       more, ends, i);
	EXPECT_EQ(0, more);
	EXPECT_LE(1, ends);	/* a program may have listed the module */
}

#define LISTED		"/a/module.ko"

/* What a program lists of the module at @start: its file, and that it is a module */
static int list_module(int dev, uint64_t start)
{
	struct {
		struct pmclog_map_in m;
		char path[16];
		struct pmclog_ext_module e;
		char name[8];
	} __attribute__((packed, aligned(8))) r = {
		.m.h.header = PMCLOG_HEADER(PMCLOG_T_MAP_IN, sizeof(r.m) + sizeof(r.path)),
		.m.pid = PMCLOG_PID_KERNEL,
		.m.start = start,
		.path = LISTED,
		.e.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(r.e) + sizeof(r.name)),
		.e.e.cookie = PMCLOG_EXT_COOKIE,
		.e.e.subtype = PMCLOG_EXT_MODULE,
		.e.start = start,
		.name = "module",
	};

	return dev_bulk(dev, &r, sizeof(r));
}

static uint64_t address_of(const struct log *log, const char *name)
{
	char path[80];
	uint64_t start = 0;
	struct pmclog_rec rec;

	snprintf(path, sizeof(path), "[%s]", name);
	LOG_FOR_EACH(log, rec)
		if (rec.type == PMCLOG_T_MAP_IN && !strcmp(REC_TEXT(&rec, map_in, path), path))
			start = REC64(&rec, map_in, start);
	return start;
}

/* The path of a module's file is in what a program listed, and nowhere else. */
TEST_F(flightbase, listed_module)
{
	unsigned int i, listed = 0, made = 0;
	uint64_t before = 0, start;
	char path[PATH_MAX];
	const char *name = find_module(path);

	if (!name)
		SKIP(return, "no module that can be loaded");
	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20), &self->id));
	ASSERT_EQ(0, other_module_load(path));
	shoot(_metadata, self);
	start = address_of(&self->log, name);
	ASSERT_NE(0, start);
	ASSERT_EQ(0, list_module(self->dev, start));
	shoot(_metadata, self);
	ASSERT_EQ(0, other_module_unload(name));
	for (i = 0; i < 200 && made < 3; i++) {
		ASSERT_TRUE(wait_more(self->dev, SMALL / 4));
		shoot(_metadata, self);
		made += self->s.before < before;
		before = self->s.before;
		listed = COUNT_RECORDS(&self->log, rec, rec.type == PMCLOG_T_MAP_IN &&
				       !strcmp(REC_TEXT(&rec, map_in, path), LISTED));
		EXPECT_EQ(1, listed);
		EXPECT_LE(1, at_address(&self->log, start, 0, PMCLOG_T_MAP_OUT));
	}
	TH_LOG("made again %u times at least", made);
	EXPECT_EQ(3, made);
}

/* ------------------------------------------------------------------------
 * Samples with fields
 */
#define SWITCH		"sched/sched_switch"
#define LINES		"field:char one[16];\tfield:pid_t two;\n"

static int write_fields(int dev, const struct hwpmc_allocate *a)
{
	struct {
		struct pmclog_ext_fields f;
		char text[64];
	} r = {
		.f.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(r.f) +
					      (sizeof(LINES) + 3) / 4 * 4),
		.f.e.cookie = PMCLOG_EXT_COOKIE,
		.f.e.subtype = PMCLOG_EXT_FIELDS,
		.f.type = a->type,
		.f.config = a->config,
		.text = LINES,
	};

	return dev_bulk(dev, &r, PMCLOG_HEADER_LEN(r.f.e.h.header));
}

/* Each snapshot says first what the fields are, however long ago that was said. */
static void fields(META, FIXTURE_DATA(flightbase) *self, uint32_t flags)
{
	struct hwpmc_allocate a;
	unsigned int i, said, raws;
	struct tally t = {};

	if (!tracefs_mount())
		SKIP(return, "this kernel has no tracefs");
	a = pmc_tracepoint(HWPMC_MODE_SS, tracefs_id(SWITCH));
	ASSERT_LT(0, a.config);
	a.flags |= HWPMC_F_RAW;
	a.count = scaled(5, 20);
	ASSERT_EQ(0, dev_flight(self->dev, SMALL, flags));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, write_fields(self->dev, &a));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	t.pmcid = a.id;
	for (i = 1; i <= 4; i++) {
		ASSERT_TRUE(wait_bytes(self->dev, i * SMALL));
		shoot(_metadata, self);
		log_fields(&self->log, &said, &raws);
		EXPECT_LE(1, said) TH_LOG("snapshot %u", i);
		EXPECT_LT(0, raws);
		t.pid = self->renamer;
		t.n = t.raws = t.loose = 0;
		tally(&t, &self->log);
		EXPECT_EQ(0, t.loose);
		EXPECT_EQ(t.n, t.raws);
	}
}

TEST_F(flightbase, fields)
{
	fields(_metadata, self, 0);
}

TEST_F(flightbase, fields_packed)
{
	fields(_metadata, self, HWPMC_LOG_PACKED);
}

/* ------------------------------------------------------------------------
 * A loss that has fallen out of the window
 */
#define USER	1000

/*
 * What the target does: its user may look into it, or not (HIDDEN); it takes a new name
 * all the time (RENAMES), so that what is kept grows, or computes.
 */
enum { SEEN, HIDDEN_RENAMES, HIDDEN, SEEN_AGAIN };

struct phases {
	volatile int	wanted;
	volatile int	is;
};

static void follow_phases(struct phases *p)
{
	unsigned int n = 0;
	char name[16];

	if (!user_stay(USER))
		_exit(1);
	for (;;) {
		if (p->is != p->wanted) {
			n = p->wanted;
			prctl(PR_SET_DUMPABLE, n == SEEN || n == SEEN_AGAIN);
			p->is = n;
		}
		if (p->is != HIDDEN_RENAMES) {
			compute_ms(5);
			continue;
		}
		snprintf(name, sizeof(name), "n%u", ++n);
		prctl(PR_SET_NAME, name);
		/* no faster than the rings are taken out */
		if (n % 100 == 0)
			compute_ms(2);
	}
}

static bool reach(struct phases *p, int phase)
{
	p->wanted = phase;
	return WAIT_UNTIL(p->is == phase, 60000);
}

/* A snapshot of a quarter of a window later; *unmapped, *lost: what it lacks, and says. */
static int shoot_later(int dev, unsigned int *unmapped, uint64_t *lost)
{
	int file = temp_file();
	const char *fault;
	unsigned int mapped;
	struct log log;

	CHECK(true, wait_more(dev, SMALL / 4));
	CHECK(0, dev_snapshot(dev, file, 0));
	CHECK(true, log_load(&log, file));
	fault = log_check(&log, LOG_DROPS | LOG_PROC_DROPS);
	if (fault)
		printf("# %s\n", fault);
	CHECK(true, !fault);
	*unmapped = unmapped_samples(&log, &mapped);
	*lost = log.proc_dropped;
	log_free(&log);
	close(file);
	return 0;
}

/* In a process that becomes the user. */
static int watch_phases(struct phases *p)
{
	struct hwpmc_allocate a = pmc_process_sampler(TASK_CLOCK, NSEC / 4000, 0);
	unsigned int i, unmapped = 0;
	pid_t target = fork_bound();
	int dev, err;
	uint64_t lost;

	if (!target)
		follow_phases(p);
	CHECK(true, user_stay(USER));
	dev = dev_open();
	a.caps = HWPMC_CAP_USER;
	CHECK(0, dev_flight(dev, SMALL, 0));
	/* it becomes the user too */
	WAIT_UNTIL((err = dev_run_on(dev, a, target, NULL)) != -EPERM, 10000);
	CHECK(0, err);
	CHECK(true, reach(p, HIDDEN_RENAMES));
	for (i = 0; i < 400 && !unmapped; i++)
		CHECK(0, shoot_later(dev, &unmapped, &lost));
	CHECK(true, unmapped > 0);
	/* what is kept grows, so bases are made again for that too */
	for (i = 0; i < 40; i++) {
		CHECK(0, shoot_later(dev, &unmapped, &lost));
		CHECK(true, !unmapped || lost);
	}
	CHECK(true, reach(p, HIDDEN));
	for (i = 0; i < 12; i++) {
		CHECK(0, shoot_later(dev, &unmapped, &lost));
		CHECK(true, !unmapped || lost);
	}
	CHECK(true, reach(p, SEEN_AGAIN));
	for (i = 0; i < 40 && (unmapped || lost); i++) {
		CHECK(0, shoot_later(dev, &unmapped, &lost));
		CHECK(true, !unmapped || lost);
	}
	CHECK(0, unmapped);
	CHECK(0, lost);
	return 0;
}

/*
 * What could not be read of a target when all was made again is a loss for as long as
 * it is missing, and once it can be read, it is no more.
 */
TEST(loss_leaves_the_window)
{
	struct phases *p = shared_memory(sizeof(*p));
	pid_t child;

	if (scaled(false, true))
		SKIP(return, "minutes on a slow kernel");
	ASSERT_TRUE(device_for_group());
	child = group_fork();
	if (!child)
		_exit(watch_phases(p));
	EXPECT_EQ(0, group_end(child));
	device_for_root();
}

TEST_HARNESS_MAIN
