// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens when the file does not take the log: it is told, nothing hangs,
 * every sample is accounted for, and nobody else notices.
 */
#include <sys/mount.h>

#include "crowd.h"
#include "ends.h"
#include "module.h"
#include "rate.h"
#include "recorder.h"
#include "test.h"

FIXTURE(logend)
{
	pid_t load;
	struct bystander other;
	int users;		/* of the module, without us */
	int dev;
};

FIXTURE_SETUP(logend)
{
	/* before the devices are opened: a child would keep them open */
	self->load = load_user(0);
	ASSERT_EQ(0, bystander_begin(&self->other));
	self->users = module_users();
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(logend)
{
	struct log log;
	const char *fault;

	close(self->dev);
	EXPECT_TRUE(bystander_goes_on(&self->other));
	fault = bystander_end(&self->other, &log);
	EXPECT_EQ(NULL, fault) TH_LOG("the other's log: %s", fault);
	load_end(self->load);
}

/* ------------------------------------------------------------------------
 * Nobody reads
 */

/*
 * PMCSTART waits until all processes are in the log, and that may be more than the
 * file holds: a terminal's 8 KiB.  So somebody reads until then.
 */
struct early {
	int		fd;
	bool		started;
	struct log	log;
	pthread_t	thread;
};

static void *read_early(void *arg)
{
	struct early *e = arg;
	struct pollfd p = { .fd = e->fd, .events = POLLIN };
	ssize_t n;

	while (!__atomic_load_n(&e->started, __ATOMIC_ACQUIRE)) {
		if (poll(&p, 1, 10) != 1)
			continue;
		n = read(e->fd, e->log.data + e->log.len, 4096);
		e->log.len += n > 0 ? n : 0;
	}
	return NULL;
}

static void early_begin(struct early *e, int fd)
{
	memset(e, 0, sizeof(*e));
	e->fd = fd;
	e->log.data = malloc(64 << 20);
	pthread_create(&e->thread, NULL, read_early, e);
}

static void early_end(struct early *e)
{
	__atomic_store_n(&e->started, true, __ATOMIC_RELEASE);
	pthread_join(e->thread, NULL);
}

/* What has come since joins what was read then. */
static void early_join(struct early *e)
{
	struct log rest;

	/* a terminal that is no more tells so, instead of an end */
	log_load(&rest, e->fd);
	memcpy(e->log.data + e->log.len, rest.data, rest.len);
	e->log.len += rest.len;
	log_free(&rest);
}

/*
 * The close does not wait for long, and the log stops where the file was full,
 * with nothing behind the cut.
 */
static void close_unread(META, FIXTURE_DATA(logend) *self, const int *ends)
{
	struct early early;
	unsigned int ms;

	ASSERT_EQ(0, dev_configure(self->dev, ends[1]));
	close(ends[1]);
	early_begin(&early, ends[0]);
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(bearable_hz(5000)), NULL));
	early_end(&early);
	ASSERT_TRUE(wait_stalled(self->dev));
	EXPECT_TRUE(bystander_goes_on(&self->other));
	ms = close_ms(self->dev);
	TH_LOG("close took %u ms", ms);
	EXPECT_GT(CLOSE_MS, ms);
	EXPECT_TRUE(recorders_are(self->users));
	EXPECT_TRUE(bystander_goes_on(&self->other));
	early_join(&early);
	ASSERT_LOG(&early.log, LOG_CUT | LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_FALSE(early.log.closed);
	EXPECT_LT(2000, early.log.len);
	log_free(&early.log);
}

TEST_F(logend, unread_pipe)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	close_unread(_metadata, self, ends);
}

TEST_F(logend, unread_nonblocking_pipe)
{
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	close_unread(_metadata, self, ends);
}

TEST_F(logend, unread_socket)
{
	int ends[2], small = 60000;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	close_unread(_metadata, self, ends);
}

/* What is on its way when the socket is closed arrives all the same. */
TEST_F(logend, unread_tcp)
{
	int ends[2], small = 30000;

	ASSERT_EQ(0, make_tcp(ends));
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	close_unread(_metadata, self, ends);
}

/* Of more processes than it holds, whatever else runs. */
#define CROWD	80

TEST_F(logend, unread_terminal)
{
	pid_t idle[CROWD];
	int ends[2], i;

	for (i = 0; i < CROWD; i++)
		idle[i] = crowd(1);
	ASSERT_EQ(0, make_terminal(ends));
	close_unread(_metadata, self, ends);
	for (i = 0; i < CROWD; i++)
		load_end(idle[i]);
}

/* ------------------------------------------------------------------------
 * It says why not
 */
