// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families: one that is there is attached to as a whole or not at all, and one
 * that grows and dies fast is told of exactly.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "family.h"
#include "proclog.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define NOBODY	65534

FIXTURE(tree)
{
	int dev;
	int file;
	struct target t;
	struct family *f;
	struct log log;
};

FIXTURE_SETUP(tree)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	self->f = family_new();
	ASSERT_NE(NULL, self->f);
}

FIXTURE_TEARDOWN(tree)
{
	family_kill(self->f);
	target_kill(&self->t);
	close(self->dev);
}

static struct hwpmc_allocate counter(uint32_t flags)
{
	return pmc_process_counter(FAULTS, flags);
}

/* ------------------------------------------------------------------------
 * A family that is there
 */

/* One that does nothing but sleep, until it is killed. */
static pid_t sleeper(struct family *f, unsigned int children)
{
	uint32_t parent = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	family_enter(f, parent, false);
	while (children--)
		sleeper(f, 0);
	for (;;)
		pause();
}

#define NFAMILY	6	/* four children; one of them has two of its own */

static int family_body(struct target *t, void *arg)
{
	struct family *f = arg;

	sleeper(f, 0);
	sleeper(f, 0);
	sleeper(f, 2);
	while (f->complete < NFAMILY - 1)
		usleep(1000);
	sleeper(f, 0);
	while (f->complete < NFAMILY)
		usleep(1000);
	return target_pause(t);
}

static bool make_family(struct target *t, struct family *f)
{
	return target_begin(t, family_body, f) && target_step(t) &&
	       f->complete == NFAMILY;
}

/* @change, dev_attach() or dev_detach(), with each of them is @err. */
static void expect_each(META, FIXTURE_DATA(tree) *self, int err,
			int (*change)(int dev, uint32_t id, int pid), uint32_t id)
{
	unsigned int i;

	for (i = 0; i < NFAMILY; i++)
		EXPECT_EQ(err, change(self->dev, id, self->f->m[i].pid));
}

#define NCROWD	100

static int crowd_body(struct target *t, void *arg)
{
	struct family *f = arg;
	int i;

	for (i = 0; i < NCROWD; i++)
		sleeper(f, 0);
	while (f->complete < NCROWD)
		usleep(1000);
	return target_pause(t);
}

#define NLINE	1200	/* more than MAX_GENERATIONS in the module */
#define STACK	16384

/* A line of processes with one memory: only the youngest goes on with it. */
struct line {
	struct family	*f;
	char		*stacks;
	unsigned int	left;
	uint32_t	parent;
};

static int line_member(void *arg);

static void line_goes_on(struct line *l)
{
	l->parent = getpid();
	if (l->left--)
		clone(line_member, l->stacks + (l->left + 1) * STACK,
		      CLONE_VM | SIGCHLD, l);
}

static int line_member(void *arg)
{
	struct line *l = arg;

	family_enter(l->f, l->parent, false);
	line_goes_on(l);
	while (pause())
		;
	return 0;
}

static int line_body(struct target *t, void *arg)
{
	struct line l = {
		.f = arg,
		.stacks = shared_memory(NLINE * STACK),
		.left = NLINE,
	};

	line_goes_on(&l);
	while (l.f->complete < NLINE)
		usleep(1000);
	return target_pause(t);
}

/* Nobody is too far down in it. */
TEST_F(tree, long_line)
{
	struct hwpmc_allocate a = counter(HWPMC_F_DESCENDANTS);
	pid_t last;

	ASSERT_TRUE(target_begin(&self->t, line_body, self->f));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(NLINE, self->f->complete);
	last = self->f->m[NLINE - 1].pid;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, a.id, last));
	ASSERT_EQ(0, dev_detach(self->dev, a.id, self->t.pid));
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, a.id, last));
}

/* What the kernel takes to wait once for all that it does on its processors. */
static uint64_t grace_period(void)
{
	uint64_t began = now_ns();
	int i;

	for (i = 0; i < 10; i++)
		if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
			return 0;
	return (now_ns() - began) / 10;
}

/* No target forks, execs or ends meanwhile: it does not take longer for many. */
TEST_F(tree, many_at_once)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_DESCENDANTS |
						     HWPMC_F_LOG_PROCCSW);
	uint64_t wait = grace_period(), began, detach, release;

	if (!wait)
		SKIP(return, "no membarrier");
	ASSERT_TRUE(target_begin(&self->t, crowd_body, self->f));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	began = now_ns();
	ASSERT_EQ(0, dev_detach(self->dev, a.id, self->t.pid));
	detach = now_ns() - began;
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	began = now_ns();
	ASSERT_EQ(0, dev_release(self->dev, a.id));
	release = now_ns() - began;
	TH_LOG("a grace period of %" PRIu64 " us, detached in %" PRIu64
	       ", released in %" PRIu64, wait / 1000, detach / 1000,
	       release / 1000);
	EXPECT_GT(NCROWD / 2 * wait, detach);
	EXPECT_GT(NCROWD / 2 * wait, release);
}

