// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log that is read from the device: whole records, in order, none lost or
 * doubled, whoever reads and however; and what does not fit is counted.
 */
#include <pthread.h>
#include <sys/epoll.h>
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
	self->dev = dev_open();
	ASSERT_LE(0, self->dev);
	memset(&self->log, 0, sizeof(self->log));
	self->log.data = malloc(ROOM);
	ASSERT_NE(NULL, self->log.data);
}

FIXTURE_TEARDOWN(stream)
{
	if (self->dev >= 0)
		close(self->dev);
	load_end(self->load);
	free(self->log.data);
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
static void expect_whole(struct __test_metadata *_metadata,
			 FIXTURE_DATA(stream) *self, unsigned int flags)
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

/* Waits until samples have been dropped. */
static bool wait_dropped(int dev)
{
	struct hwpmc_driverstats st;
	int i;

	for (i = 0; i < 6000; i++) {
		if (dev_stats(dev, HWPMC_STATS_OWNER, &st))
			return false;
		if (st.intr_bufferfull)
			return true;
		sleep_ms(20);
	}
	return false;
}

static bool waits_in_read(pid_t tid)
{
	return wait_in_call(getpid(), tid, SYS_read) &&
	       wait_asleep(getpid(), tid);
}

/* Samples in what has been read so far. */
static unsigned int samples(struct log *log)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec)
		n += rec.type == PMCLOG_T_CALLCHAIN;
	return n;
}

/* Words of WRITELOG, each that one. */
static unsigned int words(struct log *log, uint32_t value)
{
	return log_count(log, PMCLOG_T_USERDATA,
			 offsetof(struct pmclog_userdata, userdata), value);
}

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
	uint32_t id;

	ASSERT_EQ(0, dev_stream(self->dev, HWPMC_LOG_PACKED, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(2000), &id));
	while (samples(&self->log) < 500)
		ASSERT_LT(0, take(self, PMCLOG_RECORD_MAX));
	expect_whole(_metadata, self, 0);
	it = pmclog_iter_mem(self->log.data, self->log.len);
	pmclog_iter_raw(it);
	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD) {
		EXPECT_NE(PMCLOG_T_CALLCHAIN, rec.type);
		packs += pmclog_iter_ext_subtype(&rec) == PMCLOG_EXT_SAMPLES;
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
	uint32_t id;
	ssize_t got;
	size_t room;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(scaled(4000, 500)), &id));
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
	uint32_t id;
	ssize_t n;

	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(0, mprotect(p + page, page, PROT_NONE));
	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), &id));
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

/* An empty log, all that it begins with has been read. */
static void begin_empty(struct __test_metadata *_metadata,
			FIXTURE_DATA(stream) *self)
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

static int poll_in(int dev, int ms)
{
	struct pollfd p = { .fd = dev, .events = POLLIN };

	return poll(&p, 1, ms) < 0 ? -1 : p.revents;
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
	uint32_t id;
	pid_t child;

	ASSERT_NE(NULL, shared);
	self->log.data = shared;
	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(500), &id));
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
 * Slow readers
 */
TEST_F(stream, slow_reader)
{
	struct reader r;
	uint32_t id;

	ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
	reader_begin(&r, self->dev, PMCLOG_RECORD_MAX, 100);
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20000), &id));
	EXPECT_TRUE(wait_dropped(self->dev));
	EXPECT_TRUE(wait_committed(self->dev, 100));
	ASSERT_EQ(0, dev_closelog(self->dev));
	r.pause_ms = 0;
	reader_end(&r);
	ASSERT_LOG(&r.log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(0, log_dropped(&r.log));
	EXPECT_TRUE(r.log.closed);
	log_free(&r.log);
}

/* No reader: the queue has what it is to keep, the rings the rest. */
static void fill_up(struct __test_metadata *_metadata,
		    FIXTURE_DATA(stream) *self)
{
	struct hwpmc_driverstats st;
	uint32_t id;

	ASSERT_EQ(0, dev_stream(self->dev, 0, SMALL));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20000), &id));
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
static void expect_discarded(struct __test_metadata *_metadata,
			     const struct hwpmc_driverstats *before)
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
			uint32_t id;

			self->dev = dev_open();
			if (dev_stream(self->dev, 0, SMALL) ||
			    (i < 2 && dev_run(self->dev, pmc_clock(5000), &id)))
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
	log_free(&log);
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
