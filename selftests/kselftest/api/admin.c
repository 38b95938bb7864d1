// SPDX-License-Identifier: GPL-2.0-only
/*
 * The administrator's hand on rows: who may, what is refused and in which
 * order, and what a disabled row means to who allocates.
 */
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>

#include "test.h"

#define NOBODY		65534
#define CPU		1
#define ENABLE		HWPMC_STATE_FREE
#define DISABLE		HWPMC_STATE_DISABLED

FIXTURE(admin)
{
	int dev;
	unsigned int ncpu;
	int cpus[64];
};

static int for_all_rows(int dev, int cpu, uint32_t state)
{
	int err = 0, one;
	uint32_t row;

	for (row = 0; row < HWPMC_NROW; row++) {
		one = dev_admin(dev, cpu, row, state);
		if (one && !err)
			err = one;
	}
	return err;
}

FIXTURE_SETUP(admin)
{
	unsigned int i;

	OPEN_DEVICE(self->dev);
	self->ncpu = online_cpus(self->cpus, ARRAY_SIZE(self->cpus));
	ASSERT_LE(2, self->ncpu);
	for (i = 0; i < self->ncpu; i++)
		ASSERT_EQ(0, for_all_rows(self->dev, self->cpus[i], ENABLE));
}

FIXTURE_TEARDOWN(admin)
{
	unsigned int i;
	int dev;

	/* a user namespace has no way back, and has changed nothing */
	if (seteuid(0))
		return;
	cpu_set_online(CPU, true);
	dev = dev_open();
	for (i = 0; i < self->ncpu; i++)
		for_all_rows(dev, self->cpus[i], ENABLE);
}

static struct hwpmc_allocate counter(int cpu)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);

	a.cpu = cpu;
	return a;
}

/* The row that a counter on @cpu got, or a negative errno. */
static int allocate(int dev, int cpu)
{
	struct hwpmc_allocate a = counter(cpu);
	int err = dev_allocate(dev, &a);

	return err ? err : (int)HWPMC_ID_ROW(a.id);
}

static int allocate_process(int dev)
{
	struct hwpmc_allocate a = counter(HWPMC_CPU_ANY);
	int err;

	a.mode = HWPMC_MODE_TC;
	err = dev_allocate(dev, &a);
	return err ? err : (int)HWPMC_ID_ROW(a.id);
}

TEST_F(admin, order)
{
	static const struct {
		const char	*what;
		struct hwpmc_admin arg;
		int		want;
	} calls[] = {
		{ "CPU too low", { .cpu = -1 }, -EINVAL },
		{ "all CPUs", { .cpu = HWPMC_CPU_ALL }, -EINVAL },
		{ "lowest CPU", { .cpu = INT_MIN }, -EINVAL },
		{ "CPU too high", { .cpu = 1 << 20 }, -EINVAL },
		{ "highest CPU", { .cpu = INT_MAX }, -EINVAL },
		{ "offline", { .cpu = CPU }, -ENXIO },
		{ "offline, to enable", { .cpu = CPU, .state = ENABLE },
		  -ENXIO },
		{ "offline, state", { .cpu = CPU, .state = 77 }, -ENXIO },
		{ "offline, row", { .cpu = CPU, .row = HWPMC_NROW }, -ENXIO },
		{ "reserved, offline", { .cpu = CPU, .reserved = 1 }, -EINVAL },
		{ "reserved", { .reserved = 1, .row = 5 }, -EINVAL },
		{ "allocated", { .state = HWPMC_STATE_ALLOCATED }, -EINVAL },
		{ "stopped", { .state = HWPMC_STATE_STOPPED }, -EINVAL },
		{ "running", { .state = HWPMC_STATE_RUNNING }, -EINVAL },
		{ "deleted", { .state = HWPMC_STATE_DELETED }, -EINVAL },
		{ "last state", { .state = UINT_MAX }, -EINVAL },
		{ "row too high", { .row = HWPMC_NROW }, -EINVAL },
		{ "highest row", { .row = UINT_MAX, .state = ENABLE }, -EINVAL },
		{ "in use", { .row = 0 }, -EBUSY },
		{ "in use, state", { .row = 0, .state = 2 }, -EINVAL },
		{ "in use, enabled", { .row = 0, .state = ENABLE }, 0 },
		{ "disabled", { .row = HWPMC_NROW - 1 }, 0 },
		{ "disabled again", { .row = HWPMC_NROW - 1 }, 0 },
		{ "enabled", { .row = HWPMC_NROW - 1, .state = ENABLE }, 0 },
		{ "enabled again", { .row = HWPMC_NROW - 1, .state = ENABLE },
		  0 },
	};
	struct hwpmc_admin a;
	unsigned int i;
	int got;

	ASSERT_EQ(0, allocate(self->dev, 0));
	if (cpu_set_online(CPU, false))
		SKIP(return, "CPU 1 cannot be switched off");
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		a = calls[i].arg;
		got = dev_ioctl(self->dev, HWPMC_IOC_PMCADMIN, &a);
		EXPECT_EQ(calls[i].want, got)
			TH_LOG("%s: %s, not %s", calls[i].what, strerror(-got),
			       strerror(-calls[i].want));
	}
	/* privilege comes before all of it */
	ASSERT_EQ(0, seteuid(NOBODY));
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		a = calls[i].arg;
		EXPECT_EQ(-EPERM, dev_ioctl(self->dev, HWPMC_IOC_PMCADMIN, &a))
			TH_LOG("%s", calls[i].what);
	}
}

