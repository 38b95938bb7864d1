// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a flight recorder's snapshot goes to: a pipe, a full disk, a reader who
 * reads slowly, or never.  The error is the snapshot's, not the recording's.
 */
#include <pthread.h>

#include "flight.h"
#include "module.h"

FIXTURE(flightsink)
{
	int dev;
	pid_t load;
};

FIXTURE_SETUP(flightsink)
{
	/* before the device is opened: a child would keep it open */
	self->load = load_user(1);
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(flightsink)
{
	close(self->dev);
	load_end(self->load);
}

TEST_F(flightsink, pipe)
{
	struct reader r;
	int ends[2];
	uint32_t id;

	fly_at(_metadata, self->dev, SMALL, 0, OFTEN, &id);
	ASSERT_TRUE(wait_bytes(self->dev, SMALL));
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	reader_begin(&r, ends[0], 4096, 1);
	ASSERT_EQ(0, dev_snapshot(self->dev, ends[1], 0));
	close(ends[1]);
	reader_end(&r);
	ASSERT_LOG(&r.log, LOG_DROPS);
	EXPECT_LT(0, r.log.samples);
	expect_law(_metadata, self->dev, id);
}

TEST_F(flightsink, nonblocking_pipe)
{
	struct reader r;
	int ends[2];

	fly_at(_metadata, self->dev, SMALL, 0, OFTEN, NULL);
	ASSERT_TRUE(wait_bytes(self->dev, SMALL));
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC | O_NONBLOCK));
	fcntl(ends[0], F_SETFL, 0);
	reader_begin(&r, ends[0], 65536, 1);
	ASSERT_EQ(0, dev_snapshot(self->dev, ends[1], 0));
	close(ends[1]);
	reader_end(&r);
	ASSERT_LOG(&r.log, LOG_DROPS);
}

/* Its error is the snapshot's, not the recording's. */
TEST_F(flightsink, full_disk)
{
	struct snapshot s;
	struct log log;
	int file;
	uint32_t id;

	OPEN_SMALL(file, "/tmp/small", 64 << 10);
	fly_at(_metadata, self->dev, SMALL, 0, OFTEN, &id);
	ASSERT_TRUE(wait_bytes(self->dev, SMALL));
	EXPECT_EQ(-ENOSPC, dev_snapshot(self->dev, file, 0));
	EXPECT_EQ(-ENOSPC, dev_snapshot(self->dev, file, 0));
	EXPECT_EQ(0, dev_events(self->dev) & POLLERR);
	EXPECT_TRUE(wait_committed(self->dev, 20));
	shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
	EXPECT_LT(0, log.samples);
	expect_law(_metadata, self->dev, id);
}

TEST_F(flightsink, dead_reader)
{
	struct snapshot s;
	struct log log;
	int ends[2];

	fly(_metadata, self->dev, SMALL, 0, NULL);
	ASSERT_TRUE(wait_committed(self->dev, 100));
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	close(ends[0]);
	EXPECT_EQ(-EPIPE, dev_snapshot(self->dev, ends[1], 0));
	shoot(_metadata, self->dev, &log, &s, LOG_DROPS);
	EXPECT_LT(0, log.samples);
}

struct shooter {
	int dev;
	int file;
	int err;
};

static void *shoot_into(void *arg)
{
	struct shooter *s = arg;

	s->err = dev_snapshot(s->dev, s->file, 0);
	close(s->file);
	return NULL;
}

/* How many CLOCKs are of @real or later. */
static unsigned int clocks_since(struct log *log, uint64_t real)
{
	return COUNT_RECORDS(log, rec, IS_EXT(&rec, CLOCK) &&
			     REC64(&rec, ext_clock, real) >= real);
}

/* The wall clock at the log's beginning; seconds */
static int64_t begins_at(struct log *log)
{
	struct pmclog_rec rec;

	LOG_FOR_EACH(log, rec)
		if (rec.type == PMCLOG_T_INITIALIZE)
			return REC64(&rec, initialize, ts_sec);
	return INT64_MAX;
}

