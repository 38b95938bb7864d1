// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMCATTACH, PMCDETACH and PMCSTART of the process modes: every rule, in the
 * order of the checks, and what a target's end leaves.
 */
#include <limits.h>
#include <sys/resource.h>

#include "proclog.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define UNKNOWN_ID	HWPMC_ID(HWPMC_ID_CPU_NONE, HWPMC_MODE_TC, \
				 HWPMC_CLASS_SOFT, 200)

FIXTURE(attach)
{
	int dev;
	struct target t;	/* faults 100 pages in each step, 5 times */
};

static int faulter(struct target *t, void *arg)
{
	int i;

	for (i = 0; i < 5; i++) {
		fault_pages(100);
		target_pause(t);
	}
	return 42;
}

FIXTURE_SETUP(attach)
{
	/* first: it is not to have the device */
	ASSERT_TRUE(target_begin(&self->t, faulter, NULL));
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(attach)
{
	target_kill(&self->t);
	close(self->dev);
}

static struct hwpmc_allocate counter(uint32_t flags)
{
	return pmc_process_counter(FAULTS, flags);
}

/* Both operations fail so. */
#define EXPECT_BOTH(err, id, pid) do {					\
	EXPECT_EQ(err, dev_attach(self->dev, id, pid));			\
	EXPECT_EQ(err, dev_detach(self->dev, id, pid));			\
} while (0)

/* Each line would get the error of a later check as well. */
TEST_F(attach, order)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);
	uint32_t system, running, id;
	pid_t gone = gone_pid(), zombie;

	EXPECT_BOTH(-ESRCH, UNKNOWN_ID, self->t.pid);
	ASSERT_EQ(0, dev_run(self->dev, a, &system));
	ASSERT_EQ(0, dev_run_on(self->dev, counter(0), self->t.pid, &running));
	ASSERT_EQ(0, dev_pmc(self->dev, counter(0), &id));

	EXPECT_BOTH(-EINVAL, running, -1);
	EXPECT_BOTH(-EINVAL, running, INT_MIN);
	EXPECT_BOTH(-EINVAL, UNKNOWN_ID, gone);
	EXPECT_BOTH(-EINVAL, 0xFFFFFFFF, self->t.pid);
	EXPECT_BOTH(-EINVAL, system, gone);
	EXPECT_BOTH(-EINVAL, system, 0);
	EXPECT_EQ(-EBUSY, dev_attach(self->dev, running, gone));
	EXPECT_EQ(-EBUSY, dev_attach(self->dev, running, self->t.pid));
	EXPECT_EQ(-EBUSY, dev_attach(self->dev, running, 0));
	EXPECT_BOTH(-ESRCH, id, gone);
	EXPECT_BOTH(-ESRCH, id, INT_MAX);

	zombie = fork_bound();
	if (!zombie)
		_exit(0);
	wait_zombie(zombie);
	EXPECT_BOTH(-ESRCH, id, zombie);
	wait_for(zombie);

	ASSERT_EQ(0, dev_attach(self->dev, id, self->t.pid));
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, id, self->t.pid));
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, id, 0));
	EXPECT_EQ(0, dev_detach(self->dev, id, self->t.pid));
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, id, self->t.pid));
	EXPECT_EQ(0, dev_release(self->dev, id));
	EXPECT_BOTH(-EINVAL, id, self->t.pid);
}

TEST_F(attach, bad_address)
{
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev, HWPMC_IOC_PMCATTACH,
				     (void *)8));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev, HWPMC_IOC_PMCDETACH,
				     (void *)8));
}

/* pid 0 is the caller, also in the child that shares the device. */
TEST_F(attach, self)
{
	uint32_t id = allocated(self->dev, counter(0));

	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_attach(self->dev, id, 0));
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, id, getpid()));
	EXPECT_EQ(0, IN_CHILD(-dev_attach(self->dev, id, 0)));
	ASSERT_EQ(0, dev_start(self->dev, id));
	fault_pages(100);
	ASSERT_EQ(0, dev_stop(self->dev, id));
	EXPECT_LE(100, dev_value(self->dev, id));
	EXPECT_EQ(0, dev_detach(self->dev, id, getpid()));
}

