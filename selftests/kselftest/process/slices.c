// SPDX-License-Identifier: GPL-2.0-only
/*
 * PROCCSW: no count is missing.  Of a program that switches more often than its log is
 * read the records of processes have room all the same; a log that ends within a slice
 * has the part before.
 */
#include <pthread.h>
#include <sched.h>

#include "proclog.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define SLICE_BYTES	40	/* a record takes more in the ring */

struct pingpong {
	int		there[2];
	int		back[2];
	unsigned int	rounds;
};

static void *answer(void *arg)
{
	struct pingpong *p = arg;
	char c;

	while (read(p->there[0], &c, 1) == 1 && write(p->back[1], &c, 1) == 1)
		;
	return NULL;
}

/* Two threads on one CPU, then a child. */
static int switcher(struct target *t, void *arg)
{
	struct pingpong *p = arg;
	pthread_t thread;
	unsigned int i;
	char c = 0;

	pin_to(0);
	if (pipe(p->there) || pipe(p->back) ||
	    pthread_create(&thread, NULL, answer, p))
		return 1;
	for (i = 0; i < p->rounds; i++)
		if (write(p->there[1], &c, 1) != 1 || read(p->back[0], &c, 1) != 1)
			return 1;
	close(p->there[1]);
	pthread_join(thread, NULL);
	return wait_for(fork() ?: (_exit(0), 0));
}

FIXTURE(slices) {
	int dev;
};

FIXTURE_SETUP(slices)
{
	self->dev = dev_open();
	ASSERT_LE(0, self->dev);
}

FIXTURE_TEARDOWN(slices)
{
	close(self->dev);
}

/* A switch takes milliseconds on a kernel with checkers. */
TEST_F_TIMEOUT(slices, slow_reader, 900)
{
	struct hwpmc_allocate a = pmc_process_counter(
		SWITCHES, HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW |
			  HWPMC_F_LOG_PROCEXIT);
	struct pingpong p = {
		.rounds = module_param("ringsize") * 1024 / SLICE_BYTES,
	};
	int dev = self->dev, ends[2];
	struct target t;
	struct reader r;
	uint32_t id;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, dev_configure(dev, ends[1]));
	close(ends[1]);
	ASSERT_TRUE(target_begin(&t, switcher, &p));
	ASSERT_EQ(0, dev_run_on(dev, a, t.pid, &id));
	EXPECT_EQ(0, target_end(&t));
	reader_begin(&r, ends[0], 65536, 0);
	ASSERT_EQ(0, dev_closelog(dev));
	reader_end(&r);
	ASSERT_PROCLOG(&r.log, LOG_PROC_DROPS);
	/* else the ring was not full */
	EXPECT_LT(0, r.log.proc_dropped);
	EXPECT_EQ(1, proc_count(&r.log, PMCLOG_T_PROCFORK, ANY));
	EXPECT_EQ(2, proc_count(&r.log, PMCLOG_T_PROCEXIT, ANY));
	EXPECT_LE(2 * p.rounds, proc_sum(&r.log, PMCLOG_T_PROCEXIT, id, t.pid));
	EXPECT_EQ(proc_sum(&r.log, PMCLOG_T_PROCEXIT, id, ANY),
		  proc_sum(&r.log, PMCLOG_T_PROCCSW, id, ANY));
}

#define NLOGS	scaled(12, 6)

/* The target keeps CPU 1. */
#define NEEDS_A_CPU() do {						\
	if (online_cpus((int [16]){}, 16) < 2)				\
		SKIP(return, "needs two CPUs");				\
	if (!access("/sys/kernel/realtime", F_OK))			\
		SKIP(return, "RCU needs the CPU on PREEMPT_RT");	\
} while (0)

static void keep_cpu(void)
{
	struct sched_param first = { .sched_priority = 1 };

	pin_to(1);
	sched_setscheduler(0, SCHED_FIFO, &first);
}

static int faulting(struct target *t, void *arg)
{
	volatile bool *stop = arg;

	keep_cpu();
	while (!*stop)
		fault_pages(1);
	return 0;
}

/* Of each of some logs that end meanwhile, the slices have all that @fn faults. */
static void end_logs(META, int (*fn)(struct target *t, void *arg))
{
	struct hwpmc_allocate a =
		pmc_process_counter(FAULTS, HWPMC_F_LOG_PROCCSW);
	volatile bool *stop = shared_memory(sizeof(*stop));
	uint64_t before = 0, value;
	int dev = dev_open(), file;
	struct target t;
	struct log log;
	unsigned int i;

	pin_to(0);
	ASSERT_TRUE(target_begin(&t, fn, (void *)stop));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	ASSERT_EQ(0, dev_attach(dev, a.id, t.pid));
	target_go(&t);
	for (i = 0; i < NLOGS; i++) {
		file = temp_file();
		ASSERT_EQ(0, dev_configure(dev, file));
		ASSERT_EQ(0, dev_start(dev, a.id));
		sleep_ms(50);
		/* real-time tasks do not run for a part of each second */
		EXPECT_TRUE(WAIT_UNTIL(dev_value(dev, a.id) > before, 5000));
		END_PROCLOG(dev, file, &log, 0);
		value = dev_value(dev, a.id);
		EXPECT_LT(before, value);
		EXPECT_EQ(value - before,
			  proc_sum(&log, PMCLOG_T_PROCCSW, a.id, ANY));
		before = value;
		log_free(&log);
	}
	*stop = true;
	EXPECT_EQ(0, target_end(&t));
	close(dev);
}

/* A task that others do not take the CPU from has no other end of a slice. */
TEST(cut_by_the_end)
{
	NEEDS_A_CPU();
	end_logs(_metadata, faulting);
}

static void *fault_for_ms(void *arg)
{
	uint64_t until = now_ns() + (uintptr_t)arg * NSEC / 1000;

	do
		fault_pages(1);
	while (now_ns() < until);
	return NULL;
}

static int coming_and_going(struct target *t, void *arg)
{
	volatile bool *stop = arg;
	uintptr_t ms = 0;
	pthread_t thread;

	keep_cpu();
	while (!*stop) {
		ms = ms % 150 + 7;
		if (pthread_create(&thread, NULL, fault_for_ms, (void *)ms) ||
		    pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}

/* A thread that ends while the log does logs its last slice all the same. */
TEST(ends_with_the_log)
{
	NEEDS_A_CPU();
	end_logs(_metadata, coming_and_going);
}

TEST_HARNESS_MAIN
