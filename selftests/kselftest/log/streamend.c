// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log that is read from the device, slowly or not to its end: what does not fit
 * is counted, and nobody waits for a reader that does not come.
 */
#include "rate.h"
#include "stream.h"

/* Waits until samples have been dropped. */
static bool wait_dropped(int dev)
{
	return WAIT_UNTIL(OWNER_STAT(dev, intr_bufferfull), 120000);
}

/* ------------------------------------------------------------------------
 * Slow readers
 */
TEST_F(stream, slow_reader)
{
	struct reader r;

	ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
	reader_begin(&r, self->dev, PMCLOG_RECORD_MAX, 100);
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(bearable_hz(20000)), NULL));
	EXPECT_TRUE(wait_dropped(self->dev));
	EXPECT_TRUE(wait_committed(self->dev, 100));
	ASSERT_EQ(0, dev_closelog(self->dev));
	r.pause_ms = 0;
	reader_end(&r);
	ASSERT_LOG(&r.log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(0, log_dropped(&r.log));
	EXPECT_TRUE(r.log.closed);
}

/* No reader: the queue has what it is to keep, the rings the rest. */
static void fill_up(META, FIXTURE_DATA(stream) *self)
{
	struct hwpmc_driverstats st;

	ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(bearable_hz(20000)), NULL));
	ASSERT_TRUE(wait_dropped(self->dev));
	ASSERT_TRUE(wait_stalled(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	EXPECT_LT(SMALL / 2, st.bytes_written);
}

TEST_F(stream, no_reader)
{
	struct hwpmc_driverstats st;
	uint32_t id;
	int i, err;

	fill_up(_metadata, self);
	/* whatever is asked of it meanwhile returns */
	EXPECT_EQ(0, dev_flush(self->dev));
	EXPECT_EQ(0, dev_run(self->dev, pmc_clock(100), &id));
	EXPECT_EQ(0, dev_stop(self->dev, id));
	EXPECT_EQ(0, dev_release(self->dev, id));
	for (i = 0, err = 0; i < 1000000 && !err; i++)
		err = dev_userdata(self->dev, 0x333);
	EXPECT_EQ(-ENOMEM, err);
	EXPECT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	EXPECT_LT(0, st.account.in_rings);
	EXPECT_EQ(0, st.account.discarded);
	/* now he comes */
	expect_whole(_metadata, self, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(0, log_dropped(&self->log));
	EXPECT_EQ(i - 1, words(&self->log, 0x333));
}

/* Sampling goes on when he has come. */
TEST_F(stream, late_reader)
{
	unsigned int before;

	fill_up(_metadata, self);
	take_ready(self);
	before = samples(&self->log);
	EXPECT_LT(0, before);
	while (samples(&self->log) < before + 2000)
		ASSERT_LT(0, take(self, 1 << 20));
	expect_whole(_metadata, self, LOG_DROPS | LOG_PROC_DROPS);
}

/* ------------------------------------------------------------------------
 * The end
 */

/* What was not written is discarded; nobody can say what was not read. */
static void expect_discarded(META, const struct hwpmc_driverstats *before)
{
	const struct pmclog_account *a = &before->account;
	struct hwpmc_driverstats st;
	uint64_t committed;
	int dev = dev_open();

	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_MODULE, &st));
	committed = st.account.committed - a->committed;
	EXPECT_LT(0, committed);
	EXPECT_EQ(a->in_rings, st.account.in_rings);
	EXPECT_LT(a->discarded, st.account.discarded);
	EXPECT_EQ(committed, st.account.written - a->written +
			     st.account.discarded - a->discarded);
	EXPECT_EQ(0, st.account.overflows - st.account.committed -
		     st.account.filtered - st.intr_bufferfull);
	close(dev);
}

TEST_F(stream, closed_unread)
{
	struct hwpmc_driverstats before;
	unsigned int ms;

	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_MODULE, &before));
	fill_up(_metadata, self);
	ms = close_ms(self->dev);
	self->dev = -1;
	TH_LOG("close took %u ms", ms);
	EXPECT_GT(CLOSE_MS, ms);
	EXPECT_TRUE(recorders_are(self->users));
	expect_discarded(_metadata, &before);
}

