// SPDX-License-Identifier: GPL-2.0-only
/*
 * RECORD: all PMCs of an owner at once, or none.  What is in the log then:
 * recordlog.c.
 */
#include <pmc.h>
#include <sys/auxv.h>

#include "onoff.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define ENOUGH		scaled(50, 10)
#define HZ		scaled(2000, 200)

/* Touches pages at each step. */
static int faulter(struct target *t, void *arg)
{
	for (;;) {
		fault_pages(100);
		target_pause(t);
	}
	return 0;
}

FIXTURE(recordall)
{
	int dev;
	int file;
	struct target t;
	struct hwpmc_record r;
};

FIXTURE_SETUP(recordall)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	ASSERT_TRUE(target_begin(&self->t, faulter, NULL));
}

FIXTURE_TEARDOWN(recordall)
{
	target_kill(&self->t);
}

static bool follows(int dev)
{
	uint32_t id = allocated(dev, pmc_process_counter(FAULTS, 0));

	return id && !dev_release(dev, id);
}

/* ------------------------------------------------------------------------
 * The rules
 */
TEST_F(recordall, rules)
{
	struct hwpmc_record *r = &self->r;
	uint32_t id[3], i;

	EXPECT_EQ(-ENOENT, dev_record(self->dev, true, r));
	EXPECT_EQ(-EINVAL, dev_record(self->dev, false, r));
	r->on = 2;
	EXPECT_EQ(-EINVAL, dev_ioctl(self->dev, HWPMC_IOC_RECORD, r));
	for (i = 0; i < 3; i++)
		id[i] = allocated(self->dev, pmc_counter(FAULTS));
	EXPECT_EQ(-EINVAL, dev_record(self->dev, false, r));
	ASSERT_EQ(0, dev_record(self->dev, true, r));
	EXPECT_EQ(3, r->npmc);
	EXPECT_LT(0, r->skew);
	EXPECT_EQ(-EBUSY, dev_record(self->dev, true, r));
	for (i = 0; i < 3; i++)
		EXPECT_STATE(id[i], RUNNING);
	ASSERT_EQ(0, dev_record(self->dev, false, r));
	EXPECT_EQ(3, r->npmc);
	EXPECT_EQ(0, r->skew);
	for (i = 0; i < 3; i++)
		EXPECT_STATE(id[i], STOPPED);
	EXPECT_EQ(-EINVAL, dev_record(self->dev, false, r));
	/* again, and to the end of the owner */
	EXPECT_EQ(0, dev_record(self->dev, true, r));
	EXPECT_EQ(3, r->npmc);
}

/* PMCs of all modes; what runs already is left alone. */
TEST_F(recordall, all_modes)
{
	struct hwpmc_record *r = &self->r;
	uint32_t id[5], i;

	if (!follows(self->dev))
		SKIP(return, "no process modes on this kernel");
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	id[0] = allocated(self->dev, pmc_clock(HZ));
	id[1] = allocated(self->dev, pmc_counter(FAULTS));
	id[2] = allocated(self->dev, pmc_process_counter(FAULTS, 0));
	id[3] = allocated(self->dev, pmc_process_sampler(FAULTS, 1, 0));
	ASSERT_EQ(0, dev_attach(self->dev, id[3], self->t.pid));
	ASSERT_EQ(0, dev_run(self->dev, pmc_counter(FAULTS), &id[4]));
	ASSERT_EQ(0, dev_record(self->dev, true, r));
	EXPECT_EQ(4, r->npmc);
	for (i = 0; i < 5; i++)
		EXPECT_STATE(id[i], RUNNING);
	ASSERT_EQ(0, dev_record(self->dev, false, r));
	EXPECT_EQ(4, r->npmc);
	for (i = 0; i < 4; i++)
		EXPECT_STATE(id[i], STOPPED);
	EXPECT_STATE(id[4], RUNNING);
	/* it was never attached, so it is the caller's */
	EXPECT_EQ(0, dev_detach(self->dev, id[2], 0));
	EXPECT_EQ(0, dev_closelog(self->dev));
}

/* All run already: nothing is started, and there is nothing to stop. */
TEST_F(recordall, nothing_idle)
{
	struct hwpmc_record *r = &self->r;
	uint32_t id;

	ASSERT_EQ(0, dev_run(self->dev, pmc_counter(FAULTS), &id));
	ASSERT_EQ(0, dev_record(self->dev, true, r));
	EXPECT_EQ(0, r->npmc);
	EXPECT_EQ(0, r->skew);
	EXPECT_EQ(-EINVAL, dev_record(self->dev, false, r));
	EXPECT_STATE(id, RUNNING);
}

