// SPDX-License-Identifier: GPL-2.0-only
/*
 * An owner with a budget: the module lowers the rates of its PMCs, so that handlers and
 * the writer thread take no more of any CPU, and the log says so.
 */
#include <sys/mman.h>

#include "periods.h"
#include "recorder.h"
#include "test.h"

#define PERCENT		10000U	/* millionths */
#define BUDGET		(scaled(2, 5) * PERCENT)
#define RATE		100000	/* the most that the module asks for */

static int set_budget(int dev, uint32_t ppm)
{
	return DEV_ASK(dev, SETBUDGET, setbudget, .ppm = ppm);
}

static struct hwpmc_getbudget get_budget(int dev)
{
	struct hwpmc_getbudget b = {};

	if (dev_ioctl(dev, HWPMC_IOC_GETBUDGET, &b))
		b.ppm = ~0U;
	return b;
}

/* A clock of processes that keeps its rate */
static struct hwpmc_allocate clock_at(uint64_t rate)
{
	struct hwpmc_allocate a = pmc_process_sampler(TASK_CLOCK, rate, HWPMC_F_FREQ);

	a.flags |= HWPMC_F_USERCALLCHAIN;
	return a;
}

FIXTURE(budget)
{
	int dev;
	int file;
	pid_t load;
};

FIXTURE_SETUP(budget)
{
	self->file = temp_file();
	OPEN_DEVICE(self->dev);
	self->load = load_user(0);
	ASSERT_LT(0, self->load);
}

FIXTURE_TEARDOWN(budget)
{
	close(self->dev);
	load_end(self->load);
}

TEST_F(budget, refuses)
{
	struct hwpmc_setbudget b = { .ppm = PERCENT, .reserved = 1 };
	struct hwpmc_allocate a = pmc_process_faults(0);

	EXPECT_EQ(-EINVAL, dev_ioctl(self->dev, HWPMC_IOC_SETBUDGET, &b));
	EXPECT_EQ(-EINVAL, set_budget(self->dev, 100 * PERCENT + 1));
	EXPECT_EQ(0, get_budget(self->dev).elapsed);
	EXPECT_EQ(0, set_budget(self->dev, 100 * PERCENT));
	EXPECT_EQ(100 * PERCENT, get_budget(self->dev).ppm);
	EXPECT_EQ(0, set_budget(self->dev, 0));
	EXPECT_EQ(0, get_budget(self->dev).elapsed);
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	EXPECT_EQ(-EBUSY, set_budget(self->dev, PERCENT));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(-EBUSY, set_budget(self->dev, PERCENT));
}

/* A clock has a period without a budget, and keeps its rate with one. */
TEST_F(budget, clocks)
{
	struct hwpmc_allocate a = clock_at(1000);

	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_FALSE(a.flags & HWPMC_F_FREQ);
	EXPECT_EQ(1000000, a.count);
	ASSERT_EQ(0, dev_release(self->dev, a.id));
	ASSERT_EQ(0, set_budget(self->dev, PERCENT));
	a = clock_at(1000);
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_TRUE(a.flags & HWPMC_F_FREQ);
	EXPECT_EQ(1000, a.count);
}

/* The part of the rates in force after a clock with @rate on @cpu, in per cent */
static unsigned int scale_with(int dev, int cpu, uint64_t rate, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_clock(rate);

	a.flags |= HWPMC_F_FREQ;
	a.count = rate;
	a.cpu = cpu;
	if (dev_allocate(dev, &a))
		return 0;
	*id = a.id;
	return get_budget(dev).scale / PERCENT;
}