static int sigio_count, other_signals;

static void count_signal(int sig)
{
	*(sig == SIGIO ? &sigio_count : &other_signals) += 1;
}

/* A log that samples into @fd, which is closed; signals are counted. */
static void begin_log(META, FIXTURE_DATA(logend) *self, int fd)
{
	int dev = self->dev;

	signal(SIGIO, count_signal);
	signal(SIGPIPE, count_signal);
	signal(SIGXFSZ, count_signal);
	fcntl(dev, F_SETOWN, getpid());
	fcntl(dev, F_SETFL, fcntl(dev, F_GETFL) | O_ASYNC);
	ASSERT_EQ(0, dev_configure(dev, fd));
	close(fd);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(2000), NULL));
}

/* Returns how much has been written. */
static uint64_t no_error_yet(META, int dev)
{
	struct hwpmc_driverstats st;

	ASSERT_TRUE(wait_committed(dev, 50));
	EXPECT_EQ(0, dev_events(dev));
	EXPECT_EQ(0, sigio_count);
	EXPECT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	return st.bytes_written;
}

/* The log has met @want (or @or): that is told in all the ways there are. */
static void error_is_told(META, FIXTURE_DATA(logend) *self, int want, int or)
{
	struct hwpmc_driverstats st;
	int dev = self->dev, err;

	ASSERT_TRUE(wait_error(dev));
	EXPECT_EQ(POLLERR, dev_events(dev));
	/* who looks without waiting may see the error before its signal */
	WAIT_UNTIL(sigio_count, 60000);
	EXPECT_LT(0, sigio_count);
	EXPECT_EQ(0, other_signals);
	err = dev_flush(dev);
	EXPECT_TRUE(err == want || err == or)
		TH_LOG("%s, not %s", strerror(-err), strerror(-want));
	EXPECT_EQ(err, dev_flush(dev));
	EXPECT_EQ(err, dev_closelog(dev));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(-err, st.log_errno);
}

/* Sampling goes on, and nothing of it is written. */
static void nothing_more(META, FIXTURE_DATA(logend) *self)
{
	struct hwpmc_driverstats st, later;

	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	EXPECT_TRUE(wait_committed(self->dev, 20));
	EXPECT_TRUE(bystander_goes_on(&self->other));
	/* what is committed is counted as discarded some passes later */
	EXPECT_TRUE(WAIT_UNTIL(!dev_stats(self->dev, HWPMC_STATS_OWNER, &later) &&
			       later.account.discarded > st.account.discarded, 5000));
	EXPECT_EQ(st.account.written, later.account.written);
	EXPECT_EQ(st.bytes_written, later.bytes_written);
	EXPECT_EQ(st.records_written, later.records_written);
}

/* A good file makes all well again, and the account holds. */
static void heals(META, FIXTURE_DATA(logend) *self, int file)
{
	struct hwpmc_driverstats st;
	int dev = self->dev;
	struct log log;

	ASSERT_EQ(0, dev_rotate(dev, file));
	EXPECT_EQ(0, dev_events(dev));
	EXPECT_EQ(0, dev_flush(dev));
	EXPECT_TRUE(wait_committed(dev, 50));
	/* 2,000 samples a second may be more than a kernel with checkers writes */
	END_LOG(dev, file, &log, LOG_DROPS);
	EXPECT_LE(50, log.samples);
	log_free(&log);

	/* nothing samples any more: exact */
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(0, st.account.in_rings);
	EXPECT_EQ(st.account.committed,
		  st.account.written + st.account.discarded);
	EXPECT_EQ(0, st.log_errno);
}

static void after_error(META, FIXTURE_DATA(logend) *self, int want, int or)
{
	error_is_told(_metadata, self, want, or);
	nothing_more(_metadata, self);
	heals(_metadata, self, temp_file());
}

/* What came out before the error is a log up to the cut. */
static void check_cut(META, struct log *log)
{
	ASSERT_LOG(log, LOG_CUT);
	EXPECT_FALSE(log->closed);
}

TEST_F(logend, reader_closes)
{
	struct reader r;
	uint64_t written;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	begin_log(_metadata, self, ends[1]);
	reader_begin(&r, ends[0], 65536, 0);
	written = no_error_yet(_metadata, self->dev);
	ASSERT_TRUE(reader_has(&r, written));
	pthread_cancel(r.thread);
	reader_end(&r);
	close(ends[0]);
	check_cut(_metadata, &r.log);
	EXPECT_LT(20, r.log.samples);
	after_error(_metadata, self, -EPIPE, -EPIPE);
}

