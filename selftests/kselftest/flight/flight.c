// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flight recorder: however long it runs, a snapshot is a log that stands on its
 * own, of the last moments, and the recording goes on.
 */
#include <sys/prctl.h>

#include "flight.h"
#include "limit.h"
#include "proclog.h"
#include "target.h"
#include "user.h"

/* ------------------------------------------------------------------------
 * A process that burns time where it can be seen
 */
__attribute__((noinline, aligned(4096))) static uint64_t marked(uint64_t n)
{
	volatile uint64_t x = 0;

	while (n--)
		x += n;
	return x;
}

__attribute__((noinline, aligned(4096))) static void marked_end(void)
{
	asm volatile("");
}

static int burner(struct target *t, void *arg)
{
	const unsigned int *ms = arg;

	while (*ms) {
		uint64_t until = thread_ns() + *ms * MSEC;

		while (thread_ns() < until)
			marked(100000);
		target_pause(t);
	}
	return 0;
}

static bool in_marked(uint64_t pc)
{
	return pc >= (uintptr_t)marked && pc < (uintptr_t)marked_end;
}

/* ------------------------------------------------------------------------ */
FIXTURE(flight)
{
	int dev;
	pid_t load;
	pid_t deep;
	struct target t;
	unsigned int ms;
};

FIXTURE_SETUP(flight)
{
	/* before the device is opened: a child would keep it open */
	self->load = load_user(1);
	self->deep = workload_start("deep", 0);
	ASSERT_LT(0, self->deep) TH_LOG("no workload programs here");
	self->ms = 300;
	ASSERT_TRUE(target_begin(&self->t, burner, &self->ms));
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(flight)
{
	close(self->dev);
	target_kill(&self->t);
	load_end(self->load);
	load_end(self->deep);
}

/* A short recording: everything is in it. */
TEST_F(flight, whole)
{
	struct hwpmc_driverstats st;
	struct snapshot s;
	struct log log;
	uint32_t id;

	fly(_metadata, self->dev, 64 << 20, 0, &id);
	EXPECT_TRUE(wait_committed(self->dev, 200));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	shoot(_metadata, self->dev, &log, &s, 0);
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(st.account.committed, log.samples);
	EXPECT_EQ(st.account.overflows, log.account.overflows);
	EXPECT_EQ(0, st.account.in_rings);
	expect_law(_metadata, self->dev, id);
}

/* It does not grow, and its beginning moves on. */
TEST_F(flight, bounded)
{
	uint64_t since = 0, committed = 0;
	struct snapshot s;
	struct log log;
	int i;
	uint32_t id;

	fly_at(_metadata, self->dev, SIZE, 0, OFTEN, &id);
	for (i = 1; i <= 4; i++) {
		ASSERT_TRUE(wait_bytes(self->dev, (i + 1) * SIZE));
		shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
		TH_LOG("%zu bytes, %" PRIu64 " before the window, %" PRIu64
		       " samples", log.len, s.before, log.samples);
		/* rates, clock and CLOSELOG follow the window */
		EXPECT_GT(SIZE + 2048, log.len - s.before);
		EXPECT_LT(SIZE / 2, log.len - s.before);
		EXPECT_LT(since, s.since);
		since = s.since;
		committed += log.account.committed;
		log_free(&log);
	}
	EXPECT_LT(0, committed);
	expect_law(_metadata, self->dev, id);
}

/* User pcs of @pid that lie in its mappings, and those that do not. */
static void resolve(struct log *log, uint32_t pid, unsigned int *found,
		    unsigned int *lost)
{
	struct space *space = space_new();
	struct pmclog_rec rec;
	struct sample s;

	*found = 0;
	*lost = 0;
	LOG_FOR_EACH(log, rec) {
		space_apply(space, &rec);
		if (!log_sample(&rec, &s) || s.pid != pid || !s.user)
			continue;
		*(space_find(space, pid, s.pc[0]) ? found : lost) += 1;
	}
	space_free(space);
}

static unsigned int exts(struct log *log, uint16_t subtype)
{
	return COUNT_RECORDS(log, rec, pmclog_iter_ext_subtype(&rec) == subtype);
}

/* What was there long before the window is known in it. */
TEST_F(flight, stands_on_its_own)
{
	unsigned int found, lost;
	struct snapshot s;
	struct log log;
	uint32_t id;

	fly_at(_metadata, self->dev, SMALL, 0, OFTEN, &id);
	ASSERT_TRUE(wait_bytes(self->dev, 3 * SMALL));
	shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
	EXPECT_EQ(1, exts(&log, PMCLOG_EXT_HOST));
	EXPECT_EQ(1, exts(&log, PMCLOG_EXT_KERNEL));
	EXPECT_LE(1, log_count(&log, PMCLOG_T_PMCALLOCATEDYN, 16, id));
	resolve(&log, self->deep, &found, &lost);
	TH_LOG("%u user samples of the workload, %u of them in no mapping",
	       found + lost, lost);
	EXPECT_LT(10, found);
	EXPECT_EQ(0, lost);
	EXPECT_TRUE(proc_maps_logged(&log, self->deep));
}

/* Samples of @t in its marked function, from @from on. */
static unsigned int marked_samples(struct log *log, pid_t pid, uint64_t from)
{
	return COUNT_SAMPLES(log, s,
			     (pid_t)s.pid == pid && s.user && s.tsc >= from &&
			     in_marked(s.pc[0]));
}

/* The very last moments are there, each time. */
TEST_F(flight, last_moments)
{
	unsigned int n, i, tries;
	struct snapshot s;
	struct log log;
	uint64_t from;

	fly(_metadata, self->dev, 4 << 20, 0, NULL);
	/* a CPU that the host holds up samples little: then once more */
	for (i = 0, tries = 0; i < 3 && tries < 50; tries++) {
		from = raw_ns();
		ASSERT_TRUE(target_step(&self->t));
		shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
		n = marked_samples(&log, self->t.pid, from);
		TH_LOG("%u samples of %u ms", n, self->ms);
		i += n > 20;
		EXPECT_LT(from, s.when);
		log_free(&log);
	}
	EXPECT_EQ(3, i);
}

/* One after another: they overlap, and none takes anything from the next. */
TEST_F(flight, overlapping)
{
	uint64_t samples = 0, last = 0;
	struct snapshot s;
	struct log log;
	int i;

	fly(_metadata, self->dev, 64 << 20, 0, NULL);
	for (i = 0; i < 6; i++) {
		EXPECT_TRUE(wait_committed(self->dev, 20));
		shoot(_metadata, self->dev, &log, &s, 0);
		EXPECT_LE(samples + 20, log.samples);
		EXPECT_LT(last, log.last_tsc);
		samples = log.samples;
		last = log.last_tsc;
		log_free(&log);
	}
}

/*
 * What is known of processes does not pile up: old names and the dead are
 * forgotten some time after their part of the log.
 */
TEST_F(flight, news)
{
	struct hwpmc_driverstats st;
	struct snapshot s;
	uint64_t next = 0;
	struct log log;
	char name[16];
	unsigned int n;
	uint32_t id;

	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1), &id));
	for (n = 0; ; n++) {
		snprintf(name, sizeof(name), "name %u", n);
		ASSERT_EQ(0, prctl(PR_SET_NAME, name));
		if (n % 1000)
			continue;
		wait_for(fork_bound() ?: (_exit(0), 0));
		ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
		if (st.bytes_written < next)
			continue;
		shoot(_metadata, self->dev, &log, &s,
		      LOG_DROPS | LOG_PROC_DROPS);
		TH_LOG("%u names: %" PRIu64 " bytes before the window", n,
		       s.before);
		EXPECT_GT(4 * SMALL, s.before);
		log_free(&log);
		if (next > 10 * SMALL)
			break;
		next = st.bytes_written + 2 * SMALL;
	}
	EXPECT_LT(6 * SMALL / PMCLOG_PROC_CREATE_LEN, n);
	expect_law(_metadata, self->dev, id);
}

