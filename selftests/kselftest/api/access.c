// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may attach to which process.
 *
 * Each trial is a process that becomes somebody and attaches to another one that
 * has become something, as its child or not.
 */
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "passing.h"
#include "test.h"
#include "user.h"

#define USER	1000
#define OTHER	1001
#define EXTRA	1600		/* a group */
#define FAILED	255		/* to become what was asked for */

#define CAP(name)	(1ULL << CAP_##name)
#define TRACE		(CAP(PERFMON) | CAP(SYS_PTRACE))

FIXTURE(access)
{
	int dev;		/* root's */
};

FIXTURE_SETUP(access)
{
	ASSERT_TRUE(device_for_group());
	self->dev = dev_open();
	ASSERT_LE(0, self->dev);
}

FIXTURE_TEARDOWN(access)
{
	device_for_root();
}

/**
 * struct trial
 * @target: becomes what is attached to; NULL: the user
 * @caller: becomes who attaches; NULL: the user
 * @dev: what he attaches with; 0: he opens it himself
 * @alone: the target is not his child
 * @pid: to attach to instead, when not 0
 */
struct trial {
	bool (*target)(void);
	bool (*caller)(void);
	int dev;
	bool alone;
	pid_t pid;
};

static bool as_user(void)
{
	return user_stay(USER);
}

static bool as_other(void)
{
	return user_stay(OTHER);
}

static bool as_root(void)
{
	return true;
}

