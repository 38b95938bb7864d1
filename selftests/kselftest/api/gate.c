// SPDX-License-Identifier: GPL-2.0-only
/*
 * A descriptor of the device in other hands: a holder that is weaker than the
 * opener is refused every operation, and credentials may change at any time.
 */
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "passing.h"
#include "recorder.h"
#include "test.h"
#include "user.h"

#define USER	1000
#define OTHER	1001
/* HWPMC_ROUNDS= may ask for many. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1200

#define FAILED	255		/* the child could not become what it should */

FIXTURE(gate)
{
	int dev;		/* root's */
};

FIXTURE_SETUP(gate)
{
	ASSERT_TRUE(device_for_group());
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(gate)
{
	user_root();
	device_for_root();
}

/* The result of @fn in a process that has become what @become makes it. */
static int as(bool (*become)(void), int (*fn)(int dev), int dev)
{
	pid_t child = group_fork();

	if (!child)
		_exit(become() ? -fn(dev) : FAILED);
	return -group_end(child);
}

static BECOMES(user, user_stay(USER))
static BECOMES(other, user_stay(OTHER))
static BECOMES(userns, user_stay(USER) && !unshare(CLONE_NEWUSER))

/* Root without capabilities. */
static BECOMES(bare_root, !keep_caps(0))

static bool without_groups(void)
{
	return !setgroups(0, NULL) && !setresgid(USER, USER, USER) &&
	       !setresuid(USER, USER, USER);
}

static BECOMES(root, true)

/* Anybody may ask this; a negative errno. */
static int version(int dev)
{
	return DEV_ASK(dev, GETMODULEVERSION, moduleversion);
}

/* Opened by the user for good, and what @become has of it. */
static int users_in_hands_of(bool (*become)(void))
{
	int pair[2], dev, err;
	uint32_t word;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -errno;
	child = fork_bound();
	if (!child) {
		if (!user())
			_exit(FAILED);
		dev = dev_open();
		_exit(dev < 0 || send_fd(pair[1], dev, 0) ? FAILED : 0);
	}
	err = wait_for(child);
	dev = err ? -err : receive_fd(pair[0], &word);
	if (dev < 0)
		return dev;
	err = as(become, version, dev);
	close(dev);
	close(pair[0]);
	close(pair[1]);
	return err;
}

/*
 * As strong as the opener, or stronger.  A difference of credentials alone does
 * not shut the gate: each child here has its own.
 */
TEST_F(gate, holders)
{
	EXPECT_EQ(0, as(root, version, self->dev));
	EXPECT_EQ(-EPERM, as(user, version, self->dev));
	EXPECT_EQ(-EPERM, as(bare_root, version, self->dev));
	EXPECT_EQ(0, users_in_hands_of(root));
	EXPECT_EQ(0, users_in_hands_of(user));
	EXPECT_EQ(-EPERM, users_in_hands_of(other));
	EXPECT_EQ(-EPERM, users_in_hands_of(without_groups));
	EXPECT_EQ(-EPERM, users_in_hands_of(bare_root));
}

TEST_F(gate, user_namespace)
{
	int err = users_in_hands_of(userns);

	if (err == -FAILED)
		SKIP(return, "no user namespaces here");
	EXPECT_EQ(-EPERM, err);
}

#define OPERATIONS	30	/* that there are */

/* Every operation, and reading; -EDOM: one was not refused. */
static int everything(int dev)
{
	unsigned int nr, refused = 0;
	uint8_t arg[4096] = {};
	unsigned long cmd;

	for (nr = 0; nr < 256; nr++) {
		static const unsigned int dirs[] = {
			_IOC_NONE, _IOC_READ, _IOC_WRITE, _IOC_READ | _IOC_WRITE
		};
		unsigned int i;

		for (i = 0; i < 4; i++) {
			cmd = _IOC(dirs[i], HWPMC_IOC_MAGIC, nr, 64);
			if (!i)
				cmd = _IO(HWPMC_IOC_MAGIC, nr);
			switch (dev_ioctl(dev, cmd, arg)) {
			case -EPERM:
				refused++;
				break;
			case -ENOTTY:	/* there is no such operation */
				break;
			default:
				return -EDOM;
			}
		}
	}
	if (refused < OPERATIONS)
		return -EDOM;
	return read(dev, arg, sizeof(arg)) < 0 ? -errno : -EDOM;
}

/* Nothing that the user has tried has changed anything. */
TEST_F(gate, every_operation)
{
	struct log log;
	uint32_t id;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(200), &id));
	ASSERT_TRUE(wait_committed(self->dev, 20));
	ASSERT_EQ(0, dev_flush(self->dev));
	EXPECT_EQ(-EPERM, as(user, everything, self->dev));
	ASSERT_TRUE(wait_committed(self->dev, 40));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	END_LOG(self->dev, self->dev, &log, LOG_DROPS);
	EXPECT_LE(40, log.samples);
}