TEST_F(flight, packed)
{
	unsigned int found, lost;
	struct snapshot s;
	struct log log;

	/* many samples: they take fifteen bytes each */
	fly_at(_metadata, self->dev, SMALL, HWPMC_LOG_PACKED, OFTEN, NULL);
	ASSERT_TRUE(wait_bytes(self->dev, 3 * SMALL / 2));
	shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
	TH_LOG("%" PRIu64 " samples in %" PRIu64 " bytes", log.samples,
	       log.len - s.before);
	EXPECT_LT(SMALL / 64, log.samples);
	resolve(&log, self->deep, &found, &lost);
	EXPECT_LT(10, found);
	EXPECT_EQ(0, lost);
}

/* Of a process, not of the system. */
TEST_F(flight, process_mode)
{
	struct hwpmc_allocate a = pmc_process_sampler(TASK_CLOCK,
					NSEC / OFTEN, HWPMC_F_DESCENDANTS);
	struct snapshot s;
	const char *what;
	struct log log;
	uint32_t id;
	int i;

	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->deep, &id));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(wait_bytes(self->dev, (i + 3) * SMALL / 2));
		shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
		what = proclog_check(&log);
		EXPECT_EQ(NULL, what) TH_LOG("%s", what);
		EXPECT_LT(0, proc_samples(&log, id, self->deep, ANY));
		log_free(&log);
	}
}

