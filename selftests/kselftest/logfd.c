// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a log can be written to, and what happens when it does not take it.
 */
#include <pthread.h>

#include "test.h"

FIXTURE(logfd)
{
	int dev;
	pid_t load;
};

FIXTURE_SETUP(logfd)
{
	/* before the device is opened: a child would keep it open */
	self->load = load_user(0);
	self->dev = dev_open();
	ASSERT_LE(0, self->dev);
}

FIXTURE_TEARDOWN(logfd)
{
	close(self->dev);
	load_end(self->load);
}

/* Reads all that comes out of @fd into @log, @chunk bytes every @pause_ms. */
struct reader {
	int		fd;
	size_t		chunk;
	unsigned int	pause_ms;
	struct log	log;
	pthread_t	thread;
};

static void *reader_body(void *arg)
{
	struct reader *r = arg;
	size_t size = 64 << 20;
	ssize_t n;

	r->log.data = malloc(size);
	while ((n = read(r->fd, r->log.data + r->log.len, r->chunk)) > 0 &&
	       r->log.len + 2 * r->chunk < size) {
		r->log.len += n;
		sleep_ms(r->pause_ms);
	}
	return NULL;
}

static void reader_begin(struct reader *r, int fd, size_t chunk,
			 unsigned int pause_ms)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->chunk = chunk;
	r->pause_ms = pause_ms;
	pthread_create(&r->thread, NULL, reader_body, r);
}

static void reader_end(struct reader *r)
{
	pthread_join(r->thread, NULL);
}

static bool recorder_is_there(void)
{
	char comm[32];

	snprintf(comm, sizeof(comm), "hwpmc/%d", getpid());
	return find_comm(comm);
}

/* It tells the closer before its very last steps. */
static bool recorder_has_gone(void)
{
	int i;

	for (i = 0; i < 25 && recorder_is_there(); i++)
		sleep_ms(20);
	return i < 25;
}

/* Samples for a while into @fd, which is closed. */
static void record(struct __test_metadata *_metadata, int dev, int fd,
		   unsigned int hz, unsigned int ms)
{
	uint32_t id;

	ASSERT_EQ(0, dev_configure(dev, fd));
	close(fd);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(hz), &id));
	sleep_ms(ms);
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_EQ(0, dev_release(dev, id));
}

/* Into the write end of @ends, with a reader at the other. */
static void record_read(struct __test_metadata *_metadata, int dev,
			const int *ends, size_t chunk, unsigned int pause_ms,
			unsigned int flags)
{
	struct reader r;

	reader_begin(&r, ends[0], chunk, pause_ms);
	record(_metadata, dev, ends[1], 1000, 500);
	reader_end(&r);
	ASSERT_LOG(&r.log, flags);
	EXPECT_LT(100, r.log.samples);
	log_free(&r.log);
}

TEST_F(logfd, pipe)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	record_read(_metadata, self->dev, ends, 65536, 0, 0);
}

TEST_F(logfd, nonblocking_pipe)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	record_read(_metadata, self->dev, ends, 2048, 0, 0);
}

TEST_F(logfd, socket)
{
	int ends[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	record_read(_metadata, self->dev, ends, 65536, 0, 0);
}

TEST_F(logfd, nonblocking_socket)
{
	int ends[2], small = 4096;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	record_read(_metadata, self->dev, ends, 2048, 0, 0);
}

/* A reader that is far too slow: the log is late, or tells what is missing. */
TEST_F(logfd, slow_reader)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	record_read(_metadata, self->dev, ends, 1024, 5, LOG_DROPS);
}

/* What was in the file stays; an offset is where the log begins and goes on. */
TEST_F(logfd, append)
{
	char path[] = "/tmp/append.XXXXXX", head[5] = "";
	int file = mkstemp(path), fd;
	struct log log;

	ASSERT_EQ(4, write(file, "head", 4));
	fd = open(path, O_WRONLY | O_APPEND);
	lseek(fd, 0, SEEK_SET);
	record(_metadata, self->dev, fd, 1000, 300);
	ASSERT_EQ(4, pread(file, head, 4, 0));
	EXPECT_STREQ("head", head);
	ASSERT_TRUE(log_load(&log, file));
	memmove(log.data, log.data + 4, log.len -= 4);
	ASSERT_LOG(&log, 0);
	unlink(path);
}

TEST_F(logfd, offset)
{
	int file = temp_file();
	struct log log;
	off_t end;
	char c = 'x';

	ASSERT_EQ(1, pwrite(file, &c, 1, 0));
	lseek(file, 4096, SEEK_SET);
	record(_metadata, self->dev, dup(file), 1000, 300);
	/* whoever shares the file goes on behind the log */
	end = lseek(file, 0, SEEK_CUR);
	EXPECT_EQ(end, lseek(file, 0, SEEK_END));
	ASSERT_TRUE(log_load(&log, file));
	EXPECT_EQ('x', log.data[0]);
	memmove(log.data, log.data + 4096, log.len -= 4096);
	ASSERT_LOG(&log, 0);
}

