// SPDX-License-Identifier: GPL-2.0-only
/*
 * What needs privilege, of the opener of the device and of its holder, and what
 * the administrator's parameter opens to everybody.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>

#include "limit.h"
#include "recorder.h"
#include "test.h"
#include "user.h"

#define NOBODY	65534

FIXTURE(privilege)
{
	int dev;		/* opened by root */
	int theirs;		/* opened by nobody */
};

/* Effective uid only: the way back stays open, capabilities are gone. */
static int open_as_nobody(void)
{
	int fd;

	if (chmod(DEV_PATH, 0666) || seteuid(NOBODY))
		return -errno;
	fd = dev_open();
	if (seteuid(0))
		return -errno;
	chmod(DEV_PATH, 0600);
	return fd;
}

FIXTURE_SETUP(privilege)
{
	OPEN_DEVICE(self->dev);
	self->theirs = open_as_nobody();
	ASSERT_LE(0, self->theirs);
	ASSERT_TRUE(limit("unprivileged_syspmcs", 0));
}

FIXTURE_TEARDOWN(privilege)
{
	seteuid(0);
	limit("unprivileged_syspmcs", 0);
}

static int allocate(int dev, uint32_t mode, uint32_t caps)
{
	struct hwpmc_allocate a = pmc_clock_of(mode, caps);
	int err = dev_allocate(dev, &a);

	if (!err)
		dev_release(dev, a.id);
	return err;
}

TEST_F(privilege, device_is_roots)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEV_PATH, &st));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(-EACCES, dev_open());
}

TEST_F(privilege, caller)
{
	ASSERT_EQ(0, allocate(self->dev, HWPMC_MODE_SC, 0));
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_SC, 0));
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_SS, 0));
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_SC, HWPMC_CAP_USER));
}

TEST_F(privilege, opener)
{
	EXPECT_EQ(-EPERM, allocate(self->theirs, HWPMC_MODE_SC, 0));
	EXPECT_EQ(-EPERM, allocate(self->theirs, HWPMC_MODE_SS, 0));
	EXPECT_EQ(-EPERM, allocate(self->theirs, HWPMC_MODE_SS,
				   HWPMC_CAP_USER));
}

/* Passed over a socket to a process that has dropped everything for good. */
TEST_F(privilege, passed_on)
{
	EXPECT_EQ(EPERM, IN_CHILD(setgid(NOBODY) || setuid(NOBODY) ? 77 :
				  -allocate(self->dev, HWPMC_MODE_SS, 0)));
}

/* Where the check stands among the others. */
TEST_F(privilege, order)
{
	struct hwpmc_allocate a = pmc_clock(100);

	ASSERT_EQ(0, seteuid(NOBODY));
	a.cpu = 1 << 20;
	EXPECT_EQ(-EINVAL, dev_allocate(self->theirs, &a));
	/* a holder weaker than the opener does not even come to that */
	EXPECT_EQ(-EPERM, dev_allocate(self->dev, &a));
	a = pmc_clock(100);
	a.cpu = HWPMC_CPU_ANY;
	EXPECT_EQ(-EINVAL, dev_allocate(self->theirs, &a));
	a = pmc_clock(100);
	a.flags = 1U << 30;
	EXPECT_EQ(-EPERM, dev_allocate(self->theirs, &a));
	a = pmc_clock(100);
	a.caps = HWPMC_CAP_EDGE;
	EXPECT_EQ(-EPERM, dev_allocate(self->theirs, &a));
	a = pmc_clock(100);
	a.pmc_class = 99;
	EXPECT_EQ(-EPERM, dev_allocate(self->theirs, &a));
}

TEST_F(privilege, capability)
{
	uint64_t all = ~0ULL >> (63 - CAP_LAST_CAP);
	int dev;

	ASSERT_EQ(0, keep_caps(all & ~(1ULL << CAP_PERFMON |
				       1ULL << CAP_SYS_ADMIN)));
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_SC, 0));
	OPEN_DEVICE(dev);
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_MODE_SC, 0));
}

TEST_F(privilege, perfmon_is_enough)
{
	int dev;

	ASSERT_EQ(0, keep_caps(1ULL << CAP_PERFMON));
	OPEN_DEVICE(dev);
	EXPECT_EQ(0, allocate(dev, HWPMC_MODE_SC, 0));
	EXPECT_EQ(0, allocate(dev, HWPMC_MODE_SS, 0));
	/* less than the opener had */
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_SS, 0));
}

/* Processes may be counted and sampled by anybody, but not in the kernel. */
static void check_process_mode(META, int dev, uint32_t mode, int user,
			       int kernel)
{
	EXPECT_EQ(user, allocate(dev, mode, 0));
	EXPECT_EQ(user, allocate(dev, mode, HWPMC_CAP_USER));
	EXPECT_EQ(kernel, allocate(dev, mode, HWPMC_CAP_SYSTEM));
	EXPECT_EQ(kernel, allocate(dev, mode, HWPMC_CAP_SYSTEM |
					      HWPMC_CAP_USER));
}