/* Both who calls and who opened the device; to profile is not to administer. */
TEST_F(admin, privilege)
{
	int theirs, dev;

	ASSERT_EQ(0, chmod(DEV_PATH, 0666));
	ASSERT_EQ(0, seteuid(NOBODY));
	theirs = dev_open();
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, chmod(DEV_PATH, 0600));
	ASSERT_LE(0, theirs);
	EXPECT_EQ(-EPERM, dev_admin(theirs, 0, 5, DISABLE));
	EXPECT_EQ(-EPERM, dev_admin(theirs, 0, 5, ENABLE));
	EXPECT_EQ(0, dev_admin(self->dev, 0, 5, DISABLE));
	EXPECT_EQ(0, dev_admin(self->dev, 0, 5, ENABLE));
	ASSERT_EQ(0, keep_caps(1ULL << CAP_PERFMON));
	OPEN_DEVICE(dev);
	EXPECT_LE(0, allocate(dev, 0));
	EXPECT_EQ(-EPERM, dev_admin(dev, 0, 5, DISABLE));
	EXPECT_EQ(-EPERM, dev_admin(self->dev, 0, 5, DISABLE));
}

/* All capabilities that there are in a namespace do not help. */
TEST_F(admin, user_namespace)
{
	int dev;

	if (unshare(CLONE_NEWUSER))
		SKIP(return, "no user namespaces here");
	/* weaker than the opener, which is outside; then its own opener */
	EXPECT_EQ(-EPERM, dev_admin(self->dev, 0, 5, DISABLE));
	OPEN_DEVICE(dev);
	EXPECT_EQ(-EPERM, dev_admin(dev, 0, 5, DISABLE));
	EXPECT_EQ(-EPERM, dev_admin(dev, 0, 5, ENABLE));
}

/* Rows that are free, but disabled on a CPU that the PMC would use: EPERM. */
TEST_F(admin, disabled)
{
	int dev = self->dev;

	ASSERT_EQ(0, for_all_rows(dev, CPU, DISABLE));
	EXPECT_EQ(-EPERM, allocate(dev, CPU));
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_CPU_ALL));
	EXPECT_EQ(-EPERM, allocate_process(dev));
	/* no other CPU is concerned, and no row was used up */
	EXPECT_EQ(0, allocate(dev, 0));
	ASSERT_EQ(0, dev_admin(dev, CPU, 7, ENABLE));
	EXPECT_EQ(7, allocate(dev, CPU));
	EXPECT_EQ(-EPERM, allocate(dev, CPU));
	ASSERT_EQ(0, dev_admin(dev, CPU, 9, ENABLE));
	EXPECT_EQ(9, allocate(dev, HWPMC_CPU_ALL));
	ASSERT_EQ(0, dev_admin(dev, CPU, 11, ENABLE));
	EXPECT_EQ(11, allocate_process(dev));
	EXPECT_EQ(-EPERM, allocate_process(dev));
	/* one CPU of several is enough */
	ASSERT_EQ(0, dev_admin(dev, CPU, 20, ENABLE));
	ASSERT_EQ(0, dev_admin(dev, 0, 20, DISABLE));
	EXPECT_EQ(-EPERM, allocate_process(dev));
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_CPU_ALL));
	EXPECT_EQ(20, allocate(dev, CPU));
}