/* Never attached: a start attaches to the caller, and only to him. */
TEST_F(attach, start_attaches)
{
	struct hwpmc_allocate a = counter(0);
	uint32_t id = allocated(self->dev, a);
	uint64_t n;

	ASSERT_NE(0, id);
	EXPECT_EQ(-EINVAL, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_EQ(0, dev_start(self->dev, id));
	fault_pages(100);
	ASSERT_EQ(0, dev_stop(self->dev, id));
	EXPECT_EQ(0, dev_stop(self->dev, id));
	n = dev_value(self->dev, id);
	EXPECT_LE(100, n);
	EXPECT_GT(200, n);
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, id, self->t.pid));
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, id, 0));
	EXPECT_EQ(0, dev_detach(self->dev, id, 0));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, id));
	EXPECT_EQ(n, dev_value(self->dev, id));
}

/* All targets lost: it does not start, can be read, and be attached anew. */
TEST_F(attach, lost_targets)
{
	uint32_t id, again;
	uint64_t n;

	ASSERT_EQ(0, dev_run_on(self->dev, counter(0), self->t.pid, &id));
	ASSERT_TRUE(target_step(&self->t));
	load_end(self->t.pid);
	/* it runs, without anybody */
	EXPECT_EQ(0, dev_start(self->dev, id));
	n = dev_value(self->dev, id);
	EXPECT_LE(100, n);
	EXPECT_EQ(0, dev_stop(self->dev, id));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, id));
	EXPECT_EQ(-ESRCH, dev_detach(self->dev, id, self->t.pid));
	EXPECT_EQ(n, dev_value(self->dev, id));

	ASSERT_TRUE(target_begin(&self->t, faulter, NULL));
	ASSERT_EQ(0, dev_attach(self->dev, id, self->t.pid));
	ASSERT_EQ(0, dev_start(self->dev, id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	EXPECT_LE(n + 100, dev_value(self->dev, id));

	/* lost before it was ever started */
	again = allocated(self->dev, counter(0));
	ASSERT_EQ(0, dev_attach(self->dev, again, self->t.pid));
	ASSERT_EQ(0, dev_detach(self->dev, again, self->t.pid));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, again));
	ASSERT_EQ(0, dev_attach(self->dev, again, 0));
	EXPECT_EQ(0, dev_start(self->dev, again));
}

/* Who needs a log has to have one at the start; the end of it stops him. */
TEST_F(attach, log_needed)
{
	struct hwpmc_allocate pmcs[] = {
		pmc_process_sampler(FAULTS, 1, 0),
		counter(HWPMC_F_LOG_PROCEXIT),
		counter(HWPMC_F_LOG_PROCCSW),
		counter(0),
	};
	unsigned int i, n = sizeof(pmcs) / sizeof(*pmcs);
	uint64_t before;
	struct log log;
	int file = temp_file();

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, dev_allocate(self->dev, &pmcs[i]));
		ASSERT_EQ(0, dev_attach(self->dev, pmcs[i].id, self->t.pid));
		EXPECT_EQ(i == n - 1 ? 0 : -EBADFD,
			  dev_start(self->dev, pmcs[i].id));
	}
	/* this is asked before the targets are */
	ASSERT_EQ(0, dev_detach(self->dev, pmcs[1].id, self->t.pid));
	EXPECT_EQ(-EBADFD, dev_start(self->dev, pmcs[1].id));
	ASSERT_EQ(0, dev_configure(self->dev, file));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, pmcs[1].id));
	ASSERT_EQ(0, dev_attach(self->dev, pmcs[1].id, self->t.pid));
	for (i = 0; i < n; i++)
		EXPECT_EQ(0, dev_start(self->dev, pmcs[i].id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_configure(self->dev, -1));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_PROCLOG(&log, 0);
	EXPECT_TRUE(log.closed);
	EXPECT_LE(100, proc_samples(&log, pmcs[0].id, self->t.pid, ANY));
	before = dev_value(self->dev, pmcs[n - 1].id);
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_LE(before + 100, dev_value(self->dev, pmcs[n - 1].id));
	for (i = 0; i < n; i++)
		EXPECT_EQ(i == n - 1 ? 0 : -EBADFD,
			  dev_start(self->dev, pmcs[i].id));
}

