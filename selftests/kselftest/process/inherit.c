// SPDX-License-Identifier: GPL-2.0-only
/*
 * What children and threads get from a target, at any moment of its PMCs' lives
 * and of their own.
 */
#include <pthread.h>
#include <sched.h>

#include "family.h"
#include "proclog.h"
#include "target.h"
#include "test.h"

FIXTURE(inherit)
{
	int dev;
	int file;
	struct target t;
	struct target child;	/* what the target makes, in one step */
	struct family *f;
	struct log log;
};

FIXTURE_SETUP(inherit)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	self->f = family_new();
	ASSERT_NE(NULL, self->f);
	ASSERT_TRUE(target_prepare(&self->child));
}

FIXTURE_TEARDOWN(inherit)
{
	family_kill(self->f);
	target_kill(&self->t);
	close(self->dev);
}

static struct hwpmc_allocate counter(uint32_t flags)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS, flags);

	a.caps = HWPMC_CAP_USER;
	return a;
}

/* ------------------------------------------------------------------------
 * One child, step by step
 */
static void child_body(struct target *c, struct family *f, uint32_t parent)
{
	family_enter(f, parent, false);
	for (;;) {
		target_pause(c);
		fault_pages(20);
	}
}

static int parent_body(struct target *t, void *arg)
{
	struct _test_data_inherit *self = arg;
	uint32_t parent = getpid();

	if (!fork())
		child_body(&self->child, self->f, parent);
	return target_pause(t);
}

static void *thread_child(void *arg)
{
	struct _test_data_inherit *self = arg;

	child_body(&self->child, self->f, getpid());
	return NULL;
}

static int thread_parent_body(struct target *t, void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_child, arg);
	return target_pause(t);
}

/* What the child's next step adds to the count. */
#define CHILD_STEP(id) ({						\
	uint64_t before_ = dev_value(self->dev, id);			\
									\
	target_go(&self->child);					\
	ASSERT_TRUE(child_arrived(self));				\
	dev_value(self->dev, id) - before_;				\
})

static bool child_arrived(struct _test_data_inherit *self)
{
	struct member *m = &self->f->m[0];

	return target_arrived(&self->child, &m->pid) &&
	       wait_asleep(m->pid, m->tid);
}

static void check_state(META, struct _test_data_inherit *self,
			int (*body)(struct target *t, void *arg), bool runs)
{
	struct hwpmc_allocate a = counter(HWPMC_F_DESCENDANTS);

	ASSERT_TRUE(target_begin(&self->t, body, self));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	if (runs)
		ASSERT_EQ(0, dev_start(self->dev, a.id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_TRUE(child_arrived(self));
	if (runs) {
		EXPECT_LE(20, CHILD_STEP(a.id));
		ASSERT_EQ(0, dev_stop(self->dev, a.id));
	}
	EXPECT_EQ(0, CHILD_STEP(a.id));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	EXPECT_LE(20, CHILD_STEP(a.id));
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	EXPECT_EQ(0, CHILD_STEP(a.id));
}

/* Made while the PMC is stopped: it starts and stops with the others. */
TEST_F(inherit, child_of_stopped)
{
	check_state(_metadata, self, parent_body, false);
}

TEST_F(inherit, child_of_running)
{
	check_state(_metadata, self, parent_body, true);
}

TEST_F(inherit, thread_of_stopped)
{
	check_state(_metadata, self, thread_parent_body, false);
}

TEST_F(inherit, thread_of_running)
{
	check_state(_metadata, self, thread_parent_body, true);
}

/* A PMC that comes later covers what is there then, and needs its own attach. */
TEST_F(inherit, second_pmc)
{
	struct hwpmc_allocate first = counter(HWPMC_F_DESCENDANTS);
	uint32_t id;

	ASSERT_TRUE(target_begin(&self->t, parent_body, self));
	ASSERT_EQ(0, dev_run_on(self->dev, first, self->t.pid, &first.id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_TRUE(child_arrived(self));
	ASSERT_EQ(0, dev_run_on(self->dev, counter(0), self->t.pid, &id));
	EXPECT_EQ(0, CHILD_STEP(id));
	EXPECT_LE(20, CHILD_STEP(first.id));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_attach(self->dev, id, self->f->m[0].pid));
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_LE(20, CHILD_STEP(id));
	/* off the child, and not off the parent */
	ASSERT_EQ(0, dev_detach(self->dev, first.id, self->f->m[0].pid));
	EXPECT_EQ(0, CHILD_STEP(first.id));
	EXPECT_EQ(0, dev_detach(self->dev, first.id, self->t.pid));
}

/* The first target ends before its child: that is a target still. */
TEST_F(inherit, orphan)
{
	uint32_t id;

	ASSERT_TRUE(target_begin(&self->t, parent_body, self));
	ASSERT_EQ(0, dev_run_on(self->dev, counter(HWPMC_F_DESCENDANTS),
				self->t.pid, &id));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, target_end(&self->t));
	self->t.pid = 0;
	ASSERT_TRUE(child_arrived(self));
	EXPECT_LE(20, CHILD_STEP(id));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	EXPECT_EQ(0, dev_start(self->dev, id));
	EXPECT_LE(20, CHILD_STEP(id));
	EXPECT_EQ(0, dev_detach(self->dev, id, self->f->m[0].pid));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, id));
}

/* ------------------------------------------------------------------------
 * Many
 */
