// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which processes a process may attach.  access_userns.c has the tests with user
 * namespaces.
 */
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "test.h"
#include "trial.h"
#include "user.h"

#define EXTRA	1600		/* a group */

#define CAP(name)	(1ULL << CAP_##name)
#define TRACE		(CAP(PERFMON) | CAP(SYS_PTRACE))

FIXTURE(access)
{
	int dev;		/* root's */
};

FIXTURE_SETUP(access)
{
	ASSERT_TRUE(device_for_group());
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(access)
{
	device_for_root();
}

TEST_F(access, family)
{
	EXPECT_EQ(0, TRY());
	EXPECT_EQ(EPERM, TRY(.alone = true));
	EXPECT_EQ(EPERM, TRY(.pid = getpid()));
	EXPECT_EQ(EPERM, TRY(.pid = 1));
	EXPECT_EQ(ESRCH, TRY(.pid = 999999));
}

/* Forks @depth times; the last one tells who he is. */
static void descend(int depth, int tell)
{
	pid_t pid;

	while (depth && !fork_bound())
		depth--;
	if (!depth) {
		pid = getpid();
		if (write(tell, &pid, sizeof(pid)) != sizeof(pid))
			_exit(TRIAL_FAILED);
	}
	for (;;)
		pause();
}

static pid_t descendant(int depth)
{
	int tell[2];
	pid_t pid;

	if (pipe(tell) || !trial_as_user())
		return -1;
	if (!fork_bound())
		descend(depth, tell[1]);
	return read(tell[0], &pid, sizeof(pid)) == sizeof(pid) ? pid : -1;
}

/* Not any more: its parent has ended. */
static pid_t orphan(void)
{
	int tell[2];
	pid_t pid, parent;

	if (pipe(tell) || !trial_as_user())
		return -1;
	parent = fork();
	if (!parent) {
		if (!fork())
			descend(0, tell[1]);
		_exit(0);
	}
	wait_for(parent);
	return read(tell[0], &pid, sizeof(pid)) == sizeof(pid) ? pid : -1;
}

static pid_t myself(void)
{
	return trial_as_user() ? getpid() : -1;
}

static pid_t grandchild(void)
{
	return descendant(1);
}

static pid_t far_descendant(void)
{
	return descendant(20);
}

TEST_F(access, relatives)
{
	EXPECT_EQ(0, trial_found(myself));
	EXPECT_EQ(0, trial_found(grandchild));
	EXPECT_EQ(0, trial_found(far_descendant));
	EXPECT_EQ(EPERM, trial_found(orphan));
}

/* Ids, one of them another's. */
static bool ids(uid_t r, uid_t e, uid_t s)
{
	return user_become(TRIAL_USER) && !setresuid(-1, 0, -1) &&
	       !setresgid(TRIAL_USER, TRIAL_USER, TRIAL_USER) && !setresuid(r, e, s) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

static BECOMES(real_other, ids(TRIAL_OTHER, TRIAL_USER, TRIAL_USER))
static BECOMES(effective_other, ids(TRIAL_USER, TRIAL_OTHER, TRIAL_USER))
static BECOMES(saved_other, ids(TRIAL_USER, TRIAL_USER, TRIAL_OTHER))

static bool saved_root(void)
{
	return ids(TRIAL_USER, TRIAL_USER, 0) && !keep_caps(0) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

TEST_F(access, users)
{
	EXPECT_EQ(EPERM, TRY(.target = trial_as_other));
	EXPECT_EQ(EPERM, TRY(.target = trial_as_root));
	EXPECT_EQ(EPERM, TRY(.target = real_other));
	EXPECT_EQ(EPERM, TRY(.target = effective_other));
	EXPECT_EQ(EPERM, TRY(.target = saved_other));
	EXPECT_EQ(EPERM, TRY(.target = saved_root));
}

/* Who he acts as counts, not who he was. */
static BECOMES(other_acting_as_user, ids(TRIAL_OTHER, TRIAL_USER, TRIAL_OTHER))
static BECOMES(user_acting_as_other, ids(TRIAL_USER, TRIAL_OTHER, TRIAL_USER))

TEST_F(access, effective_user)
{
	EXPECT_EQ(0, TRY(.caller = other_acting_as_user));
	EXPECT_EQ(EPERM, TRY(.caller = user_acting_as_other));
}

/* All ids are the user's, the groups are these. */
static bool groups(gid_t r, gid_t e, gid_t s, int n, const gid_t *list)
{
	return !setgroups(n, list) && !setresgid(r, e, s) &&
	       !setresuid(TRIAL_USER, TRIAL_USER, TRIAL_USER) && !prctl(PR_SET_DUMPABLE, 1);
}

static const gid_t many[] = { 5, 20, 1200, DEV_GROUP, 1550, EXTRA, 70000 };

static BECOMES(real_group, groups(EXTRA, TRIAL_USER, TRIAL_USER, 0, NULL))
static BECOMES(effective_group, groups(TRIAL_USER, EXTRA, TRIAL_USER, 0, NULL))
static BECOMES(saved_group, groups(TRIAL_USER, TRIAL_USER, EXTRA, 0, NULL))
static BECOMES(extra_group,
	       groups(TRIAL_USER, TRIAL_USER, TRIAL_USER, 1, (gid_t[]){ EXTRA }))
static BECOMES(last_group,
	       groups(TRIAL_USER, TRIAL_USER, TRIAL_USER, 1, (gid_t[]){ 70001 }))
static BECOMES(no_groups, groups(TRIAL_USER, TRIAL_USER, TRIAL_USER, 0, NULL))
static BECOMES(many_groups,
	       groups(TRIAL_USER, TRIAL_USER, TRIAL_USER, ARRAY_SIZE(many), many))
static BECOMES(some_groups,
	       groups(20, EXTRA, 70000, 4, (gid_t[]){ 70000, 5, TRIAL_USER, 1550 }))
static BECOMES(one_too_many,
	       groups(TRIAL_USER, TRIAL_USER, TRIAL_USER, 3, (gid_t[]){ 5, 21, 1550 }))

TEST_F(access, groups)
{
	EXPECT_EQ(EPERM, TRY(.target = real_group));
	EXPECT_EQ(EPERM, TRY(.target = effective_group));
	EXPECT_EQ(EPERM, TRY(.target = saved_group));
	EXPECT_EQ(EPERM, TRY(.target = extra_group));
	EXPECT_EQ(EPERM, TRY(.target = last_group));
	EXPECT_EQ(0, TRY(.target = no_groups));
	EXPECT_EQ(0, TRY(.caller = many_groups, .target = many_groups));
	EXPECT_EQ(0, TRY(.caller = many_groups, .target = some_groups));
	EXPECT_EQ(0, TRY(.caller = many_groups, .target = real_group));
	EXPECT_EQ(0, TRY(.caller = many_groups, .target = effective_group));
	EXPECT_EQ(0, TRY(.caller = many_groups, .target = saved_group));
	EXPECT_EQ(EPERM, TRY(.caller = many_groups, .target = one_too_many));
	EXPECT_EQ(EPERM, TRY(.caller = many_groups, .target = last_group));
}

static bool user_with(uint64_t caps)
{
	return !prctl(PR_SET_KEEPCAPS, 1) && user_stay(TRIAL_USER) &&
	       !keep_caps(caps) && !prctl(PR_SET_DUMPABLE, 1);
}

static BECOMES(user_with_raw, user_with(CAP(NET_RAW)))
static BECOMES(user_with_raw_more, user_with(CAP(NET_RAW) | CAP(CHOWN)))
static BECOMES(user_with_trace, user_with(TRACE))
static BECOMES(user_with_admin, user_with(CAP(SYS_ADMIN) | CAP(SYS_PTRACE)))
static BECOMES(user_with_perfmon, user_with(CAP(PERFMON) | CAP(SYS_ADMIN)))
static BECOMES(user_with_ptrace, user_with(CAP(SYS_PTRACE)))
static BECOMES(user_with_all, user_with(~0ULL >> (63 - CAP_LAST_CAP)))

TEST_F(access, capabilities_of_the_target)
{
	EXPECT_EQ(EPERM, TRY(.target = user_with_raw));
	EXPECT_EQ(0, TRY(.caller = user_with_raw, .target = user_with_raw));
	EXPECT_EQ(0, TRY(.caller = user_with_raw));
	EXPECT_EQ(EPERM, TRY(.caller = user_with_raw,
			     .target = user_with_raw_more));
}

TEST_F(access, privileged)
{
	pid_t kthread = find_comm("kthreadd");

	ASSERT_LT(0, kthread);
	/* who may profile, and who may look into processes, is not enough */
	EXPECT_EQ(EPERM, TRY(.caller = user_with_perfmon, .alone = true));
	EXPECT_EQ(EPERM, TRY(.caller = user_with_ptrace, .alone = true));
	EXPECT_EQ(EPERM, TRY(.caller = user_with_perfmon, .pid = kthread));
	EXPECT_EQ(EPERM, TRY(.caller = user_with_ptrace, .pid = kthread));
	EXPECT_EQ(EPERM, TRY(.pid = kthread));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .alone = true));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .alone = true,
			 .target = trial_as_other));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .alone = true,
			 .target = user_with_all));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .pid = 1));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .pid = kthread));
	EXPECT_EQ(0, TRY(.caller = user_with_admin, .alone = true));
	EXPECT_EQ(0, TRY(.caller = user_with_admin, .pid = kthread));
	EXPECT_EQ(0, TRY(.caller = trial_as_root, .alone = true));
	EXPECT_EQ(0, TRY(.caller = trial_as_root, .pid = 1));
}