TEST_F(logend, reader_killed)
{
	int ends[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	pid = reader_process(ends[0]);
	begin_log(_metadata, self, ends[1]);
	no_error_yet(_metadata, self->dev);
	load_end(pid);
	after_error(_metadata, self, -EPIPE, -EPIPE);
}

/* The reader is killed while the thread waits for it. */
TEST_F(logend, sleeping_reader_killed)
{
	int ends[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	pid = reader_process(ends[0]);
	kill(pid, SIGSTOP);
	begin_log(_metadata, self, ends[1]);
	ASSERT_TRUE(wait_stalled(self->dev));
	load_end(pid);
	after_error(_metadata, self, -EPIPE, -EPIPE);
}

enum ending { PEER_CLOSES, PEER_SHUTS, WE_SHUT };

/* The end of a conversation, with what has been said unread or read. */
static void end_socket(META, FIXTURE_DATA(logend) *self, const int *ends,
		       enum ending how, int or)
{
	int ours = dup(ends[1]);

	begin_log(_metadata, self, ends[1]);
	no_error_yet(_metadata, self->dev);
	switch (how) {
	case PEER_CLOSES:
		close(ends[0]);
		break;
	case PEER_SHUTS:
		ASSERT_EQ(0, shutdown(ends[0], SHUT_RD));
		break;
	case WE_SHUT:
		ASSERT_EQ(0, shutdown(ours, SHUT_WR));
		break;
	}
	close(ours);
	after_error(_metadata, self, -EPIPE, or);
}

/* One way for one kind of socket to end, and the error if it comes late. */
#define SOCKET_ENDS(name, make, how, or)			\
TEST_F(logend, name)						\
{								\
	int ends[2];						\
								\
	ASSERT_EQ(0, make);					\
	end_socket(_metadata, self, ends, how, or);		\
}

#define UNIX(type)	socketpair(AF_UNIX, SOCK_##type, 0, ends)

SOCKET_ENDS(unix_peer_closes, UNIX(STREAM), PEER_CLOSES, -ECONNRESET)
SOCKET_ENDS(unix_peer_shuts, UNIX(STREAM), PEER_SHUTS, -EPIPE)
SOCKET_ENDS(unix_shut, UNIX(STREAM), WE_SHUT, -EPIPE)
SOCKET_ENDS(messages_peer_closes, UNIX(SEQPACKET), PEER_CLOSES, -ECONNRESET)
SOCKET_ENDS(datagrams_peer_closes, UNIX(DGRAM), PEER_CLOSES, -ECONNREFUSED)
SOCKET_ENDS(tcp_peer_closes, make_tcp(ends), PEER_CLOSES, -ECONNRESET)
SOCKET_ENDS(tcp_shut, make_tcp(ends), WE_SHUT, -EPIPE)

/* A socket of messages, whose buffer is too small for one. */
TEST_F(logend, message_too_long)
{
	int ends[2], small = 1;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	ASSERT_EQ(0, setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small,
				sizeof(small)));
	begin_log(_metadata, self, ends[1]);
	after_error(_metadata, self, -EMSGSIZE, -EMSGSIZE);
}

/* Its other end is closed: as if the line had been cut. */
TEST_F(logend, terminal_hangs_up)
{
	struct reader r;
	uint64_t written;
	int ends[2];

	ASSERT_EQ(0, make_terminal(ends));
	/* from the start: PMCSTART may have more to tell than it holds */
	reader_begin(&r, ends[0], 65536, 0);
	begin_log(_metadata, self, ends[1]);
	written = no_error_yet(_metadata, self->dev);
	ASSERT_TRUE(reader_has(&r, written));
	pthread_cancel(r.thread);
	reader_end(&r);
	close(ends[0]);
	check_cut(_metadata, &r.log);
	after_error(_metadata, self, -EIO, -EIO);
}

/* ------------------------------------------------------------------------
 * No room
 */
TEST_F(logend, full_tmpfs)
{
	struct log log;
	int file;

	OPEN_SMALL(file, "/tmp/small", 128 << 10);
	begin_log(_metadata, self, dup(file));
	after_error(_metadata, self, -ENOSPC, -ENOSPC);
	/* what did fit */
	ASSERT_TRUE(log_load(&log, file));
	check_cut(_metadata, &log);
	EXPECT_EQ(128 << 10, log.len);
	close(file);
	umount("/tmp/small");
}

/* The space comes back: the log remains cut, and there is room for the next. */
TEST_F(logend, full_disk)
{
	struct log log;
	int file, next;

	if (!small_ext4("/tmp/disk", 4096))
		SKIP(return, "no disk can be made here");
	file = open("/tmp/disk/log", O_RDWR | O_CREAT, 0600);
	next = open("/tmp/disk/next", O_RDWR | O_CREAT, 0600);
	ASSERT_LE(0, file);
	ASSERT_LE(0, next);
	ASSERT_TRUE(fill_but("/tmp/disk/rest", 128 << 10));
	begin_log(_metadata, self, dup(file));
	error_is_told(_metadata, self, -ENOSPC, -ENOSPC);
	nothing_more(_metadata, self);
	ASSERT_EQ(0, unlink("/tmp/disk/rest"));
	nothing_more(_metadata, self);
	EXPECT_EQ(-ENOSPC, dev_flush(self->dev));
	heals(_metadata, self, next);
	ASSERT_TRUE(log_load(&log, file));
	check_cut(_metadata, &log);
	EXPECT_LT(32 << 10, log.len);
	EXPECT_GE(192 << 10, log.len);
	close(file);
	close(next);
	small_ext4_end("/tmp/disk");
}

/* It is as long as it will ever be. */
TEST_F(logend, sealed)
{
	int file = memfd_create("log", MFD_ALLOW_SEALING);
	struct log log;

	/* the writer thread's pieces have at most half of that (logbuffersize) */
	ASSERT_EQ(0, ftruncate(file, 512 << 10));
	ASSERT_EQ(0, fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK));
	begin_log(_metadata, self, dup(file));
	after_error(_metadata, self, -EPERM, -EPERM);
	ASSERT_TRUE(log_load(&log, file));
	check_cut(_metadata, &log);
	ASSERT_EQ(512 << 10, log.len);
	/* they fit whole or not at all */
	while (log.len && !log.data[log.len - 1])
		log.len--;
	EXPECT_LT(255 << 10, log.len);
	close(file);
}

