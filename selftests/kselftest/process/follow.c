// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets that make threads and children, run other programs and end: what
 * follows them, and what the log tells.
 *
 * User-mode page faults are counted and, each one, sampled: that is exact.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "family.h"
#include "proclog.h"
#include "target.h"
#include "test.h"

FIXTURE(follow)
{
	int dev;
	int file;
	uint32_t ts;		/* samples each fault */
	uint32_t tc;		/* counts them, LOG_PROCEXIT */
	struct target t;
	struct family *f;
	struct log log;
};

FIXTURE_SETUP(follow)
{
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	self->f = family_new();
	ASSERT_NE(NULL, self->f);
}

FIXTURE_TEARDOWN(follow)
{
	target_kill(&self->t);
	close(self->dev);
}

static int run_pmcs(struct _test_data_follow *self, uint32_t flags)
{
	struct hwpmc_allocate ts = pmc_process_faults(flags);
	struct hwpmc_allocate tc = pmc_process_counter(FAULTS,
					flags | HWPMC_F_LOG_PROCEXIT);
	int err;

	tc.caps = HWPMC_CAP_USER;
	err = dev_run_on(self->dev, ts, self->t.pid, &self->ts);
	return err ? err : dev_run_on(self->dev, tc, self->t.pid, &self->tc);
}

#define BEGIN(body, flags) do {						\
	ASSERT_TRUE(target_begin(&self->t, body, self->f));		\
	ASSERT_EQ(0, run_pmcs(self, flags));				\
} while (0)

/* Each fault was counted and sampled, or neither. */
#define END() do {							\
	uint64_t value_;						\
									\
	ASSERT_EQ(0, dev_read(self->dev, self->tc, HWPMC_CPU_ALL,	\
			      &value_));				\
	END_PROCLOG(self->dev, self->file, &self->log, 0);		\
	EXPECT_EQ(value_, proc_samples(&self->log, self->ts, ANY, ANY)); \
} while (0)

static uint64_t exits(struct log *log, uint32_t tc)
{
	return proc_sum(log, PMCLOG_T_PROCEXIT, tc, ANY);
}

/* ------------------------------------------------------------------------
 * Threads
 */
#define NTHREADS	4

struct crew {
	struct family	*f;
	pthread_t	thread[NTHREADS];
	pthread_barrier_t barrier;
};

static void *crew_body(void *arg)
{
	struct crew *c = arg;

	family_enter(c->f, getpid(), false);
	pthread_barrier_wait(&c->barrier);
	pthread_barrier_wait(&c->barrier);
	fault_pages(30);
	return NULL;
}

static void crew_begin(struct crew *c, struct family *f)
{
	int i;

	c->f = f;
	pthread_barrier_init(&c->barrier, NULL, NTHREADS + 1);
	for (i = 0; i < NTHREADS; i++)
		pthread_create(&c->thread[i], NULL, crew_body, c);
	pthread_barrier_wait(&c->barrier);
}

static void crew_end(struct crew *c)
{
	int i;

	pthread_barrier_wait(&c->barrier);
	for (i = 0; i < NTHREADS; i++)
		pthread_join(c->thread[i], NULL);
}

static int threads_body(struct target *t, void *arg)
{
	struct crew crew;
	int i;

	crew_begin(&crew, arg);
	target_pause(t);
	crew_end(&crew);
	for (i = 0; i < NTHREADS; i++)
		family_thread(arg, 30);
	return target_pause(t);
}