static BECOMES(hidden, trial_as_user() && !prctl(PR_SET_DUMPABLE, 0))

TEST_F(access, not_dumpable)
{
	EXPECT_EQ(EPERM, TRY(.target = hidden));
	EXPECT_EQ(EPERM, TRY(.target = hidden, .caller = user_with_perfmon));
	EXPECT_EQ(0, TRY(.target = hidden, .caller = user_with_trace));
	EXPECT_EQ(0, TRY(.target = hidden, .caller = trial_as_root, .alone = true));
	/* it is the target's memory that counts; oneself one may look into */
	EXPECT_EQ(0, TRY(.caller = hidden));
}

TEST_F(access, oneself)
{
	EXPECT_EQ(0, trial_oneself(trial_as_user, 0));
	EXPECT_EQ(0, trial_oneself(hidden, 0));
}

/* System calls change one thread's credentials, libraries those of all. */
static void *another_user(void *ready)
{
	if (!syscall(SYS_setresuid, TRIAL_OTHER, TRIAL_OTHER, TRIAL_OTHER) &&
	    !prctl(PR_SET_DUMPABLE, 1))
		*(_Atomic bool *)ready = true;
	pause();
	return NULL;
}

static bool start_thread(_Atomic bool *ready)
{
	pthread_t thread;

	return !pthread_create(&thread, NULL, another_user, ready);
}