/* ------------------------------------------------------------------------
 * What cannot be
 */
TEST_F(flight, errors)
{
	int dev = self->dev, file = temp_file();
	int none = open("/dev/null", O_RDONLY);

	EXPECT_EQ(-EINVAL, dev_flight(dev, 0, 0));
	EXPECT_EQ(-EINVAL, dev_flight(dev, SMALL - 1, 0));
	EXPECT_EQ(-EINVAL, dev_flight(dev, (4ULL << 30) + 1, 0));
	EXPECT_EQ(-EINVAL, dev_flight(dev, ~0ULL, 0));
	EXPECT_EQ(-EINVAL, dev_flight(dev, SMALL, 1U << 31));
	EXPECT_EQ(-EINVAL, dev_flight(dev, SMALL, HWPMC_LOG_STREAM));
	EXPECT_EQ(-EINVAL, dev_configure_flags(dev, file, HWPMC_LOG_FLIGHT));
	EXPECT_EQ(-EINVAL, dev_configure_flags(dev, -1, HWPMC_LOG_PACKED));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, file, 0));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, -1, HWPMC_SNAPSHOT_ARM));
	ASSERT_EQ(0, dev_configure(dev, file));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, file, 0));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, file, HWPMC_SNAPSHOT_ARM));
	EXPECT_EQ(-EBUSY, dev_flight(dev, SMALL, 0));
	ASSERT_EQ(0, dev_configure(dev, -1));
	ASSERT_EQ(0, dev_flight(dev, SMALL, 0));
	EXPECT_EQ(-EBUSY, dev_flight(dev, SMALL, 0));
	EXPECT_EQ(-EBUSY, dev_configure(dev, file));
	EXPECT_EQ(-EINVAL, dev_rotate(dev, file));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, file, 2));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, file, ~0U));
	EXPECT_EQ(-EBADF, dev_snapshot(dev, -1, 0));
	EXPECT_EQ(-EBADF, dev_snapshot(dev, 1000, 0));
	EXPECT_EQ(-EBADF, dev_snapshot(dev, 1000, HWPMC_SNAPSHOT_ARM));
	EXPECT_EQ(-EBADF, dev_snapshot(dev, none, 0));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, dev, 0));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, -1, HWPMC_SNAPSHOT_ARM));
	EXPECT_EQ(0, dev_flush(dev));
	EXPECT_EQ(0, dev_userdata(dev, 7));
	EXPECT_EQ(0, dev_snapshot(dev, file, 0));
	ASSERT_EQ(0, dev_closelog(dev));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, file, 0));
	EXPECT_EQ(-EINVAL, dev_closelog(dev));
}