TEST_F(tree, attach_all)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_DESCENDANTS);
	struct proc_record p;
	char own[300] = "";
	unsigned int i;

	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_TRUE(make_family(&self->t, self->f));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, a.id, self->t.pid));
	expect_each(_metadata, self, -EEXIST, dev_attach, a.id);
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	ASSERT_EQ(0, dev_detach(self->dev, a.id, self->t.pid));
	expect_each(_metadata, self, -EINVAL, dev_detach, a.id);
	EXPECT_EQ(-ESRCH, dev_start(self->dev, a.id));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		own[0] = '\0';
	for (i = 0; i <= NFAMILY; i++) {
		uint32_t pid = i < NFAMILY ? self->f->m[i].pid : self->t.pid;

		EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PMCATTACH, pid));
		EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PMCDETACH, pid));
		ASSERT_TRUE(proc_find(&self->log, PMCLOG_T_PMCATTACH, pid, 0,
				      &p));
		EXPECT_EQ(a.id, p.pmcid);
		EXPECT_STREQ(own, p.text);
		EXPECT_TRUE(proc_maps_logged(&self->log, pid));
	}
}

#define SETUID	"/tmp/hwpmc-tree-setuid"

/* Somebody's family, in which one runs a program that is another user's. */
static int mixed_body(struct target *t, void *arg)
{
	struct family *f = arg;
	int input[2];

	if (setgid(NOBODY) || setuid(NOBODY) || prctl(PR_SET_DUMPABLE, 1) ||
	    pipe(input))
		return 1;
	sleeper(f, 1);
	while (f->complete < 2)
		usleep(1000);
	if (!fork()) {
		family_enter(f, getppid(), true);
		exec_waiter(SETUID, input[0]);
	}
	while (f->complete < 3)
		usleep(1000);
	return target_pause(t);
}

static bool runs_setuid(pid_t pid)
{
	char path[40], comm[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return WAIT_UNTIL(read_line(path, comm, sizeof(comm)) &&
			  !strncmp(comm, "hwpmc-tree", 10), 60000);
}

/* Bits: what was not as it should be. */
static int attach_mixed(int dev, pid_t root, struct family *f)
{
	struct hwpmc_allocate a = counter(HWPMC_F_DESCENDANTS);
	int i, bad = 0;

	a.caps = HWPMC_CAP_USER;
	if (dev_allocate(dev, &a))
		return 1;
	if (dev_attach(dev, a.id, root) != -EPERM)
		bad |= 2;
	if (dev_detach(dev, a.id, root) != -EINVAL)
		bad |= 4;
	for (i = 0; i < 3; i++)
		if (dev_detach(dev, a.id, f->m[i].pid) != -EINVAL)
			bad |= 8;
	/* a part without it can be had */
	if (dev_attach(dev, a.id, f->m[0].pid))
		bad |= 16;
	if (dev_detach(dev, a.id, f->m[1].pid))
		bad |= 32;
	return bad;
}

TEST_F(tree, all_or_none)
{
	const char *waiter = workload_path("waiter");
	char command[300];
	pid_t owner;

	ASSERT_NE(NULL, waiter);
	snprintf(command, sizeof(command), "cp %s " SETUID " && chown 0:0 "
		 SETUID " && chmod 4755 " SETUID, waiter);
	ASSERT_EQ(0, system(command));
	ASSERT_EQ(0, chmod(DEV_PATH, 0666));
	owner = fork_bound();
	if (!owner) {
		int dev;

		if (setgid(NOBODY) || setuid(NOBODY) ||
		    prctl(PR_SET_DUMPABLE, 1))
			_exit(64);
		dev = dev_open();
		if (dev < 0 || !target_begin(&self->t, mixed_body, self->f) ||
		    !target_step(&self->t) || !runs_setuid(self->f->m[2].pid))
			_exit(65);
		_exit(attach_mixed(dev, self->t.pid, self->f));
	}
	EXPECT_EQ(0, wait_for(owner));
	chmod(DEV_PATH, 0600);
	unlink(SETUID);
}

/* Who has it already is no obstacle: all have it once. */
TEST_F(tree, part_attached)
{
	struct hwpmc_allocate a = counter(HWPMC_F_DESCENDANTS);
	unsigned int i, last = 0;

	ASSERT_TRUE(make_family(&self->t, self->f));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	for (i = 0; i < NFAMILY; i++)
		if (self->f->m[i].parent != self->t.pid &&
		    self->f->m[i].pid != self->t.pid)
			last = i;
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->f->m[last].pid));
	EXPECT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	expect_each(_metadata, self, -EEXIST, dev_attach, a.id);
	EXPECT_EQ(0, dev_detach(self->dev, a.id, self->t.pid));
	expect_each(_metadata, self, -EINVAL, dev_detach, a.id);
}

