// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the writer thread takes of the CPUs: where, how urgently, and how much.
 */
#include <dirent.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "limit.h"
#include "module.h"
#include "recorder.h"
#include "test.h"
#include "user.h"

#define USER	1000

FIXTURE(contain)
{
	int users;
};

FIXTURE_SETUP(contain)
{
	ASSERT_TRUE(device_for_group());
	self->users = module_users();
}

FIXTURE_TEARDOWN(contain)
{
	user_root();
	limit("max_cpu", 100);
	device_for_root();
	EXPECT_TRUE(recorders_are(self->users));
}

/* @user 0: root.  Its log is configured with this nice value, on CPU 1. */
static int look_at_writer(uid_t user, int policy, int nice)
{
	static const struct sched_param none;
	struct sched_param fifo = { .sched_priority = 1 };
	cpu_set_t one, its;
	pid_t writer;
	int dev;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	CHECK(0, sched_setaffinity(0, sizeof(one), &one));
	CHECK(0, sched_setscheduler(0, policy, policy == SCHED_FIFO ?
				    &fifo : &none));
	CHECK(0, setpriority(PRIO_PROCESS, 0, nice));
	CHECK(1, !user || user_stay(user));
	dev = dev_open();
	CHECK(0, dev_configure(dev, temp_file()));
	CHECK(0, dev_flush(dev));	/* it runs */
	writer = recorder_pid();
	CHECK(1, writer > 0);
	errno = 0;
	CHECK(user ? nice : -10, getpriority(PRIO_PROCESS, writer));
	CHECK(0, errno);
	CHECK(user && policy != SCHED_FIFO ? policy : SCHED_OTHER,
	      sched_getscheduler(writer));
	CHECK(0, sched_getaffinity(writer, sizeof(its), &its));
	CHECK(user != 0, CPU_EQUAL(&one, &its));
	CHECK(0, dev_closelog(dev));
	return 0;
}

/* No better than the process that configured the log; for root as before. */
TEST_F(contain, place)
{
	EXPECT_EQ(0, IN_CHILD(look_at_writer(USER, SCHED_OTHER, 0)));
	EXPECT_EQ(0, IN_CHILD(look_at_writer(USER, SCHED_OTHER, 7)));
	EXPECT_EQ(0, IN_CHILD(look_at_writer(USER, SCHED_BATCH, 3)));
	EXPECT_EQ(0, IN_CHILD(look_at_writer(USER, SCHED_IDLE, 0)));
	/* no writer thread is a real-time one */
	EXPECT_EQ(0, IN_CHILD(look_at_writer(USER, SCHED_FIFO, 0)));
	EXPECT_EQ(0, IN_CHILD(look_at_writer(0, SCHED_OTHER, 7)));
}

static int flush_for_ever(int dev)
{
	while (!dev_flush(dev))
		;
	return 0;
}

/*
 * What a log costs that somebody flushes all the time, in per cent of a CPU: until
 * that is at most @enough, for twenty seconds at most.
 */
static unsigned int writer_percent(int dev, unsigned int enough)
{
	pid_t writer = recorder_pid(), flusher = fork_bound();
	uint64_t begin = raw_ns(), base, ran, past;

	if (!flusher)
		_exit(flush_for_ever(dev));
	base = task_ran(writer);
	do {
		sleep_ms(200);
		ran = task_ran(writer) - base;
		past = raw_ns() - begin;
	} while (past < 2 * NSEC ||
		 (ran * 100 / past > enough && past < 20 * NSEC));
	load_end(flusher);
	return ran * 100 / past;
}

static int busy_log(void)
{
	int dev = dev_open();

	return dev < 0 || dev_configure(dev, temp_file()) ? -1 : dev;
}

/* However much there is to do, and whoever asks for it. */
TEST_F(contain, share)
{
	unsigned int free, bound;
	struct hwpmc_driverstats st;
	bool says;
	int dev;

	ASSERT_TRUE(user_become(USER));
	dev = busy_log();
	ASSERT_LE(0, dev);
	says = task_ran(recorder_pid());
	free = says ? writer_percent(dev, 0) : 0;
	close(dev);
	ASSERT_TRUE(user_root());
	if (!says)
		SKIP(return, "the kernel does not say how long a thread has run");
	if (free < 8)
		SKIP(return, "a log that is always flushed takes %u %% only",
		     free);
	ASSERT_TRUE(limit("max_cpu", 1));
	ASSERT_TRUE(user_become(USER));
	dev = busy_log();
	ASSERT_LE(0, dev);
	bound = writer_percent(dev, 2);
	EXPECT_GE(2, bound) TH_LOG("%u %% without a limit", free);
	/* it answers still, and does not have to be waited for at the end */
	EXPECT_EQ(0, dev_flush(dev));
	EXPECT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	EXPECT_EQ(0, dev_closelog(dev));
	close(dev);
}

