// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors that need a certain moment: signals while an operation waits for the
 * reader of the log, no room, a CPU that is away.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "recorder.h"
#include "target.h"
#include "test.h"

/* A log into a pipe that is full, with the writer thread stuck in it. */
struct stuck {
	int dev;
	int reader;
};

static int stick(struct stuck *s)
{
	int ends[2], i, err;

	if (small_pipe(ends))
		return -errno;
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

/* A call that waits until a signal comes, and what it returns then */
#define EXPECT_INTERRUPTED(err, call) do {				\
	alarm_every(100, NULL, 0);					\
	EXPECT_EQ(err, call);						\
	alarm_every(0, NULL, 0);					\
} while (0)

/* Waits for the end of read_rest(), and has it checked: the log. */
static struct log *rest_of(META, pthread_t reader)
{
	void *log = NULL;

	pthread_join(reader, &log);
	ASSERT_NE(NULL, log);
	ASSERT_LOG((struct log *)log, 0);
	return log;
}

TEST(flush_interrupted)
{
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	alarm_every(100, NULL, 0);
	EXPECT_EQ(-EINTR, dev_flush(s.dev));
	EXPECT_EQ(-EINTR, dev_flush(s.dev));
	alarm_every(0, NULL, 0);
	EXPECT_EQ(0, close(s.dev));
}

/* The log ends all the same once there is a reader, with nothing missing. */
static void check_end(META, int negative_fd)
{
	pthread_t reader;
	struct stuck s;
	int err;

	ASSERT_EQ(0, stick(&s));
	alarm_every(100, NULL, 0);
	if (negative_fd) {
		EXPECT_EQ(-EINTR, dev_configure(s.dev, -1));
	} else {
		EXPECT_EQ(-EINTR, dev_closelog(s.dev));
	}
	/* it is ending: no more words, no new log yet */
	EXPECT_EQ(-EINVAL, dev_userdata(s.dev, 1));
	EXPECT_EQ(-EINVAL, dev_flush(s.dev));
	EXPECT_EQ(-EBUSY, dev_configure(s.dev, 1));
	alarm_every(0, NULL, 0);
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_rest, &s));
	err = dev_closelog(s.dev);
	ASSERT_TRUE(!err || err == -EINVAL);	/* it may have ended by now */
	EXPECT_EQ(500, log_words(rest_of(_metadata, reader)));
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

/* Closes the pipe's other end when the process waits for the end of its log. */
static void *close_reader(void *arg)
{
	struct stuck *s = arg;

	wait_in_call(getpid(), getpid(), SYS_ioctl);
	close(s->reader);
	return NULL;
}

/* A write error on the way to the end is told by CLOSELOG; it is the end even so. */
TEST(closelog_fails)
{
	pthread_t reader;
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	ASSERT_EQ(0, pthread_create(&reader, NULL, close_reader, &s));
	EXPECT_EQ(-EPIPE, dev_closelog(s.dev));
	pthread_join(reader, NULL);
	EXPECT_EQ(-EINVAL, dev_closelog(s.dev));
	EXPECT_EQ(-EINVAL, dev_userdata(s.dev, 1));
	EXPECT_EQ(0, dev_configure(s.dev, temp_file()));
	EXPECT_EQ(0, dev_closelog(s.dev));
	close(s.dev);
}

/* A rotation that has not begun is taken back: the file stays empty. */
TEST(rotate_interrupted)
{
	int file = temp_file();
	pthread_t reader;
	struct stat st;
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	EXPECT_INTERRUPTED(-EINTR, dev_rotate(s.dev, file));
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_rest, &s));
	ASSERT_EQ(0, dev_flush(s.dev));
	ASSERT_EQ(0, dev_closelog(s.dev));
	rest_of(_metadata, reader);
	ASSERT_EQ(0, fstat(file, &st));
	EXPECT_EQ(0, st.st_size);
}

/* @to: -1 for nowhere.  At most @bytes, what one read gives. */
static ssize_t copy(int from, int to, size_t bytes)
{
	char buf[4096];
	ssize_t n = read(from, buf, bytes < sizeof(buf) ? bytes : sizeof(buf));

	return n > 0 && to >= 0 ? write(to, buf, n) : n;
}

/* ... until the end of @from */
static ssize_t copy_all(int from, int to, size_t bytes)
{
	size_t done = 0;
	ssize_t n;

	while (done < bytes && (n = copy(from, to, bytes - done)) > 0)
		done += n;
	return done;
}

/*
 * Begins a rotation from the log that goes into the pipe @ends, which is full then, to
 * @file.  Returns the bytes in the pipe.
 */
