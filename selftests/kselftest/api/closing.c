// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who closes a device waits for nobody else's log, and a log does not keep its
 * own device open.
 */
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "fusefile.h"
#include "module.h"
#include "passing.h"
#include "recorder.h"
#include "test.h"
#include "trial.h"

#define NDEV	8
#define ROUNDS	3

/* More than the pipe takes: the thread waits in it when this returns. */
static int stall(int dev, int fd)
{
	unsigned int i;
	int err = dev_configure(dev, fd);

	close(fd);
	for (i = 0; i < 1000 && !err; i++)
		err = dev_userdata(dev, i);
	sleep_ms(50);
	return err;
}

/* A device whose log waits in a full pipe. */
static int stalled_device(int fd)
{
	int dev = dev_open();

	return stall(dev, fd) ? -1 : dev;
}

static int idle_device(void)
{
	int dev = dev_open();

	return dev_configure(dev, temp_file()) ? -1 : dev;
}

/* ------------------------------------------------------------------------
 * A cycle: the log, the socket it goes to, what is in flight there, the device
 */

/*
 * The device is received from end @in, that end from itself: nobody has any of
 * them, but the log has the other one.
 */
static int make_cycle(bool full)
{
	int ends[2], small = 1, dev = dev_open(), err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return -1;
	if (send_fd(ends[1], ends[1], 1) || send_fd(ends[0], dev, 2))
		return -1;
	if (!full)
		return dev_configure(dev, ends[0]);
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	err = stall(dev, ends[0]);
	return err;
}

TEST(cycle)
{
	int users = module_users(), i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, IN_CHILD(make_cycle(false)));
	EXPECT_TRUE(recorders_are(users));
}

/* The thread waits for a reader that there cannot be. */
TEST(cycle_stalled)
{
	int users = module_users();

	ASSERT_EQ(0, IN_CHILD(make_cycle(true)));
	EXPECT_TRUE(recorders_are(users));
}

/* ... also when it was another log's thread that came to the socket. */
static int rotate_into_cycle(void)
{
	int ends[2], dev = dev_open();

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    send_fd(ends[1], ends[1], 1) || send_fd(ends[0], dev, 2))
		return -1;
	return dev_configure(dev, temp_file()) ?: dev_rotate(dev, ends[0]);
}

TEST(cycle_rotated)
{
	int users = module_users();

	ASSERT_EQ(0, IN_CHILD(rotate_into_cycle()));
	EXPECT_TRUE(recorders_are(users));
}

/*
 * ... also while the old log's file takes no data: a pipe, whose other end is in the
 * socket.  Nobody waits for the rotation any more.
 */
static int rotate_slowly_into_cycle(void)
{
	int ends[2], log[2], dev = dev_open(), err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || small_pipe(log) ||
	    dev_configure(dev, log[1]) || dev_flush(dev) || pipe_fill(log[1]))
		return -1;
	close(log[1]);
	if (send_fd(ends[1], ends[1], 1) || send_fd(ends[0], dev, 2) ||
	    send_fd(ends[0], log[0], 3))
		return -1;
	alarm_every(100, NULL, 0);
	while ((err = dev_rotate(dev, ends[0])) == -EINTR)
		;
	return err != -EINPROGRESS;
}

TEST(cycle_rotated_slowly)
{
	int users = module_users();

	ASSERT_EQ(0, IN_CHILD(rotate_slowly_into_cycle()));
	EXPECT_TRUE(recorders_are(users));
}

/*
 * Another cycle: a mapping that waits to be logged, the io_uring that was mapped,
 * and in its table the device and the end of the pipe that nobody else can read.
 */
#define NO_EXEC		77