/* A PMC that there cannot be lowers no rate of the others. */
TEST_F(budget, failed_allocate)
{
	struct hwpmc_allocate a = pmc_sampler(PERF_TYPE_TRACEPOINT, ~0U, RATE);
	uint32_t id;

	ASSERT_EQ(0, set_budget(self->dev, PERCENT));
	ASSERT_EQ(100, scale_with(self->dev, 0, 900, &id));
	a.flags |= HWPMC_F_FREQ;
	EXPECT_GT(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(100, get_budget(self->dev).scale / PERCENT);
}

/* An ioctl that cannot return its result has lowered no rate. */
TEST_F(budget, untellable)
{
	const long page = sysconf(_SC_PAGESIZE);
	void *arg = mmap(NULL, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hwpmc_allocate a = pmc_clock(RATE);
	struct hwpmc_setcount s = { .count = RATE };

	ASSERT_NE(MAP_FAILED, arg);
	ASSERT_EQ(0, set_budget(self->dev, PERCENT));
	ASSERT_EQ(100, scale_with(self->dev, 0, 900, &s.id));
	a.flags |= HWPMC_F_FREQ;
	a.cpu = 0;
	memcpy(arg, &a, sizeof(a));
	ASSERT_EQ(0, mprotect(arg, page, PROT_READ));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev, HWPMC_IOC_PMCALLOCATE, arg));
	EXPECT_EQ(100, get_budget(self->dev).scale / PERCENT);
	ASSERT_EQ(0, mprotect(arg, page, PROT_READ | PROT_WRITE));
	memcpy(arg, &s, sizeof(s));
	ASSERT_EQ(0, mprotect(arg, page, PROT_READ));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev, HWPMC_IOC_PMCSETCOUNT, arg));
	EXPECT_EQ(100, get_budget(self->dev).scale / PERCENT);
	munmap(arg, page);
}

/*
 * The clock of user mode counts in the kernel, too.  What a sample stands for is a
 * period, not the time in the kernel before it.
 */
TEST_F(budget, user_mode_only)
{
	struct hwpmc_allocate a = clock_at(1000);
	uint64_t weight = 0;
	struct pmclog_rec rec;
	struct log log;
	pid_t kernel = load_kernel(0);
	unsigned int n = 0;

	ASSERT_LT(0, kernel);
	ASSERT_EQ(0, set_budget(self->dev, 100 * PERCENT));
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	a.caps = HWPMC_CAP_USER;
	ASSERT_EQ(0, dev_run_on(self->dev, a, kernel, NULL));
	EXPECT_TRUE(wait_committed(self->dev, 20));
	ASSERT_EQ(0, dev_closelog(self->dev));
	load_end(kernel);
	LOAD_LOG(&log, self->file, 0);
	LOG_FOR_EACH(&log, rec) {
		if (!IS_EXT(&rec, PERIOD))
			continue;
		weight = REC64(&rec, ext_period, period);
		TH_LOG("%llu ns", (unsigned long long)weight);
		EXPECT_GE(NSEC / 1000 * 5 / 4, weight);
		n++;
	}
	EXPECT_LT(0, n);
	log_free(&log);
}

/*
 * Before anything is measured, a budget of 1 % has room for 1,000 samples a second of a
 * CPU.  What other CPUs take counts for nothing there.
 */
TEST_F(budget, by_cpu)
{
	uint64_t rate = 3000;
	uint32_t id;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, set_budget(self->dev, PERCENT));
	EXPECT_EQ(100, scale_with(self->dev, 0, 1000, &id));
	EXPECT_EQ(100, scale_with(self->dev, 1, 1000, &id));
	EXPECT_EQ(50, scale_with(self->dev, 1, 1000, &id));
	ASSERT_EQ(0, dev_setcount(self->dev, id, &rate));
	EXPECT_EQ(3000, rate);
	EXPECT_EQ(25, get_budget(self->dev).scale / PERCENT);
}

/* Descriptions of the PMC in the log, and the lowest and highest rate in them */
struct described {
	unsigned int	n;
	uint64_t	lowest;
	uint64_t	highest;
};

static struct described described(struct log *log, uint32_t pmcid)
{
	struct described d = { .lowest = ~0ULL };
	struct pmclog_rec rec;
	uint64_t rate;

	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_PMCALLOCATEDYN ||
		    REC32(&rec, pmcallocatedyn, pmcid) != pmcid)
			continue;
		rate = REC64(&rec, pmcallocatedyn, rate);
		d.n++;
		d.lowest = rate < d.lowest ? rate : d.lowest;
		d.highest = rate > d.highest ? rate : d.highest;
	}
	return d;
}