/* A process that has become what @fn makes it; negative: it could not. */
static pid_t become(bool (*fn)(void))
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork_bound();
	if (!pid) {
		/* lost with the old user */
		if ((fn ?: as_user)() && !prctl(PR_SET_PDEATHSIG, SIGKILL) &&
		    write(ready[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(FAILED);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

static int counter(int dev, uint32_t caps, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_counter(PERF_TYPE_SOFTWARE,
					      PERF_COUNT_SW_TASK_CLOCK);
	int err;

	a.mode = HWPMC_MODE_TC;
	a.cpu = HWPMC_CPU_ANY;
	a.caps = caps;
	err = dev_allocate(dev, &a);
	*id = a.id;
	return err;
}

static int attach(int dev, uint32_t id, pid_t pid)
{
	struct hwpmc_attach a = { .id = id, .pid = pid };

	return dev_ioctl(dev, HWPMC_IOC_PMCATTACH, &a);
}

/* In the caller's process. */
static int attempt(const struct trial *t, pid_t target)
{
	int dev, err;
	uint32_t id;

	if (!t->alone)
		target = become(t->target);
	if (target < 0 || !(t->caller ?: as_user)())
		return FAILED;
	dev = t->dev ?: dev_open();
	if (dev < 0)
		return -dev;
	err = counter(dev, 0, &id);
	if (err)
		return -err;
	err = -attach(dev, id, t->pid ?: target);
	dev_release(dev, id);
	return err;
}

/* 0 or the errno of attaching. */
static int try(struct trial t)
{
	pid_t target = t.alone ? become(t.target) : 0, caller;
	int err;

	caller = group_fork();
	if (!caller)
		_exit(attempt(&t, target));
	err = group_end(caller);
	load_end(target);
	return err;
}

#define TRY(...)	try((struct trial){ __VA_ARGS__ })

TEST_F(access, family)
{
	EXPECT_EQ(0, TRY());
	EXPECT_EQ(EPERM, TRY(.alone = true));
	EXPECT_EQ(EPERM, TRY(.pid = getpid()));
	EXPECT_EQ(EPERM, TRY(.pid = 1));
	EXPECT_EQ(ESRCH, TRY(.pid = 999999));
}

/* Who has become what @fn makes him attaches to himself. */
static int to_oneself(bool (*fn)(void), int dev)
{
	struct trial t = { .alone = true, .caller = fn, .dev = dev };
	pid_t child = group_fork();

	if (!child)
		_exit(attempt(&t, 0));
	return group_end(child);
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
			_exit(FAILED);
	}
	for (;;)
		pause();
}

static pid_t descendant(int depth)
{
	int tell[2];
	pid_t pid;

	if (pipe(tell) || !as_user())
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

	if (pipe(tell) || !as_user())
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

/* The user attaches to whom @find finds. */
static int attach_found(pid_t (*find)(void))
{
	struct trial t = { .alone = true, .caller = as_root };
	pid_t child = group_fork();

	if (child)
		return group_end(child);
	t.pid = find();
	_exit(t.pid > 0 ? attempt(&t, 0) : FAILED);
}

static pid_t myself(void)
{
	return as_user() ? getpid() : -1;
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
	EXPECT_EQ(0, attach_found(myself));
	EXPECT_EQ(0, attach_found(grandchild));
	EXPECT_EQ(0, attach_found(far_descendant));
	EXPECT_EQ(EPERM, attach_found(orphan));
}

/* Ids, one of them another's. */
static bool ids(uid_t r, uid_t e, uid_t s)
{
	return user_become(USER) && !setresuid(-1, 0, -1) &&
	       !setresgid(USER, USER, USER) && !setresuid(r, e, s) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

static bool real_other(void)
{
	return ids(OTHER, USER, USER);
}

static bool effective_other(void)
{
	return ids(USER, OTHER, USER);
}

static bool saved_other(void)
{
	return ids(USER, USER, OTHER);
}

static bool saved_root(void)
{
	return ids(USER, USER, 0) && !keep_caps(0) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

TEST_F(access, users)
{
	EXPECT_EQ(EPERM, TRY(.target = as_other));
	EXPECT_EQ(EPERM, TRY(.target = as_root));
	EXPECT_EQ(EPERM, TRY(.target = real_other));
	EXPECT_EQ(EPERM, TRY(.target = effective_other));
	EXPECT_EQ(EPERM, TRY(.target = saved_other));
	EXPECT_EQ(EPERM, TRY(.target = saved_root));
}

/* Who he acts as counts, not who he was. */
static bool other_acting_as_user(void)
{
	return ids(OTHER, USER, OTHER);
}

static bool user_acting_as_other(void)
{
	return ids(USER, OTHER, USER);
}

TEST_F(access, effective_user)
{
	EXPECT_EQ(0, TRY(.caller = other_acting_as_user));
	EXPECT_EQ(EPERM, TRY(.caller = user_acting_as_other));
}

/* All ids are the user's, the groups are these. */
static bool groups(gid_t r, gid_t e, gid_t s, int n, const gid_t *list)
{
	return !setgroups(n, list) && !setresgid(r, e, s) &&
	       !setresuid(USER, USER, USER) && !prctl(PR_SET_DUMPABLE, 1);
}

static const gid_t many[] = { 5, 20, 1200, DEV_GROUP, 1550, EXTRA, 70000 };

static bool real_group(void)
{
	return groups(EXTRA, USER, USER, 0, NULL);
}

static bool effective_group(void)
{
	return groups(USER, EXTRA, USER, 0, NULL);
}

static bool saved_group(void)
{
	return groups(USER, USER, EXTRA, 0, NULL);
}

static bool extra_group(void)
{
	return groups(USER, USER, USER, 1, (gid_t[]){ EXTRA });
}

static bool last_group(void)
{
	return groups(USER, USER, USER, 1, (gid_t[]){ 70001 });
}

static bool no_groups(void)
{
	return groups(USER, USER, USER, 0, NULL);
}

static bool many_groups(void)
{
	return groups(USER, USER, USER, ARRAY_SIZE(many), many);
}

static bool some_groups(void)
{
	return groups(20, EXTRA, 70000, 4, (gid_t[]){ 70000, 5, USER, 1550 });
}

static bool one_too_many(void)
{
	return groups(USER, USER, USER, 3, (gid_t[]){ 5, 21, 1550 });
}

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
	return !prctl(PR_SET_KEEPCAPS, 1) && user_stay(USER) &&
	       !keep_caps(caps) && !prctl(PR_SET_DUMPABLE, 1);
}

static bool user_with_raw(void)
{
	return user_with(CAP(NET_RAW));
}

static bool user_with_raw_more(void)
{
	return user_with(CAP(NET_RAW) | CAP(CHOWN));
}

static bool user_with_trace(void)
{
	return user_with(TRACE);
}

static bool user_with_admin(void)
{
	return user_with(CAP(SYS_ADMIN) | CAP(SYS_PTRACE));
}

static bool user_with_perfmon(void)
{
	return user_with(CAP(PERFMON) | CAP(SYS_ADMIN));
}

static bool user_with_ptrace(void)
{
	return user_with(CAP(SYS_PTRACE));
}

static bool user_with_all(void)
{
	return user_with(~0ULL >> (63 - CAP_LAST_CAP));
}

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
			 .target = as_other));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .alone = true,
			 .target = user_with_all));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .pid = 1));
	EXPECT_EQ(0, TRY(.caller = user_with_trace, .pid = kthread));
	EXPECT_EQ(0, TRY(.caller = user_with_admin, .alone = true));
	EXPECT_EQ(0, TRY(.caller = user_with_admin, .pid = kthread));
	EXPECT_EQ(0, TRY(.caller = as_root, .alone = true));
	EXPECT_EQ(0, TRY(.caller = as_root, .pid = 1));
}