/* Other refusals come first; with no row left at all it is EINVAL. */
TEST_F(admin, disabled_or_none)
{
	struct hwpmc_allocate a = counter(CPU);
	int i, n = 0;

	ASSERT_EQ(0, for_all_rows(self->dev, CPU, DISABLE));
	a.caps = HWPMC_CAP_EDGE;
	EXPECT_EQ(-EOPNOTSUPP, dev_allocate(self->dev, &a));
	for (i = 0; i < HWPMC_NROW; i++)
		n += allocate(self->dev, 0) >= 0;
	EXPECT_EQ(HWPMC_NROW, n);
	EXPECT_EQ(-EINVAL, allocate(self->dev, CPU));
	EXPECT_EQ(-EINVAL, allocate(self->dev, 0));
}

/* A row in use on a CPU, by any owner, cannot be disabled there. */
TEST_F(admin, busy)
{
	int other = dev_open(), one, all, process;
	struct hwpmc_allocate a;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, allocate(other, 0));
	one = allocate(self->dev, 0);
	ASSERT_EQ(0, one);
	all = allocate(self->dev, HWPMC_CPU_ALL);
	ASSERT_EQ(1, all);
	EXPECT_EQ(-EBUSY, dev_admin(self->dev, 0, one, DISABLE));
	EXPECT_EQ(0, dev_admin(self->dev, CPU, one, DISABLE));
	EXPECT_EQ(-EBUSY, dev_admin(self->dev, 0, all, DISABLE));
	EXPECT_EQ(-EBUSY, dev_admin(self->dev, CPU, all, DISABLE));
	process = allocate_process(self->dev);
	ASSERT_EQ(2, process);
	EXPECT_EQ(-EBUSY, dev_admin(self->dev, 0, process, DISABLE));
	EXPECT_EQ(-EBUSY, dev_admin(self->dev, CPU, process, DISABLE));
	/* an event that there is not uses nothing */
	a = counter(0);
	a.config = 999;
	ASSERT_EQ(-ENOENT, dev_allocate(self->dev, &a));
	ASSERT_EQ(-ENOENT, dev_allocate(self->dev, &a));
	EXPECT_EQ(0, dev_admin(self->dev, 0, 4, DISABLE));
	/* nor does what is gone, and each owner counts */
	ASSERT_EQ(0, close(self->dev));
	EXPECT_EQ(-EBUSY, dev_admin(other, 0, one, DISABLE));
	EXPECT_EQ(0, dev_admin(other, 0, all, DISABLE));
	EXPECT_EQ(0, dev_release(other, HWPMC_ID(0, HWPMC_MODE_SC,
						 HWPMC_CLASS_SOFT, 0)));
	EXPECT_EQ(0, dev_admin(other, 0, one, DISABLE));
}

/* It is the machine's state, not the owner's. */
TEST_F(admin, stays)
{
	int dev;

	ASSERT_EQ(0, for_all_rows(self->dev, 0, DISABLE));
	ASSERT_EQ(0, close(self->dev));
	OPEN_DEVICE(dev);
	EXPECT_EQ(-EPERM, allocate(dev, 0));
}

/* Also while a CPU is away. */
TEST_F(admin, stays_offline)
{
	int dev = self->dev;

	ASSERT_EQ(0, for_all_rows(dev, 0, DISABLE));
	if (cpu_set_online(CPU, false))
		SKIP(return, "CPU 1 cannot be switched off");
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_CPU_ALL));
	ASSERT_EQ(0, for_all_rows(dev, 0, ENABLE));
	EXPECT_EQ(0, allocate(dev, HWPMC_CPU_ALL));
	ASSERT_EQ(0, cpu_set_online(CPU, true));
	ASSERT_EQ(0, dev_admin(dev, CPU, 1, DISABLE));
	ASSERT_EQ(0, cpu_set_online(CPU, false));
	EXPECT_EQ(2, allocate(dev, HWPMC_CPU_ALL));
	ASSERT_EQ(0, cpu_set_online(CPU, true));
	EXPECT_EQ(-EBUSY, dev_admin(dev, CPU, 2, DISABLE));
	EXPECT_EQ(0, dev_admin(dev, CPU, 1, ENABLE));
}

/* A pipe that takes nothing: who writes to it waits. */
static void full_pipe(META, int *fds)
{
	static const char junk[4096];

	ASSERT_EQ(0, pipe2(fds, O_CLOEXEC | O_NONBLOCK));
	while (write(fds[1], junk, sizeof(junk)) > 0)
		;
	ASSERT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, fcntl(fds[1], F_SETFL, 0));
}

/* The only row of CPU 0 that is listed. */
static int listed(int dev, struct hwpmc_pmcinfo_row *row)
{
	uint32_t n = 1;

	return dev_pmcinfo(dev, 0, row, &n) || n != 1 ? -1 : (int)row->row;
}