static int begin_rotation(META, int dev, const int ends[2], int file)
{
	int full = 0, err;

	ASSERT_EQ(0, pipe_fill(ends[1]));
	ASSERT_EQ(0, ioctl(ends[0], FIONREAD, &full));
	close(ends[1]);
	alarm_every(100, NULL, 0);
	while ((err = dev_rotate(dev, file)) == -EINTR)
		;
	alarm_every(0, NULL, 0);
	EXPECT_EQ(-EINPROGRESS, err);
	return full;
}

/*
 * A rotation that has begun goes on when its caller is interrupted, until the old
 * file has taken all.  One that is asked for meanwhile has not begun.
 */
TEST(rotate_goes_on)
{
	int file = temp_file(), other = temp_file(), old = temp_file();
	int ends[2], dev = dev_open(), before, full;
	struct stat st;
	struct log log;

	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	ASSERT_EQ(0, dev_configure(dev, ends[1]));
	ASSERT_EQ(0, dev_userdata(dev, 1));
	ASSERT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, ioctl(ends[0], FIONREAD, &before));
	full = begin_rotation(_metadata, dev, ends, file);
	alarm_every(100, NULL, 0);
	EXPECT_EQ(-EINTR, dev_rotate(dev, other));
	EXPECT_EQ(-EINTR, dev_flush(dev));
	alarm_every(0, NULL, 0);

	ASSERT_EQ(before, copy_all(ends[0], old, before));
	ASSERT_EQ(full - before, copy_all(ends[0], -1, full - before));
	ASSERT_LT(0, copy_all(ends[0], old, SIZE_MAX));
	ASSERT_EQ(0, dev_userdata(dev, 2));
	END_LOG(dev, old, &log, 0);
	EXPECT_EQ(1, log_words(&log));
	log_free(&log);
	LOAD_LOG(&log, file, 0);
	EXPECT_EQ(1, log_words(&log));
	ASSERT_EQ(0, fstat(other, &st));
	EXPECT_EQ(0, st.st_size);
}

/* Samples that have @period by the log's records before them */
static unsigned int samples_of_period(struct log *log, uint64_t period)
{
	struct pmclog_rec rec;
	unsigned int n = 0;
	uint64_t told = 0;

	LOG_FOR_EACH(log, rec) {
		if (rec.type == PMCLOG_T_PMCALLOCATEDYN)
			told = REC64(&rec, pmcallocatedyn, rate);
		n += rec.type == PMCLOG_T_CALLCHAIN && told == period;
	}
	return n;
}

static int fault_twice(struct target *t, void *arg)
{
	fault_pages(400);
	target_pause(t);
	fault_pages(400);
	return 0;
}

/*
 * A period is changed while a rotation goes on.  Samples of before that are in the next
 * log have the period that they were taken with.  The process that is sampled is another
 * one: faults of this one could come before the rotation, and the writer thread would wait
 * for the pipe with them.
 */
TEST(period_of_samples_left)
{
	int file = temp_file(), ends[2], dev, full;
	uint64_t count = 4;
	struct target t;
	struct log log;
	uint32_t id;

	/* first: it is not to have the pipe */
	ASSERT_TRUE(target_begin(&t, fault_twice, NULL));
	dev = dev_open();
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	ASSERT_EQ(0, dev_configure(dev, ends[1]));
	ASSERT_EQ(0, dev_run_on(dev, pmc_process_faults(0), t.pid, &id));
	ASSERT_EQ(0, dev_flush(dev));
	full = begin_rotation(_metadata, dev, ends, file);
	EXPECT_TRUE(target_step(&t));
	ASSERT_EQ(0, dev_stop(dev, id));
	ASSERT_EQ(0, dev_setcount(dev, id, &count));
	ASSERT_EQ(full, copy_all(ends[0], -1, full));
	ASSERT_LT(0, copy_all(ends[0], -1, SIZE_MAX));
	ASSERT_EQ(0, dev_start(dev, id));
	EXPECT_EQ(0, target_end(&t));
	END_LOG(dev, file, &log, 0);
	EXPECT_LE(400, samples_of_period(&log, 1));
	EXPECT_LE(100, samples_of_period(&log, 4));
	EXPECT_GT(400, samples_of_period(&log, 4));
}

/*
 * A period is changed while the rest of a log is written that has an older change.  The
 * next log has the period that its samples are taken with.
 */
