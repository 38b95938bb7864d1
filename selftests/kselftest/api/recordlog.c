// SPDX-License-Identifier: GPL-2.0-only
/*
 * RECORD in the log: when it was on, and nothing of what PMCs sample before the
 * last one runs.  What it does to PMCs: recordall.c.
 */
#include "onoff.h"
#include "recorder.h"
#include "test.h"

#define ENOUGH		scaled(50, 10)
#define HZ		scaled(2000, 200)

FIXTURE(recordlog)
{
	int dev;
	int file;
	struct hwpmc_record r;
};

FIXTURE_SETUP(recordlog)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
}

FIXTURE_TEARDOWN(recordlog)
{
}

/*
 * Twice on and off; a third PMC, started by itself, samples all the time.  On
 * busy CPUs, so that something overflows while the gate is shut.
 */
TEST_F(recordlog, between)
{
	uint32_t id[3], i, inside[2] = {}, outside;
	pid_t load[2] = { load_user(-1), load_user(-1) };
	uint64_t before[2], after[2], skew[2];
	struct hwpmc_record *r = &self->r;
	struct log log;
	struct told t;

	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	for (i = 0; i < 3; i++)
		id[i] = allocated(self->dev, pmc_clock(HZ));
	ASSERT_EQ(0, dev_start(self->dev, id[2]));
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(wait_samples(self->dev, self->file, ENOUGH,
					 .pmcid = id[2], .from = raw_ns()));
		before[i] = raw_ns();
		ASSERT_EQ(0, dev_record(self->dev, true, r));
		after[i] = raw_ns();
		skew[i] = r->skew;
		EXPECT_EQ(2, r->npmc);
		ASSERT_TRUE(wait_samples(self->dev, self->file, ENOUGH,
					 .pmcid = id[i], .from = raw_ns()));
		ASSERT_EQ(0, dev_record(self->dev, false, r));
	}
	ASSERT_TRUE(wait_samples(self->dev, self->file, ENOUGH,
				 .pmcid = id[2], .from = raw_ns()));
	END_LOG(self->dev, self->file, &log, LOG_DROPS);
	load_end(load[0]);
	load_end(load[1]);
	find_told(&log, &t);
	ASSERT_EQ(4, t.n);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(!(i % 2), t.r[i].on);
		EXPECT_EQ(2, t.r[i].npmc);
	}
	for (i = 0; i < 2; i++) {
		/* from the first counter to the last, and only that */
		EXPECT_EQ(skew[i], t.r[2 * i].skew);
		EXPECT_EQ(0, t.r[2 * i + 1].skew);
		EXPECT_LT(0, skew[i]);
		EXPECT_LE(skew[i], t.r[2 * i].tsc - before[i]);
		EXPECT_LE(before[i], t.r[2 * i].tsc);
		EXPECT_GE(after[i], t.r[2 * i].tsc);
		inside[0] += log_samples(&log, .pmcid = id[0],
					 .from = t.r[2 * i].tsc,
					 .to = t.r[2 * i + 1].tsc);
		inside[1] += log_samples(&log, .pmcid = id[1],
					 .from = t.r[2 * i].tsc,
					 .to = t.r[2 * i + 1].tsc);
		TH_LOG("skew %" PRIu64 " us", skew[i] / 1000);
	}
	for (i = 0; i < 2; i++) {
		EXPECT_LE(ENOUGH, inside[i]);
		EXPECT_EQ(inside[i], log_samples(&log, .pmcid = id[i]));
	}
	outside = log_samples(&log, .pmcid = id[2], .to = t.r[0].tsc - 1);
	EXPECT_LE(ENOUGH, outside);
	EXPECT_LE(ENOUGH, log_samples(&log, .pmcid = id[2],
				      .from = t.r[1].tsc,
				      .to = t.r[2].tsc));
	EXPECT_LE(ENOUGH, log_samples(&log, .pmcid = id[2],
				      .from = t.r[3].tsc));
}