/* What handlers and the writer thread took of the CPU that paid most, in millionths */
static uint64_t share(const struct hwpmc_getbudget *from,
		      const struct hwpmc_getbudget *to)
{
	return (to->spent - from->spent) * 1000000 / (to->elapsed - from->elapsed);
}

/* The least of the shares in @seconds seconds: what a host does meanwhile is in each. */
static uint64_t least_share(int dev, unsigned int seconds)
{
	struct hwpmc_getbudget from = get_budget(dev), to;
	uint64_t least = ~0ULL;

	for (; seconds--; from = to) {
		sleep(1);
		to = get_budget(dev);
		if (share(&from, &to) < least)
			least = share(&from, &to);
	}
	return least;
}

/* 100 kHz are asked of a clock. */
TEST_F(budget, is_kept)
{
	struct hwpmc_getbudget late;
	struct described d;
	struct periods p;
	struct log log;
	uint64_t least, ran;
	uint32_t id;

	/* a budget that was taken back does no harm to the next */
	ASSERT_EQ(0, set_budget(self->dev, PERCENT));
	ASSERT_EQ(0, set_budget(self->dev, 0));
	sleep(1);
	ASSERT_EQ(0, set_budget(self->dev, BUDGET));
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_EQ(0, dev_run_on(self->dev, clock_at(RATE), self->load, &id));
	sleep(1);
	least = least_share(self->dev, 6);
	late = get_budget(self->dev);
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ran = dev_value(self->dev, id);
	END_LOG(self->dev, self->file, &log, 0);
	periods_look(&log, id, &p);
	d = described(&log, id);
	TH_LOG("%.2f%% of CPU %u, %.2f%% of the rate; %" PRIu64 " ns in %" PRIu64
	       " samples of %" PRIu64 " ns; %u rates, %" PRIu64 " to %" PRIu64,
	       (double)least / PERCENT, late.cpu,
	       (double)late.scale / PERCENT, ran, p.samples, p.sum, d.n, d.lowest,
	       d.highest);
	EXPECT_GE(11 * BUDGET / 10, least);
	EXPECT_GT(1000000, late.scale);
	EXPECT_EQ(0, p.without);
	EXPECT_LT(20, p.samples);
	/* each change of the period begins a new one */
	EXPECT_LE(ran - ran / 10, p.sum);
	EXPECT_GE(ran + ran / 100, p.sum);
	EXPECT_GT(RATE, d.highest);
}

/* A PMC that costs much is gone: the other one has its rate again. */
TEST_F(budget, rates_rise)
{
	/* a rate that the budget allows: on a busy debug kernel a sample takes a millisecond */
	const uint64_t rate = scaled(200, 40);
	struct hwpmc_getbudget before, after;
	uint32_t dear, cheap;
	struct described d;
	struct log log;
	int i;

	ASSERT_EQ(0, set_budget(self->dev, scaled(5, 20) * PERCENT));
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_EQ(0, dev_run_on(self->dev, clock_at(RATE), self->load, &dear));
	ASSERT_EQ(0, dev_run_on(self->dev, clock_at(rate), self->load, &cheap));
	sleep(1);
	before = get_budget(self->dev);
	ASSERT_EQ(0, dev_release(self->dev, dear));
	/* while the host runs other machines, a sample seems to take their time */
	for (i = 0; i < 60; i++) {
		sleep(1);
		after = get_budget(self->dev);
		if (after.scale == 1000000)
			break;
	}
	ASSERT_EQ(0, dev_release(self->dev, cheap));
	END_LOG(self->dev, self->file, &log, 0);
	d = described(&log, cheap);
	TH_LOG("%.2f%% of the rate, then %.2f%%; %u rates, %" PRIu64 " to %" PRIu64,
	       (double)before.scale / PERCENT, (double)after.scale / PERCENT, d.n,
	       d.lowest, d.highest);
	EXPECT_EQ(1000000, after.scale);
	EXPECT_GT(rate, d.lowest);
	EXPECT_EQ(rate, d.highest);
}

TEST_HARNESS_MAIN