/* The same descriptor again: one log after another in one file. */
TEST_F(logfd, two_in_a_row)
{
	struct log all, first, second;
	int file = temp_file();
	off_t middle;

	record(_metadata, self->dev, dup(file), 1000, 200);
	middle = lseek(file, 0, SEEK_CUR);
	record(_metadata, self->dev, dup(file), 1000, 200);
	ASSERT_TRUE(log_load(&all, file));
	ASSERT_LT(middle, all.len);
	memset(&first, 0, sizeof(first));
	second = first;
	first.data = all.data;
	first.len = middle;
	second.data = all.data + middle;
	second.len = all.len - middle;
	ASSERT_LOG(&first, 0);
	ASSERT_LOG(&second, 0);
	EXPECT_LT(0, first.samples);
	EXPECT_LT(0, second.samples);
}

/* What was logged before FLUSHLOG is in the file when it returns. */
TEST_F(logfd, flush)
{
	int file = temp_file(), i;
	struct log log;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	for (i = 1; i <= 20; i++) {
		pin_to(i & 1);
		ASSERT_EQ(0, dev_userdata(self->dev, 0x1000 + i));
		ASSERT_EQ(0, dev_flush(self->dev));
		ASSERT_TRUE(log_load(&log, file));
		ASSERT_LOG(&log, LOG_CUT);
		EXPECT_EQ(1, log_count(&log, PMCLOG_T_USERDATA, 16,
				       0x1000 + i));
		log_free(&log);
	}
}

/* Nobody has to flush: what is logged is in the file soon. */
TEST_F(logfd, soon)
{
	int file = temp_file();
	struct log log;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	sleep_ms(300);
	ASSERT_EQ(0, dev_userdata(self->dev, 0xCAFE));
	sleep_ms(scaled(300, 1500));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, LOG_CUT);
	EXPECT_EQ(1, log_count(&log, PMCLOG_T_USERDATA, 16, 0xCAFE));
}

/*
 * Nobody reads: the close does not wait for long, and the log stops where the
 * pipe was full, with nothing behind the cut.
 */
static void close_unread(struct __test_metadata *_metadata, int dev,
			 const int *ends)
{
	uint64_t start, took;
	struct log log;
	uint32_t id;

	ASSERT_EQ(0, dev_configure(dev, ends[1]));
	close(ends[1]);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(5000), &id));
	sleep_ms(scaled(2000, 4000));
	EXPECT_TRUE(recorder_is_there());
	start = now_ns();
	close(dev);
	took = now_ns() - start;
	TH_LOG("close took %u ms", (unsigned int)(took / MSEC));
	EXPECT_GT(scaled(1300, 4000) * MSEC, took);
	EXPECT_TRUE(recorder_has_gone());
	ASSERT_TRUE(log_load(&log, ends[0]));
	ASSERT_LOG(&log, LOG_CUT | LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_FALSE(log.closed);
	EXPECT_LT(10, log.samples);
}

TEST_F(logfd, unread_pipe)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	close_unread(_metadata, self->dev, ends);
}

TEST_F(logfd, unread_nonblocking_pipe)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	close_unread(_metadata, self->dev, ends);
}

TEST_F(logfd, unread_socket)
{
	int ends[2], small = 60000;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	close_unread(_metadata, self->dev, ends);
}

/* kill -9 at the writing thread ends neither it nor the log. */
TEST_F(logfd, thread_killed)
{
	int file = temp_file();
	struct log log;
	char comm[32];
	uint32_t id;
	int i;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), &id));
	snprintf(comm, sizeof(comm), "hwpmc/%d", getpid());
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, kill(find_comm(comm), i & 1 ? SIGKILL : SIGTERM));
		sleep_ms(30);
	}
	ASSERT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, 0);
	EXPECT_LT(50, log.samples);
}

/* The file was opened by somebody who may; who calls then does not matter. */
TEST_F(logfd, opener_credentials)
{
	struct hwpmc_driverstats before, after;
	int file = temp_file();
	struct log log;
	uint32_t id;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), &id));
	ASSERT_EQ(0, setresgid(65534, 65534, 0));
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &before));
	sleep_ms(500);
	ASSERT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &after));
	EXPECT_LT(before.bytes_written, after.bytes_written);
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, seteuid(0));	/* for the teardown */
	ASSERT_EQ(0, setresuid(0, 0, 0));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, 0);
}

static int sigio_count;

static void count_sigio(int sig)
{
	sigio_count++;
}