static bool hidden(void)
{
	return as_user() && !prctl(PR_SET_DUMPABLE, 0);
}

TEST_F(access, not_dumpable)
{
	EXPECT_EQ(EPERM, TRY(.target = hidden));
	EXPECT_EQ(EPERM, TRY(.target = hidden, .caller = user_with_perfmon));
	EXPECT_EQ(0, TRY(.target = hidden, .caller = user_with_trace));
	EXPECT_EQ(0, TRY(.target = hidden, .caller = as_root, .alone = true));
	/* it is the target's memory that counts; oneself one may look into */
	EXPECT_EQ(0, TRY(.caller = hidden));
}

TEST_F(access, oneself)
{
	EXPECT_EQ(0, to_oneself(as_user, 0));
	EXPECT_EQ(0, to_oneself(hidden, 0));
}

/* System calls change one thread's credentials, libraries those of all. */
static void *another_user(void *ready)
{
	if (!syscall(SYS_setresuid, OTHER, OTHER, OTHER) &&
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
	int i;

	if (!start_thread(&ready))
		return false;
	for (i = 0; i < 1000 && !ready; i++)
		sleep_ms(5);
	return ready &&
	       !syscall(SYS_setgroups, 0, NULL) &&
	       !syscall(SYS_setresgid, USER, USER, USER) &&
	       !syscall(SYS_setresuid, USER, USER, USER) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

TEST_F(access, threads)
{
	EXPECT_EQ(EPERM, TRY(.target = one_thread_differs));
	EXPECT_EQ(0, TRY(.target = one_thread_differs, .caller = as_root));
}

static int open_as(bool (*fn)(void))
{
	int sock[2], fd = -1, i;
	uint32_t word;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sock))
		return -1;
	child = fork_bound();
	if (!child)
		_exit(!fn() || send_fd(sock[1], dev_open(), 0));
	if (!wait_for(child))
		fd = receive_fd(sock[0], &word);
	for (i = 0; i < 2; i++)
		close(sock[i]);
	return fd;
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
	_exit(FAILED);
}