/* A counter that stands still between two RECORDs has nothing to tell. */
TEST_F(recordlog, counters_alone)
{
	struct log log;
	struct told t;

	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_NE(0, allocated(self->dev, pmc_counter(FAULTS)));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	END_LOG(self->dev, self->file, &log, 0);
	find_told(&log, &t);
	ASSERT_EQ(2, t.n);
	EXPECT_EQ(1, t.r[0].on);
	EXPECT_EQ(0, t.r[1].on);
	EXPECT_EQ(1, t.r[1].npmc);
}

/* A log that begins in between has what is sampled, and the end of it. */
TEST_F(recordlog, rotated)
{
	uint32_t id = allocated(self->dev, pmc_clock(HZ));
	int next = temp_file();
	struct log log;
	struct told t;

	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_TRUE(wait_samples(self->dev, self->file, ENOUGH, .pmcid = id));
	ASSERT_EQ(0, dev_rotate(self->dev, next));
	ASSERT_TRUE(wait_samples(self->dev, next, ENOUGH, .pmcid = id));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	END_LOG(self->dev, self->file, &log, LOG_DROPS);
	find_told(&log, &t);
	ASSERT_EQ(1, t.n);
	EXPECT_EQ(1, t.r[0].on);
	log_free(&log);
	LOAD_LOG(&log, next, LOG_DROPS);
	find_told(&log, &t);
	ASSERT_EQ(1, t.n);
	EXPECT_EQ(0, t.r[0].on);
	EXPECT_EQ(log.samples, log_samples(&log, .pmcid = id, .to = t.r[0].tsc));
}

/* Without a log one begins that is read from the device, if one is needed. */
TEST_F(recordlog, streamed)
{
	struct reader rd;
	uint32_t id[2];
	struct told t;

	id[0] = allocated(self->dev, pmc_counter(FAULTS));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	EXPECT_EQ(-EINVAL, dev_closelog(self->dev));
	id[1] = allocated(self->dev, pmc_clock(HZ));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	EXPECT_EQ(2, self->r.npmc);
	EXPECT_EQ(-EBUSY, dev_configure(self->dev, self->file));
	reader_begin(&rd, self->dev, 1 << 16, 0);
	ASSERT_TRUE(wait_committed(self->dev, ENOUGH));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	EXPECT_EQ(2, self->r.npmc);
	ASSERT_EQ(0, dev_closelog(self->dev));
	reader_end(&rd);
	ASSERT_LOG(&rd.log, LOG_DROPS);
	find_told(&rd.log, &t);
	ASSERT_EQ(2, t.n);
	EXPECT_EQ(2, t.r[0].npmc);
	EXPECT_LE(ENOUGH, rd.log.samples);
	EXPECT_EQ(rd.log.samples, log_samples(&rd.log, .pmcid = id[1],
					      .from = t.r[0].tsc,
					      .to = t.r[1].tsc));
	/* the next one, and nobody has read it */
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	ASSERT_EQ(0, dev_closelog(self->dev));
	EXPECT_EQ(-EBUSY, dev_record(self->dev, true, &self->r));
	EXPECT_STATE(id[0], STOPPED);
}

/* A CPU that comes online meanwhile joins in. */
TEST_F(recordlog, hotplug)
{
	int cpu[2];
	uint64_t from;
	uint32_t id;

	if (online_cpus(cpu, 2) < 2 || cpu_set_online(cpu[1], false))
		SKIP(return, "no CPU that can be taken offline");
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_EQ(0, dev_pmc(self->dev, pmc_clock(HZ), &id));
	ASSERT_EQ(0, dev_record(self->dev, true, &self->r));
	ASSERT_EQ(0, cpu_set_online(cpu[1], true));
	from = raw_ns();
	EXPECT_TRUE(wait_samples(self->dev, self->file, ENOUGH,
				 .cpus = 1ULL << cpu[1], .from = from));
	ASSERT_EQ(0, dev_record(self->dev, false, &self->r));
	EXPECT_EQ(1, self->r.npmc);
	EXPECT_STATE(id, STOPPED);
}

TEST_HARNESS_MAIN
