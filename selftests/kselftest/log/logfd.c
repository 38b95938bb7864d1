// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a log can be written to, and that it comes out there whole.
 */
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "ends.h"
#include "logkind.h"
#include "rate.h"
#include "recorder.h"
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
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(logfd)
{
	close(self->dev);
	load_end(self->load);
}

/* @n samples or more into @fd, which is closed. */
static void record(META, int dev, int fd, unsigned int hz, unsigned int n)
{
	uint32_t id;

	ASSERT_EQ(0, dev_configure(dev, fd));
	close(fd);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(hz), &id));
	ASSERT_TRUE(wait_committed(dev, n));
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_EQ(0, dev_release(dev, id));
}

/* Into the write end of @ends, with a reader at the other. */
static void record_read(META, int dev, const int *ends, size_t chunk,
			unsigned int pause_ms, unsigned int flags)
{
	struct reader r;

	reader_begin(&r, ends[0], chunk, pause_ms);
	record(_metadata, dev, ends[1], 1000, 150);
	reader_end(&r);
	ASSERT_LOG(&r.log, flags);
	EXPECT_LE(150, r.log.samples + log_dropped(&r.log));
	EXPECT_LT(50, r.log.samples);
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

/* Each write is a packet of a page at most. */
TEST_F(logfd, packet_pipe)
{
	int ends[2];

	ASSERT_EQ(0, pipe2(ends, O_DIRECT));
	record_read(_metadata, self->dev, ends, 65536, 0, 0);
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

/* A write is a message: it fits, and is taken out whole. */
TEST_F(logfd, message_socket)
{
	int ends[2], large = 1 << 20;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	ASSERT_EQ(0, setsockopt(ends[1], SOL_SOCKET, SO_SNDBUFFORCE, &large,
				sizeof(large)));
	record_read(_metadata, self->dev, ends, large, 0, 0);
}

/* Nobody tells the reader of datagrams that these were all. */
TEST_F(logfd, datagram_socket)
{
	int ends[2], large = 1 << 20;
	struct reader r;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	ASSERT_EQ(0, setsockopt(ends[1], SOL_SOCKET, SO_SNDBUFFORCE, &large,
				sizeof(large)));
	reader_begin(&r, ends[0], large, 0);
	record(_metadata, self->dev, ends[1], 1000, 150);
	ASSERT_EQ(0, shutdown(ends[0], SHUT_RD));
	reader_end(&r);
	ASSERT_LOG(&r.log, 0);
	EXPECT_LE(150, r.log.samples);
}

TEST_F(logfd, tcp)
{
	int ends[2];

	ASSERT_EQ(0, make_tcp(ends));
	record_read(_metadata, self->dev, ends, 65536, 0, 0);
}

TEST_F(logfd, nonblocking_tcp)
{
	int ends[2];

	ASSERT_EQ(0, make_tcp(ends));
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	record_read(_metadata, self->dev, ends, 2048, 0, 0);
}

TEST_F(logfd, terminal)
{
	int ends[2];

	ASSERT_EQ(0, make_terminal(ends));
	record_read(_metadata, self->dev, ends, 65536, 0, 0);
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
	record(_metadata, self->dev, fd, 1000, 50);
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
	record(_metadata, self->dev, dup(file), 1000, 50);
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

	record(_metadata, self->dev, dup(file), 1000, 50);
	middle = lseek(file, 0, SEEK_CUR);
	record(_metadata, self->dev, dup(file), 1000, 50);
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

/*
 * A log has ended when CONFIGURELOG(-1) returns, also to one who then keeps the
 * writer thread from its processor: on PREEMPT_RT it may not be through yet.
 */
TEST_F(logfd, ends_for_real_time)
{
	struct sched_param rt = { .sched_priority = 50 }, normal = {};
	int file = temp_file(), i, err = 0;
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(1, &here);
	pin_to(1);
	for (i = 0; i < 20 && !err; i++) {
		ASSERT_EQ(0, dev_configure(self->dev, file));
		ASSERT_EQ(0, sched_setaffinity(recorder_pid(), sizeof(here),
					       &here));
		ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &rt));
		ASSERT_EQ(0, dev_configure(self->dev, -1));
		err = dev_configure(self->dev, file);
		ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &normal));
		if (!err)
			ASSERT_EQ(0, dev_configure(self->dev, -1));
	}
	EXPECT_EQ(0, err);
}

