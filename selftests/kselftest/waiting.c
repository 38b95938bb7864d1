// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors that need a certain moment: signals while an operation waits for the
 * reader of the log, no room, no memory, a CPU that is away.
 */
#include <pthread.h>
#include <sys/time.h>

#include "test.h"

static void ignore(int sig)
{
}

/* SIGALRM from now on every @ms, without restarting system calls. */
static void alarm_every(unsigned int ms)
{
	struct sigaction sa = { .sa_handler = ignore };
	struct itimerval it = {
		.it_interval = { .tv_usec = ms * 1000 },
		.it_value = { .tv_usec = ms * 1000 },
	};

	if (!ms)
		memset(&it, 0, sizeof(it));
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

/* A log into a pipe that is full, with the writing thread stuck in it. */
struct stuck {
	int dev;
	int reader;
};

static int stick(struct stuck *s)
{
	int ends[2], i, err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	s->reader = ends[0];
	s->dev = dev_open();
	err = dev_configure(s->dev, ends[1]);
	close(ends[1]);
	for (i = 0; !err && i < 500; i++)
		err = dev_userdata(s->dev, i);
	sleep_ms(200);
	return err;
}

/* Reads the rest of the log, from @reader. */
static void *read_rest(void *arg)
{
	struct stuck *s = arg;
	static struct log log;

	return log_load(&log, s->reader) ? &log : NULL;
}

/* USERDATA records that are not extensions. */
static unsigned int count_words(struct log *log)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec)
		n += rec.type == PMCLOG_T_USERDATA &&
		     !pmclog_iter_ext_subtype(&rec);
	return n;
}

TEST(flush_interrupted)
{
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	alarm_every(100);
	EXPECT_EQ(-EINTR, dev_flush(s.dev));
	EXPECT_EQ(-EINTR, dev_flush(s.dev));
	alarm_every(0);
	EXPECT_EQ(0, close(s.dev));
}

/* The log ends all the same once there is a reader, with nothing missing. */
static void check_end(struct __test_metadata *_metadata, int negative_fd)
{
	void *log = NULL;
	pthread_t reader;
	struct stuck s;
	int err;

	ASSERT_EQ(0, stick(&s));
	alarm_every(100);
	if (negative_fd) {
		EXPECT_EQ(-EINTR, dev_configure(s.dev, -1));
	} else {
		EXPECT_EQ(-EINTR, dev_closelog(s.dev));
	}
	/* it is ending: no more words, no new log yet */
	EXPECT_EQ(-EINVAL, dev_userdata(s.dev, 1));
	EXPECT_EQ(-EINVAL, dev_flush(s.dev));
	EXPECT_EQ(-EBUSY, dev_configure(s.dev, 1));
	alarm_every(0);
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_rest, &s));
	err = dev_closelog(s.dev);
	ASSERT_TRUE(!err || err == -EINVAL);	/* it may have ended by now */
	pthread_join(reader, &log);
	ASSERT_NE(NULL, log);
	ASSERT_LOG((struct log *)log, 0);
	EXPECT_EQ(500, count_words(log));
	EXPECT_EQ(-EINVAL, dev_closelog(s.dev));
}

TEST(closelog_interrupted)
{
	check_end(_metadata, 0);
}

TEST(configurelog_interrupted)
{
	check_end(_metadata, 1);
}

/* A rotation that has not begun is taken back: the file stays empty. */
TEST(rotate_interrupted)
{
	int file = temp_file();
	void *log = NULL;
	pthread_t reader;
	struct stat st;
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	alarm_every(100);
	EXPECT_EQ(-EINTR, dev_rotate(s.dev, file));
	alarm_every(0);
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_rest, &s));
	ASSERT_EQ(0, dev_flush(s.dev));
	ASSERT_EQ(0, dev_closelog(s.dev));
	pthread_join(reader, &log);
	ASSERT_NE(NULL, log);
	ASSERT_LOG((struct log *)log, 0);
	ASSERT_EQ(0, fstat(file, &st));
	EXPECT_EQ(0, st.st_size);
}

