// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting in processes is exact: what perf counts of the same event in the same
 * process is what we count.  Both begin and end while the process sleeps.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "family.h"
#include "proclog.h"
#include "reference.h"
#include "target.h"
#include "test.h"

#define SOFTWARE(what)	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what

FIXTURE(proccount)
{
	int dev;
	struct target t;
	struct family *f;
	struct log log;
};

FIXTURE_SETUP(proccount)
{
	OPEN_DEVICE(self->dev);
	self->f = family_new();
	ASSERT_NE(NULL, self->f);
}

FIXTURE_TEARDOWN(proccount)
{
	target_kill(&self->t);
	close(self->dev);
}

/* ------------------------------------------------------------------------
 * Equal to perf's
 */

/* One step of @body, counted by both; NREFS: threads that are there already. */
#define NREFS	9

struct pairing {
	struct hwpmc_allocate a;
	uint64_t	ours;
	uint64_t	theirs;
};

static void count_step(META, struct _test_data_proccount *self,
		       struct pairing *p, unsigned int n)
{
	bool inherit = p->a.flags & HWPMC_F_DESCENDANTS;
	unsigned int i, k, threads = self->f->n;
	int fd[8][NREFS];

	ASSERT_GT(NREFS, threads);
	for (i = 0; i < n; i++) {
		p[i].ours = p[i].theirs = 0;
		ASSERT_EQ(0, dev_allocate(self->dev, &p[i].a));
		ASSERT_EQ(0, dev_attach(self->dev, p[i].a.id, self->t.pid));
		for (k = 0; k <= threads; k++) {
			fd[i][k] = reference_open(&p[i].a, k < threads ?
						  self->f->m[k].tid :
						  self->t.pid, inherit);
			ASSERT_LE(0, fd[i][k]);
		}
	}
	for (i = 0; i < n; i++) {
		for (k = 0; k <= threads; k++)
			ASSERT_TRUE(reference_start(fd[i][k]));
		ASSERT_EQ(0, dev_start(self->dev, p[i].a.id));
	}
	ASSERT_TRUE(target_step(&self->t));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, dev_stop(self->dev, p[i].a.id));
		p[i].ours = dev_value(self->dev, p[i].a.id);
		for (k = 0; k <= threads; k++) {
			reference_stop(fd[i][k]);
			p[i].theirs += reference_value(fd[i][k]);
			close(fd[i][k]);
		}
		TH_LOG("type %u event %llu caps %x: %llu, perf %llu",
		       p[i].a.type, (unsigned long long)p[i].a.config,
		       p[i].a.caps, (unsigned long long)p[i].ours,
		       (unsigned long long)p[i].theirs);
	}
}

static struct pairing pair(uint32_t type, uint64_t config, uint32_t caps,
			   uint32_t flags)
{
	struct pairing p = { .a = pmc_process_counter(type, config, flags) };

	p.a.caps = caps;
	return p;
}

#define USER	HWPMC_CAP_USER
#define BOTH	(HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)