#define CGROUPS	"/sys/fs/cgroup"
#define OURS	CGROUPS "/hwpmc-log"

/* A child of a control group of its own: words into a file in memory. */
static int fill_memory(uint32_t words)
{
	int file = memfd_create("log", MFD_CLOEXEC), dev;
	uint64_t charged = 0;
	uint32_t i;

	if (!write_text(OURS "/cgroup.procs", "0"))
		return 1;
	dev = dev_open();
	if (dev_configure(dev, file))
		return 2;
	for (i = 0; i < words; i++)
		if (dev_userdata(dev, i))
			return 3;
	if (dev_flush(dev))
		return 4;
	/* not counted page by page */
	for (i = 0; i < 50; i++) {
		if (!read_key(OURS "/memory.stat", "shmem", &charged))
			return 5;
		if (charged >= words * sizeof(struct pmclog_userdata) / 2)
			return 0;
		sleep_ms(100);
	}
	return 6;
}

/* A file in memory is that of who configured the log, and not the kernel's. */
TEST(memory)
{
	if (!write_text(CGROUPS "/cgroup.subtree_control", "+memory"))
		SKIP(return, "no control groups of memory");
	mkdir(OURS, 0700);
	EXPECT_EQ(0, IN_CHILD(fill_memory(100000)));
	WAIT_UNTIL(!rmdir(OURS), 10000);
}

#define WORDS		20000

/*
 * A log that is read from the device, with the memory of a group that gets no more:
 * what the queue has no memory for waits in the rings.  No process is in the group
 * by then, which would be killed.
 */
TEST(queue_memory)
{
	int dev = dev_open(), i;
	char most[32];
	struct log log;

	if (!write_text(CGROUPS "/cgroup.subtree_control", "+memory"))
		SKIP(return, "no control groups of memory");
	mkdir(OURS, 0700);
	ASSERT_EQ(0, IN_CHILD(!write_text(OURS "/cgroup.procs", "0") ||
			      dev_stream(dev, 0, 0) || dev_flush(dev)));
	ASSERT_TRUE(read_line(OURS "/memory.current", most, sizeof(most)));
	ASSERT_TRUE(write_text(OURS "/memory.max", most));
	for (i = 0; i < WORDS; i++)
		ASSERT_EQ(0, dev_userdata(dev, i));
	sleep_ms(1000);
	ASSERT_TRUE(write_text(OURS "/memory.max", "max"));
	END_LOG(dev, dev, &log, 0);
	EXPECT_EQ(WORDS, log_words(&log));
	close(dev);
	WAIT_UNTIL(!rmdir(OURS), 10000);
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
		LOAD_LOG(&log, file, LOG_CUT);
		EXPECT_EQ(1, log_count(&log, PMCLOG_T_USERDATA, 16,
				       0x1000 + i));
		log_free(&log);
	}
}

/* Nobody has to flush: what is logged is in the file soon. */
TEST_F(logfd, soon)
{
	unsigned int i, n = 0;
	int file = temp_file();
	struct log log;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	sleep_ms(300);
	ASSERT_EQ(0, dev_userdata(self->dev, 0xCAFE));
	for (i = 0; i < 100; i++) {
		sleep_ms(300);
		LOAD_LOG(&log, file, LOG_CUT);
		n = log_count(&log, PMCLOG_T_USERDATA, 16, 0xCAFE);
		if (n)
			break;
		log_free(&log);
	}
	EXPECT_EQ(1, n);
}