/* Those that are there, and those that come. */
TEST_F(follow, threads)
{
	unsigned int i;

	ASSERT_TRUE(target_begin(&self->t, threads_body, self->f));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(NTHREADS, self->f->n);
	for (i = 0; i < NTHREADS; i++)
		ASSERT_TRUE(wait_asleep(self->t.pid, self->f->m[i].tid));
	ASSERT_EQ(0, run_pmcs(self, 0));
	ASSERT_TRUE(target_step(&self->t));
	END();
	ASSERT_EQ(2 * NTHREADS, self->f->n);
	for (i = 0; i < 2 * NTHREADS; i++) {
		uint32_t tid = self->f->m[i].tid;

		EXPECT_EQ(self->t.pid, self->f->m[i].pid);
		EXPECT_LE(30, proc_samples(&self->log, self->ts, self->t.pid,
					   tid));
		EXPECT_EQ(1, proc_thread(&self->log, PMCLOG_T_THR_CREATE, tid));
		EXPECT_EQ(1, proc_thread(&self->log, PMCLOG_T_THR_EXIT, tid));
	}
	EXPECT_EQ(0, proc_count(&self->log, PMCLOG_T_PROCFORK, ANY));
	EXPECT_EQ(0, proc_count(&self->log, PMCLOG_T_PROCEXIT, ANY));
	EXPECT_EQ(0, proc_count(&self->log, PMCLOG_T_SYSEXIT, ANY));
	EXPECT_TRUE(proc_maps_logged(&self->log, self->t.pid));
	EXPECT_EQ(0, target_end(&self->t));
}

/* ------------------------------------------------------------------------
 * Children
 */
static int births_body(struct target *t, void *arg)
{
	unsigned int how;

	for (how = 0; how < BIRTHS; how++)
		family_child(arg, how, 20);
	family_line(arg, 4, 20);
	return target_pause(t);
}

#define NBIRTHS	(BIRTHS + 4)

TEST_F(follow, descendants)
{
	unsigned int i;

	BEGIN(births_body, HWPMC_F_DESCENDANTS);
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(NBIRTHS, self->f->n);
	wait_for(self->f->m[BIRTH_SIBLING].pid);
	EXPECT_EQ(0, target_end(&self->t));
	END();
	for (i = 0; i < NBIRTHS; i++) {
		struct member *m = &self->f->m[i];

		EXPECT_EQ(1, proc_forks(&self->log, m->parent, m->pid));
		EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCFORK, m->pid));
		EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCEXIT, m->pid));
		EXPECT_LE(20, proc_samples(&self->log, self->ts, m->pid, ANY));
		EXPECT_EQ(proc_samples(&self->log, self->ts, m->pid, ANY),
			  proc_sum(&self->log, PMCLOG_T_PROCEXIT, self->tc,
				   m->pid));
	}
	EXPECT_EQ(NBIRTHS, proc_count(&self->log, PMCLOG_T_PROCFORK, ANY));
	EXPECT_EQ(NBIRTHS + 1, proc_count(&self->log, PMCLOG_T_PROCEXIT, ANY));
	EXPECT_EQ(2, proc_count(&self->log, PMCLOG_T_PMCATTACH, ANY));
	EXPECT_EQ(dev_value(self->dev, self->tc), exits(&self->log, self->tc));
}

TEST_F(follow, no_descendants)
{
	unsigned int i;

	BEGIN(births_body, 0);
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(NBIRTHS, self->f->n);
	wait_for(self->f->m[BIRTH_SIBLING].pid);
	EXPECT_EQ(0, target_end(&self->t));
	END();
	for (i = 0; i < NBIRTHS; i++)
		EXPECT_EQ(0, proc_samples(&self->log, ANY, self->f->m[i].pid,
					  ANY));
	EXPECT_EQ(0, proc_count(&self->log, PMCLOG_T_PROCFORK, ANY));
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCEXIT, ANY));
	EXPECT_EQ(dev_value(self->dev, self->tc), exits(&self->log, self->tc));
}

#define NOWNERS	7

/* What owner @i has of a process that others let go of. */
struct share {
	int dev;
	int file;
	uint32_t tc;
	struct log log;
};

static int share_begin(struct share *s, pid_t pid)
{
	struct hwpmc_allocate tc = pmc_process_counter(FAULTS,
						       HWPMC_F_DESCENDANTS |
						       HWPMC_F_LOG_PROCEXIT);

	s->dev = dev_open();
	s->file = temp_file();
	if (s->dev < 0 || dev_configure(s->dev, s->file))
		return -1;
	return dev_run_on(s->dev, tc, pid, &s->tc);
}

