// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers of processes: given as the caller's namespace has them, logged as the
 * owner's has them.
 */
#include <limits.h>
#include <sched.h>
#include <sys/prctl.h>

#include "recorder.h"
#include "test.h"
#include "user.h"

#define USER	1000

/**
 * struct session - shared by the processes of a test
 * @err: 0, or a negative errno of the one in the namespace
 * @outside: what it attached to, as numbered outside
 * @unseen: error of attaching to @stranger
 * @inside: the first process of the namespace, as numbered outside
 * @entered: a process from outside has entered, and computes
 */
struct session {
	int err;
	int unseen;
	pid_t stranger;
	_Atomic pid_t outside;
	_Atomic pid_t inside;
	_Atomic bool entered;
};

FIXTURE(namespaces)
{
	struct session *s;
	int dev;		/* from outside */
	int file;
};

FIXTURE_SETUP(namespaces)
{
	ASSERT_TRUE(device_for_group());
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	ASSERT_LE(0, self->file);
	self->s = shared_memory(sizeof(*self->s));
	ASSERT_NE(NULL, self->s);
	self->s->err = -ECHILD;
	self->s->stranger = getpid();
}

FIXTURE_TEARDOWN(namespaces)
{
	device_for_root();
}

/* /proc is the outer namespace's. */
static pid_t outer_pid(void)
{
	char line[32] = "";

	return readlink("/proc/self", line, sizeof(line) - 1) > 0 ?
	       atoi(line) : 0;
}

static void compute(void)
{
	static volatile unsigned long sink;

	for (;;)
		sink++;
}

/* The first process of the namespace samples its child. */
static int sample_child(struct session *s, int dev, int file)
{
	struct hwpmc_allocate a = pmc_clock(500);
	pid_t child;
	int err;

	if (getpid() != 1)
		return -ESRCH;
	child = fork_bound();
	if (!child) {
		s->outside = outer_pid();
		compute();
	}
	a.mode = HWPMC_MODE_TS;
	a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	a.cpu = HWPMC_CPU_ANY;
	a.caps = HWPMC_CAP_USER;
	err = dev_configure(dev, file) ?: dev_allocate(dev, &a);
	if (err)
		return err;
	s->unseen = dev_attach(dev, a.id, s->stranger);
	err = child == 2 ? dev_attach(dev, a.id, 2) : -ECHILD;
	err = err ?: dev_start(dev, a.id);
	if (!err && !wait_committed(dev, 30))
		err = -ETIME;
	return err ?: dev_closelog(dev);
}

/* @dev 0: it opens its own. */
static void sample_in_namespace(struct session *s, int dev, int file)
{
	pid_t child;

	if (unshare(CLONE_NEWPID)) {
		s->err = -errno;
		return;
	}
	/* its parent has no number there, which fork_bound() looks for */
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!dev)
			dev = dev_open();
		s->err = dev < 0 ? dev : sample_child(s, dev, file);
		_exit(0);
	}
	wait_for(child);
}

/* What the log says the machine is called. */
static const char *node_name(struct log *log)
{
	static char name[HOST_NAME_MAX + 1];
	struct pmclog_rec rec;

	name[0] = '\0';
	LOG_FOR_EACH(log, rec)
		if (IS_EXT(&rec, HOST)) {
			const char *s = (const char *)rec.data +
					sizeof(struct pmclog_ext_host);

			snprintf(name, sizeof(name), "%s", s + strlen(s) + 1);
		}
	return name;
}

/* Whether all that is told of it is told by this number. */
static void check_numbers(META, int file, uint32_t pid)
{
	struct pmclog_rec rec;
	unsigned int wrong = 0;
	struct sample sample;
	struct log log;

	LOAD_LOG(&log, file, 0);
	EXPECT_LE(30, log.samples);
	EXPECT_EQ(1, LOG_COUNT(&log, PMCATTACH, pmcattach, pid, pid));
	LOG_FOR_EACH(&log, rec) {
		if (log_sample(&rec, &sample))
			wrong += sample.pid != pid || sample.tid != pid;
		if (rec.type == PMCLOG_T_PMCATTACH)
			wrong += REC32(&rec, pmcattach, pid) != pid;
	}
	EXPECT_EQ(0, wrong);
}

TEST_F(namespaces, owner_inside)
{
	sample_in_namespace(self->s, 0, self->file);
	ASSERT_EQ(0, self->s->err);
	EXPECT_EQ(-ESRCH, self->s->unseen);
	EXPECT_LT(2, self->s->outside);
	check_numbers(_metadata, self->file, 2);
}