static bool has_instructions(void)
{
	return perf_has(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

static struct pairing instructions(uint32_t flags)
{
	return pair(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, USER,
		    flags);
}

/* Faults, switches, migrations. */
static int busy_body(struct target *t, void *arg)
{
	int i;

	for (i = 0; i < 60; i++) {
		fault_pages(20);
		usleep(500);
		pin_to(i % 2);
	}
	return target_pause(t);
}

TEST_F(proccount, one_process)
{
	struct pairing p[] = {
		pair(FAULTS, BOTH, 0),
		pair(FAULTS, 0, 0),
		pair(FAULTS, USER, 0),
		pair(FAULTS, HWPMC_CAP_SYSTEM, 0),
		pair(SOFTWARE(PAGE_FAULTS_MIN), BOTH, 0),
		pair(SWITCHES, BOTH, 0),
		pair(SOFTWARE(CPU_MIGRATIONS), BOTH, 0),
		instructions(0),
	};
	unsigned int i, n = has_instructions() ? 8 : 7;

	ASSERT_TRUE(target_begin(&self->t, busy_body, NULL));
	count_step(_metadata, self, p, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(p[i].theirs, p[i].ours);
	EXPECT_LE(1200, p[0].ours);
	EXPECT_LE(1200, p[2].ours);
	EXPECT_EQ(p[0].ours, p[1].ours);
	EXPECT_EQ(p[0].ours, p[2].ours + p[3].ours);
	EXPECT_LE(60, p[5].ours);
	if (n == 8)
		EXPECT_LE(1200, p[7].ours);
}

struct crew {
	struct family	*f;
	pthread_barrier_t barrier;
};

static void *crew_body(void *arg)
{
	struct crew *c = arg;
	int i;

	family_enter(c->f, getpid(), false);
	pthread_barrier_wait(&c->barrier);
	for (i = 0; i < 30; i++) {
		fault_pages(10);
		usleep(300);
		pin_to(i % 2);
	}
	return NULL;
}

#define NCREW	6

static int threads_body(struct target *t, void *arg)
{
	struct crew c = { .f = arg };
	pthread_t thread[NCREW];
	int i;

	pthread_barrier_init(&c.barrier, NULL, NCREW + 1);
	for (i = 0; i < NCREW; i++)
		pthread_create(&thread[i], NULL, crew_body, &c);
	while (c.f->complete < NCREW)
		usleep(1000);
	target_pause(t);
	pthread_barrier_wait(&c.barrier);
	for (i = 0; i < NCREW; i++)
		pthread_join(thread[i], NULL);
	return target_pause(t);
}

/* Threads that are there when it begins. */
TEST_F(proccount, threads)
{
	struct pairing p[] = {
		pair(FAULTS, USER, 0),
		pair(FAULTS, BOTH, 0),
		pair(SWITCHES, BOTH, 0),
		pair(SOFTWARE(CPU_MIGRATIONS), BOTH, 0),
		instructions(0),
	};
	unsigned int i, n = has_instructions() ? 5 : 4;

	ASSERT_TRUE(target_begin(&self->t, threads_body, self->f));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(NCREW, self->f->n);
	for (i = 0; i < NCREW; i++)
		ASSERT_TRUE(wait_asleep(self->t.pid, self->f->m[i].tid));
	count_step(_metadata, self, p, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(p[i].theirs, p[i].ours);
	EXPECT_LE(NCREW * 300, p[0].ours);
	EXPECT_LE(NCREW * 30, p[2].ours);
}

#define NCHILDREN	scaled(100, 30)

static int children_body(struct target *t, void *arg)
{
	unsigned int i;

	for (i = 0; i < NCHILDREN; i++)
		if (!fork()) {
			pin_to(i % 2);
			fault_pages(20);
			family_thread(arg, 10);
			_exit(0);
		}
	for (i = 0; i < 5; i++)
		family_thread(arg, 10);
	while (wait(NULL) > 0)
		;
	return target_pause(t);
}

/*
 * In user mode: in the kernel perf's count begins a few steps earlier in a child
 * than ours.
 */
TEST_F(proccount, children)
{
	struct pairing p[] = {
		pair(FAULTS, USER, HWPMC_F_DESCENDANTS),
		pair(SOFTWARE(PAGE_FAULTS_MIN), USER, HWPMC_F_DESCENDANTS),
		instructions(HWPMC_F_DESCENDANTS),
	};
	unsigned int i, n = has_instructions() ? 3 : 2;

	ASSERT_TRUE(target_begin(&self->t, children_body, self->f));
	count_step(_metadata, self, p, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(p[i].theirs, p[i].ours);
	EXPECT_LE(NCHILDREN * 30 + 50, p[0].ours);
}

static int exec_body(struct target *t, void *arg)
{
	int input[2];

	family_exec(arg, "/bin/true");
	if (pipe(input) || write(input[1], "abc", 3) != 3)
		return 1;
	close(input[1]);
	exec_waiter(workload_path("waiter"), input[0]);
	return 1;
}

/* Through exec, to the end. */
TEST_F(proccount, exec)
{
	struct pairing p[] = {
		pair(FAULTS, USER, HWPMC_F_DESCENDANTS),
		instructions(HWPMC_F_DESCENDANTS),
	};
	unsigned int i, n = has_instructions() ? 2 : 1;
	int fd[2];

	ASSERT_TRUE(target_begin(&self->t, exec_body, self->f));
	for (i = 0; i < n; i++) {
		fd[i] = reference_open(&p[i].a, self->t.pid, true);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, dev_run_on(self->dev, p[i].a, self->t.pid,
					&p[i].a.id));
		ASSERT_TRUE(reference_start(fd[i]));
	}
	EXPECT_EQ(0, target_end(&self->t));
	for (i = 0; i < n; i++)
		EXPECT_EQ(reference_value(fd[i]),
			  dev_value(self->dev, p[i].a.id));
	EXPECT_LE(20, dev_value(self->dev, p[0].a.id));
}

static int clock_body(struct target *t, void *arg)
{
	for (;;) {
		compute_ms(400);
		target_pause(t);
	}
	return 0;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return b / 100 * 97 <= a && a <= b / 100 * 103;
}

/*
 * The process' own time, and cycles where there are any: nearly.  An emulated
 * CPU can stand still between its reading one counter and the next, but not each
 * time.
 */
TEST_F(proccount, clocks)
{
	struct pairing p[] = {
		pair(TASK_CLOCK, BOTH, 0),
		pair(CYCLES, USER, 0),
	};
	unsigned int i, near, n = perf_has(CYCLES) ? 2 : 1;
	struct hwpmc_rw rw = { .flags = HWPMC_F_OLDVALUE,
			       .cpu = HWPMC_CPU_ALL };

	ASSERT_TRUE(target_begin(&self->t, clock_body, NULL));
	for (i = near = 0; i < 6 && near < n; i++) {
		count_step(_metadata, self, p, n);
		EXPECT_LE(390 * MSEC, p[0].ours);
		near = is_near(p[0].ours, p[0].theirs);
		near += n > 1 && is_near(p[1].ours, p[1].theirs);
	}
	EXPECT_EQ(n, near);
	/* enabled is while it runs, as with perf */
	rw.id = p[0].a.id;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_EQ(rw.enabled, rw.running);
	EXPECT_TRUE(is_near(rw.value, rw.running));
}

/* ------------------------------------------------------------------------
 * Values
 */
static int spinner(struct target *t, void *arg)
{
	for (;;)
		fault_pages(1);
	return 0;
}

/* Read while it runs, a value is no older than the last one. */
TEST_F(proccount, live)
{
	struct hwpmc_allocate a = pmc_process_counter(TASK_CLOCK, 0);
	uint64_t last = 0, value;
	unsigned int i, grown = 0;
	uint32_t id;

	ASSERT_TRUE(target_begin(&self->t, spinner, NULL));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->t.pid, &id));
	EXPECT_EQ(0, dev_value(self->dev, id));
	target_go(&self->t);
	for (i = 0; i < 3000 && grown < 20; i++) {
		value = dev_value(self->dev, id);
		ASSERT_LE(last, value);
		grown += value > last;
		last = value;
		sleep_ms(2);
	}
	EXPECT_EQ(20, grown);
	target_kill(&self->t);
	value = dev_value(self->dev, id);
	EXPECT_LE(last, value);
	/* and stays when he is gone */
	EXPECT_EQ(value, dev_value(self->dev, id));
	EXPECT_EQ(0, dev_stop(self->dev, id));
	EXPECT_EQ(value, dev_value(self->dev, id));
}

static int step_body(struct target *t, void *arg)
{
	for (;;) {
		fault_pages(50);
		target_pause(t);
	}
	return 0;
}

#define STEP() ({							\
	uint64_t before_ = dev_value(self->dev, a.id);			\
									\
	ASSERT_TRUE(target_step(&self->t));				\
	dev_value(self->dev, a.id) - before_;				\
})