/* The first, the last and one in between leave; the others notice nothing. */
TEST_F(follow, several_owners)
{
	struct share s[NOWNERS] = {};
	unsigned int i, births;

	ASSERT_TRUE(target_begin(&self->t, births_body, self->f));
	for (i = 0; i < NOWNERS; i++)
		ASSERT_EQ(0, share_begin(&s[i], self->t.pid));
	ASSERT_EQ(0, dev_detach(s[0].dev, s[0].tc, self->t.pid));
	ASSERT_EQ(0, dev_release(s[3].dev, s[3].tc));
	ASSERT_EQ(0, dev_detach(s[NOWNERS - 1].dev, s[NOWNERS - 1].tc,
				self->t.pid));
	ASSERT_TRUE(target_step(&self->t));
	wait_for(self->f->m[BIRTH_SIBLING].pid);
	EXPECT_EQ(0, target_end(&self->t));
	for (i = 0; i < NOWNERS; i++) {
		END_PROCLOG(s[i].dev, s[i].file, &s[i].log, 0);
		births = i % 3 ? NBIRTHS : 0;
		EXPECT_EQ(births,
			  proc_count(&s[i].log, PMCLOG_T_PROCFORK, ANY));
		EXPECT_EQ(births ? births + 1 : 0,
			  proc_count(&s[i].log, PMCLOG_T_PROCEXIT, ANY));
		if (births)
			EXPECT_EQ(dev_value(s[i].dev, s[i].tc),
				  exits(&s[i].log, s[i].tc));
	}
	for (i = 0; i < NOWNERS; i++)
		close(s[i].dev);
}

/* ------------------------------------------------------------------------
 * exec
 */
struct exec_plan {
	struct family	*f;
	const char	*path;
	int		input;
	bool		by_thread;
};

static void *exec_in_thread(void *arg)
{
	struct exec_plan *p = arg;

	p->f->m[0].tid = syscall(SYS_gettid);
	exec_waiter(p->path, p->input);
	return NULL;
}

static int exec_body(struct target *t, void *arg)
{
	struct exec_plan *p = arg;
	pthread_t thread;

	if (!p->by_thread)
		exec_waiter(p->path, p->input);
	pthread_create(&thread, NULL, exec_in_thread, p);
	pthread_join(thread, NULL);
	return 1;
}

/* Ten pages in the new program, which then ends. */
static void feed_waiter(int fd)
{
	char bytes[10] = {};

	if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		perror("waiter");
	close(fd);
}

static void check_exec(META, struct _test_data_follow *self, bool by_thread)
{
	struct exec_plan plan = {
		.f = self->f,
		.path = workload_path("waiter"),
		.by_thread = by_thread,
	};
	struct proc_record p;
	int input[2];

	ASSERT_NE(NULL, plan.path);
	ASSERT_EQ(0, pipe2(input, O_CLOEXEC));
	plan.input = input[0];
	ASSERT_TRUE(target_begin(&self->t, exec_body, &plan));
	ASSERT_EQ(0, run_pmcs(self, 0));
	feed_waiter(input[1]);
	EXPECT_EQ(0, target_end(&self->t));
	END();
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCEXEC, ANY));
	ASSERT_TRUE(proc_find(&self->log, PMCLOG_T_PROCEXEC, self->t.pid, 0,
			      &p));
	EXPECT_STREQ(plan.path, p.text);
	EXPECT_TRUE(p.pmcid == self->ts || p.pmcid == self->tc);
	EXPECT_LE(10, log_samples(&self->log, .pid = self->t.pid,
				  .tid = self->t.pid, .from = p.tsc));
	EXPECT_EQ(by_thread, proc_count(&self->log, PMCLOG_T_THR_EXIT, ANY));
	if (by_thread)
		EXPECT_EQ(1, proc_thread(&self->log, PMCLOG_T_THR_EXIT,
					 self->f->m[0].tid));
	EXPECT_EQ(0, proc_count(&self->log, PMCLOG_T_PMCDETACH, ANY));
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCEXIT, self->t.pid));
	EXPECT_EQ(dev_value(self->dev, self->tc), exits(&self->log, self->tc));
}