/* One of them cannot start: none does, and nothing is left. */
TEST_F(recordall, all_or_nothing)
{
	uint32_t system, own, lost, sampler;

	if (!follows(self->dev))
		SKIP(return, "no process modes on this kernel");
	system = allocated(self->dev, pmc_counter(FAULTS));
	own = allocated(self->dev, pmc_process_counter(FAULTS, 0));
	lost = allocated(self->dev, pmc_process_counter(FAULTS, 0));
	ASSERT_EQ(0, dev_attach(self->dev, lost, self->t.pid));
	ASSERT_EQ(0, dev_detach(self->dev, lost, self->t.pid));
	EXPECT_TRUE(dev_hung_up(self->dev));
	sampler = allocated(self->dev, pmc_clock(HZ));
	EXPECT_EQ(-ESRCH, dev_record(self->dev, true, &self->r));
	/* no log has begun for the sampler's sake */
	EXPECT_EQ(-EINVAL, dev_closelog(self->dev));
	EXPECT_STATE(sampler, ALLOCATED);
	ASSERT_EQ(0, dev_release(self->dev, sampler));
	EXPECT_STATE(system, ALLOCATED);
	EXPECT_STATE(own, ALLOCATED);
	EXPECT_STATE(lost, ALLOCATED);
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, own, 0));
	EXPECT_EQ(-EINVAL, dev_record(self->dev, false, &self->r));
	EXPECT_TRUE(dev_hung_up(self->dev));
	/* it was never attached, and is when it starts */
	ASSERT_EQ(0, dev_release(self->dev, lost));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	EXPECT_EQ(2, self->r.npmc);
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	EXPECT_EQ(0, dev_detach(self->dev, own, 0));
}