/*
 * The wall clock is set while a snapshot is written.  The end of that snapshot has
 * the new time; it is no record of the window, which must have the new time as well.
 */
TEST_F(flightsink, wall_clock_jumps)
{
	struct shooter s = { .dev = self->dev };
	struct timespec real, ahead;
	struct snapshot snapshot;
	pthread_t thread;
	struct reader r;
	struct log log;
	int ends[2], i, got = 0;

	fly_at(_metadata, self->dev, SIZE, 0, 100, NULL);
	ASSERT_TRUE(wait_committed(self->dev, 20));
	ASSERT_EQ(0, small_pipe(ends));
	s.file = ends[1];
	ASSERT_EQ(0, pthread_create(&thread, NULL, shoot_into, &s));
	for (i = 0; i < 3000 && !got; i++) {
		sleep_ms(10);
		ioctl(ends[0], FIONREAD, &got);
	}
	EXPECT_LT(0, got);	/* it is in the middle of it */
	ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &real));
	ahead = real;
	ahead.tv_sec += 3600;
	ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &ahead));
	reader_begin(&r, ends[0], 65536, 0);
	pthread_join(thread, NULL);
	reader_end(&r);
	EXPECT_EQ(0, s.err);
	EXPECT_TRUE(wait_committed(self->dev, 20));
	sleep_ms(scaled(300, 3000));
	shoot(_metadata, self->dev, &log, &snapshot, LOG_DROPS);
	EXPECT_EQ(0, clock_settime(CLOCK_REALTIME, &real));
	ASSERT_LOG(&r.log, LOG_DROPS);
	EXPECT_EQ(1, clocks_since(&r.log, ahead.tv_sec * NSEC));
	/* of the window, and of the end */
	EXPECT_LE(2, clocks_since(&log, ahead.tv_sec * NSEC));
	/* the window begins before the clock was set */
	EXPECT_GE(real.tv_sec, begins_at(&log));
}

/* A signal ends a snapshot that nobody reads, and then the recording goes on. */
static void interrupted(META, int dev, int flags)
{
	int ends[2], i;

	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC | flags));
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	alarm_every(200, NULL, 0);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-EINTR, dev_snapshot(dev, ends[1], 0));
	alarm_every(0, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

TEST_F(flightsink, stuck)
{
	struct snapshot s;
	struct log log;
	uint32_t id;

	fly(_metadata, self->dev, SMALL, 0, &id);
	ASSERT_TRUE(wait_bytes(self->dev, 65536));
	interrupted(_metadata, self->dev, 0);
	interrupted(_metadata, self->dev, O_NONBLOCK);
	EXPECT_TRUE(wait_committed(self->dev, 20));
	/* the rings may have run over meanwhile */
	shoot(_metadata, self->dev, &log, &s, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(0, log.samples);
	expect_law(_metadata, self->dev, id);
}

/* While its owner waits for a reader that does not read, he is killed. */
TEST_F(flightsink, killed)
{
	int ends[2], users, i;
	pid_t pid;

	close(self->dev);
	WAIT_UNTIL((users = module_users()) <= 0, 30000);
	ASSERT_EQ(0, users);
	ASSERT_EQ(0, small_pipe(ends));
	pid = fork_bound();
	ASSERT_LE(0, pid);
	if (!pid) {
		int dev = dev_open();

		if (dev < 0 || dev_flight(dev, SMALL, 0) ||
		    dev_run(dev, pmc_clock(OFTEN), NULL) || !wait_bytes(dev, SMALL))
			_exit(1);
		dev_snapshot(dev, ends[1], 0);
		_exit(2);
	}
	close(ends[1]);
	/* it is in the middle of it */
	ASSERT_EQ(1, read(ends[0], &i, 1));
	sleep_ms(300);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(128 + SIGKILL, wait_for(pid));
	EXPECT_TRUE(recorders_are(0));
	close(ends[0]);
	self->dev = dev_open();
}

TEST_HARNESS_MAIN