TEST_F(follow, exec)
{
	check_exec(_metadata, self, false);
}

/* The thread takes the process' number, and its own ends; the others end. */
TEST_F(follow, exec_by_thread)
{
	check_exec(_metadata, self, true);
}

/* Both modes in one log: each exec and each fork is told once. */
TEST_F(follow, told_once)
{
	unsigned int n;

	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20), NULL));
	BEGIN(births_body, HWPMC_F_DESCENDANTS);
	ASSERT_TRUE(target_step(&self->t));
	wait_for(self->f->m[BIRTH_SIBLING].pid);
	family_exec(self->f, "/bin/true");
	EXPECT_EQ(0, target_end(&self->t));
	END();
	for (n = 0; n < self->f->n; n++) {
		struct member *m = &self->f->m[n];

		EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCFORK, m->pid));
		EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_SYSEXIT, m->pid));
		EXPECT_EQ(m->exec, proc_count(&self->log, PMCLOG_T_PROCEXEC,
					      m->pid));
		/* what this process forks is nobody's target */
		EXPECT_EQ(!m->exec, proc_count(&self->log, PMCLOG_T_PROCEXIT,
					       m->pid));
	}
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_SYSEXIT, self->t.pid));
}

/* ------------------------------------------------------------------------
 * exec of a set-uid program
 */
#define SETUID	"/tmp/hwpmc-setuid"

static bool copy_program(const char *from, const char *to, mode_t mode)
{
	char command[300];

	snprintf(command, sizeof(command), "cp %s %s", from, to);
	return !system(command) && !chown(to, 0, 0) && !chmod(to, mode);
}

static int setuid_body(struct target *t, void *arg)
{
	if (setgid(65534) || setuid(65534))
		return 1;
	fault_pages(20);
	return exec_body(t, arg);
}

/* The kernel takes the counters away; the log says so. */
TEST_F(follow, exec_setuid)
{
	struct exec_plan plan = { .f = self->f, .path = SETUID };
	const char *path = workload_path("waiter");
	char comm[40], line[200], byte = 0;
	struct proc_record p;
	uint64_t value;
	int input[2], i;

	ASSERT_NE(NULL, path);
	ASSERT_TRUE(copy_program(path, SETUID, 04755));
	ASSERT_EQ(0, pipe2(input, O_CLOEXEC));
	plan.input = input[0];
	ASSERT_TRUE(target_begin(&self->t, setuid_body, &plan));
	ASSERT_EQ(0, run_pmcs(self, 0));
	target_go(&self->t);
	/* the new program runs when it reads */
	snprintf(comm, sizeof(comm), "/proc/%d/comm", self->t.pid);
	for (i = 0; i < 2000; i++) {
		if (read_line(comm, line, sizeof(line)) &&
		    !strcmp(line, "hwpmc-setuid") &&
		    wait_asleep(self->t.pid, self->t.pid))
			break;
		sleep_ms(10);
	}
	value = dev_value(self->dev, self->tc);
	EXPECT_LE(20, value);
	for (i = 0; i < 2000 && dev_detach(self->dev, self->ts,
					   self->t.pid) != -EINVAL; i++)
		sleep_ms(10);
	EXPECT_EQ(0, i) TH_LOG("still attached after the exec");
	EXPECT_EQ(0, dev_stop(self->dev, self->tc));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, self->tc));
	/* it can be attached again by who may */
	EXPECT_EQ(0, dev_attach(self->dev, self->tc, self->t.pid));
	EXPECT_EQ(0, dev_start(self->dev, self->tc));
	ASSERT_EQ(1, write(input[1], &byte, 1));
	close(input[1]);
	EXPECT_EQ(0, wait_for(self->t.pid));
	EXPECT_LT(value, dev_value(self->dev, self->tc));
	END_PROCLOG(self->dev, self->file, &self->log, 0);
	EXPECT_EQ(2, proc_count(&self->log, PMCLOG_T_PMCDETACH, self->t.pid));
	EXPECT_EQ(3, proc_count(&self->log, PMCLOG_T_PMCATTACH, self->t.pid));
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCEXEC, self->t.pid));
	ASSERT_TRUE(proc_find(&self->log, PMCLOG_T_PMCATTACH, self->t.pid, 2,
			      &p));
	EXPECT_STREQ(SETUID, p.text);
	unlink(SETUID);
}

