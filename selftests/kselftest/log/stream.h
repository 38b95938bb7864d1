/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log that is read from the device: the fixture, and ways to read.  Included by
 * each program of such tests: the fixture is a part of it.
 */
#ifndef LOG_STREAM_H
#define LOG_STREAM_H

#include <pthread.h>
#include <sys/syscall.h>

#include "module.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define SMALL	(64 << 10)	/* the shortest queue there is */
#define ROOM	(64 << 20)
#define MINUTE	60000

FIXTURE(stream)
{
	pid_t load;
	int users;		/* of the module, without us */
	int dev;
	struct log log;		/* what has been read */
};

FIXTURE_SETUP(stream)
{
	/* before the device is opened: a child would keep it open */
	self->load = load_user(0);
	self->users = module_users();
	OPEN_DEVICE(self->dev);
	memset(&self->log, 0, sizeof(self->log));
	self->log.data = malloc(ROOM);
	ASSERT_NE(NULL, self->log.data);
}

FIXTURE_TEARDOWN(stream)
{
	if (self->dev >= 0)
		close(self->dev);
	load_end(self->load);
}

/* One read(2), behind what has been read; what it returns, or an errno. */
static ssize_t take(FIXTURE_DATA(stream) *self, size_t room)
{
	ssize_t n = read(self->dev, self->log.data + self->log.len, room);

	if (n < 0)
		return -errno;
	self->log.len += n;
	return n;
}

static void blocking(int dev, bool yes)
{
	int flags = fcntl(dev, F_GETFL);

	fcntl(dev, F_SETFL, yes ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* All there is now; the error that ends it, or 0. */
static ssize_t take_ready(FIXTURE_DATA(stream) *self)
{
	ssize_t n;

	blocking(self->dev, false);
	while ((n = take(self, 65536)) > 0)
		;
	blocking(self->dev, true);
	return n;
}

static ssize_t take_rest(FIXTURE_DATA(stream) *self)
{
	ssize_t n;

	while ((n = take(self, 65536)) > 0)
		;
	return n;
}

/* The log is ended, read to its end, and checked. */
static void expect_whole(META, FIXTURE_DATA(stream) *self, unsigned int flags)
{
	struct hwpmc_driverstats st;

	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, take_rest(self));
	ASSERT_LOG(&self->log, flags);
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(self->log.samples, st.account.written);
	EXPECT_EQ(self->log.len, st.bytes_written);
	EXPECT_EQ(st.account.committed, st.account.written);
	EXPECT_EQ(0, st.account.discarded);
}

static bool waits_in_read(pid_t tid)
{
	return wait_in_call(getpid(), tid, SYS_read) &&
	       wait_asleep(getpid(), tid);
}

/* Samples in what has been read so far. */
static unsigned int samples(struct log *log)
{
	return COUNT_RECORDS(log, rec, rec.type == PMCLOG_T_CALLCHAIN);
}

/* Words of WRITELOG, each that one. */
static unsigned int words(struct log *log, uint32_t value)
{
	return LOG_COUNT(log, USERDATA, userdata, userdata, value);
}

struct waiter {
	FIXTURE_DATA(stream) *self;
	pthread_t	thread;
	volatile pid_t	tid;
	volatile ssize_t result;
};

static void *waiter_body(void *arg)
{
	struct waiter *w = arg;

	w->tid = gettid();
	w->result = take(w->self, 65536);
	return NULL;
}

/* Returns when the thread waits in read(2). */
static bool waiter_begin(struct waiter *w, FIXTURE_DATA(stream) *self)
{
	w->self = self;
	w->tid = 0;
	if (pthread_create(&w->thread, NULL, waiter_body, w))
		return false;
	while (!w->tid)
		sleep_ms(1);
	return waits_in_read(w->tid);
}

static int poll_in(int dev, int ms)
{
	struct pollfd p = { .fd = dev, .events = POLLIN };

	return poll(&p, 1, ms) < 0 ? -1 : p.revents;
}

#endif /* LOG_STREAM_H */