/* From its initial value; stopped, set, resumed. */
TEST_F(proccount, values)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS, 0);
	struct hwpmc_rw rw = {
		.flags = HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE,
		.cpu = HWPMC_CPU_ALL,
		.value = 1ULL << 40,
	};
	uint64_t first, n;

	ASSERT_TRUE(target_begin(&self->t, step_body, NULL));
	a.count = 1000;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(1000, dev_value(self->dev, a.id));
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->t.pid));
	EXPECT_EQ(0, STEP());
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	n = STEP();
	EXPECT_LE(50, n);
	EXPECT_GE(70, n);
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	EXPECT_EQ(0, STEP());
	first = dev_value(self->dev, a.id);
	EXPECT_EQ(1000 + n, first);
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	EXPECT_LE(50, STEP());
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	rw.id = a.id;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_LE(first + 50, rw.value);
	EXPECT_EQ(1ULL << 40, dev_value(self->dev, a.id));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	EXPECT_LE(50, STEP());
	target_kill(&self->t);
	n = dev_value(self->dev, a.id);
	EXPECT_LE((1ULL << 40) + 50, n);
	EXPECT_GE((1ULL << 40) + 100, n);
	/* what is set after the end is what is there */
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	rw.flags = HWPMC_F_NEWVALUE;
	rw.value = 3;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_EQ(3, dev_value(self->dev, a.id));
}