/* One of them only, and without the flag no other. */
TEST_F(tree, attach_one)
{
	struct hwpmc_allocate one = counter(0);
	struct hwpmc_allocate all = counter(HWPMC_F_DESCENDANTS);

	ASSERT_TRUE(make_family(&self->t, self->f));
	ASSERT_EQ(0, dev_allocate(self->dev, &one));
	ASSERT_EQ(0, dev_allocate(self->dev, &all));
	ASSERT_EQ(0, dev_attach(self->dev, one.id, self->t.pid));
	expect_each(_metadata, self, -EINVAL, dev_detach, one.id);
	ASSERT_EQ(0, dev_attach(self->dev, all.id, self->t.pid));
	ASSERT_EQ(0, dev_detach(self->dev, all.id, self->f->m[0].pid));
	EXPECT_EQ(-EINVAL, dev_detach(self->dev, all.id, self->f->m[0].pid));
	/* the others may be its children, or not: who was first is up to chance */
	EXPECT_EQ(-EEXIST, dev_attach(self->dev, all.id, self->t.pid));
}

/* The log comes after the attach, and is changed: each tells all that is needed. */
TEST_F(tree, log_afterwards)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_DESCENDANTS);
	int second = temp_file(), third = temp_file();
	unsigned int i;
	struct log *log = &self->log, other, last;

	ASSERT_TRUE(make_family(&self->t, self->f));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	ASSERT_EQ(0, dev_rotate(self->dev, second));
	END_PROCLOG(self->dev, second, &other, 0);
	ASSERT_EQ(0, dev_configure(self->dev, third));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	END_PROCLOG(self->dev, third, &last, 0);
	ASSERT_TRUE(log_load(log, self->file));
	ASSERT_PROCLOG(log, 0);
	for (i = 0; i <= NFAMILY; i++) {
		uint32_t pid = i < NFAMILY ? self->f->m[i].pid : self->t.pid;

		EXPECT_EQ(1, proc_count(log, PMCLOG_T_PMCATTACH, pid));
		EXPECT_EQ(1, proc_count(&other, PMCLOG_T_PMCATTACH, pid));
		EXPECT_EQ(1, proc_count(&last, PMCLOG_T_PMCATTACH, pid));
		EXPECT_LE(1, proc_count(&other, PMCLOG_T_PROC_CREATE, pid));
		EXPECT_LE(1, proc_count(&last, PMCLOG_T_PROC_CREATE, pid));
		EXPECT_TRUE(proc_maps_logged(log, pid));
		EXPECT_TRUE(proc_maps_logged(&other, pid));
		EXPECT_TRUE(proc_maps_logged(&last, pid));
	}
}

/* ------------------------------------------------------------------------
 * A family that grows and dies
 */
#define NCHILDREN	scaled(40, 12)

static void grandchildren(struct family *f, unsigned int i)
{
	unsigned int j;

	for (j = 0; j < 3; j++)
		family_child(f, (i + j) % BIRTH_SIBLING, 2);
	family_thread(f, 2);
	if (i % 4 == 0)
		family_exec(f, "/bin/true");
}