static short dev_events(int dev)
{
	struct pollfd p = { .fd = dev };

	return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

static void wait_for_error(int dev)
{
	int i;

	for (i = 0; i < 100 && !(dev_events(dev) & POLLERR); i++)
		sleep_ms(50);
}

/*
 * The log has met @want: it is told in all the ways there are, sampling goes
 * on, every sample is accounted for, and a good file makes all well again.
 */
static void after_error(struct __test_metadata *_metadata, int dev, int want)
{
	struct hwpmc_driverstats st, later;
	int file = temp_file();
	struct log log;

	wait_for_error(dev);
	EXPECT_EQ(POLLERR, dev_events(dev));
	EXPECT_LT(0, sigio_count);
	EXPECT_EQ(want, dev_flush(dev));
	EXPECT_EQ(want, dev_flush(dev));
	EXPECT_EQ(want, dev_closelog(dev));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(-want, st.log_errno);
	sleep_ms(500);
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &later));
	EXPECT_LT(st.account.committed + 20, later.account.committed);
	EXPECT_LT(st.account.discarded, later.account.discarded);
	EXPECT_EQ(st.account.written, later.account.written);
	EXPECT_EQ(st.bytes_written, later.bytes_written);

	ASSERT_EQ(0, dev_rotate(dev, file));
	EXPECT_EQ(0, dev_events(dev));
	EXPECT_EQ(0, dev_flush(dev));
	sleep_ms(500);
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, 0);
	EXPECT_LT(20, log.samples);

	/* nothing samples any more: exact */
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(0, st.account.in_rings);
	EXPECT_EQ(st.account.committed,
		  st.account.written + st.account.discarded);
	EXPECT_EQ(0, st.log_errno);
}

static void expect_sigio(int dev)
{
	signal(SIGIO, count_sigio);
	fcntl(dev, F_SETOWN, getpid());
	fcntl(dev, F_SETFL, fcntl(dev, F_GETFL) | O_ASYNC);
}

TEST_F(logfd, epipe)
{
	struct reader r;
	int ends[2];
	uint32_t id;

	ASSERT_EQ(0, pipe(ends));
	expect_sigio(self->dev);
	ASSERT_EQ(0, dev_configure(self->dev, ends[1]));
	close(ends[1]);
	reader_begin(&r, ends[0], 65536, 0);
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(1000), &id));
	sleep_ms(300);
	EXPECT_EQ(0, dev_events(self->dev));
	EXPECT_EQ(0, sigio_count);
	pthread_cancel(r.thread);
	reader_end(&r);
	close(ends[0]);
	after_error(_metadata, self->dev, -EPIPE);
}

TEST_F(logfd, enospc)
{
	struct log log;
	uint32_t id;
	int file;

	if (!small_tmpfs("/tmp/small", 128 << 10))
		SKIP(return, "no tmpfs can be mounted");
	file = open("/tmp/small/log", O_RDWR | O_CREAT, 0600);
	ASSERT_LE(0, file);
	expect_sigio(self->dev);
	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(2000), &id));
	after_error(_metadata, self->dev, -ENOSPC);
	/* what did fit is a log up to the cut */
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, LOG_CUT);
	EXPECT_FALSE(log.closed);
	EXPECT_EQ(128 << 10, log.len);
}

/* A file that may not grow beyond a limit of the process does not kill it. */
TEST_F(logfd, closed_with_error)
{
	uint64_t start;
	uint32_t id;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, dev_configure(self->dev, ends[1]));
	close(ends[1]);
	close(ends[0]);
	dev_run(self->dev, pmc_clock(1000), &id);
	wait_for_error(self->dev);
	EXPECT_EQ(0, dev_configure(self->dev, -1));
	EXPECT_EQ(-EINVAL, dev_closelog(self->dev));
	EXPECT_EQ(0, dev_configure(self->dev, temp_file()));
	EXPECT_EQ(0, dev_flush(self->dev));
	EXPECT_EQ(0, dev_start(self->dev, id));
	start = now_ns();
	close(self->dev);
	EXPECT_GT(scaled(1000, 4000) * MSEC, now_ns() - start);
	EXPECT_TRUE(recorder_has_gone());
}

/*
 * Rotated under fire: each file is a log of its own, with all that is needed
 * to read it, and no sample is in none or in two of them.
 */
#define NROTATE	8

TEST_F(logfd, rotate)
{
	uint64_t committed = 0, samples = 0, end = 0;
	struct hwpmc_driverstats st;
	int file[NROTATE], i;
	struct log log;
	uint32_t id;

	file[0] = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, file[0]));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(5000), &id));
	for (i = 1; i < NROTATE; i++) {
		sleep_ms(150);
		file[i] = temp_file();
		ASSERT_EQ(0, dev_rotate(self->dev, file[i]));
	}
	sleep_ms(150);
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	for (i = 0; i < NROTATE; i++) {
		ASSERT_TRUE(log_load(&log, file[i]));
		ASSERT_LOG(&log, 0);
		EXPECT_LT(0, log.samples) TH_LOG("log %d", i);
		EXPECT_LE(end, log.first_tsc) TH_LOG("log %d", i);
		EXPECT_EQ(1, log.npmcs);
		samples += log.samples;
		committed += log.account.committed;
		end = log.last_tsc;
		log_free(&log);
	}
	EXPECT_EQ(st.account.committed, committed);
	EXPECT_EQ(st.account.committed, samples);
	EXPECT_EQ(0, st.account.discarded);
}

TEST_HARNESS_MAIN