/* True if it execs, after many attaches; @err: of one that failed. */
static bool attach_until_exec(int dev, uint32_t id, pid_t pid, int *err)
{
	uint64_t end = now_ns() + scaled(10000, 60000) * MSEC;
	struct hwpmc_attach a = { .id = id, .pid = pid };
	char path[32], comm[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	while (!*err && strcmp(comm, "sleep") && now_ns() < end) {
		*err = attach(dev, id, pid);
		if (!*err)
			*err = dev_ioctl(dev, HWPMC_IOC_PMCDETACH, &a);
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

	if (!as_user())
		return FAILED;
	dev = dev_open();
	if (dev < 0 || counter(dev, 0, &id))
		return FAILED;
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
	theirs = open_as(as_user);
	ASSERT_LE(0, theirs);
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_root, .pid = 1));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_root,
			     .pid = kthread));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_root,
			     .target = as_root));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_root,
			     .target = as_other));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_root,
			     .target = hidden));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_root,
			     .target = user_with_raw_more));
	EXPECT_EQ(0, TRY(.dev = theirs, .caller = as_root, .alone = true));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_other,
			     .target = as_other));
	EXPECT_EQ(EPERM, TRY(.dev = theirs, .caller = as_other));
	/* even onto oneself */
	EXPECT_EQ(EPERM, to_oneself(as_other, theirs));
	EXPECT_EQ(0, to_oneself(as_user, theirs));
	EXPECT_EQ(EPERM, to_oneself(as_other, self->dev));
}

/* The user, outside; inside root, with every capability. */
static bool fake_root(void)
{
	return as_user() && !unshare(CLONE_NEWUSER) &&
	       !prctl(PR_SET_DUMPABLE, 1) &&
	       write_text("/proc/self/uid_map", "0 1000 1") &&
	       write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/gid_map", "0 1000 1") && !getuid();
}

static bool can_be_fake_root(void)
{
	pid_t child = fork_bound();

	if (!child)
		_exit(!fake_root());
	return !wait_for(child);
}

static pid_t child_of_fake_root(void)
{
	return fake_root() ? become(as_root) : -1;
}

static bool unshare_again(void)
{
	return !unshare(CLONE_NEWUSER);
}

/* In another namespace still, within its parent's. */
static pid_t inner_fake_root(void)
{
	return fake_root() ? become(unshare_again) : -1;
}

/* What is in the user's namespace is the user's. */
TEST_F(access, into_a_user_namespace)
{
	if (!can_be_fake_root())
		SKIP(return, "no user namespaces here");
	EXPECT_EQ(0, TRY(.target = fake_root));
	EXPECT_EQ(0, TRY(.target = fake_root, .alone = true));
	EXPECT_EQ(EPERM, TRY(.target = fake_root, .dev = self->dev));
	EXPECT_EQ(EPERM, TRY(.target = fake_root, .caller = as_other,
			     .alone = true));
	EXPECT_EQ(0, TRY(.target = fake_root, .caller = as_root,
			 .alone = true));
}

/* Who is root in a namespace is not outside. */
TEST_F(access, out_of_a_user_namespace)
{
	pid_t kthread = find_comm("kthreadd");
	int dev;

	if (!can_be_fake_root())
		SKIP(return, "no user namespaces here");
	EXPECT_EQ(0, to_oneself(fake_root, 0));
	EXPECT_EQ(0, attach_found(child_of_fake_root));
	EXPECT_EQ(0, attach_found(inner_fake_root));
	for (dev = 0; dev <= self->dev; dev += self->dev) {
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .alone = true));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .target = as_other));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .target = as_root));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .target = fake_root));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .pid = 1));
		EXPECT_EQ(EPERM, TRY(.caller = fake_root, .dev = dev,
				     .pid = kthread));
	}
	/* and what he opened there is not for outside */
	dev = open_as(fake_root);
	ASSERT_LE(0, dev);
	EXPECT_EQ(EPERM, TRY(.dev = dev));
	EXPECT_EQ(EPERM, TRY(.dev = dev, .caller = as_root));
	EXPECT_EQ(EPERM, TRY(.dev = dev, .caller = as_root,
			     .target = as_root));
	EXPECT_EQ(EPERM, TRY(.dev = dev, .caller = as_root, .pid = kthread));
}

TEST_HARNESS_MAIN