/* ------------------------------------------------------------------------
 * Ends
 */
static void *after_leader(void *arg)
{
	struct target *t = arg;

	target_pause(t);
	fault_pages(30);
	target_pause(t);
	fault_pages(30);
	target_pause(t);
	return NULL;
}

static int leader_body(struct target *t, void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, after_leader, t);
	syscall(SYS_exit, 0);
	return 1;
}

/* A process is there as long as one of its threads is. */
TEST_F(follow, leader_ends_first)
{
	uint32_t late;

	BEGIN(leader_body, 0);
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(-EEXIST, (dev_stop(self->dev, self->tc),
			    dev_attach(self->dev, self->tc, self->t.pid)));
	ASSERT_EQ(0, dev_start(self->dev, self->tc));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, dev_run_on(self->dev,
				pmc_process_counter(FAULTS,
						    HWPMC_F_LOG_PROCEXIT),
				self->t.pid, &late));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_LE(30, dev_value(self->dev, late));
	dev_flush(self->dev);
	ASSERT_TRUE(log_load(&self->log, self->file));
	EXPECT_EQ(0, proc_count(&self->log, PMCLOG_T_PROCEXIT, ANY));
	log_free(&self->log);
	EXPECT_EQ(0, target_end(&self->t));
	END();
	EXPECT_EQ(2, proc_count(&self->log, PMCLOG_T_PROCEXIT, self->t.pid));
	EXPECT_LE(60, proc_samples(&self->log, self->ts, self->t.pid, ANY));
	/* what it took to make the thread */
	EXPECT_GT(30, proc_samples(&self->log, self->ts, self->t.pid,
				   self->t.pid));
	EXPECT_EQ(dev_value(self->dev, self->tc),
		  proc_sum(&self->log, PMCLOG_T_PROCEXIT, self->tc, ANY));
}

static void *never_ends(void *arg)
{
	family_enter(arg, getpid(), false);
	for (;;) {
		fault_pages(5);
		usleep(1000);
	}
	return NULL;
}

static int ends_body(struct target *t, void *arg)
{
	struct family *f = arg;
	pthread_t thread;
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&thread, NULL, never_ends, f);
	while (f->complete < 8)
		usleep(1000);
	fault_pages(20);
	target_pause(t);
	return 7;
}

static void check_end(META, struct _test_data_follow *self, bool killed)
{
	int i;

	BEGIN(ends_body, 0);
	ASSERT_TRUE(target_step(&self->t));
	if (killed)
		target_kill(&self->t);
	else
		EXPECT_EQ(7, target_end(&self->t));
	EXPECT_EQ(-ESRCH, dev_detach(self->dev, self->tc, self->t.pid));
	EXPECT_EQ(0, dev_stop(self->dev, self->tc));
	EXPECT_EQ(-ESRCH, dev_start(self->dev, self->tc));
	END();
	EXPECT_EQ(1, proc_count(&self->log, PMCLOG_T_PROCEXIT, ANY));
	EXPECT_EQ(dev_value(self->dev, self->tc), exits(&self->log, self->tc));
	EXPECT_GE(1, proc_count(&self->log, PMCLOG_T_SYSEXIT, ANY));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(1, proc_thread(&self->log, PMCLOG_T_THR_EXIT,
					 self->f->m[i].tid));
}

TEST_F(follow, exit_group)
{
	check_end(_metadata, self, false);
}

TEST_F(follow, killed)
{
	check_end(_metadata, self, true);
}

TEST_HARNESS_MAIN