/* kill -9 at the writer thread ends neither it nor the log. */
TEST_F(logfd, thread_killed)
{
	int file = temp_file();
	struct log log;
	int i;

	BEGIN_LOG(self->dev, file, pmc_clock(1000), NULL);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, kill(recorder_pid(), i & 1 ? SIGKILL : SIGTERM));
		sleep_ms(30);
	}
	EXPECT_TRUE(wait_committed(self->dev, 60));
	ASSERT_EQ(0, dev_flush(self->dev));
	END_LOG(self->dev, file, &log, 0);
	EXPECT_LT(50, log.samples);
}

/* Root has opened the file; the user that has it as a log could not. */
TEST_F(logfd, opener_credentials)
{
	struct hwpmc_driverstats st;
	int file = temp_file(), dev, i;
	struct log log;

	ASSERT_EQ(0, fchmod(file, 0600));
	ASSERT_EQ(0, chmod(DEV_PATH, 0666));
	ASSERT_EQ(0, setresgid(65534, 65534, 0));
	ASSERT_EQ(0, setresuid(65534, 65534, 0));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, dev_userdata(dev, i));
	ASSERT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_LT(100 * sizeof(struct pmclog_userdata), st.bytes_written);
	ASSERT_EQ(0, dev_closelog(dev));
	close(dev);
	ASSERT_EQ(0, seteuid(0));	/* for the teardown */
	ASSERT_EQ(0, setresuid(0, 0, 0));
	ASSERT_EQ(0, chmod(DEV_PATH, 0600));
	LOAD_LOG(&log, file, 0);
}

/* A file system that is unmounted meanwhile, lazily, and forgotten. */
TEST_F(logfd, unmounted)
{
	struct log log;
	int file;

	OPEN_SMALL(file, "/tmp/lazy", 16 << 20);
	BEGIN_LOG(self->dev, file, pmc_clock(1000), NULL);
	ASSERT_TRUE(wait_committed(self->dev, 50));
	ASSERT_EQ(0, umount2("/tmp/lazy", MNT_DETACH));
	ASSERT_EQ(0, rmdir("/tmp/lazy"));
	ASSERT_TRUE(wait_committed(self->dev, 50));
	END_LOG(self->dev, file, &log, 0);
	EXPECT_LE(100, log.samples);
}

/* The thread that writes is not the process: its limits do not count. */
TEST_F(logfd, size_limit)
{
	struct rlimit limit = { .rlim_cur = 4096, .rlim_max = 4096 };
	int file = temp_file();
	struct log log;

	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
	record(_metadata, self->dev, dup(file), 1000, 100);
	LOAD_LOG(&log, file, 0);
	EXPECT_LT(4096, log.len);
}

/* ------------------------------------------------------------------------
 * What is refused, and what is taken but cannot be written to
 */

/* As the first log of @dev. */
static void configure_kind(META, int dev, const struct log_kind *k)
{
	int fd = log_kind_make(k);

	if (fd < 0 && errno == ENOSYS) {
		TH_LOG("%s: this kernel has none", k->what);
		return;
	}
	ASSERT_LE(0, fd) TH_LOG("%s: %s", k->what, strerror(errno));
	EXPECT_EQ(k->take, dev_configure(dev, fd)) TH_LOG("%s", k->what);
	close(fd);
	if (k->take) {
		EXPECT_EQ(-EINVAL, dev_flush(dev)) TH_LOG("%s", k->what);
		return;
	}
	EXPECT_EQ(k->write, dev_flush(dev)) TH_LOG("%s", k->what);
	EXPECT_EQ(k->write ? POLLERR : 0, dev_events(dev))
		TH_LOG("%s", k->what);
	EXPECT_EQ(k->write, dev_closelog(dev)) TH_LOG("%s", k->what);
}