/* An empty one is a log, too. */
TEST_F(flight, nothing_recorded)
{
	struct snapshot s;
	struct log log;

	ASSERT_EQ(0, dev_flight(self->dev, SMALL, HWPMC_LOG_PACKED));
	shoot(_metadata, self->dev, &log, &s, 0);
	EXPECT_EQ(0, log.samples);
	ASSERT_EQ(0, dev_configure(self->dev, -1));
}

/* One after another, and what was armed goes with its log. */
TEST_F(flight, again)
{
	struct snapshot s;
	struct log log;
	int i, ends[2];
	uint32_t id;
	char c;

	for (i = 0; i < 3; i++) {
		fly(_metadata, self->dev, SMALL << i, 0, &id);
		EXPECT_TRUE(wait_committed(self->dev, 20));
		shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
		log_free(&log);
		ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
		ASSERT_EQ(0, dev_snapshot(self->dev, ends[1],
					  HWPMC_SNAPSHOT_ARM));
		close(ends[1]);
		ASSERT_EQ(0, dev_closelog(self->dev));
		EXPECT_EQ(0, read(ends[0], &c, 1));
		close(ends[0]);
		ASSERT_EQ(0, dev_release(self->dev, id));
	}
}

/* A descriptor passed on does not bring the kernel's addresses along. */
TEST_F(flight, privilege)
{
	int file = temp_file();
	pid_t pid;

	fly(_metadata, self->dev, SMALL, 0, NULL);
	pid = fork_bound();
	if (!pid) {
		if (!user_stay(65534))
			_exit(77);
		if (dev_snapshot(self->dev, file, 0) != -EPERM)
			_exit(1);
		if (dev_snapshot(self->dev, file, HWPMC_SNAPSHOT_ARM) != -EPERM)
			_exit(2);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* More than there is does not take what others have, nor long. */
TEST_F(flight, no_memory)
{
	uint64_t available;
	struct log log;
	struct snapshot s;

	ASSERT_TRUE(read_key("/proc/meminfo", "MemAvailable:", &available));
	if (available > 3 << 20)
		SKIP(return, "there is memory for all that can be asked for");
	EXPECT_EQ(-ENOMEM, dev_flight(self->dev, 4ULL << 30, 0));
	EXPECT_EQ(-ENOMEM, dev_flight(self->dev, available << 10, 0));
	ASSERT_EQ(0, dev_flight(self->dev, SMALL, 0));
	shoot(_metadata, self->dev, &log, &s, 0);
}

/* The memory counts against the limit, from the first to the last byte. */
TEST_F(flight, limit)
{
	pid_t pid;

	ASSERT_TRUE(device_for_group());
	/* the rings, and one window */
	ASSERT_TRUE(limit("max_ringmem", 28));
	pid = fork_bound();
	if (!pid) {
		int dev, i;

		if (!user_stay(1234))
			_exit(77);
		dev = dev_open();
		if (dev < 0)
			_exit(1);
		if (dev_flight(dev, 32 << 20, 0) != -EDQUOT)
			_exit(2);
		for (i = 0; i < 5; i++) {
			if (dev_flight(dev, 16 << 20, 0))
				_exit(3);
			if (dev_closelog(dev))
				_exit(4);
		}
		/* what is kept of processes counts as well */
		for (i = 0; i < 80; i++)
			if (dev_flight(dev, SMALL, 0) || dev_closelog(dev))
				_exit(5);
		_exit(dev_flight(dev, 16 << 20, 0) ? 6 : 0);
	}
	EXPECT_EQ(0, wait_for(pid));
	limit("max_ringmem", 256);
	device_for_root();
}

TEST_HARNESS_MAIN