/* RECORD, whose answer cannot be copied; nothing else can fail. */
static int record_untold(int dev, bool on)
{
	long page = sysconf(_SC_PAGESIZE);
	struct hwpmc_record *r = mmap(NULL, page, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (r == MAP_FAILED)
		return -ENOMEM;
	r->on = on;
	err = mprotect(r, page, PROT_READ) ? -errno :
	      dev_ioctl(dev, HWPMC_IOC_RECORD, r);
	munmap(r, page);
	return err;
}

/* What cannot be told has not been done. */
TEST_F(recordall, untellable)
{
	uint32_t id = allocated(self->dev, pmc_counter(FAULTS));
	uint32_t other;

	EXPECT_EQ(-EFAULT, record_untold(self->dev, true));
	EXPECT_STATE(id, STOPPED);
	EXPECT_EQ(-EINVAL, dev_record(self->dev, false, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	other = allocated(self->dev, pmc_counter(FAULTS));
	EXPECT_EQ(-EFAULT, record_untold(self->dev, false));
	EXPECT_STATE(id, RUNNING);
	EXPECT_STATE(other, ALLOCATED);
	EXPECT_EQ(-EBUSY, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	EXPECT_EQ(1, self->r.npmc);
}

/* Off is undone at once, whatever the log does: its reader may be the caller. */
TEST_F(recordall, untellable_with_a_full_log)
{
	uint32_t id = allocated(self->dev, pmc_clock(HZ));
	int ends[2];

	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	ASSERT_EQ(1 << 20, fcntl(ends[1], F_SETPIPE_SZ, 1 << 20));
	ASSERT_EQ(0, dev_configure(self->dev, ends[1]));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, pipe_fill(ends[1]));
	alarm_every(100, NULL, 0);
	EXPECT_EQ(-EFAULT, record_untold(self->dev, false));
	alarm_every(0, NULL, 0);
	EXPECT_STATE(id, RUNNING);
	close(ends[0]);
}

/* ... The log has that it began, and that it ended. */
TEST_F(recordall, untellable_is_told)
{
	struct log log;
	struct told t;

	allocated(self->dev, pmc_clock(HZ));
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	EXPECT_EQ(-EFAULT, record_untold(self->dev, true));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	END_LOG(self->dev, self->file, &log, LOG_DROPS);
	find_told(&log, &t);
	ASSERT_EQ(4, t.n);
	EXPECT_EQ(1, t.r[0].on);
	EXPECT_EQ(0, t.r[1].on);
	EXPECT_EQ(1, t.r[2].on);
	EXPECT_EQ(0, t.r[3].on);
}

/* ... nor has anybody been attached. */
TEST_F(recordall, untellable_attach)
{
	uint32_t id;

	if (!follows(self->dev))
		SKIP(return, "no process modes on this kernel");
	id = allocated(self->dev, pmc_process_counter(FAULTS, 0));
	EXPECT_EQ(-EFAULT, record_untold(self->dev, true));
	EXPECT_STATE(id, STOPPED);
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, id, 0));
	EXPECT_FALSE(dev_hung_up(self->dev));
	/* it was never attached, and is when it starts */
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	EXPECT_EQ(0, dev_detach(self->dev, id, 0));
}

/* ... nor has the log been begun that it needed. */
TEST_F(recordall, untellable_log)
{
	uint32_t id = allocated(self->dev, pmc_clock(HZ));
	struct log log;
	struct told t;
	char buf[64];

	EXPECT_EQ(-EFAULT, record_untold(self->dev, true));
	EXPECT_STATE(id, STOPPED);
	EXPECT_EQ(-EINVAL, dev_closelog(self->dev));
	EXPECT_EQ(-1, read(self->dev, buf, sizeof(buf)));
	EXPECT_EQ(EINVAL, errno);
	/* what is read then is of the next one only */
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	END_LOG(self->dev, self->dev, &log, LOG_DROPS);
	find_told(&log, &t);
	EXPECT_EQ(2, t.n);
}

/* ------------------------------------------------------------------------
 * What else is done meanwhile
 */
TEST_F(recordall, single_stops)
{
	struct hwpmc_record *r = &self->r;
	uint32_t id[4], i;

	for (i = 0; i < 4; i++)
		id[i] = allocated(self->dev, pmc_counter(FAULTS));
	ASSERT_EQ(0, dev_record(self->dev, true, r));
	ASSERT_EQ(0, dev_stop(self->dev, id[0]));
	ASSERT_EQ(0, dev_stop(self->dev, id[1]));
	ASSERT_EQ(0, dev_start(self->dev, id[1]));	/* by itself now */
	ASSERT_EQ(0, dev_start(self->dev, id[2]));	/* ran already */
	ASSERT_EQ(0, dev_release(self->dev, id[3]));
	EXPECT_EQ(-EBUSY, dev_record(self->dev, true, r));
	ASSERT_EQ(0, dev_record(self->dev, false, r));
	EXPECT_EQ(1, r->npmc);
	EXPECT_STATE(id[0], STOPPED);
	EXPECT_STATE(id[1], RUNNING);
	EXPECT_STATE(id[2], STOPPED);
	/* the last one is stopped by itself: that is the end of it */
	ASSERT_EQ(0, dev_record(self->dev, true, r));
	EXPECT_EQ(2, r->npmc);
	ASSERT_EQ(0, dev_stop(self->dev, id[0]));
	ASSERT_EQ(0, dev_release(self->dev, id[2]));
	EXPECT_EQ(-EINVAL, dev_record(self->dev, false, r));
	ASSERT_EQ(0, dev_record(self->dev, true, r));
	EXPECT_EQ(1, r->npmc);
}

/* The log's end stops what needs it; the rest goes on, and can be stopped. */
TEST_F(recordall, log_ends)
{
	uint32_t sampler, counter;

	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	sampler = allocated(self->dev, pmc_clock(HZ));
	counter = allocated(self->dev, pmc_counter(FAULTS));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	EXPECT_EQ(2, self->r.npmc);
	ASSERT_EQ(0, dev_closelog(self->dev));
	EXPECT_STATE(sampler, STOPPED);
	EXPECT_STATE(counter, RUNNING);
	EXPECT_EQ(-EBUSY, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	EXPECT_EQ(1, self->r.npmc);
	EXPECT_STATE(counter, STOPPED);
}

/* ------------------------------------------------------------------------
 * What is counted
 */
#define NPMC	12

/* All count the same work: what is done from the one RECORD to the other. */
TEST_F(recordall, same_work)
{
	uint64_t n, first = 0;
	uint32_t id[NPMC], i;

	if (!follows(self->dev))
		SKIP(return, "no process modes on this kernel");
	for (i = 0; i < NPMC; i++) {
		id[i] = allocated(self->dev, pmc_process_counter(FAULTS, 0));
		ASSERT_EQ(0, dev_attach(self->dev, id[i], self->t.pid));
	}
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	EXPECT_EQ(NPMC, self->r.npmc);
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	ASSERT_TRUE(target_step(&self->t));
	for (i = 0; i < NPMC; i++) {
		ASSERT_EQ(0, dev_read(self->dev, id[i], HWPMC_CPU_ALL, &n));
		if (!i)
			first = n;
		EXPECT_EQ(first, n);
		EXPECT_LE(100, n);
		EXPECT_GT(200, n);
	}
}

/* Clocks are apart by no more than the skew, and what the stop took. */
TEST_F(recordall, skew)
{
	uint64_t low = UINT64_MAX, high = 0, start, skew, stop;
	struct hwpmc_rw rw;
	uint32_t id[NPMC], i;
	int cpu;

	ASSERT_EQ(1, online_cpus(&cpu, 1));
	for (i = 0; i < NPMC; i++)
		id[i] = allocated(self->dev, pmc_counter(CPU_CLOCK));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	skew = self->r.skew;
	sleep_ms(50);
	start = now_ns();
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	stop = now_ns() - start;
	for (i = 0; i < NPMC; i++) {
		rw = (struct hwpmc_rw) {
			.id = id[i], .flags = HWPMC_F_OLDVALUE, .cpu = cpu,
		};
		ASSERT_EQ(0, dev_rw(self->dev, &rw));
		low = rw.enabled < low ? rw.enabled : low;
		high = rw.enabled > high ? rw.enabled : high;
	}
	TH_LOG("skew %" PRIu64 " us, stop %" PRIu64 " us, clocks %" PRIu64
	       " us apart", skew / 1000, stop / 1000, (high - low) / 1000);
	EXPECT_LE(50 * MSEC, low);
	/* the clocks are not the same ones */
	EXPECT_GE((skew + stop) * 101 / 100, high - low);
}

/* ------------------------------------------------------------------------
 * The library's form
 */
TEST(library)
{
	struct hwpmc_condition c = {
		.what = HWPMC_COND_PID, .op = HWPMC_COND_EQ, .value = getpid(),
	};
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = PMC_MODE_SS, .cpu = PMC_CPU_ALL,
		.flags = PMC_F_INCLUDE_OWNER, .count = 1000000,
	};
	struct pmc_owner *o = pmc_owner_open(0);
	struct hwpmc_driverstats st = {};
	uint64_t base = 1, skew = 0;
	int file = temp_file(), i;
	uint32_t npmc = 0;
	struct sample s;
	struct log log;
	pmc_id_t id;

	ASSERT_NE(NULL, o);
	ASSERT_EQ(0, pmc_owner_atbase(o, 0, &base));
	EXPECT_EQ(getauxval(AT_BASE), base);
	EXPECT_EQ(-1, pmc_owner_atbase(o, -1, &base));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, pmc_owner_record(o, 1, NULL, NULL));
	EXPECT_EQ(ENOENT, errno);
	ASSERT_EQ(0, pmc_owner_configure_logfile(o, file));
	ASSERT_EQ(0, pmc_owner_allocate(o, "cpu-clock", &opts, &id));
	EXPECT_EQ(-1, pmc_owner_filter(o, id, &c, 1ULL << 32));
	EXPECT_EQ(E2BIG, errno);
	ASSERT_EQ(0, pmc_owner_filter(o, id, &c, 1));
	ASSERT_EQ(0, pmc_owner_record(o, 1, &npmc, &skew));
	EXPECT_EQ(1, npmc);
	EXPECT_LT(0, skew);
	for (i = 0; i < 10000 && st.account.committed < ENOUGH / 5; i++) {
		fault_pages(100);
		ASSERT_EQ(0, pmc_owner_stats(o, HWPMC_STATS_OWNER, &st,
					     sizeof(st)));
	}
	EXPECT_LE(ENOUGH / 5, st.account.committed);
	ASSERT_EQ(0, pmc_owner_record(o, 0, NULL, NULL));
	ASSERT_EQ(0, pmc_owner_close_logfile(o));
	LOAD_LOG(&log, file, LOG_DROPS);
	LOG_FOR_EACH_SAMPLE(&log, s)
		EXPECT_EQ(getpid(), s.pid);
	pmc_owner_close(o);
}

TEST_HARNESS_MAIN