TEST(period_between_logs)
{
	int file = temp_file(), ends[2], dev, i;
	uint64_t older = 3, count = 5;
	struct target t;
	char rest[4096];
	struct log log;
	uint32_t id;

	ASSERT_TRUE(target_begin(&t, fault_twice, NULL));
	dev = dev_open();
	ASSERT_EQ(0, small_pipe(ends));
	ASSERT_EQ(0, dev_configure(dev, ends[1]));
	ASSERT_EQ(0, dev_run_on(dev, pmc_process_faults(0), t.pid, &id));
	ASSERT_EQ(0, dev_stop(dev, id));
	pipe_fill(ends[1]);
	close(ends[1]);
	for (i = 0; i < 500; i++)
		ASSERT_EQ(0, dev_userdata(dev, i));
	sleep_ms(200);		/* the writer thread waits for the pipe */
	ASSERT_EQ(0, dev_setcount(dev, id, &older));
	EXPECT_INTERRUPTED(-EINTR, dev_closelog(dev));
	ASSERT_EQ(0, dev_setcount(dev, id, &count));
	while (read(ends[0], rest, sizeof(rest)) > 0)
		continue;
	while ((i = dev_configure(dev, file)) == -EBUSY)
		sleep_ms(10);
	ASSERT_EQ(0, i);
	ASSERT_EQ(0, dev_start(dev, id));
	EXPECT_TRUE(target_step(&t));
	END_LOG(dev, file, &log, 0);
	EXPECT_EQ(0, target_end(&t));
	EXPECT_EQ(0, samples_of_period(&log, 3));
	EXPECT_LE(70, samples_of_period(&log, 5));
}

/* A child that is interrupted in its first rotation and asks again at once. */
static pid_t rotate_twice(int dev, int first, int second)
{
	pid_t pid = fork_bound();

	if (pid)
		return pid;
	alarm_every(0, NULL, 0);
	if (dev_rotate(dev, first) != -EINTR)
		_exit(1);
	_exit(dev_rotate(dev, second) ? 2 : 0);
}

/* The exit status, or -1 after @seconds: then it is killed. */
static int wait_seconds(pid_t pid, unsigned int seconds)
{
	unsigned int i;
	int status;

	for (i = 0; i < seconds * 10; i++) {
		if (waitpid(pid, &status, WNOHANG))
			return WEXITSTATUS(status);
		sleep_ms(100);
	}
	load_end(pid);
	return -1;
}

/*
 * The writer thread has seen a rotation that is taken back, and comes to carry
 * it out when there is another one.
 */
TEST(rotate_asked_again)
{
	/* all that the stuck pass can have, and some of the next one */
	const size_t part = 1000 + 500 * sizeof(struct pmclog_userdata) + 500;
	int first = temp_file(), second = temp_file(), old = temp_file();
	struct stat st;
	struct stuck s;
	struct log log;
	size_t got = 0;
	pid_t pid;
	int i;

	ASSERT_EQ(0, stick(&s));
	for (i = 0; i < 500; i++)
		ASSERT_EQ(0, dev_userdata(s.dev, i));
	pid = rotate_twice(s.dev, first, second);
	ASSERT_TRUE(wait_in_call(pid, pid, SYS_ioctl));
	while (got < part)
		got += copy(s.reader, old, part - got);
	sleep_ms(300);		/* it is stuck in the next pass */
	kill(pid, SIGALRM);
	sleep_ms(300);
	while (copy(s.reader, old, part) > 0)
		;
	EXPECT_EQ(0, wait_seconds(pid, scaled(20, 60)));
	END_LOG(s.dev, old, &log, 0);
	EXPECT_EQ(1000, log_words(&log));
	log_free(&log);
	LOAD_LOG(&log, second, 0);
	ASSERT_EQ(0, fstat(first, &st));
	EXPECT_EQ(0, st.st_size);
}

static volatile pid_t flusher_tid;

static void *flush_forever(void *dev)
{
	flusher_tid = syscall(SYS_gettid);
	dev_flush(*(int *)dev);
	return NULL;
}

/*
 * Another thread's operation waits for the reader: ours can be interrupted.  The
 * reader may be who asks for statistics: those do not wait.
 */