static void *flush_forever(void *dev)
{
	dev_flush(*(int *)dev);
	return NULL;
}

/* Another thread's operation waits for the reader: ours can be interrupted. */
TEST(interrupted_behind_another)
{
	struct hwpmc_cpuinfo info;
	pthread_t flusher;
	struct stuck s;
	sigset_t set;

	ASSERT_EQ(0, stick(&s));
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	ASSERT_EQ(0, pthread_create(&flusher, NULL, flush_forever, &s.dev));
	sleep_ms(200);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm_every(100);
	EXPECT_EQ(-EINTR, dev_ioctl(s.dev, HWPMC_IOC_GETCPUINFO, &info));
	alarm_every(0);
	close(s.reader);
	pthread_join(flusher, NULL);
	EXPECT_EQ(0, dev_ioctl(s.dev, HWPMC_IOC_GETCPUINFO, &info));
}

/* PMCSTART waits for the first dump; only death ends that wait. */
TEST(start_killed)
{
	struct stuck s;
	uint64_t start;
	uint32_t id;
	pid_t child;

	ASSERT_EQ(0, stick(&s));
	child = fork_bound();
	if (!child) {
		dev_run(s.dev, pmc_clock(100), &id);
		_exit(0);
	}
	sleep_ms(300);
	start = now_ns();
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, wait_for(child));
	EXPECT_GT(scaled(1000, 5000) * MSEC, now_ns() - start);
	EXPECT_EQ(0, close(s.dev));
}

/* The ring is full of words that nobody takes out. */
TEST(no_room)
{
	uint64_t limit = module_param("ringsize") * 1024 / 32 * 2 + 1000;
	struct stuck s;
	uint64_t n = 0;
	int err = 0;

	ASSERT_EQ(0, stick(&s));
	pin_to(0);
	ASSERT_EQ(0, fcntl(s.dev, F_SETFL,
			   fcntl(s.dev, F_GETFL) | O_NONBLOCK));
	while (!err && n++ < limit)
		err = dev_userdata(s.dev, n);
	EXPECT_EQ(-ENOMEM, err);
	EXPECT_LT(1000, n);
	/* and with a reader there is room again */
	close(s.reader);
	sleep_ms(300);
	EXPECT_EQ(0, dev_userdata(s.dev, 1));
}

/* Blocking, the same waits; a reader sets it free. */
TEST(wait_for_room)
{
	struct stuck s;
	void *log = NULL;
	pthread_t reader;
	uint64_t n, total = module_param("ringsize") * 1024 / 40 + 5000;

	ASSERT_EQ(0, stick(&s));
	pin_to(0);
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_rest, &s));
	for (n = 0; n < total; n++)
		ASSERT_EQ(0, dev_userdata(s.dev, 0x5EED));
	ASSERT_EQ(0, dev_closelog(s.dev));
	pthread_join(reader, &log);
	ASSERT_NE(NULL, log);
	ASSERT_LOG((struct log *)log, 0);
	EXPECT_EQ(total, log_count(log, PMCLOG_T_USERDATA, 16, 0x5EED));
}