#define SHARERS		40
#define AREAS		scaled(3000, 600)	/* one process is logged at a time */
#define STACK		16384

static int sharer(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

/* Processes that share one memory, each of which has all its mappings in the log. */
static int be_crowd(int *ready)
{
	unsigned int areas = AREAS;
	int file = temp_file(), i;
	char *stacks = mmap(NULL, SHARERS * STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ftruncate(file, 4096) || stacks == MAP_FAILED || !user_root() ||
	    !user_stay(USER))
		return 1;
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* the change of user has cleared it */
	while (areas--)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
			return 1;
	for (i = 1; i <= SHARERS; i++)
		if (clone(sharer, stacks + i * STACK, CLONE_VM | SIGCHLD, NULL) < 0)
			return 1;
	__atomic_store_n(ready, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

/* In a child, whose descendants they are: it may have to wait for the log. */
static int record_crowd(int dev, int *ready)
{
	pid_t crowd = fork_bound();

	if (!crowd)
		_exit(be_crowd(ready));
	if (!WAIT_UNTIL(__atomic_load_n(ready, __ATOMIC_ACQUIRE), 60000))
		return 1;
	return !!dev_run_on(dev, pmc_process_faults(HWPMC_F_DESCENDANTS), crowd, NULL);
}

/* One pass that logs a hundred thousand mappings is no exception. */
TEST_F(contain, share_of_dump)
{
	int *ready = shared_memory(sizeof(*ready)), dev, file = temp_file();
	pid_t attacher, writer;
	uint64_t begin, ran;

	ASSERT_TRUE(limit("max_cpu", 1));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	writer = recorder_pid();
	attacher = fork_bound();
	if (!attacher)
		_exit(record_crowd(dev, ready));
	ASSERT_TRUE(WAIT_UNTIL(__atomic_load_n(ready, __ATOMIC_ACQUIRE), 60000));
	ran = task_ran(writer);
	begin = raw_ns();
	sleep_ms(5000);
	ran = task_ran(writer) - ran;
	TH_LOG("%llu ms, %ld bytes", (unsigned long long)(ran / MSEC),
	       (long)lseek(file, 0, SEEK_END));
	EXPECT_GE(6, ran * 100 / (raw_ns() - begin));
	/* a slow kernel has only begun */
	EXPECT_TRUE(WAIT_UNTIL(lseek(file, 0, SEEK_END) > 100000, 60000));
	load_end(attacher);
	close(dev);
	ASSERT_TRUE(user_root());
}

/* Nanoseconds that all kernel workers have run for */
static uint64_t workers_ran(void)
{
	char path[40], name[32];
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	uint64_t ran = 0;

	while (proc && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%.10s/comm", entry->d_name);
		if (read_line(path, name, sizeof(name)) && !strncmp(name, "kworker", 7))
			ran += task_ran(atoi(entry->d_name));
	}
	closedir(proc);
	return ran;
}

#define OWNERS		32
#define READERS		8
#define READ_PMCS	30

/* Owners with PMCs, which only take part in sums; the number of owners */
static int open_many(int *dev)
{
	struct hwpmc_allocate a;
	int i, n, opened = dev_open_all(dev, OWNERS);

	for (i = 0; i < opened; i++)
		for (n = 0; n < READ_PMCS; n++) {
			a = pmc_process_counter(FAULTS, 0);
			if (dev_allocate(dev[i], &a))
				return -1;
		}
	return opened;
}

static int read_for_ever(int dev)
{
	struct hwpmc_pmcinfo info = { .cpu = 0 };
	struct hwpmc_driverstats st;

	while (!dev_stats(dev, HWPMC_STATS_MODULE, &st) &&
	       !ioctl(dev, HWPMC_IOC_GETPMCINFO, &info))
		info.nrows = 0;
	return 1;
}

/* What the workers cost that sum up all owners' PMCs, in per cent of a CPU */
static unsigned int workers_percent(int dev)
{
	pid_t reader[READERS];
	uint64_t begin, ran;
	int i;

	for (i = 0; i < READERS; i++) {
		reader[i] = fork_bound();
		if (!reader[i])
			_exit(read_for_ever(dev));
	}
	sleep_ms(500);		/* it begins with some time in advance */
	begin = raw_ns();
	ran = workers_ran();
	sleep_ms(3000);
	ran = workers_ran() - ran;
	begin = raw_ns() - begin;
	for (i = 0; i < READERS; i++)
		load_end(reader[i]);
	return ran * 100 / begin;
}

/* The sums that a user asks for take no more of a CPU than max_cpu says. */
TEST_F(contain, share_of_workers)
{
	unsigned int free, bound;
	int dev[OWNERS];

	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(OWNERS, open_many(dev));
	free = workers_percent(dev[0]);
	ASSERT_TRUE(user_root());
	ASSERT_TRUE(limit("max_cpu", 1));
	bound = workers_percent(dev[0]);
	dev_close_all(dev, OWNERS);
	if (free < 20)
		SKIP(return, "sums take %u %% only", free);
	EXPECT_GE(free / 2, bound) TH_LOG("%u %% without a limit", free);
}

/*
 * A netlink socket whose receiver has no room: it can be written to, says poll(2),
 * and takes nothing.
 */
static int socket_without_room(int *receiver)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(to);
	int fd, small = 1;

	*receiver = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_USERSOCK);
	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_NONBLOCK, NETLINK_USERSOCK);
	if (*receiver < 0 || fd < 0 ||
	    setsockopt(*receiver, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) ||
	    bind(*receiver, (struct sockaddr *)&to, sizeof(to)) ||
	    getsockname(*receiver, (struct sockaddr *)&to, &len) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return -1;
	while (send(fd, &to, sizeof(to), 0) > 0)
		;
	return errno == EAGAIN ? fd : -1;
}

/* The thread does not try all the time. */
TEST_F(contain, always_writable)
{
	int receiver, fd = socket_without_room(&receiver), dev;
	uint64_t begin, ran;
	pid_t writer;

	if (fd < 0)
		SKIP(return, "no netlink sockets of users: %s", strerror(errno));
	ASSERT_TRUE(user_become(USER));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, fd));
	writer = recorder_pid();
	ASSERT_LT(0, writer);
	ASSERT_EQ(0, dev_userdata(dev, 1));
	sleep_ms(500);
	ran = task_ran(writer);
	begin = raw_ns();
	sleep_ms(2000);
	ran = (task_ran(writer) - ran) * 100 / (raw_ns() - begin);
	EXPECT_GT(30, ran);
	EXPECT_GT(CLOSE_MS, close_ms(dev));
	ASSERT_TRUE(user_root());
	close(fd);
	close(receiver);
}