/* What cannot be while it runs, and what a process mode has no CPU for. */
TEST_F(attach, values)
{
	struct hwpmc_rw rw = {
		.flags = HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE,
		.cpu = HWPMC_CPU_ALL,
		.value = 7,
	};
	uint64_t count = 5;
	uint32_t id;

	ASSERT_EQ(0, dev_run_on(self->dev, counter(0), self->t.pid, &id));
	rw.id = id;
	EXPECT_EQ(-EBUSY, dev_rw(self->dev, &rw));
	EXPECT_EQ(-EBUSY, dev_setcount(self->dev, id, &count));
	EXPECT_EQ(-EINVAL, dev_read(self->dev, id, 0, &count));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	EXPECT_EQ(-EINVAL, dev_read(self->dev, id, 0, &count));
	EXPECT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_EQ(7, dev_value(self->dev, id));
	count = 5;
	EXPECT_EQ(0, dev_setcount(self->dev, id, &count));
	EXPECT_EQ(5, dev_value(self->dev, id));
}

/* PMCALLOCATE's rules for the process modes. */
TEST_F(attach, allocate)
{
	struct hwpmc_allocate a = counter(0), sampler;

	a.cpu = 0;
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
	a.cpu = HWPMC_CPU_ALL;
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
	a = counter(HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW |
		    HWPMC_F_LOG_PROCEXIT);
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(HWPMC_MODE_TC, HWPMC_ID_MODE(a.id));
	EXPECT_EQ(HWPMC_ID_CPU_NONE, HWPMC_ID_CPU(a.id));
	EXPECT_EQ(HWPMC_CLASS_SOFT, HWPMC_ID_CLASS(a.id));
	sampler = pmc_process_sampler(FAULTS, 1, HWPMC_F_DESCENDANTS);
	ASSERT_EQ(0, dev_allocate(self->dev, &sampler));
	EXPECT_EQ(HWPMC_MODE_TS, HWPMC_ID_MODE(sampler.id));
	EXPECT_NE(HWPMC_ID_ROW(a.id), HWPMC_ID_ROW(sampler.id));
	a = pmc_counter(FAULTS);
	a.flags = HWPMC_F_LOG_PROCEXIT;
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
	a.flags = HWPMC_F_LOG_PROCCSW;
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
	a = counter(HWPMC_F_CALLCHAIN);
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
}

/* ------------------------------------------------------------------------
 * More than one of something
 */
TEST_F(attach, many_pmcs)
{
	uint32_t id[16];
	uint64_t n;
	int i;

	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, dev_run_on(self->dev, counter(0), self->t.pid,
					&id[i]));
	ASSERT_TRUE(target_step(&self->t));
	n = dev_value(self->dev, id[0]);
	EXPECT_LE(100, n);
	for (i = 1; i < 16; i++)
		EXPECT_EQ(n, dev_value(self->dev, id[i]));
}

TEST_F(attach, many_owners)
{
	uint32_t id[4];
	int dev[4], i;
	uint64_t n;

	for (i = 0; i < 4; i++) {
		dev[i] = dev_open();
		ASSERT_EQ(0, dev_run_on(dev[i], counter(0), self->t.pid,
					&id[i]));
	}
	ASSERT_TRUE(target_step(&self->t));
	n = dev_value(dev[0], id[0]);
	EXPECT_LE(100, n);
	for (i = 1; i < 4; i++)
		EXPECT_EQ(n, dev_value(dev[i], id[i]));
	close(dev[1]);
	ASSERT_EQ(0, dev_detach(dev[2], id[2], self->t.pid));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(n, dev_value(dev[2], id[2]));
	EXPECT_LE(n + 100, dev_value(dev[0], id[0]));
	EXPECT_EQ(dev_value(dev[0], id[0]), dev_value(dev[3], id[3]));
	for (i = 0; i < 4; i++)
		if (i != 1)
			close(dev[i]);
}