static int storm_body(struct target *t, void *arg)
{
	uint32_t parent = getpid();
	struct family *f = arg;
	unsigned int i;

	for (i = 0; i < NCHILDREN; i++) {
		if (fork())
			continue;
		family_enter(f, parent, false);
		grandchildren(f, i);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return target_pause(t);
}

struct storm_log {
	struct log	log;
	uint32_t	ts;	/* 0: none */
	uint32_t	tc;	/* 0: system-wide */
};

static void check_storm(META, struct family *f, struct storm_log *s)
{
	unsigned int i, processes = 0, execs = 0;
	struct log *log = &s->log;

	for (i = 0; i < f->n; i++) {
		struct member *m = &f->m[i];

		if (m->tid != m->pid) {
			if (s->tc && !s->ts)
				continue;
			EXPECT_EQ(1, proc_thread(log, PMCLOG_T_THR_CREATE,
						 m->tid));
			EXPECT_EQ(1, proc_thread(log, PMCLOG_T_THR_EXIT,
						 m->tid));
			continue;
		}
		processes++;
		execs += m->exec;
		EXPECT_EQ(1, proc_forks(log, m->parent, m->pid));
		EXPECT_EQ(1, proc_count(log, PMCLOG_T_PROCFORK, m->pid));
		EXPECT_EQ(m->exec, proc_count(log, PMCLOG_T_PROCEXEC, m->pid));
		EXPECT_EQ(!!s->tc, proc_count(log, PMCLOG_T_PROCEXIT, m->pid));
		if (!s->tc)
			EXPECT_EQ(1, proc_count(log, PMCLOG_T_SYSEXIT, m->pid));
		EXPECT_GE(1, proc_count(log, PMCLOG_T_SYSEXIT, m->pid));
		if (s->ts)
			EXPECT_LE(m->exec ? 1 : 2,
				  proc_samples(log, s->ts, m->pid, ANY));
	}
	TH_LOG("%u processes, %u of them run a program", processes, execs);
	EXPECT_LT(NCHILDREN, processes);
	EXPECT_LT(0, execs);
	if (!s->tc)
		return;
	EXPECT_EQ(processes, proc_count(log, PMCLOG_T_PROCFORK, ANY));
	EXPECT_EQ(execs, proc_count(log, PMCLOG_T_PROCEXEC, ANY));
	EXPECT_EQ(processes + 1, proc_count(log, PMCLOG_T_PROCEXIT, ANY));
}

/*
 * Three owners: who samples and counts the family, who counts it, and who
 * samples the whole system.
 */
TEST_F(tree, storm)
{
	struct hwpmc_allocate count = counter(HWPMC_F_DESCENDANTS |
					      HWPMC_F_LOG_PROCEXIT);
	struct storm_log s[3] = {};
	uint64_t value[2];
	int dev[3], file[3], i;

	count.caps = HWPMC_CAP_USER;
	ASSERT_TRUE(target_begin(&self->t, storm_body, self->f));
	for (i = 0; i < 3; i++) {
		dev[i] = dev_open();
		file[i] = temp_file();
		ASSERT_EQ(0, dev_configure(dev[i], file[i]));
	}
	ASSERT_EQ(0, dev_run_on(dev[0], pmc_process_faults(HWPMC_F_DESCENDANTS),
				self->t.pid, &s[0].ts));
	ASSERT_EQ(0, dev_run_on(dev[0], count, self->t.pid, &s[0].tc));
	ASSERT_EQ(0, dev_run_on(dev[1], count, self->t.pid, &s[1].tc));
	ASSERT_EQ(0, dev_run(dev[2], pmc_clock(10), NULL));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, target_end(&self->t));
	for (i = 0; i < 2; i++)
		value[i] = dev_value(dev[i], s[i].tc);
	for (i = 0; i < 3; i++) {
		END_PROCLOG(dev[i], file[i], &s[i].log, 0);
		check_storm(_metadata, self->f, &s[i]);
		close(dev[i]);
	}
	EXPECT_EQ(value[0], value[1]);
	EXPECT_EQ(value[0], proc_samples(&s[0].log, s[0].ts, ANY, ANY));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(value[i], proc_sum(&s[i].log, PMCLOG_T_PROCEXIT,
					     s[i].tc, ANY));
}

/* The owner goes in the middle of it; nobody notices. */
TEST_F(tree, close_in_storm)
{
	unsigned int i;

	ASSERT_TRUE(target_begin(&self->t, storm_body, self->f));
	target_go(&self->t);
	for (i = 0; i < 10; i++) {
		int dev = dev_open(), file = temp_file(), err;

		ASSERT_EQ(0, dev_configure(dev, file));
		err = dev_run_on(dev, pmc_process_faults(HWPMC_F_DESCENDANTS),
				 self->t.pid, NULL);
		EXPECT_TRUE(!err || err == -ESRCH);
		sleep_ms(i * 5);
		if (i % 2) {
			/* whose fork or exec an attach cuts into can be told early, or not */
			END_LOG(dev, file, &self->log, LOG_PROC_DROPS);
			EXPECT_GE(NCHILDREN, self->log.proc_dropped);
			log_free(&self->log);
		}
		close(dev);
		close(file);
	}
	EXPECT_EQ(0, target_end(&self->t));
	close(self->dev);
	EXPECT_TRUE(recorders_are(0));
	self->dev = dev_open();
}

TEST_HARNESS_MAIN