static int run_pair(struct _test_data_inherit *self, uint32_t *ts, uint32_t *tc)
{
	int err = dev_configure(self->dev, self->file);

	if (!err)
		err = dev_run_on(self->dev, pmc_process_faults(HWPMC_F_DESCENDANTS),
				 self->t.pid, ts);
	if (!err)
		err = dev_run_on(self->dev, counter(HWPMC_F_DESCENDANTS |
						    HWPMC_F_LOG_PROCEXIT),
				 self->t.pid, tc);
	return err;
}

#define NBIRTHS	scaled(200, 40)

static int killer_body(struct target *t, void *arg)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < NBIRTHS; i++) {
		pid = fork();
		if (!pid) {
			fault_pages(3);
			_exit(0);
		}
		if (i % 2)
			sched_yield();
		load_end(pid);
	}
	return target_pause(t);
}

static void check_pair(META, struct _test_data_inherit *self,
		       int (*body)(struct target *t, void *arg),
		       unsigned int forks)
{
	uint32_t ts, tc;
	uint64_t value;

	ASSERT_TRUE(target_begin(&self->t, body, self->f));
	ASSERT_EQ(0, run_pair(self, &ts, &tc));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, target_end(&self->t));
	value = dev_value(self->dev, tc);
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_EQ(forks, proc_count(&self->log, PMCLOG_T_PROCFORK, ANY));
	EXPECT_EQ(forks + 1, proc_count(&self->log, PMCLOG_T_PROCEXIT, ANY));
	EXPECT_EQ(value, proc_sum(&self->log, PMCLOG_T_PROCEXIT, tc, ANY));
	EXPECT_EQ(value, proc_samples(&self->log, ts, ANY, ANY));
	EXPECT_LT(0, value);
}

/* Killed before they have done anything, or soon after. */
TEST_F(inherit, killed_at_birth)
{
	check_pair(_metadata, self, killer_body, NBIRTHS);
}

static void *idle(void *arg)
{
	fault_pages(2);
	return NULL;
}

static int hasty_body(struct target *t, void *arg)
{
	pthread_t thread;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < NBIRTHS / 2; i++) {
		pid = fork();
		if (!pid) {
			pthread_create(&thread, NULL, idle, NULL);
			pthread_create(&thread, NULL, idle, NULL);
			_exit(0);
		}
		wait_for(pid);
	}
	return target_pause(t);
}

/* Threads whose process ends as they begin. */
TEST_F(inherit, threads_of_the_dead)
{
	check_pair(_metadata, self, hasty_body, NBIRTHS / 2);
}

static int namespace_body(struct target *t, void *arg)
{
	struct family *f = arg;
	int fd[2];
	pid_t pid;

	if (unshare(CLONE_NEWPID) || pipe(fd))
		return 1;
	pid = fork();
	if (!pid) {
		if (getpid() != 1)
			_exit(2);
		fault_pages(20);
		family_line(f, 2, 20);
		_exit(0);
	}
	/* the grandchildren's numbers are those of their own namespace */
	f->m[FAMILY_MAX - 1].pid = pid;
	if (wait_for(pid))
		return 3;
	return target_pause(t);
}

/* Numbers are those of the owner's pid namespace. */
TEST_F(inherit, pid_namespace)
{
	uint32_t pid;

	check_pair(_metadata, self, namespace_body, 3);
	pid = self->f->m[FAMILY_MAX - 1].pid;
	EXPECT_EQ(1, proc_forks(&self->log, self->t.pid, pid));
	EXPECT_LE(20, proc_samples(&self->log, ANY, pid, pid));
	EXPECT_EQ(0, proc_samples(&self->log, ANY, 1, ANY));
	EXPECT_EQ(0, proc_count(&self->log, PMCLOG_T_PROCFORK, 2));
}

#define NMANY	20

static int many_body(struct target *t, void *arg)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		family_child(arg, i % BIRTH_SIBLING, 10);
		family_thread(arg, 10);
	}
	family_exec(arg, "/bin/true");
	return target_pause(t);
}

/* Many PMCs, started at the same time, count the same. */
TEST_F(inherit, many_pmcs)
{
	uint32_t id[NMANY];
	uint64_t value;
	int i;

	ASSERT_TRUE(target_begin(&self->t, many_body, self->f));
	for (i = 0; i < NMANY; i++)
		ASSERT_EQ(0, dev_run_on(self->dev, counter(HWPMC_F_DESCENDANTS),
					self->t.pid, &id[i]));
	ASSERT_TRUE(target_step(&self->t));
	value = dev_value(self->dev, id[0]);
	EXPECT_LE(400, value);
	for (i = 1; i < NMANY; i++)
		EXPECT_EQ(value, dev_value(self->dev, id[i]));
}

/* Started and stopped as they come and go: the parts are still the sum. */
TEST_F(inherit, toggled)
{
	unsigned int i, rounds = scaled(150, 30);
	uint32_t ts, tc;
	uint64_t value;

	ASSERT_TRUE(target_begin(&self->t, killer_body, self->f));
	ASSERT_EQ(0, run_pair(self, &ts, &tc));
	target_go(&self->t);
	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, dev_stop(self->dev, tc));
		ASSERT_EQ(0, dev_start(self->dev, tc));
	}
	EXPECT_EQ(0, target_end(&self->t));
	value = dev_value(self->dev, tc);
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_EQ(NBIRTHS, proc_count(&self->log, PMCLOG_T_PROCFORK, ANY));
	EXPECT_EQ(value, proc_sum(&self->log, PMCLOG_T_PROCEXIT, tc, ANY));
	EXPECT_GE(proc_samples(&self->log, ts, ANY, ANY), value);
}

TEST_HARNESS_MAIN