static int map_into_cycle(void)
{
	struct hwpmc_allocate a = pmc_process_faults(0);
	struct io_uring_params p = {};
	int ring = syscall(SYS_io_uring_setup, 1, &p), dev = dev_open();
	int ends[2], fds[2];
	void *sq;

	if (ring < 0)
		return NO_EXEC;
	if (pipe2(ends, O_CLOEXEC) || dev_configure(dev, ends[1]) ||
	    dev_allocate(dev, &a) || dev_start(dev, a.id))
		return 1;
	fds[0] = dev;
	fds[1] = ends[0];
	if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, fds, 2))
		return 1;
	/* more than it holds */
	for (fds[0] = 0; fds[0] < 5000; fds[0]++)
		if (dev_userdata(dev, fds[0]))
			return 1;
	sleep_ms(200);
	sq = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, ring,
		  IORING_OFF_SQ_RING);
	return sq == MAP_FAILED ? NO_EXEC : 0;
}

TEST(cycle_mapped)
{
	int users = module_users(), status;

	status = IN_CHILD(map_into_cycle());
	if (status == NO_EXEC)
		SKIP(return, "no io_uring that can be mapped to be executed");
	ASSERT_EQ(0, status);
	EXPECT_TRUE(recorders_are(users));
}

/*
 * Such a log ends with whoever has configured it, which is told as an error;
 * another file, or a socket of a process that lives, makes all well again.
 */
TEST(socket_without_process)
{
	int dev = dev_open(), ends[2], more[2], file = temp_file();
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	child = fork_bound();
	if (!child)
		_exit(dev_configure(dev, ends[1]) || dev_userdata(dev, 1) ||
		      dev_flush(dev));
	close(ends[1]);
	ASSERT_EQ(0, wait_for(child));
	ASSERT_TRUE(wait_error(dev));
	EXPECT_EQ(-EOWNERDEAD, dev_flush(dev));
	ASSERT_EQ(0, dev_rotate(dev, file));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(1000), NULL));
	EXPECT_TRUE(wait_committed(dev, 50));
	EXPECT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, more));
	ASSERT_EQ(0, dev_rotate(dev, more[1]));
	/* longer than the other one has lasted */
	sleep_ms(3000);
	EXPECT_EQ(0, dev_events(dev));
	EXPECT_TRUE(wait_committed(dev, 50));
	close(dev);
}

/* What an armed snapshot goes to is kept for as long: nothing of that kind. */
TEST(armed_socket)
{
	int dev = dev_open(), ends[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	ASSERT_EQ(0, dev_flight(dev, 1 << 20, 0));
	EXPECT_EQ(-EINVAL, dev_snapshot(dev, ends[1], HWPMC_SNAPSHOT_ARM));
	EXPECT_EQ(0, dev_snapshot(dev, temp_file(), HWPMC_SNAPSHOT_ARM));
	close(dev);
}

/* ------------------------------------------------------------------------
 * How long a close takes
 */

/* Sends NDEV devices of each kind, and stays: nobody reads from its pipes. */
static void sender(int sock)
{
	int i, dev, ends[2];

	for (i = 0; i < 2 * NDEV; i++) {
		if (i % 2 && small_pipe(ends))
			_exit(1);
		dev = i % 2 ? stalled_device(ends[1]) : idle_device();
		if (dev < 0 || send_fd(sock, dev, i))
			_exit(1);
		close(dev);
	}
	for (;;)
		pause();
}

/* All of them: how much longer those take whose logs cannot end. */
static int64_t strangers_close_ms(META)
{
	int sock[2], dev[2 * NDEV], i;
	int64_t ms[2] = {};
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, sock)) return 0;
	child = fork_bound();
	if (!child)
		sender(sock[1]);
	/* each comes when its sender has stalled it */
	for (i = 0; i < 2 * NDEV; i++)
		ASSERT_LE(0, dev[i] = await_fd(sock[0]));
	for (i = 0; i < 2 * NDEV; i++)
		ms[i % 2] += close_ms(dev[i]);
	TH_LOG("%lld ms, and %lld ms with nothing to wait for",
	       (long long)ms[1], (long long)ms[0]);
	load_end(child);
	close(sock[0]);
	close(sock[1]);
	return ms[1] - ms[0];
}