/*
 * A released PMC has its row until the log is done with it; then the row is
 * listed no more, and can be disabled.
 */
TEST_F(admin, released_but_not_logged)
{
	struct hwpmc_allocate a = counter(0);
	struct hwpmc_pmcinfo_row row = {};
	char buf[4096];
	int fds[2];

	full_pipe(_metadata, fds);
	ASSERT_EQ(0, dev_configure(self->dev, fds[1]));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, listed(self->dev, &row));
	EXPECT_EQ(HWPMC_STATE_ALLOCATED, row.state);
	ASSERT_EQ(0, dev_release(self->dev, a.id));
	ASSERT_EQ(0, listed(self->dev, &row));
	EXPECT_EQ(HWPMC_STATE_DELETED, row.state);
	EXPECT_EQ(a.id, row.id);
	EXPECT_EQ(-EBUSY, dev_admin(self->dev, 0, 0, DISABLE));
	while (listed(self->dev, &row) == 0)
		if (read(fds[0], buf, sizeof(buf)) < 0)
			sleep_ms(10);
	EXPECT_EQ(0, dev_admin(self->dev, 0, 0, DISABLE));
}

static void allocate_and_forget(unsigned int rounds)
{
	unsigned int i, k;
	int dev, n;

	for (i = 0; i < rounds; i++) {
		dev = dev_open();
		if (i % 2)
			dev_configure(dev, temp_file());
		for (k = 0; k < 12; k++) {
			n = k % 3 == 0 ? allocate(dev, HWPMC_CPU_ALL) :
			    k % 3 == 1 ? allocate_process(dev) :
					 allocate(dev, k / 3 % 2);
			if (n < 0 && n != -EPERM)
				_exit(1);
		}
		close(dev);
	}
	_exit(0);
}

/* What comes in the end is free: all of it can be disabled. */
TEST_F(admin, balance)
{
	unsigned int rounds = scaled(40, 20), i, n = 0;
	struct hwpmc_pmcinfo_row rows[64];
	pid_t pid[2];
	uint32_t nrows;

	for (i = 0; i < 2; i++) {
		pid[i] = fork_bound();
		if (!pid[i])
			allocate_and_forget(rounds);
	}
	while (waitpid(pid[0], NULL, WNOHANG) == 0) {
		for (i = 0; i < 6; i++)
			dev_admin(self->dev, n % 2, i, n / 2 % 2 ? ENABLE :
								   DISABLE);
		nrows = ARRAY_SIZE(rows);
		ASSERT_EQ(0, dev_pmcinfo(self->dev, n % 2, rows, &nrows));
		n++;
	}
	EXPECT_EQ(0, wait_for(pid[1]));
	EXPECT_LT(10, n);
	for (i = 0; i < self->ncpu; i++) {
		/* threads may still be ending logs */
		while (for_all_rows(self->dev, self->cpus[i], DISABLE))
			sleep_ms(10);
		nrows = 0;
		ASSERT_EQ(0, dev_pmcinfo(self->dev, self->cpus[i], NULL,
					 &nrows));
		EXPECT_EQ(HWPMC_NROW, nrows);
	}
}

/* Whatever is asked, and however. */
TEST_F(admin, getmsr)
{
	struct hwpmc_getmsr a = { .id = 0 };
	struct hwpmc_driverstats before, after;
	unsigned char big[256];
	int row = allocate(self->dev, 0);

	memset(big, 0xFF, sizeof(big));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &before));
	EXPECT_EQ(-ENOSYS, dev_ioctl(self->dev, HWPMC_IOC_PMCGETMSR, &a));
	a.id = HWPMC_ID(0, HWPMC_MODE_SC, HWPMC_CLASS_SOFT, row);
	EXPECT_EQ(-ENOSYS, dev_ioctl(self->dev, HWPMC_IOC_PMCGETMSR, &a));
	EXPECT_EQ(-ENOSYS, dev_ioctl(self->dev, HWPMC_IOC_PMCGETMSR, (void *)8));
	EXPECT_EQ(-ENOSYS, dev_ioctl(self->dev,
				     _IOWR(HWPMC_IOC_MAGIC, 10, big), big));
	EXPECT_EQ(-ENOTTY, dev_ioctl(self->dev, _IO(HWPMC_IOC_MAGIC, 10), &a));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &after));
	EXPECT_EQ(before.syscall_errors + 5, after.syscall_errors);
}

TEST_HARNESS_MAIN
