// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log that is read from the device: whole records, in order, none lost or
 * doubled, whoever reads and however.
 */
#include <sys/epoll.h>

#include "stream.h"

/* ------------------------------------------------------------------------
 * Reading
 */

/* A program of one thread, that starts and then reads. */
TEST_F(stream, alone)
{
	uint32_t id;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), &id));
	while (samples(&self->log) < 300)
		ASSERT_LT(0, take(self, 65536));
	expect_whole(_metadata, self, 0);
	/* the end is the end */
	EXPECT_EQ(0, take(self, 65536));
	EXPECT_EQ(0, take(self, 1));
	EXPECT_EQ(0, dev_read(self->dev, id, HWPMC_CPU_ALL,
			      &(uint64_t) { 0 }));
}

/* Records come without anybody asking for them, and one by one. */
TEST_F(stream, live)
{
	uint32_t i;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_LT(0, take(self, 65536));
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, dev_userdata(self->dev, 0x1000 + i));
		while (!words(&self->log, 0x1000 + i))
			ASSERT_LT(0, take(self, 65536));
	}
	expect_whole(_metadata, self, 0);
	for (i = 0; i < 50; i++)
		EXPECT_EQ(1, words(&self->log, 0x1000 + i));
}

TEST_F(stream, packed)
{
	struct pmclog_iter *it;
	struct pmclog_rec rec;
	unsigned int packs = 0;

	ASSERT_EQ(0, dev_stream(self->dev, HWPMC_LOG_PACKED, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(2000), NULL));
	while (samples(&self->log) < 500)
		ASSERT_LT(0, take(self, PMCLOG_RECORD_MAX));
	expect_whole(_metadata, self, 0);
	it = pmclog_iter_mem(self->log.data, self->log.len);
	pmclog_iter_raw(it);
	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD) {
		EXPECT_NE(PMCLOG_T_CALLCHAIN, rec.type);
		packs += IS_EXT(&rec, SAMPLES);
	}
	pmclog_iter_close(it);
	EXPECT_LT(0, packs);
}

TEST_F(stream, nonblocking)
{
	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_flush(self->dev));
	EXPECT_EQ(-EAGAIN, take_ready(self));
	EXPECT_LT(0, self->log.len);
	ASSERT_EQ(0, dev_userdata(self->dev, 0xABC));
	ASSERT_EQ(0, dev_flush(self->dev));
	EXPECT_EQ(-EAGAIN, take_ready(self));
	EXPECT_EQ(1, words(&self->log, 0xABC));
	ASSERT_EQ(0, dev_closelog(self->dev));
	while (take_ready(self) == -EAGAIN)
		sleep_ms(10);
	EXPECT_EQ(0, take_ready(self));
	ASSERT_LOG(&self->log, 0);
}

/* Too small for the first record: it stays. */
TEST_F(stream, too_small)
{
	uint32_t header;
	ssize_t n;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_flush(self->dev));
	for (n = 1; n < (ssize_t)sizeof(struct pmclog_initialize); n++)
		ASSERT_EQ(-EMSGSIZE, take(self, n));
	ASSERT_EQ(n, take(self, n));
	memcpy(&header, self->log.data, sizeof(header));
	EXPECT_EQ(PMCLOG_HEADER(PMCLOG_T_INITIALIZE, n), header);
	EXPECT_EQ(-EMSGSIZE, take(self, 8));
	/* not for nothing */
	EXPECT_EQ(0, take(self, 0));
	expect_whole(_metadata, self, 0);
}

/* Buffers of any size: a record comes whole, or later. */
TEST_F(stream, odd_sizes)
{
	unsigned int n = 0, seed = 12345;
	ssize_t got;
	size_t room;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(scaled(4000, 500)), NULL));
	while (n < 2000) {
		seed = seed * 1103515245 + 12345;
		room = 1 + (seed >> 8) % 700;
		got = take(self, room);
		if (got == -EMSGSIZE)
			continue;
		ASSERT_LT(0, got);
		ASSERT_GE((ssize_t)room, got);
		ASSERT_TRUE(records_are_whole(self->log.data + self->log.len - got,
				      got));
		n++;
	}
	/* drops: it may have been slow */
	expect_whole(_metadata, self, LOG_DROPS | LOG_PROC_DROPS);
}