TEST(interrupted_behind_another)
{
	struct hwpmc_driverstats st;
	struct hwpmc_cpuinfo info;
	pthread_t flusher;
	struct stuck s;
	sigset_t set;

	ASSERT_EQ(0, stick(&s));
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	ASSERT_EQ(0, pthread_create(&flusher, NULL, flush_forever, &s.dev));
	while (!flusher_tid)
		sleep_ms(10);
	EXPECT_TRUE(wait_in_call(getpid(), flusher_tid, SYS_ioctl));
	sleep_ms(200);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm_every(100, NULL, 0);
	EXPECT_EQ(-EINTR, dev_ioctl(s.dev, HWPMC_IOC_GETCPUINFO, &info));
	EXPECT_EQ(0, dev_stats(s.dev, HWPMC_STATS_OWNER, &st));
	EXPECT_LT(500, st.syscalls);
	EXPECT_EQ(0, dev_stats(s.dev, HWPMC_STATS_MODULE, &st));
	alarm_every(0, NULL, 0);
	close(s.reader);
	pthread_join(flusher, NULL);
	EXPECT_EQ(0, dev_ioctl(s.dev, HWPMC_IOC_GETCPUINFO, &info));
}

/*
 * PMCSTART and others that change something wait for the reader as well, and he may
 * be the caller: a signal ends that, and then nothing has changed.
 */
TEST(start_interrupted)
{
	struct hwpmc_allocate a = pmc_clock(1000);
	struct hwpmc_driverstats st;
	pthread_t reader;
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	ASSERT_EQ(0, dev_allocate(s.dev, &a));
	alarm_every(100, NULL, 0);
	EXPECT_EQ(-EINTR, dev_start(s.dev, a.id));
	EXPECT_EQ(-EINTR, dev_start(s.dev, a.id));
	alarm_every(0, NULL, 0);
	/* it does not run: it cannot be stopped, and does not sample */
	EXPECT_EQ(-EINVAL, dev_stop(s.dev, a.id));
	ASSERT_EQ(0, dev_stats(s.dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(0, st.account.overflows);
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_rest, &s));
	EXPECT_EQ(0, dev_start(s.dev, a.id));
	EXPECT_TRUE(wait_committed(s.dev, 50));
	ASSERT_EQ(0, dev_closelog(s.dev));
	rest_of(_metadata, reader);
}

/* Of a PMC that attaches itself to the caller: that is taken back. */
TEST(start_of_process_interrupted)
{
	struct hwpmc_allocate a = pmc_process_faults(0);
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	ASSERT_EQ(0, dev_allocate(s.dev, &a));
	EXPECT_INTERRUPTED(-EINTR, dev_start(s.dev, a.id));
	EXPECT_EQ(-EINVAL, dev_detach(s.dev, a.id, 0));
	close(s.dev);
}

TEST(record_interrupted)
{
	struct hwpmc_allocate a = pmc_clock(1000), b = pmc_process_faults(0);
	struct hwpmc_record r;
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	ASSERT_EQ(0, dev_allocate(s.dev, &a));
	ASSERT_EQ(0, dev_allocate(s.dev, &b));
	EXPECT_INTERRUPTED(-EINTR, dev_record(s.dev, true, &r));
	EXPECT_EQ(-EINVAL, dev_record(s.dev, false, &r));
	EXPECT_EQ(-EINVAL, dev_stop(s.dev, a.id));
	EXPECT_EQ(-EINVAL, dev_detach(s.dev, b.id, 0));
	close(s.dev);
}

/* PMCATTACH has attached by the time that it waits. */
TEST(attach_interrupted)
{
	struct hwpmc_allocate a = pmc_process_faults(0);
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	ASSERT_EQ(0, dev_allocate(s.dev, &a));
	EXPECT_INTERRUPTED(0, dev_attach(s.dev, a.id, 0));
	EXPECT_EQ(-EEXIST, dev_attach(s.dev, a.id, 0));
	EXPECT_EQ(0, dev_detach(s.dev, a.id, 0));
	close(s.dev);
}

/* Fills this CPU's ring, too. */
static int fill_ring(int dev)
{
	uint64_t n = module_param("ringsize") * 1024 / 32 * 2 + 1000;
	int flags = fcntl(dev, F_GETFL), err = 0;

	pin_to(0);
	fcntl(dev, F_SETFL, flags | O_NONBLOCK);
	while (!err && n--)
		err = dev_userdata(dev, n);
	fcntl(dev, F_SETFL, flags);
	return err;
}