/* What the process itself can ask of the kernel. */
static int rusage_body(struct target *t, void *arg)
{
	struct rusage *r = arg;

	getrusage(RUSAGE_SELF, &r[0]);
	getrusage(RUSAGE_SELF, &r[0]);
	target_pause(t);
	getrusage(RUSAGE_SELF, &r[1]);
	fault_pages(500);
	getrusage(RUSAGE_SELF, &r[2]);
	return target_pause(t);
}

TEST_F(proccount, rusage)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS, 0);
	struct rusage *r = shared_memory(3 * sizeof(*r));
	uint32_t id;
	uint64_t n;

	ASSERT_TRUE(target_begin(&self->t, rusage_body, r));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->t.pid, &id));
	ASSERT_TRUE(target_step(&self->t));
	n = dev_value(self->dev, id);
	EXPECT_LE(500, r[2].ru_minflt - r[1].ru_minflt);
	EXPECT_LE(r[2].ru_minflt - r[1].ru_minflt, n);
	/* what it takes to go on and to pause */
	EXPECT_GE(r[2].ru_minflt - r[0].ru_minflt + 20, n);
	EXPECT_EQ(0, target_end(&self->t));
}

/* ------------------------------------------------------------------------
 * The log's values
 */
#define LOGGED(flags) ({						\
	struct hwpmc_allocate a_ = pmc_process_counter(FAULTS, flags); \
									\
	a_.caps = USER;							\
	a_;								\
})

/* Each process' value and times are parts of the PMC's. */
TEST_F(proccount, exits)
{
	struct hwpmc_rw rw = { .flags = HWPMC_F_OLDVALUE,
			       .cpu = HWPMC_CPU_ALL };
	uint64_t enabled = 0, running = 0;
	struct proc_record p;
	int file = temp_file();
	unsigned int i;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_TRUE(target_begin(&self->t, children_body, self->f));
	ASSERT_EQ(0, dev_run_on(self->dev, LOGGED(HWPMC_F_DESCENDANTS |
						  HWPMC_F_LOG_PROCEXIT),
				self->t.pid, &rw.id));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, target_end(&self->t));
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	END_PROCLOG(self->dev, file, &self->log, 0);
	EXPECT_EQ(rw.value, proc_sum(&self->log, PMCLOG_T_PROCEXIT, rw.id,
				     ANY));
	for (i = 0; proc_find(&self->log, PMCLOG_T_PROCEXIT, ANY, i, &p); i++) {
		EXPECT_LE(p.pid == self->t.pid ? 50 : 30, p.value);
		EXPECT_LE(p.running, p.enabled);
		enabled += p.enabled;
		running += p.running;
	}
	EXPECT_EQ(NCHILDREN + 1, i);
	EXPECT_EQ(rw.enabled, enabled);
	EXPECT_EQ(rw.running, running);
	EXPECT_EQ(rw.enabled, rw.running);
	EXPECT_LT(0, rw.running);
}

/* Each slice is a part as well; here all have ended, by sleep. */
TEST_F(proccount, switches)
{
	int file = temp_file();
	uint64_t value, own;
	unsigned int i;
	uint32_t id;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_TRUE(target_begin(&self->t, threads_body, self->f));
	ASSERT_TRUE(target_step(&self->t));
	for (i = 0; i < NCREW; i++)
		ASSERT_TRUE(wait_asleep(self->t.pid, self->f->m[i].tid));
	ASSERT_EQ(0, dev_run_on(self->dev, LOGGED(HWPMC_F_LOG_PROCCSW),
				self->t.pid, &id));
	ASSERT_TRUE(target_step(&self->t));
	value = dev_value(self->dev, id);
	END_PROCLOG(self->dev, file, &self->log, 0);
	own = proc_sum(&self->log, PMCLOG_T_PROCCSW, id, self->t.pid);
	EXPECT_LE(NCREW * 300, value);
	EXPECT_EQ(value, own);
	for (i = 0; i < NCREW; i++)
		EXPECT_LE(10, proc_thread(&self->log, PMCLOG_T_PROCCSW,
					  self->f->m[i].tid));
	EXPECT_EQ(0, target_end(&self->t));
}