/* Each process counts for itself; the sum stays when one is detached. */
TEST_F(attach, many_targets)
{
	struct hwpmc_allocate a = counter(0);
	struct target other;
	uint32_t id;
	uint64_t n;

	ASSERT_TRUE(target_begin(&other, faulter, NULL));
	a.count = 1000;
	id = allocated(self->dev, a);
	ASSERT_EQ(0, dev_attach(self->dev, id, self->t.pid));
	ASSERT_EQ(0, dev_attach(self->dev, id, other.pid));
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_EQ(1000, dev_value(self->dev, id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_TRUE(target_step(&other));
	n = dev_value(self->dev, id);
	EXPECT_LE(1200, n);
	EXPECT_GE(1300, n);
	ASSERT_EQ(0, dev_detach(self->dev, id, other.pid));
	EXPECT_EQ(n, dev_value(self->dev, id));
	ASSERT_TRUE(target_step(&other));
	EXPECT_EQ(n, dev_value(self->dev, id));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_LE(n + 100, dev_value(self->dev, id));
	target_kill(&other);
}

/* A period is that of all targets: of those that there are, and of later ones. */
TEST_F(attach, period)
{
	struct hwpmc_allocate a = pmc_process_faults(0);
	struct target t[2];
	uint64_t period = 10;
	int file = temp_file();
	struct log log;
	unsigned int i;

	for (i = 0; i < 2; i++)
		ASSERT_TRUE(target_begin(&t[i], faulter, NULL));
	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, t[0].pid));
	ASSERT_EQ(0, dev_setcount(self->dev, a.id, &period));
	EXPECT_EQ(10, period);
	ASSERT_EQ(0, dev_attach(self->dev, a.id, t[1].pid));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	ASSERT_TRUE(target_step(&self->t));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(target_step(&t[i]));
	END_PROCLOG(self->dev, file, &log, 0);
	EXPECT_LE(10, proc_samples(&log, a.id, self->t.pid, ANY));
	EXPECT_GE(15, proc_samples(&log, a.id, self->t.pid, ANY));
	for (i = 0; i < 2; i++) {
		EXPECT_LE(10, proc_samples(&log, a.id, t[i].pid, ANY));
		EXPECT_GE(15, proc_samples(&log, a.id, t[i].pid, ANY));
		target_kill(&t[i]);
	}
}

/* ------------------------------------------------------------------------
 * Ends
 */

/* Released or closed under a target that runs: it goes on as if nothing were. */
TEST_F(attach, release_and_close)
{
	int other = dev_open();
	uint32_t id;

	ASSERT_EQ(0, dev_run_on(self->dev, counter(0), self->t.pid, &id));
	ASSERT_EQ(0, dev_run_on(other, counter(HWPMC_F_DESCENDANTS),
				self->t.pid, NULL));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_release(self->dev, id));
	EXPECT_EQ(-EINVAL, dev_start(self->dev, id));
	ASSERT_TRUE(target_step(&self->t));
	close(other);
	ASSERT_TRUE(target_step(&self->t));
	close(self->dev);
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(42, target_end(&self->t));
	EXPECT_TRUE(recorders_are(0));
}

/* Closed by the target's death: the device was its own. */
TEST_F(attach, owner_is_target)
{
	pid_t child = fork_bound();

	if (!child) {
		int dev = dev_open();

		close(self->dev);
		if (dev_run_on(dev, counter(HWPMC_F_DESCENDANTS), 0, NULL))
			_exit(1);
		fault_pages(10);
		kill(getpid(), SIGKILL);
	}
	EXPECT_EQ(128 + SIGKILL, wait_for(child));
	close(self->dev);
	EXPECT_TRUE(recorders_are(0));
	self->dev = dev_open();
}