/*
 * Each would be waited for six tenths of a second: half of that for all of them
 * is a machine that was busy with something else just then, so it is tried again.
 */
TEST(stranger_does_not_wait)
{
	int users = module_users(), i;
	int64_t more = INT64_MAX;

	for (i = 0; i < ROUNDS && more > NDEV * 300; i++)
		more = strangers_close_ms(_metadata);
	EXPECT_GE(NDEV * 300, more);
	EXPECT_TRUE(recorders_are(users));
}

#define HELD		"/tmp/closing-fuse"

/*
 * Opens an event of perf's on itself, and reads it into memory of which the file server
 * does not give the page: it holds the lock that the release of its events needs.
 */
static void hold_events(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.read_format = PERF_FORMAT_GROUP,
	};
	int event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	int file = open(HELD "/file", O_RDONLY);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);

	if (event < 0 || file < 0 || page == MAP_FAILED || read(event, page, 4096) < 0)
		_exit(1);
	for (;;)
		pause();
}

/* Its target holds the events as soon as they are counted. */
static void send_held(int sock)
{
	int dev = dev_open(), go[2];
	pid_t target;
	char c;

	if (pipe(go))
		_exit(1);
	target = fork_bound();
	if (!target) {
		close(dev);
		close(go[1]);
		if (read(go[0], &c, 1))
			_exit(1);
		hold_events();
	}
	if (dev_run_on(dev, pmc_process_counter(FAULTS, 0),
		       target, NULL) || send_fd(sock, dev, 0))
		_exit(1);
	close(dev);
	close(go[0]);
	close(go[1]);
	for (;;)
		pause();
}

/* A stranger does not wait for what the target does with its events, either. */
TEST(stranger_and_held_events)
{
	struct fusefile *hold = shared_memory(sizeof(*hold));
	int users = module_users(), sock[2], dev;
	pid_t server, child;

	hold->hold_read = true;
	server = fusefile_begin(HELD, hold);
	if (!server)
		SKIP(return, "no FUSE");
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, sock));
	child = fork_bound();
	if (!child)
		send_held(sock[1]);
	dev = await_fd(sock[0]);
	ASSERT_LE(0, dev);
	EXPECT_TRUE(WAIT_UNTIL(hold->reads, 10000));
	EXPECT_GT(1000, close_ms(dev));
	EXPECT_LT(users, module_users());
	load_end(child);
	fusefile_end(HELD, server);
	EXPECT_TRUE(recorders_are(users));
}