/* The last slice of a thread ends with the thread. */
TEST_F(proccount, last_switch)
{
	int file = temp_file();
	uint32_t id;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_TRUE(target_begin(&self->t, children_body, self->f));
	ASSERT_EQ(0, dev_run_on(self->dev, LOGGED(HWPMC_F_DESCENDANTS |
						  HWPMC_F_LOG_PROCCSW |
						  HWPMC_F_LOG_PROCEXIT),
				self->t.pid, &id));
	ASSERT_TRUE(target_step(&self->t));
	EXPECT_EQ(0, target_end(&self->t));
	END_PROCLOG(self->dev, file, &self->log, 0);
	EXPECT_EQ(dev_value(self->dev, id),
		  proc_sum(&self->log, PMCLOG_T_PROCCSW, id, ANY));
	EXPECT_EQ(dev_value(self->dev, id),
		  proc_sum(&self->log, PMCLOG_T_PROCEXIT, id, ANY));
}

/* ------------------------------------------------------------------------
 * The values of several logs
 */
#define NLOGS		6
#define NMAPPERS	4

struct births {
	volatile unsigned int n;
	volatile bool stop;
};

/* Children that switch and end, one after the other, until it is to stop. */
static int births_body(struct target *t, void *arg)
{
	struct births *b = arg;
	unsigned int i;

	while (!b->stop) {
		b->n++;
		if (!fork()) {
			for (i = 0; i < 3; i++) {
				fault_pages(2);
				usleep(200);
			}
			_exit(0);
		}
		fault_pages(1);
		wait(NULL);
	}
	return target_pause(t);
}

/*
 * Rotated, each time with processes to be told again that this takes a while of:
 * what was counted meanwhile is in one of the logs, not in two.
 */
TEST_F(proccount, rotated)
{
	struct births *b = shared_memory(sizeof(*b));
	uint64_t slices = 0, ends = 0;
	unsigned int i, exits = 0;
	pid_t mapper[NMAPPERS];
	uint32_t id;
	int file[NLOGS];

	for (i = 0; i < NMAPPERS; i++) {
		mapper[i] = mapper_begin(scaled(2000, 500));
		ASSERT_LT(0, mapper[i]);
	}
	file[0] = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, file[0]));
	ASSERT_TRUE(target_begin(&self->t, births_body, b));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20), NULL));
	ASSERT_EQ(0, dev_run_on(self->dev, LOGGED(HWPMC_F_DESCENDANTS |
						  HWPMC_F_LOG_PROCCSW |
						  HWPMC_F_LOG_PROCEXIT),
				self->t.pid, &id));
	target_go(&self->t);
	for (i = 1; i < NLOGS; i++) {
		sleep_ms(200);
		file[i] = temp_file();
		ASSERT_EQ(0, dev_rotate(self->dev, file[i]));
	}
	b->stop = true;
	ASSERT_TRUE(target_paused(&self->t));
	EXPECT_EQ(0, target_end(&self->t));
	ASSERT_EQ(0, dev_closelog(self->dev));
	for (i = 0; i < NLOGS; i++) {
		ASSERT_TRUE(log_load(&self->log, file[i]));
		ASSERT_PROCLOG(&self->log, 0);
		slices += proc_sum(&self->log, PMCLOG_T_PROCCSW, id, ANY);
		ends += proc_sum(&self->log, PMCLOG_T_PROCEXIT, id, ANY);
		exits += proc_count(&self->log, PMCLOG_T_PROCEXIT, ANY);
		log_free(&self->log);
	}
	EXPECT_EQ(dev_value(self->dev, id), slices);
	EXPECT_EQ(dev_value(self->dev, id), ends);
	EXPECT_EQ(b->n + 1, exits);
	EXPECT_LT(scaled(20, 3), exits);
	for (i = 0; i < NMAPPERS; i++)
		mapper_end(mapper[i]);
}

TEST_HARNESS_MAIN