/* Memory that ends in the middle: no record is lost, none comes twice. */
TEST_F(stream, faults)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int faults = 0, parts = 0, i;
	ssize_t n;

	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, mprotect(p + page, page, PROT_NONE));
	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), NULL));
	for (i = 0; i < 400; i++) {
		size_t there = 4 * (1 + i * 7 % 300);
		char *to = p + page - there;

		n = read(self->dev, to, 2 * page);
		if (n < 0) {
			ASSERT_EQ(EFAULT, errno);
			faults++;
			/* let something else be first */
			ASSERT_LT(0, take(self, PMCLOG_RECORD_MAX));
			continue;
		}
		ASSERT_LT(0, n);
		ASSERT_GE((ssize_t)there, n);
		ASSERT_TRUE(records_are_whole((unsigned char *)to, n));
		memcpy(self->log.data + self->log.len, to, n);
		self->log.len += n;
		parts++;
	}
	EXPECT_LT(0, faults);
	EXPECT_LT(0, parts);
	EXPECT_EQ(-1, read(self->dev, p + page, page));
	EXPECT_EQ(EFAULT, errno);
	expect_whole(_metadata, self, LOG_DROPS | LOG_PROC_DROPS);
}

/* ------------------------------------------------------------------------
 * Waiting
 */
/* An empty log, all that it begins with has been read. */
static void begin_empty(META, FIXTURE_DATA(stream) *self)
{
	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(-EAGAIN, take_ready(self));
}

TEST_F(stream, one_reader)
{
	struct waiter w;
	char buf[8192];

	begin_empty(_metadata, self);
	ASSERT_TRUE(waiter_begin(&w, self));
	EXPECT_EQ(-1, read(self->dev, buf, sizeof(buf)));
	EXPECT_EQ(EBUSY, errno);
	blocking(self->dev, false);
	EXPECT_EQ(-1, read(self->dev, buf, sizeof(buf)));
	EXPECT_EQ(EBUSY, errno);
	blocking(self->dev, true);
	ASSERT_EQ(0, dev_userdata(self->dev, 0x77));
	pthread_join(w.thread, NULL);
	EXPECT_LT(0, w.result);
	EXPECT_EQ(1, words(&self->log, 0x77));
	expect_whole(_metadata, self, 0);
}

/* The end of the log ends the wait. */
TEST_F(stream, end_while_waiting)
{
	struct waiter w;

	begin_empty(_metadata, self);
	ASSERT_TRUE(waiter_begin(&w, self));
	ASSERT_EQ(0, dev_closelog(self->dev));
	pthread_join(w.thread, NULL);
	EXPECT_LT(0, w.result);
	ASSERT_EQ(0, take_rest(self));
	ASSERT_LOG(&self->log, 0);
}

static int alarms, alarm_dev;

static void on_alarm(int sig)
{
	struct hwpmc_writelog w = { .userdata = 0xA1A2 };

	if (++alarms == 5)
		ioctl(alarm_dev, HWPMC_IOC_WRITELOG, &w);
}

TEST_F(stream, signals)
{
	begin_empty(_metadata, self);
	alarm_dev = -1;
	alarm_every(50, on_alarm, 0);
	EXPECT_EQ(-EINTR, take(self, 65536));
	/* goes on waiting, until the fifth */
	alarms = 0;
	alarm_dev = self->dev;
	alarm_every(50, on_alarm, SA_RESTART);
	EXPECT_LT(0, take(self, 65536));
	alarm_every(0, on_alarm, SA_RESTART);
	EXPECT_LE(5, alarms);
	EXPECT_EQ(1, words(&self->log, 0xA1A2));
	expect_whole(_metadata, self, 0);
}

/* A reader is killed where he waits; the next one goes on. */
TEST_F(stream, reader_killed)
{
	char buf[8192];
	pid_t child;

	begin_empty(_metadata, self);
	child = fork_bound();
	if (!child) {
		read(self->dev, buf, sizeof(buf));
		_exit(1);
	}
	ASSERT_TRUE(wait_in_call(child, child, SYS_read) &&
		    wait_asleep(child, child));
	EXPECT_EQ(-1, read(self->dev, buf, sizeof(buf)));
	EXPECT_EQ(EBUSY, errno);
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, wait_for(child));
	ASSERT_EQ(0, dev_userdata(self->dev, 0x55));
	EXPECT_LT(0, take(self, 65536));
	EXPECT_EQ(1, words(&self->log, 0x55));
	expect_whole(_metadata, self, 0);
}