TEST_F(namespaces, owner_outside)
{
	sample_in_namespace(self->s, self->dev, self->file);
	ASSERT_EQ(0, self->s->err);
	EXPECT_EQ(-ESRCH, self->s->unseen);
	EXPECT_LT(2, self->s->outside);
	check_numbers(_metadata, self->file, self->s->outside);
}

/* A log that is configured in a container has the container's host name. */
static int log_of_a_host(const char *name)
{
	int dev = dev_open(), file = temp_file();

	/* also in the logs that follow it */
	if (IN_CHILD(unshare(CLONE_NEWUTS) || sethostname(name, strlen(name)) ||
		     dev_configure(dev, temp_file())) ||
	    dev_rotate(dev, file) || dev_closelog(dev))
		return -1;
	close(dev);
	return file;
}

TEST_F(namespaces, host)
{
	char outside[HOST_NAME_MAX + 1] = "";
	int file = log_of_a_host("inside");
	struct log log;

	ASSERT_LE(0, file);
	ASSERT_TRUE(log_load(&log, file));
	EXPECT_STREQ("inside", node_name(&log));
	log_free(&log);
	ASSERT_EQ(0, gethostname(outside, sizeof(outside)));
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_TRUE(log_load(&log, self->file));
	EXPECT_STREQ(outside, node_name(&log));
}

/* A container of the user's own: root in it, and nobody else outside. */
TEST_F(namespaces, container)
{
	pid_t child = fork_bound();

	if (!child) {
		if (!user_stay(USER) || unshare(CLONE_NEWUSER))
			_exit(4);
		prctl(PR_SET_DUMPABLE, 1);
		sample_in_namespace(self->s, 0, self->file);
		_exit(0);
	}
	if (wait_for(child) == 4)
		SKIP(return, "no user namespaces here");
	ASSERT_EQ(0, self->s->err);
	EXPECT_EQ(-ESRCH, self->s->unseen);
	check_numbers(_metadata, self->file, 2);
}

/* The first process of a namespace samples all of it; s->outside: it does. */
static int sample_all(struct session *s, int file)
{
	int dev = dev_open();
	int err;

	err = dev < 0 ? dev : dev_configure(dev, file);
	err = err ?: dev_run(dev, pmc_clock(500), NULL);
	s->outside = 1;
	if (!err && (!WAIT_UNTIL(s->entered, 20000) || !wait_committed(dev, 1000)))
		err = -ETIME;
	return err ?: dev_closelog(dev);
}

static void sample_inside(struct session *s, int file)
{
	pid_t child;

	if (unshare(CLONE_NEWPID))
		_exit(1);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		s->err = sample_all(s, file);
		_exit(0);
	}
	s->inside = child;
	wait_for(child);
	_exit(0);
}

/* A process from outside enters, as nsenter(1) does, for its children. */
static void enter_and_fork(struct session *s)
{
	char path[40];
	int ns;

	while (!s->outside || !s->inside)
		sleep_ms(1);
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)s->inside);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWPID))
		_exit(1);
	signal(SIGCHLD, SIG_IGN);	/* a namespace ends when all of it is reaped */
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		s->entered = true;
		compute();
	}
	pause();
}

/* Its parent is not in the log, so the process is dumped; that is said. */
TEST_F(namespaces, entered_later)
{
	pid_t inside = fork_bound(), guest;
	unsigned int mapped, unmapped;
	struct log log;

	if (!inside)
		sample_inside(self->s, self->file);
	guest = fork_bound();
	if (!guest)
		enter_and_fork(self->s);
	ASSERT_EQ(0, wait_for(inside));
	load_end(guest);
	ASSERT_EQ(0, self->s->err);
	LOAD_LOG(&log, self->file, LOG_PROC_DROPS);
	EXPECT_EQ(0, LOG_COUNT(&log, PROCFORK, procfork, oldpid,
			       PMCLOG_PID_KERNEL));
	EXPECT_LT(0, log.proc_dropped);
	unmapped = unmapped_samples(&log, &mapped);
	TH_LOG("%u samples in user mode, %u where nothing is mapped",
	       mapped + unmapped, unmapped);
	EXPECT_GT(mapped / 4, unmapped);
	EXPECT_LT(10, mapped);
}

TEST_HARNESS_MAIN