/* A target that dies while it is attached to, or has just been. */
TEST_F(attach, dying_target)
{
	unsigned int i, rounds = scaled(400, 60), bad = 0, caught = 0;
	uint32_t id = allocated(self->dev, counter(HWPMC_F_DESCENDANTS));
	uint64_t value;
	pid_t pid;
	int err;

	for (i = 0; i < rounds; i++) {
		pid = fork();
		if (!pid) {
			if (i % 2)
				usleep(i % 40 * scaled(20, 500));
			_exit(0);
		}
		err = dev_attach(self->dev, id, pid);
		caught += !err;
		bad += err && err != -ESRCH;
		if (!err && i % 3 == 0) {
			err = dev_start(self->dev, id);
			bad += err && err != -ESRCH;
			bad += !err && dev_stop(self->dev, id);
		}
		wait_for(pid);
	}
	EXPECT_EQ(0, bad);
	EXPECT_LT(0, caught);
	EXPECT_EQ(0, dev_read(self->dev, id, HWPMC_CPU_ALL, &value));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, id));
	close(self->dev);
	EXPECT_TRUE(recorders_are(0));
	self->dev = dev_open();
}

#define FILES	4000

/* It takes a while to end. */
static int with_files(struct target *t, void *arg)
{
	int i;

	for (i = 0; i < FILES; i++)
		dup(0);
	return target_pause(t);
}

/* It is told of in a log of all processes, though its counts are nobody's then. */
TEST_F(attach, release_as_it_ends)
{
	struct rlimit files = { FILES + 100, FILES + 100 };
	int file = temp_file(), n = scaled(24, 8), i;
	struct log log;
	uint32_t id;
	pid_t pid[24];

	setrlimit(RLIMIT_NOFILE, &files);
	BEGIN_LOG(self->dev, file, pmc_clock(100), &id);
	for (i = 0; i < n; i++) {
		struct target t;

		ASSERT_TRUE(target_begin(&t, with_files, NULL));
		ASSERT_TRUE(target_step(&t));
		ASSERT_EQ(0, dev_run_on(self->dev, counter(0), t.pid, &id));
		target_go(&t);
		sleep_ms(i % 8);
		EXPECT_EQ(0, dev_release(self->dev, id));
		EXPECT_EQ(0, wait_for(t.pid));
		close(t.go[1]);
		close(t.back[0]);
		pid[i] = t.pid;
	}
	END_PROCLOG(self->dev, file, &log, 0);
	for (i = 0; i < n; i++)
		EXPECT_EQ(1, proc_count(&log, PMCLOG_T_SYSEXIT, pid[i]));
}

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	signals++;
}

/* The owner hears of it when a PMC has lost its last target. */
TEST_F(attach, signal)
{
	struct target other;
	uint32_t id;

	signal(SIGIO, on_signal);
	ASSERT_EQ(0, fcntl(self->dev, F_SETOWN, getpid()));
	ASSERT_EQ(0, fcntl(self->dev, F_SETFL,
			   fcntl(self->dev, F_GETFL) | O_ASYNC));
	ASSERT_TRUE(target_begin(&other, faulter, NULL));
	id = allocated(self->dev, counter(0));
	ASSERT_EQ(0, dev_attach(self->dev, id, self->t.pid));
	ASSERT_EQ(0, dev_attach(self->dev, id, other.pid));
	ASSERT_EQ(0, dev_start(self->dev, id));
	target_kill(&other);
	sleep_ms(300);
	EXPECT_EQ(0, signals);
	EXPECT_FALSE(dev_hung_up(self->dev));
	ASSERT_EQ(0, dev_detach(self->dev, id, self->t.pid));
	WAIT_UNTIL(signals, 50000);
	EXPECT_EQ(1, signals);
	EXPECT_TRUE(dev_hung_up(self->dev));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_attach(self->dev, id, self->t.pid));
	EXPECT_FALSE(dev_hung_up(self->dev));
	ASSERT_EQ(0, dev_start(self->dev, id));
	kill(self->t.pid, SIGKILL);
	wait_zombie(self->t.pid);
	WAIT_UNTIL(signals >= 2, 50000);
	EXPECT_EQ(2, signals);
	EXPECT_TRUE(dev_hung_up(self->dev));
}