/* Its log is configured by another process, which lives on without the device. */
static pid_t configured_by_child(int dev, int *ends)
{
	int ready[2];
	pid_t child;
	char c;

	if (pipe(ready))
		return -1;
	child = fork_bound();
	if (!child) {
		if (stall(dev, ends[1]) || close(dev) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	close(ends[1]);
	if (read(ready[0], &c, 1) != 1)
		child = -1;
	close(ready[0]);
	return child;
}

/* What the module waits in a close, but for a tick; it gives up then. */
#define PATIENCE_MS	550

/* The opener waits in its close, and so does the process that configured the log. */
TEST(own_close_waits)
{
	int users = module_users(), ends[2], dev;
	pid_t child;

	ASSERT_EQ(0, small_pipe(ends));
	dev = stalled_device(ends[1]);
	ASSERT_LE(0, dev);
	EXPECT_LE(PATIENCE_MS, close_ms(dev));
	close(ends[0]);

	ASSERT_EQ(0, small_pipe(ends));
	/* nothing else has it then */
	dev = trial_open_as(NULL);
	ASSERT_LE(0, dev);
	ASSERT_EQ(0, stall(dev, ends[1]));
	EXPECT_LE(PATIENCE_MS, close_ms(dev));
	close(ends[0]);

	ASSERT_EQ(0, small_pipe(ends));
	dev = dev_open();
	child = configured_by_child(dev, ends);
	ASSERT_LT(0, child);
	EXPECT_LE(PATIENCE_MS, close_ms(dev));
	close(ends[0]);
	load_end(child);
	EXPECT_TRUE(recorders_are(users));
}

/* A recorder ends with @n logs in @pipes, which nobody reads, and one in @file. */
static void recorder(int n, int pipes[][2], int file)
{
	int dev = dev_open(), i;

	if (dev_configure(dev, file) || dev_run(dev, pmc_clock(1000), NULL) ||
	    !wait_committed(dev, 50))
		_exit(1);
	for (i = 0; i < n; i++)
		if (stalled_device(pipes[i][1]) < 0)
			_exit(1);
	kill(getpid(), SIGSTOP);
	_exit(0);
}

/* From when it goes on to its end. */
static int64_t exit_ms(META, int n)
{
	int file = temp_file(), pipes[NDEV][2], status, i;
	struct log log;
	uint64_t start;
	pid_t child;

	for (i = 0; i < n; i++)
		ASSERT_EQ(0, small_pipe(pipes[i])) return 0;
	child = fork_bound();
	if (!child)
		recorder(n, pipes, file);
	ASSERT_EQ(child, waitpid(child, &status, WUNTRACED)) return 0;
	ASSERT_TRUE(WIFSTOPPED(status));
	start = now_ns();
	kill(child, SIGCONT);
	ASSERT_EQ(0, wait_for(child));
	start = (now_ns() - start) / MSEC;
	/* it is whole, whatever its other logs wait for */
	LOAD_LOG(&log, file, LOG_DROPS);
	EXPECT_TRUE(log.closed);
	EXPECT_LE(50, log.samples);
	log_free(&log);
	close(file);
	for (i = 0; i < 2 * n; i++)
		close(pipes[i / 2][i % 2]);
	return start;
}

/* The logs of a process that ends are waited for together. */
TEST(exit_waits_once)
{
	int users = module_users(), i;
	int64_t one, all;

	for (i = 0; i < ROUNDS; i++) {
		one = exit_ms(_metadata, 1);
		all = exit_ms(_metadata, NDEV);
		TH_LOG("%lld ms with one, %lld ms with %u", (long long)one,
		       (long long)all, NDEV);
		if (all < one * NDEV / 2)
			break;
	}
	EXPECT_GT(ROUNDS, i);
	EXPECT_TRUE(recorders_are(users));
}

#define NPMC	128

/* The close of a device whose PMCs count in a process that switches often. */
static int64_t close_counted(META, uint32_t flags)
{
	pid_t child = load_sleeper(0);	/* first: it has not the device */
	int dev = dev_open(), file = temp_file(), i;
	struct hwpmc_allocate a;
	int64_t ms;

	ASSERT_EQ(0, dev_configure(dev, file)) return 0;
	for (i = 0; i < NPMC; i++) {
		a = pmc_process_counter(TASK_CLOCK, flags);
		ASSERT_EQ(0, dev_allocate(dev, &a)) return 0;
		ASSERT_EQ(0, dev_attach(dev, a.id, child)) return 0;
		ASSERT_EQ(0, dev_start(dev, a.id)) return 0;
	}
	ms = close_ms(dev);
	load_end(child);
	close(file);
	return ms;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * The last slices of all PMCs are waited for together: not for ten ms each.  On a debug
 * kernel they take some time besides, and on a busy machine more: it gets some tries.
 */
TEST(counted_switches_wait_once)
{
	int64_t limit = NPMC * scaled(5, 9), plain = INT64_MAX, logged = INT64_MAX;
	int users = module_users(), i = 0;

	do {
		plain = least(plain, close_counted(_metadata, 0));
		logged = least(logged, close_counted(_metadata,
						     HWPMC_F_LOG_PROCCSW));
	} while (logged - plain >= limit && ++i < 4 * ROUNDS);
	TH_LOG("%lld ms, and %lld ms without slices", (long long)logged,
	       (long long)plain);
	EXPECT_GT(limit, logged - plain);
	EXPECT_TRUE(recorders_are(users));
}

TEST_HARNESS_MAIN