/* Its end has begun already. */
TEST_F(stream, closed_while_it_ends)
{
	struct hwpmc_driverstats before;

	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_MODULE, &before));
	fill_up(_metadata, self);
	ASSERT_EQ(0, dev_closelog(self->dev));
	EXPECT_GT(CLOSE_MS, close_ms(self->dev));
	self->dev = -1;
	EXPECT_TRUE(recorders_are(self->users));
	expect_discarded(_metadata, &before);
}

/* The whole process is killed, one thread of it waiting for records. */
TEST_F(stream, killed)
{
	int ready[2], i;
	pid_t child;
	char c;

	close(self->dev);
	self->dev = -1;
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pipe(ready));
		child = fork_bound();
		if (!child) {
			struct waiter w;

			self->dev = dev_open();
			if (dev_stream(self->dev, 0, SMALL) ||
			    (i < 2 && dev_run(self->dev, pmc_clock(bearable_hz(5000)), NULL)))
				_exit(1);
			if (i == 0 && !wait_stalled(self->dev))
				_exit(2);
			if (i == 2 && (dev_flush(self->dev) ||
				       take_ready(self) != -EAGAIN ||
				       !waiter_begin(&w, self)))
				_exit(3);
			close(ready[1]);
			while (i == 1 && take(self, 8192) > 0)
				self->log.len = 0;
			pause();
		}
		close(ready[1]);
		ASSERT_EQ(0, read(ready[0], &c, 1));
		close(ready[0]);
		EXPECT_EQ(0, waitpid(child, NULL, WNOHANG)) TH_LOG("%d", i);
		kill(child, SIGKILL);
		EXPECT_EQ(128 + SIGKILL, wait_for(child));
		EXPECT_TRUE(recorders_are(self->users));
	}
}

/* Its end has to be read before the next one can begin. */
TEST_F(stream, one_after_another)
{
	int file = temp_file(), i;
	struct log log;
	uint32_t id;

	for (i = 0; i < 3; i++) {
		self->log.len = 0;
		ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
		EXPECT_EQ(-EBUSY, dev_stream(self->dev, 0, 0));
		EXPECT_EQ(-EBUSY, dev_configure(self->dev, file));
		EXPECT_EQ(-EINVAL, dev_rotate(self->dev, file));
		ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), &id));
		EXPECT_TRUE(wait_committed(self->dev, 100));
		ASSERT_EQ(0, i ? dev_closelog(self->dev) :
				 dev_configure(self->dev, -1));
		EXPECT_EQ(-EBUSY, dev_stream(self->dev, 0, 0));
		EXPECT_EQ(-EBUSY, dev_configure(self->dev, file));
		EXPECT_EQ(-EINVAL, dev_flush(self->dev));
		EXPECT_EQ(-EINVAL, dev_rotate(self->dev, file));
		EXPECT_EQ(-EINVAL, dev_userdata(self->dev, 1));
		EXPECT_EQ(-EBADFD, dev_start(self->dev, id));
		/* it ends as it is */
		EXPECT_EQ(0, dev_closelog(self->dev));
		EXPECT_EQ(0, dev_configure(self->dev, -1));
		while (!log_count(&self->log, PMCLOG_T_CLOSELOG, 4, 0)) {
			ASSERT_LT(0, take(self, 8192));
			EXPECT_EQ(-EBUSY, dev_configure(self->dev, file));
		}
		ASSERT_EQ(0, take(self, 8192));
		ASSERT_EQ(0, take(self, 8192));
		EXPECT_EQ(-EINVAL, dev_closelog(self->dev));
		EXPECT_EQ(-EINVAL, dev_configure(self->dev, -1));
		memset(&self->log.records, 0, sizeof(self->log) -
					      offsetof(struct log, records));
		ASSERT_LOG(&self->log, 0);
		EXPECT_LE(100, self->log.samples);
		ASSERT_EQ(0, dev_release(self->dev, id));
	}
	ASSERT_EQ(0, dev_configure(self->dev, file));
	EXPECT_EQ(-EINVAL, take(self, 8192));
	EXPECT_EQ(0, poll_in(self->dev, 0));
	EXPECT_EQ(0, dev_rotate(self->dev, file));
	ASSERT_EQ(0, dev_closelog(self->dev));
	EXPECT_EQ(-EINVAL, take(self, 8192));
	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	EXPECT_LT(0, take(self, 8192));
	log_load(&log, file);
}

TEST_HARNESS_MAIN