/* What its owner releases is not lost; what others have lost before is then. */
TEST_F(attach, release_the_last)
{
	struct target other;
	uint32_t lost, last;

	ASSERT_TRUE(target_begin(&other, faulter, NULL));
	lost = allocated(self->dev, counter(0));
	last = allocated(self->dev, counter(0));
	ASSERT_EQ(0, dev_attach(self->dev, lost, other.pid));
	ASSERT_EQ(0, dev_attach(self->dev, last, self->t.pid));
	target_kill(&other);
	EXPECT_FALSE(dev_hung_up(self->dev));
	ASSERT_EQ(0, dev_release(self->dev, last));
	EXPECT_TRUE(dev_hung_up(self->dev));
	ASSERT_EQ(0, dev_release(self->dev, lost));

	last = allocated(self->dev, counter(0));
	ASSERT_EQ(0, dev_attach(self->dev, last, self->t.pid));
	EXPECT_FALSE(dev_hung_up(self->dev));
	ASSERT_EQ(0, dev_release(self->dev, last));
	EXPECT_FALSE(dev_hung_up(self->dev));
}

/* Probes in the kernel, of anybody; -1: this kernel does not list them. */
static int probes(void)
{
	FILE *f = fopen("/sys/kernel/debug/kprobes/list", "r");
	int n = 0, c;

	if (!f)
		return -1;
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static bool probes_become(int n)
{
	return WAIT_UNTIL(probes() == n, 10000);
}

/* Probes cost every process something: they go with the last target. */
TEST_F(attach, probes_go)
{
	struct hwpmc_allocate a = pmc_process_faults(0);
	int before, i;

	/* what other tests have left is removed after a while */
	sleep_ms(3000);
	before = probes();
	if (before < 0)
		SKIP(return, "no list of probes");
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, dev_allocate(self->dev, &a));
		ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
		EXPECT_LT(before, probes());
		ASSERT_EQ(0, i ? dev_release(self->dev, a.id) :
				 dev_detach(self->dev, a.id, self->t.pid));
		EXPECT_TRUE(probes_become(before));
	}
	/* a failed one leaves none, with a log or without */
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(-ESRCH, dev_attach(self->dev, a.id, INT_MAX));
	EXPECT_TRUE(probes_become(before));
	ASSERT_EQ(0, dev_configure(self->dev, temp_file()));
	EXPECT_EQ(-ESRCH, dev_attach(self->dev, a.id, INT_MAX));
	EXPECT_TRUE(probes_become(before));
	/* and what another PMC needs stays */
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	EXPECT_EQ(-ESRCH, dev_attach(self->dev, a.id, INT_MAX));
	EXPECT_FALSE(probes_become(before));
}

/* Failures are counted, and nothing else comes of them. */
TEST_F(attach, failures_counted)
{
	struct hwpmc_driverstats before, after;
	uint32_t id = allocated(self->dev, counter(0));
	int i;

	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &before));
	for (i = 0; i < 10; i++) {
		dev_attach(self->dev, id, -1);
		dev_detach(self->dev, id, self->t.pid);
	}
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &after));
	EXPECT_EQ(20, after.syscall_errors - before.syscall_errors);
	EXPECT_EQ(21, after.syscalls - before.syscalls);
	/* not one of them has attached it */
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_EQ(0, dev_detach(self->dev, id, 0));
}

TEST_HARNESS_MAIN