/* Nobody may write to it from now on, in the middle of the log. */
TEST_F(logend, sealed_meanwhile)
{
	int file = memfd_create("log", MFD_ALLOW_SEALING);
	struct log log;

	begin_log(_metadata, self, dup(file));
	no_error_yet(_metadata, self->dev);
	ASSERT_EQ(0, fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE));
	after_error(_metadata, self, -EPERM, -EPERM);
	ASSERT_TRUE(log_load(&log, file));
	check_cut(_metadata, &log);
	EXPECT_LT(20, log.samples);
	close(file);
}

/* ------------------------------------------------------------------------
 * The end after an error
 */
TEST_F(logend, closed_with_error)
{
	uint32_t id;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, dev_configure(self->dev, ends[1]));
	close(ends[1]);
	close(ends[0]);
	dev_run(self->dev, pmc_clock(1000), &id);
	ASSERT_TRUE(wait_error(self->dev));
	EXPECT_EQ(0, dev_configure(self->dev, -1));
	EXPECT_EQ(-EINVAL, dev_closelog(self->dev));
	EXPECT_EQ(0, dev_configure(self->dev, temp_file()));
	EXPECT_EQ(0, dev_flush(self->dev));
	EXPECT_EQ(0, dev_start(self->dev, id));
	EXPECT_GT(CLOSE_MS, close_ms(self->dev));
	EXPECT_TRUE(recorders_are(self->users));
}

/* Killed with an error pending, and while its reader sleeps. */
static void killed(META, FIXTURE_DATA(logend) *self, bool stalled)
{
	int ends[2], ready[2];
	uint64_t start;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, pipe(ready));
	pid = fork_bound();
	if (!pid) {
		int dev = dev_open();

		if (dev < 0 || dev_configure(dev, ends[1]))
			_exit(1);
		close(ends[1]);
		if (!stalled)
			close(ends[0]);
		if (dev_run(dev, pmc_clock(bearable_hz(5000)), NULL) && stalled)
			_exit(2);
		if (!(stalled ? wait_stalled(dev) : wait_error(dev)))
			_exit(3);
		close(ready[1]);
		pause();
	}
	close(ready[1]);
	close(ends[1]);
	if (!stalled)
		close(ends[0]);
	ASSERT_EQ(0, read(ready[0], &c, 1));
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	start = now_ns();
	kill(pid, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, wait_for(pid));
	EXPECT_GT(CLOSE_MS * MSEC, now_ns() - start);
	/* the fixture's own device is still open */
	EXPECT_TRUE(recorders_are(self->users + 1));
}

TEST_F(logend, killed_with_error)
{
	killed(_metadata, self, false);
}

TEST_F(logend, killed_with_sleeping_reader)
{
	killed(_metadata, self, true);
}

TEST_HARNESS_MAIN