TEST(offline)
{
	struct hwpmc_allocate a = pmc_clock(100);
	int dev = dev_open();
	uint64_t value;
	uint32_t id;

	a.cpu = 1;
	ASSERT_EQ(0, dev_allocate(dev, &a));
	id = a.id;
	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	a.cpu = 1;
	EXPECT_EQ(-ENXIO, dev_allocate(dev, &a));
	a.flags = 1U << 30;		/* looked at later */
	EXPECT_EQ(-ENXIO, dev_allocate(dev, &a));
	a.mode = 9;			/* earlier */
	EXPECT_EQ(-EINVAL, dev_allocate(dev, &a));
	EXPECT_EQ(0, seteuid(65534));	/* later */
	a = pmc_clock(100);
	a.cpu = 1;
	EXPECT_EQ(-ENXIO, dev_allocate(dev, &a));
	EXPECT_EQ(0, seteuid(0));
	EXPECT_EQ(-ENXIO, dev_read(dev, id, HWPMC_CPU_ALL, &value));
	EXPECT_EQ(-ENXIO, dev_read(dev, id, 1, &value));
	a = pmc_clock(100);
	EXPECT_EQ(0, dev_allocate(dev, &a));
	EXPECT_EQ(0, dev_read(dev, a.id, HWPMC_CPU_ALL, &value));
	EXPECT_EQ(-ENXIO, dev_read(dev, a.id, 1, &value));
	EXPECT_EQ(0, cpu_set_online(1, true));
	EXPECT_EQ(0, dev_read(dev, id, HWPMC_CPU_ALL, &value));
}

/*
 * Each allocation of an operation fails in turn (fault injection): it says
 * ENOMEM, and the next attempt works.
 */
static bool fail_nth(int fd, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	return pwrite(fd, text, len, 0) == len;
}

/* Whether the fault was not reached: the operation has no nth allocation. */
static bool fault_is_left(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 && atoi(text) > 0;
}

static int open_fail_nth(void)
{
	write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_text("/sys/kernel/debug/failslab/verbose", "0");
	write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_text("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	return open("/proc/thread-self/fail-nth", O_RDWR);
}

enum nomem_op { OP_OPEN, OP_ALLOCATE, OP_CONFIGURE, OP_BULK, OP_START, NOP };

static int nomem_op(enum nomem_op op, int *dev, int file, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_clock(100);
	static const struct {
		struct pmclog_ext_kernel k;
		char symbol[8];
	} bulk = {
		.k.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(bulk)),
		.k.e.cookie = PMCLOG_EXT_COOKIE,
		.k.e.subtype = PMCLOG_EXT_KERNEL,
		.symbol = "symbol7",
	};
	int err;

	switch (op) {
	case OP_OPEN:
		*dev = dev_open();
		return *dev < 0 ? *dev : 0;
	case OP_ALLOCATE:
		err = dev_allocate(*dev, &a);
		*id = a.id;
		return err;
	case OP_CONFIGURE:
		return dev_configure(*dev, file);
	case OP_BULK:
		return dev_bulk(*dev, &bulk, sizeof(bulk));
	default:
		return dev_start(*dev, *id);
	}
}

TEST(no_memory)
{
	static const char * const names[] = {
		"open", "PMCALLOCATE", "CONFIGURELOG", "WRITELOG", "PMCSTART",
	};
	int dev = -1, file = temp_file(), fault = open_fail_nth(), err, op;
	unsigned int n, failed, nomem;
	struct log log;
	uint32_t id = 0;
	bool left;

	if (fault < 0)
		SKIP(return, "this kernel has no fault injection");
	for (op = 0; op < NOP; op++) {
		failed = 0;
		nomem = 0;
		for (n = 1; n < 400; n++) {
			ASSERT_TRUE(fail_nth(fault, n));
			err = nomem_op(op, &dev, file, &id);
			left = fault_is_left(fault);
			fail_nth(fault, 0);
			if (left || !err)
				break;
			failed++;
			nomem += err == -ENOMEM;
			/* it also stands for a fault in copying */
			EXPECT_TRUE(err == -ENOMEM || err == -EFAULT)
				TH_LOG("%s, allocation %u: %s", names[op], n,
				       strerror(-err));
		}
		TH_LOG("%s: %u attempts failed, %u for want of memory",
		       names[op], failed, nomem);
		EXPECT_EQ(0, err);
		if (op != OP_START) {
			EXPECT_LT(0, nomem);
		}
	}
	sleep_ms(500);
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, 0);
	EXPECT_LT(0, log.samples);
}

TEST_HARNESS_MAIN