/* In a container neither the parameter nor its capabilities open a system mode. */
TEST_F(privilege, user_namespace)
{
	int dev;

	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	if (unshare(CLONE_NEWUSER))
		SKIP(return, "no user namespaces here");
	/* weaker than the opener, which is outside */
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_SC, 0));
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_SS, HWPMC_CAP_USER));
	/* a device of its own: it is the mode that is refused */
	OPEN_DEVICE(dev);
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_MODE_SC, 0));
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_MODE_SC, HWPMC_CAP_USER));
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_MODE_SS, HWPMC_CAP_USER));
	check_process_mode(_metadata, dev, HWPMC_MODE_TC, 0, -EPERM);
	check_process_mode(_metadata, dev, HWPMC_MODE_TS, 0, -EPERM);
}

TEST_F(privilege, opened_to_all)
{
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	EXPECT_EQ(0, allocate(self->theirs, HWPMC_MODE_SC, 0));
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(0, allocate(self->theirs, HWPMC_MODE_SC, 0));
	EXPECT_EQ(0, allocate(self->theirs, HWPMC_MODE_SC, HWPMC_CAP_USER));
	EXPECT_EQ(-EPERM, allocate(self->theirs, HWPMC_MODE_SC,
				   HWPMC_CAP_SYSTEM));
	EXPECT_EQ(-EPERM, allocate(self->theirs, HWPMC_MODE_SC,
				   HWPMC_CAP_SYSTEM | HWPMC_CAP_USER));
	ASSERT_EQ(0, seteuid(0));
	ASSERT_TRUE(limit("unprivileged_syspmcs", 0));
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(-EPERM, allocate(self->theirs, HWPMC_MODE_SC, 0));
}

TEST_F(privilege, process_modes)
{
	static const uint32_t modes[] = { HWPMC_MODE_TC, HWPMC_MODE_TS };
	unsigned int i, open;

	/* the parameter is about the system modes */
	for (open = 0; open < 2; open++) {
		ASSERT_TRUE(limit("unprivileged_syspmcs", open));
		for (i = 0; i < 2; i++) {
			check_process_mode(_metadata, self->dev, modes[i],
					   0, 0);
			check_process_mode(_metadata, self->theirs, modes[i],
					   0, -EPERM);
			ASSERT_EQ(0, seteuid(NOBODY));
			check_process_mode(_metadata, self->dev, modes[i],
					   -EPERM, -EPERM);
			check_process_mode(_metadata, self->theirs, modes[i],
					   0, -EPERM);
			ASSERT_EQ(0, seteuid(0));
		}
	}
	if (unshare(CLONE_NEWUSER))
		SKIP(return, "no user namespaces here");
	for (i = 0; i < 2; i++) {
		check_process_mode(_metadata, self->dev, modes[i], -EPERM,
				   -EPERM);
		check_process_mode(_metadata, self->theirs, modes[i], -EPERM,
				   -EPERM);
	}
}

static void read_all_of(int pipe)
{
	char text[4096];

	while (read(pipe, text, sizeof(text)) > 0)
		;
}