/* After another log, which goes on if it is refused. */
static void rotate_kind(META, int dev, const struct log_kind *k)
{
	int fd = log_kind_make(k), file;
	struct log log;

	if (fd < 0 && errno == ENOSYS) {
		TH_LOG("%s: this kernel has none", k->what);
		return;
	}
	file = temp_file();
	ASSERT_LE(0, fd) TH_LOG("%s: %s", k->what, strerror(errno));
	ASSERT_EQ(0, dev_configure(dev, file));
	EXPECT_EQ(k->take, dev_rotate(dev, fd)) TH_LOG("%s", k->what);
	close(fd);
	if (k->take) {
		EXPECT_EQ(0, dev_userdata(dev, 0xA11)) TH_LOG("%s", k->what);
		EXPECT_EQ(0, dev_closelog(dev)) TH_LOG("%s", k->what);
	} else {
		EXPECT_EQ(k->write, dev_flush(dev)) TH_LOG("%s", k->what);
		EXPECT_EQ(k->write, dev_closelog(dev)) TH_LOG("%s", k->what);
	}
	LOAD_LOG(&log, file, 0);
	EXPECT_EQ(!!k->take, log_count(&log, PMCLOG_T_USERDATA, 16, 0xA11));
	log_free(&log);
	close(file);
}

static void each_kind(META,
		      void (*try)(struct __test_metadata *_metadata, int dev,
				  const struct log_kind *k))
{
	unsigned int i, ms;
	int dev;

	for (i = 0; i < log_nkinds; i++) {
		OPEN_DEVICE(dev);
		try(_metadata, dev, &log_kinds[i]);
		ms = close_ms(dev);
		/* it waits for nobody */
		EXPECT_GT(CLOSE_MS, ms) TH_LOG("%s", log_kinds[i].what);
	}
}

TEST_F(logfd, configure_kinds)
{
	each_kind(_metadata, configure_kind);
}

TEST_F(logfd, rotate_kinds)
{
	each_kind(_metadata, rotate_kind);
}

/* What a write to these does may depend on the writing task, which is not the user. */
TEST_F(logfd, files_of_the_kernel)
{
	static const char *const paths[] = {
		"/proc/sys/kernel/hostname",
		"/proc/self/comm",
		"/sys/module/hwpmc/parameters/max_cpu",
	};
	unsigned int i;
	int fd;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		fd = open(paths[i], O_WRONLY);
		ASSERT_LE(0, fd) TH_LOG("%s: %s", paths[i], strerror(errno));
		EXPECT_EQ(-EINVAL, dev_configure(self->dev, fd))
			TH_LOG("%s", paths[i]);
		close(fd);
	}
}

/* The owner's own device is one too, by whichever descriptor. */
TEST_F(logfd, own_device)
{
	int other = dup(self->dev), file = temp_file();

	EXPECT_EQ(-EINVAL, dev_configure(self->dev, self->dev));
	EXPECT_EQ(-EINVAL, dev_configure(self->dev, other));
	ASSERT_EQ(0, dev_configure(self->dev, file));
	EXPECT_EQ(-EINVAL, dev_rotate(self->dev, self->dev));
	EXPECT_EQ(-EINVAL, dev_rotate(other, self->dev));
	EXPECT_EQ(0, dev_flush(self->dev));
	close(other);
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

	file[0] = temp_file();
	BEGIN_LOG(self->dev, file[0], pmc_clock(bearable_hz(5000)), NULL);
	for (i = 1; i < NROTATE; i++) {
		sleep_ms(150);
		EXPECT_TRUE(wait_committed(self->dev, 10));
		file[i] = temp_file();
		ASSERT_EQ(0, dev_rotate(self->dev, file[i]));
	}
	EXPECT_TRUE(wait_committed(self->dev, 10));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	for (i = 0; i < NROTATE; i++) {
		LOAD_LOG(&log, file[i], 0);
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