/* ------------------------------------------------------------------------
 * Locks
 */
static void spin(void)
{
	for (;;)
		;
}

static int read_own_for_ever(int dev)
{
	const struct sched_param none = {};
	struct hwpmc_driverstats st;

	pin_to(0);
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		return 1;
	while (!dev_stats(dev, HWPMC_STATS_OWNER, &st))
		;
	return 1;
}

#define HELD_MS		scaled(2000, 20000)
#define MANY_PMCS	250

/* A task that gets no CPU while it reads the counts of its owner holds up nobody. */
TEST_F(contain, reader_without_cpu)
{
	struct hwpmc_pmcinfo info = { .cpu = 0 };
	struct hwpmc_allocate a;
	uint64_t longest = 0, began, end;
	int dev = dev_open(), other = dev_open(), i;
	pid_t reader, spinner;
	int cpus[2];

	if (online_cpus(cpus, 2) < 2)
		SKIP(return, "one CPU");
	for (i = 0; i < MANY_PMCS; i++) {
		a = pmc_counter(CPU_CLOCK);
		ASSERT_EQ(0, dev_allocate(dev, &a));
	}
	reader = fork_bound();
	if (!reader)
		_exit(read_own_for_ever(dev));
	spinner = fork_pinned(0, spin);
	pin_to(1);
	end = raw_ns() + 8000000000ULL;
	do {
		began = raw_ns();
		info.nrows = 0;
		EXPECT_EQ(0, dev_ioctl(other, HWPMC_IOC_GETPMCINFO, &info));
		began = raw_ns() - began;
		longest = began > longest ? began : longest;
	} while (raw_ns() < end);
	load_end(spinner);
	load_end(reader);
	close(dev);
	close(other);
	EXPECT_GT(HELD_MS * 1000000ULL, longest);
	TH_LOG("%u ms at most", (unsigned int)(longest / 1000000));
}

TEST_HARNESS_MAIN