TEST_F(stream, poll)
{
	EXPECT_EQ(0, poll_in(self->dev, 0));
	begin_empty(_metadata, self);
	EXPECT_EQ(0, poll_in(self->dev, 0));
	EXPECT_EQ(0, poll_in(self->dev, 300));
	ASSERT_EQ(0, dev_userdata(self->dev, 1));
	EXPECT_EQ(POLLIN, poll_in(self->dev, MINUTE));
	/* as long as it is not read */
	EXPECT_EQ(-EMSGSIZE, take(self, 4));
	EXPECT_EQ(POLLIN, poll_in(self->dev, 0));
	EXPECT_EQ(-EAGAIN, take_ready(self));
	EXPECT_EQ(0, poll_in(self->dev, 0));
	ASSERT_EQ(0, dev_closelog(self->dev));
	EXPECT_EQ(POLLIN, poll_in(self->dev, MINUTE));
	ASSERT_EQ(0, take_rest(self));
	/* the end can be read, and read again */
	EXPECT_EQ(POLLIN, poll_in(self->dev, 0));
	ASSERT_LOG(&self->log, 0);
}

/* Somebody waits in poll(2), and hears of it. */
static void *word_later(void *arg)
{
	sleep_ms(200);
	dev_userdata(*(int *)arg, 2);
	return NULL;
}

TEST_F(stream, poll_waits)
{
	pthread_t thread;

	begin_empty(_metadata, self);
	pthread_create(&thread, NULL, word_later, &self->dev);
	EXPECT_EQ(POLLIN, poll_in(self->dev, MINUTE));
	pthread_join(thread, NULL);
	EXPECT_LT(0, take(self, 65536));
	EXPECT_EQ(1, words(&self->log, 2));
}

TEST_F(stream, epoll_edges)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC), i;

	begin_empty(_metadata, self);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->dev, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	for (i = 0; i < 3; i++) {
		/* what came before has not been read, and is not told again */
		ASSERT_EQ(0, dev_userdata(self->dev, 0x10 + i));
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, MINUTE));
		EXPECT_EQ(EPOLLIN, ev.events);
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 200));
	}
	EXPECT_EQ(-EAGAIN, take_ready(self));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 200));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(1, words(&self->log, 0x10 + i));
	ASSERT_EQ(0, dev_closelog(self->dev));
	do {
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, MINUTE));
	} while (take_ready(self) == -EAGAIN);
	ASSERT_LOG(&self->log, 0);
	close(ep);
}

/* ------------------------------------------------------------------------
 * Who reads
 */

/* After fork all have the same log: what one has read the others have not. */
TEST_F(stream, shared)
{
	size_t *len = shared_memory(sizeof(*len));
	unsigned char *shared = shared_memory(ROOM);
	unsigned char *own = self->log.data;
	int copy = dup(self->dev), i;
	pid_t child;

	ASSERT_NE(NULL, shared);
	self->log.data = shared;
	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(500), NULL));
	for (i = 0; i < 20; i++) {
		child = fork_bound();
		if (!child) {
			ssize_t n = take(self, 8192);

			*len = self->log.len;
			_exit(n <= 0);
		}
		EXPECT_EQ(0, wait_for(child));
		self->log.len = *len;
		EXPECT_LT(0, take(self, 8192));
		self->log.len += read(copy, shared + self->log.len, 8192);
	}
	close(copy);
	expect_whole(_metadata, self, LOG_DROPS | LOG_PROC_DROPS);
	self->log.data = own;
}

/* ------------------------------------------------------------------------
 * What cannot be
 */
TEST_F(stream, refused)
{
	struct hwpmc_configurelog c = { .fd = -1, .flags = HWPMC_LOG_STREAM };
	char byte = 0;
	int dev;

	EXPECT_EQ(-EINVAL, take(self, 8192));
	EXPECT_EQ(0, take(self, 0));
	EXPECT_EQ(-EINVAL, dev_stream(self->dev, 0, SMALL - 1));
	EXPECT_EQ(-EINVAL, dev_stream(self->dev, 0, (1ULL << 30) + 1));
	EXPECT_EQ(-EINVAL, dev_stream(self->dev, 0, ~0ULL));
	EXPECT_EQ(-EINVAL, dev_stream(self->dev, 1U << 31, 0));
	c.fd = temp_file();
	EXPECT_EQ(-EINVAL, dev_ioctl(self->dev, HWPMC_IOC_CONFIGURELOG, &c));
	EXPECT_EQ(-EINVAL, dev_ioctl(self->dev, HWPMC_IOC_ROTATELOG, &c));
	EXPECT_EQ(-EINVAL, take(self, 8192));
	ASSERT_EQ(0, dev_stream(self->dev, 0, 1 << 30));
	EXPECT_EQ(-1, pread(self->dev, &byte, 1, 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, lseek(self->dev, 0, SEEK_CUR));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, write(self->dev, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	expect_whole(_metadata, self, 0);
	dev = open(DEV_PATH, O_WRONLY);
	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_stream(dev, 0, 0));
	EXPECT_EQ(-1, read(dev, &byte, 1));
	EXPECT_EQ(EBADF, errno);
	close(dev);
}

TEST_HARNESS_MAIN