/* The new period cannot be announced: the old one stays. */
TEST(setcount_interrupted)
{
	struct hwpmc_allocate a = pmc_clock(1000);
	struct hwpmc_pmcinfo_row rows[64];
	uint32_t nrows = 64, i, found = 0;
	uint64_t count = 12345678;
	struct stuck s;

	ASSERT_EQ(0, stick(&s));
	ASSERT_EQ(0, dev_allocate(s.dev, &a));
	ASSERT_EQ(-ENOMEM, fill_ring(s.dev));
	alarm_every(100, NULL, 0);
	EXPECT_EQ(-EINTR, dev_setcount(s.dev, a.id, &count));
	EXPECT_EQ(-EINTR, dev_userdata(s.dev, 1));
	alarm_every(0, NULL, 0);
	ASSERT_EQ(0, dev_pmcinfo(s.dev, 0, rows, &nrows));
	for (i = 0; i < nrows && i < 64; i++) {
		EXPECT_NE(12345678, rows[i].reload);
		found += rows[i].reload == MSEC;
	}
	EXPECT_EQ(1, found);
	close(s.dev);
}

static volatile pid_t rotator_tid;

static void *rotate_for_long(void *arg)
{
	const int *fds = arg;

	rotator_tid = syscall(SYS_gettid);
	dev_rotate(fds[0], fds[1]);
	return NULL;
}

/* A CPU that comes online does not wait for the reader, whoever else does. */
TEST(cpu_comes_meanwhile)
{
	struct hwpmc_allocate a = pmc_clock(1000);
	struct hwpmc_driverstats st;
	int dev = dev_open(), ends[2], fds[2];
	uint64_t before;
	pthread_t rotator;
	unsigned int i;
	pid_t load;

	if (cpu_set_online(1, true) || cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	ASSERT_EQ(0, cpu_set_online(1, true));
	load = load_user(1);
	a.cpu = 1;
	ASSERT_EQ(0, dev_configure(dev, temp_file()));
	ASSERT_EQ(0, dev_run(dev, a, &a.id));
	ASSERT_EQ(0, cpu_set_online(1, false));
	/* all processes are told there, which is more than it holds */
	ASSERT_EQ(0, small_pipe(ends));
	fds[0] = dev;
	fds[1] = ends[1];
	ASSERT_EQ(0, pthread_create(&rotator, NULL, rotate_for_long, fds));
	while (!rotator_tid)
		sleep_ms(10);
	EXPECT_TRUE(wait_in_call(getpid(), rotator_tid, SYS_ioctl));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	before = st.account.overflows;
	ASSERT_EQ(0, cpu_set_online(1, true));
	for (i = 0; i < 500 && st.account.overflows < before + 20; i++) {
		sleep_ms(20);
		ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	}
	EXPECT_LE(before + 20, st.account.overflows);
	EXPECT_TRUE(wait_in_call(getpid(), rotator_tid, SYS_ioctl));
	close(ends[0]);
	pthread_join(rotator, NULL);
	close(dev);
	load_end(load);
}

/* ... and so does death. */
TEST(start_killed)
{
	struct stuck s;
	uint64_t start;
	pid_t child;

	ASSERT_EQ(0, stick(&s));
	child = fork_bound();
	if (!child) {
		dev_run(s.dev, pmc_clock(100), NULL);
		_exit(0);
	}
	sleep_ms(300);
	start = now_ns();
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, wait_for(child));
	/* else it would for ever */
	EXPECT_GT(20000 * MSEC, now_ns() - start);
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
	for (n = 0; n < 600 && err; n++) {
		sleep_ms(100);
		err = dev_userdata(s.dev, 1);
	}
	EXPECT_EQ(0, err);
}

/* Blocking, the same waits; a reader sets it free. */
TEST(wait_for_room)
{
	struct stuck s;
	pthread_t reader;
	uint64_t n, total = module_param("ringsize") * 1024 / 40 + 5000;

	ASSERT_EQ(0, stick(&s));
	pin_to(0);
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_rest, &s));
	for (n = 0; n < total; n++)
		ASSERT_EQ(0, dev_userdata(s.dev, 0x5EED));
	ASSERT_EQ(0, dev_closelog(s.dev));
	EXPECT_EQ(total, log_count(rest_of(_metadata, reader),
				   PMCLOG_T_USERDATA, 16, 0x5EED));
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
	EXPECT_EQ(-ENXIO, dev_read(dev, id, HWPMC_CPU_ALL, &value));
	EXPECT_EQ(-ENXIO, dev_read(dev, id, 1, &value));
	a = pmc_clock(100);
	EXPECT_EQ(0, dev_allocate(dev, &a));
	EXPECT_EQ(0, dev_read(dev, a.id, HWPMC_CPU_ALL, &value));
	EXPECT_EQ(-ENXIO, dev_read(dev, a.id, 1, &value));
	EXPECT_EQ(0, cpu_set_online(1, true));
	EXPECT_EQ(0, dev_read(dev, id, HWPMC_CPU_ALL, &value));
}

TEST_HARNESS_MAIN