static bool one_thread_differs(void)
{
	static _Atomic bool ready;

	return start_thread(&ready) && WAIT_UNTIL(ready, 5000) &&
	       !syscall(SYS_setgroups, 0, NULL) &&
	       !syscall(SYS_setresgid, TRIAL_USER, TRIAL_USER, TRIAL_USER) &&
	       !syscall(SYS_setresuid, TRIAL_USER, TRIAL_USER, TRIAL_USER) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

TEST_F(access, threads)
{
	EXPECT_EQ(EPERM, TRY(.target = one_thread_differs));
	EXPECT_EQ(0, TRY(.target = one_thread_differs, .caller = trial_as_root));
}

static void *exec_sleep(void *arg)
{
	execl("/bin/sleep", "sleep", "300", NULL);
	return NULL;
}

/* A child whose second thread execs: that thread becomes the first one. */
static pid_t exec_by_thread(void)
{
	pthread_t thread;
	pid_t pid = fork_bound();

	if (pid)
		return pid;
	if (!pthread_create(&thread, NULL, exec_sleep, NULL))
		pthread_join(thread, NULL);
	_exit(TRIAL_FAILED);
}

/* True if it execs, after many attaches; @err: of one that failed. */
static bool attach_until_exec(int dev, uint32_t id, pid_t pid, int *err)
{
	uint64_t end = now_ns() + scaled(10000, 60000) * MSEC;
	char path[32], comm[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	while (!*err && strcmp(comm, "sleep") && now_ns() < end) {
		*err = dev_attach(dev, id, pid);
		if (!*err)
			*err = dev_detach(dev, id, pid);
		/* proc(5) does not have the process for a moment */
		if (!read_line(path, comm, sizeof(comm)))
			comm[0] = '\0';
	}
	return !strcmp(comm, "sleep");
}

/* The caller's child stays its child. */
static int attach_beside_exec(void)
{
	int dev, err = 0, i;
	uint32_t id;
	pid_t pid;

	if (!trial_as_user())
		return TRIAL_FAILED;
	dev = dev_open();
	if (dev < 0 || trial_counter(dev, 0, &id))
		return TRIAL_FAILED;
	for (i = 0; i < 100 && !err; i++) {
		pid = exec_by_thread();
		if (!attach_until_exec(dev, id, pid, &err) && !err)
			err = -ETIME;
		load_end(pid);
	}
	return -err;
}

TEST_F(access, exec_by_another_thread)
{
	pid_t caller = group_fork();

	if (!caller)
		_exit(attach_beside_exec());
	EXPECT_EQ(0, group_end(caller));
}

/* The opener must be allowed to as well as the caller. */
TEST_F(access, passed_on)
{
	pid_t kthread = find_comm("kthreadd");
	int theirs;

	/* root's descriptor is of no use to a weaker process: see gate.c */
	EXPECT_EQ(EPERM, TRY(.dev = self->dev));
	EXPECT_EQ(EPERM, TRY(.dev = self->dev, .alone = true));
	/* the user's remains the user's in root's hands */
	theirs = trial_open_as(trial_as_user);
	ASSERT_LE(0, theirs);
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_root, .pid = 1));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_root,
			     .pid = kthread));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_root,
			     .target = trial_as_root));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_root,
			     .target = trial_as_other));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_root,
			     .target = hidden));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_root,
			     .target = user_with_raw_more));
	EXPECT_EQ(0, TRY(.dev = theirs, .caller = trial_as_root, .alone = true));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_other,
			     .target = trial_as_other));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = trial_as_other));
	/* even onto oneself */
	EXPECT_EQ(EPERM, trial_oneself(trial_as_other, theirs));
	EXPECT_EQ(0, trial_oneself(trial_as_user, theirs));
	EXPECT_EQ(EPERM, trial_oneself(trial_as_other, self->dev));
}

TEST_HARNESS_MAIN