/* ... also while a start waits for the log's reader. */
TEST_F(privilege, start_that_waits)
{
	struct hwpmc_allocate a = pmc_clock(100);
	static char junk[4096];
	int ends[2], status = -1;
	pid_t starter;

	a.caps = HWPMC_CAP_USER;
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	/* the pipe has no room, so the log takes none of the processes */
	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(4096, fcntl(ends[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(4096, write(ends[1], junk, 4096));
	ASSERT_EQ(0, seteuid(NOBODY));
	ASSERT_EQ(0, dev_allocate(self->theirs, &a));
	ASSERT_EQ(0, dev_configure(self->theirs, ends[1]));
	ASSERT_EQ(0, seteuid(0));
	starter = fork();
	ASSERT_LE(0, starter);
	if (!starter)
		_exit(seteuid(NOBODY) ? 99 : -dev_start(self->theirs, a.id));
	sleep_ms(300);
	EXPECT_EQ(0, waitpid(starter, &status, WNOHANG));
	ASSERT_TRUE(limit("unprivileged_syspmcs", 0));
	close(ends[1]);
	ASSERT_EQ(0, fcntl(ends[0], F_SETFL, O_NONBLOCK));
	EXPECT_TRUE(WAIT_UNTIL((read_all_of(ends[0]),
				waitpid(starter, &status, WNOHANG) == starter), 20000));
	EXPECT_EQ(EPERM, WEXITSTATUS(status));
	close(ends[0]);
}

/*
 * The administrator takes the parameter back: what was allocated by it does not
 * start any more; what runs is left alone, and can be looked at and stopped.
 */
TEST_F(privilege, start_needs_it_too)
{
	struct hwpmc_allocate a = pmc_clock(100);
	struct hwpmc_allocate count = pmc_counter(CPU_CLOCK);
	struct hwpmc_record all = { .on = 1 };
	int dev = self->theirs;
	uint64_t value;

	a.caps = HWPMC_CAP_USER;
	count.caps = HWPMC_CAP_USER;
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	ASSERT_EQ(0, seteuid(NOBODY));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	ASSERT_EQ(0, dev_allocate(dev, &count));
	EXPECT_EQ(-EBADFD, dev_start(dev, a.id));
	ASSERT_EQ(0, dev_configure(dev, temp_file()));
	ASSERT_EQ(0, seteuid(0));
	ASSERT_TRUE(limit("unprivileged_syspmcs", 0));
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(-EPERM, dev_start(dev, a.id));
	EXPECT_EQ(-EPERM, dev_start(dev, count.id));
	EXPECT_EQ(-EPERM, dev_ioctl(dev, HWPMC_IOC_RECORD, &all));
	ASSERT_EQ(0, seteuid(0));
	/* root may, but the PMC is the opener's all the same */
	EXPECT_EQ(-EPERM, dev_start(dev, a.id));
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(0, dev_start(dev, a.id));
	EXPECT_EQ(0, dev_start(dev, count.id));
	ASSERT_EQ(0, seteuid(0));
	ASSERT_TRUE(limit("unprivileged_syspmcs", 0));
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(0, dev_start(dev, a.id));
	EXPECT_EQ(0, dev_read(dev, count.id, HWPMC_CPU_ALL, &value));
	EXPECT_EQ(0, dev_flush(dev));
	EXPECT_EQ(0, dev_stop(dev, a.id));
	EXPECT_EQ(0, dev_closelog(dev));
	ASSERT_EQ(0, seteuid(0));
}

/* Without privilege the kernel stays out of sight: no address of it is told. */
TEST_F(privilege, user_mode_only)
{
	int file = temp_file();
	pid_t user = load_user(0), kernel = load_kernel(1);
	struct log log;

	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	ASSERT_EQ(0, seteuid(NOBODY));
	BEGIN_LOG(self->theirs, file, pmc_clock(500), NULL);
	EXPECT_TRUE(wait_committed(self->theirs, 100));
	ASSERT_EQ(0, dev_closelog(self->theirs));
	ASSERT_EQ(0, seteuid(0));
	load_end(user);
	load_end(kernel);
	LOAD_LOG(&log, file, 0);
	EXPECT_LT(50, log.user);
	EXPECT_EQ(0, log.kernel);
	EXPECT_EQ(0, log_kernel_addresses(&log));
}

/* Records of a kernel module: MAP_IN, and MODULE behind it. */
static unsigned int module_records(struct log *log, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "[%s]", name);
	return COUNT_RECORDS(log, rec,
			     (rec.type == PMCLOG_T_MAP_IN &&
			      !strcmp(REC_TEXT(&rec, map_in, path), path)) ||
			     (IS_EXT(&rec, MODULE) &&
			      !strcmp(REC_TEXT(&rec, ext_module, name), name)));
}

/* A kernel module that comes and goes is in root's log, and in no other. */
TEST_F(privilege, modules_are_not_told)
{
	int file[2] = { temp_file(), temp_file() }, i;
	struct log log;

	if (!access("/sys/module/loop", F_OK) && system("rmmod loop"))
		SKIP(return, "the module to load is in use");
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	BEGIN_LOG(self->dev, file[0], pmc_clock(100), NULL);
	BEGIN_LOG(self->theirs, file[1], pmc_clock(100), NULL);
	if (system("modprobe -q loop && [ -e /sys/module/loop/sections ]"))
		SKIP(return, "no module to load here");
	EXPECT_EQ(0, system("rmmod loop"));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_EQ(0, dev_closelog(self->theirs));
	for (i = 0; i < 2; i++) {
		LOAD_LOG(&log, file[i], 0);
		EXPECT_EQ(i ? 0 : 2, module_records(&log, "loop"));
		EXPECT_EQ(!i, log_kernel_addresses(&log) > 0);
		log_free(&log);
	}
}

static void call_kernel(unsigned int calls)
{
	char c;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	while (calls-- && pread(fd, &c, 1, 0) == 1)
		;
	close(fd);
}

/* Samples itself, in the kernel for most of the time; a negative errno. */
static int sample_oneself(int file)
{
	struct hwpmc_driverstats st = {};
	struct hwpmc_allocate a = pmc_clock(500);
	int dev, err, i;

	if (!user_stay(NOBODY))
		return -EDOM;
	dev = dev_open();
	if (dev < 0)
		return dev;
	a.mode = HWPMC_MODE_TS;
	a.cpu = HWPMC_CPU_ANY;
	a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	err = dev_configure(dev, file) ?: dev_run(dev, a, NULL);
	for (i = 0; i < 10000 && !err && st.account.committed < 20; i++) {
		call_kernel(100);
		err = dev_stats(dev, HWPMC_STATS_OWNER, &st);
	}
	return err ?: dev_closelog(dev);
}

TEST_F(privilege, process_in_user_mode)
{
	int file = temp_file();
	struct log log;

	ASSERT_TRUE(device_for_group());
	EXPECT_EQ(0, IN_CHILD(-sample_oneself(file)));
	device_for_root();
	LOAD_LOG(&log, file, 0);
	EXPECT_LE(20, log.user);
	EXPECT_EQ(0, log.kernel);
	EXPECT_EQ(0, log_kernel_addresses(&log));
}

TEST_HARNESS_MAIN
