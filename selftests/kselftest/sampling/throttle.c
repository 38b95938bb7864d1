// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf stops an event until the next tick if it has more samples than
 * kernel.perf_event_max_sample_rate allows.  It tells a kernel's counter nothing of it.
 */
#include "rate.h"
#include "recorder.h"
#include "test.h"

#define PERCENT		"/proc/sys/kernel/perf_cpu_time_max_percent"
#define RATE		"/proc/sys/kernel/perf_event_max_sample_rate"
#define LEAST	600	/* samples a second: two in a tick */

FIXTURE(throttle)
{
	char percent[32], rate[32];
	pid_t loads[2];
	int dev;
};

FIXTURE_SETUP(throttle)
{
	ASSERT_TRUE(read_line(PERCENT, self->percent, sizeof(self->percent)));
	ASSERT_TRUE(read_line(RATE, self->rate, sizeof(self->rate)));
	self->loads[0] = load_user(0);
	self->loads[1] = load_user(1);
	OPEN_DEVICE(self->dev);
	ASSERT_TRUE(write_text(PERCENT, "25"));	/* or the rate cannot be set */
}

FIXTURE_TEARDOWN(throttle)
{
	write_text(RATE, self->rate);
	write_text(PERCENT, self->percent);
	close(self->dev);
	load_end(self->loads[0]);
	load_end(self->loads[1]);
}

/* Of all CPUs, from the last records of each */
static void sum_rates(struct log *log, struct pmclog_ext_rate *sum)
{
	struct pmclog_ext_rate last[2] = {};
	struct pmclog_rec rec;
	unsigned int i;

	LOG_FOR_EACH(log, rec)
		if (IS_EXT(&rec, RATE) && REC32(&rec, ext_rate, cpu) < 2)
			memcpy(&last[REC32(&rec, ext_rate, cpu)], rec.data, sizeof(*last));
	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < 2; i++) {
		sum->expected += last[i].expected;
		sum->achieved += last[i].achieved;
		sum->throttled += last[i].throttled;
	}
}

static void record(META, int dev, struct hwpmc_allocate a, struct pmclog_ext_rate *sum)
{
	int file = temp_file();
	struct log log;

	BEGIN_LOG(dev, file, a, NULL);
	EXPECT_TRUE(wait_samples(dev, file, 30, .cpus = 1));
	EXPECT_TRUE(wait_samples(dev, file, 30, .cpus = 2));
	END_LOG(dev, file, &log, LOG_DROPS);
	sum_rates(&log, sum);
	TH_LOG("%llu asked, %llu came, throttled %llu times; account: %llu",
	       sum->expected, sum->achieved, sum->throttled, log.account.throttled);
	EXPECT_EQ(log.account.throttled, sum->throttled);
	close(file);
}

/*
 * As many as are affordable are asked, and a hundred a second and CPU allowed.  Returns how
 * many of those asked did not come.
 */
static int64_t compare(META, int dev, const char *rate, struct hwpmc_allocate a)
{
	struct pmclog_ext_rate whole, less;

	EXPECT_TRUE(write_text(RATE, "100000"));
	record(_metadata, dev, a, &whole);
	EXPECT_EQ(0, whole.throttled);
	EXPECT_TRUE(write_text(RATE, "100"));
	record(_metadata, dev, a, &less);
	EXPECT_TRUE(write_text(RATE, rate));
	EXPECT_LT(0, less.throttled);
	return (int64_t)(less.expected - less.achieved);
}

/* More than one a tick, or perf has nothing to stop */
static unsigned int hz(void)
{
	return affordable_hz(2000);
}

TEST_F(throttle, clock)
{
	if (hz() < LEAST)
		SKIP(return, "more samples than ticks cost too much here");
	EXPECT_LT(0, compare(_metadata, self->dev, self->rate, pmc_clock(hz())));
}

TEST_F(throttle, cycles)
{
	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	if (hz() < LEAST)
		SKIP(return, "more samples than ticks cost too much here");
	/* a counter that is stopped asks for nothing */
	EXPECT_LE(0, compare(_metadata, self->dev, self->rate, pmc_sampler(CYCLES, NSEC / hz())));
}

TEST_HARNESS_MAIN