/* Configures a log of its own and starts what is attached: 0 when that works. */
static int log_and_start(int dev)
{
	int err = dev_configure(dev, temp_file()), n;
	uint32_t id = 0;

	if (err)
		return err;
	for (n = 0; n < HWPMC_NROW && err != -EPERM; n++) {
		id = HWPMC_ID(HWPMC_ID_CPU_NONE, HWPMC_MODE_TS,
			      HWPMC_CLASS_SOFT, n);
		err = dev_start(dev, id);
		if (!err)
			return 0;
	}
	return err;
}

/*
 * The opener has attached to a process of another user.  The next holder of the
 * descriptor does not look into that process.
 */
TEST_F(gate, attached_for_another)
{
	struct hwpmc_allocate a = pmc_process_sampler(CPU_CLOCK, 1000000, 0);
	pid_t target = fork_bound();

	if (!target) {
		if (!other())
			_exit(FAILED);
		for (;;)
			getppid();
	}
	a.caps = HWPMC_CAP_USER;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, target));
	EXPECT_EQ(-EPERM, as(user, log_and_start, self->dev));
	load_end(target);
}

/* It is the present credentials that count, as for perf_event_open(2). */
TEST_F(gate, capabilities_come_and_go)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2], none[2];

	ASSERT_EQ(0, syscall(SYS_capget, &head, data));
	memcpy(none, data, sizeof(none));
	none[0].effective = none[1].effective = 0;
	ASSERT_EQ(0, syscall(SYS_capset, &head, none));
	EXPECT_EQ(-EPERM, version(self->dev));
	ASSERT_EQ(0, syscall(SYS_capset, &head, data));
	EXPECT_EQ(0, version(self->dev));
}

/* ------------------------------------------------------------------------
 * Credentials that change under the module's hands
 */
struct change {
	int		dev;
	atomic_bool	stop;
};

/* Each round has new credentials of its own, and the last ones go. */
static void *change_credentials(void *arg)
{
	struct change *c = arg;
	int keep = 0;

	while (!atomic_load(&c->stop)) {
		prctl(PR_SET_KEEPCAPS, keep ^= 1);
		DEV_ASK(c->dev, GETATBASE, atbase, .pid = 0);
	}
	return NULL;
}

/* A target in a user namespace of its own that runs one program after another. */
static pid_t start_execs(unsigned int rounds)
{
	char left[16];
	pid_t pid = fork_bound();

	if (pid)
		return pid;
	snprintf(left, sizeof(left), "%u", rounds);
	if (!unshare(CLONE_NEWUSER))
		execl("/proc/self/exe", "gate", "exec", left, NULL);
	_exit(FAILED);
}

/* The next round of start_execs(): 0 when the last one is over. */
static int exec_again(const char *left)
{
	char next[24];
	unsigned long rounds = strtoul(left, NULL, 10);

	if (!rounds)
		return 0;
	snprintf(next, sizeof(next), "%lu", rounds - 1);
	execl("/proc/self/exe", "gate", "exec", next, NULL);
	return FAILED;
}

#define CHANGERS	2
#define EXECS		2

/* 0, or what could not be done; what this is about is a kernel that lives on. */
static int race(unsigned int rounds)
{
	struct hwpmc_allocate a = pmc_process_counter(TASK_CLOCK,
						      HWPMC_F_DESCENDANTS);
	struct change c = {};
	pthread_t changers[CHANGERS];
	pid_t execs[EXECS];
	int i, err = 0;

	if (!user())
		return FAILED;
	c.dev = dev_open();
	if (c.dev < 0 || dev_allocate(c.dev, &a) ||
	    dev_attach(c.dev, a.id, 0) || dev_start(c.dev, a.id))
		return FAILED;
	for (i = 0; i < CHANGERS; i++)
		if (pthread_create(&changers[i], NULL, change_credentials, &c))
			return FAILED;
	for (i = 0; i < EXECS; i++)
		execs[i] = start_execs(rounds);
	for (i = 0; i < EXECS; i++)
		err |= wait_for(execs[i]);
	atomic_store(&c.stop, true);
	for (i = 0; i < CHANGERS; i++)
		pthread_join(changers[i], NULL);
	return err;
}

/*
 * Targets exec, and are asked about with credentials of the owner's, while
 * threads of the owner change theirs.  A module that takes references to
 * credentials that it does not hold brings the kernel down here.
 */
TEST_F(gate, credentials_change)
{
	pid_t child = group_fork();
	int err;

	if (!child)
		_exit(race(env_number("HWPMC_ROUNDS", scaled(400, 40))));
	err = group_end(child);
	if (err == FAILED && access("/proc/self/ns/user", F_OK))
		SKIP(return, "no user namespaces here");
	EXPECT_EQ(0, err);
}

static void __attribute__((constructor)) exec_round(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "exec"))
		_exit(exec_again(argv[2]));
}

TEST_HARNESS_MAIN
