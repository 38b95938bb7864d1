// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that are logged again because records of them were lost, while the reader
 * of the log is slow.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "fusefile.h"
#include "module.h"
#include "rate.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define HZ		2000	/* all threads are sampled before the rings are full */
#define MANY		8	/* fewer than a CPU's list has room for */

FIXTURE(lostagain)
{
	int dev;
	int ends[2];
	struct reader r;
	pid_t load[2];
	uint32_t id;
};

/* Small rings are filled soon on any machine. */
FIXTURE_SETUP(lostagain)
{
	ASSERT_EQ(0, module_unload_soon());
	ASSERT_EQ(0, module_load("ringsize=64"));
	ASSERT_TRUE(module_wait_for_device());
	OPEN_DEVICE(self->dev);
	ASSERT_EQ(0, pipe(self->ends));
	ASSERT_EQ(0, dev_configure(self->dev, self->ends[1]));
	close(self->ends[1]);
}

FIXTURE_TEARDOWN(lostagain)
{
	close(self->dev);
	EXPECT_EQ(0, module_unload_soon());
	EXPECT_EQ(0, module_load(""));
	EXPECT_TRUE(module_wait_for_device());
}

/* The whole system, until the rings have no room for samples. */
static void fill_rings(META, FIXTURE_DATA(lostagain) *self)
{
	struct hwpmc_driverstats st;

	self->load[0] = load_kernel(0);
	self->load[1] = load_kernel(1);
	reader_begin(&self->r, self->ends[0], 65536, 1);
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(bearable_hz(HZ)), &self->id));
	self->r.chunk = 512;
	self->r.pause_ms = 50;
	do {
		sleep_ms(20);
		ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	} while (!st.intr_bufferfull);
}

static void end_log(META, FIXTURE_DATA(lostagain) *self)
{
	load_end(self->load[0]);
	load_end(self->load[1]);
	self->r.chunk = 65536;
	self->r.pause_ms = 0;
	ASSERT_EQ(0, dev_closelog(self->dev));
	reader_end(&self->r);
	ASSERT_LOG(&self->r.log, LOG_DROPS | LOG_PROC_DROPS);
}

static uint64_t records_lost(int dev)
{
	return OWNER_STAT(dev, account.proc_dropped);
}

static void *compute(void *arg)
{
	pin_to(1);
	for (;;)
		__asm__ volatile("");
	return arg;
}

/* Maps a page of code at each step; the mappings stay.  Its other thread runs. */
static int map_code(struct target *t, void *arg)
{
	int file = temp_file();
	pthread_t thread;

	if (pthread_create(&thread, NULL, compute, NULL))
		return 1;
	pin_to(0);
	if (ftruncate(file, 4096))
		return 1;
	for (;;) {
		target_pause(t);
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file,
			 0) == MAP_FAILED)
			return 1;
	}
	return !arg;
}

static void lose_records_of(META, FIXTURE_DATA(lostagain) *self, struct target *t,
			    int (*code)(struct target *t, void *arg))
{
	unsigned int steps = 0;
	uint64_t lost;

	ASSERT_TRUE(target_begin(t, code, NULL));
	fill_rings(_metadata, self);
	lost = records_lost(self->dev);
	while (records_lost(self->dev) < lost + MANY && ++steps < 20000)
		ASSERT_TRUE(target_step(t));
	lost = records_lost(self->dev) - lost;
	TH_LOG("%u mappings, %llu records lost", steps,
	       (unsigned long long)lost);
	ASSERT_LE(MANY, lost);
}

static void lose_records(META, FIXTURE_DATA(lostagain) *self, struct target *t)
{
	lose_records_of(_metadata, self, t, map_code);
}

/* PROC_CREATE and SYSEXIT have the pid in the same place. */
static bool is_of(const struct pmclog_rec *rec, uint32_t type, pid_t pid)
{
	return rec->type == type && REC32(rec, sysexit, pid) == (uint32_t)pid;
}

/* However many records of it were lost, a process is logged again once. */
TEST_F(lostagain, once)
{
	unsigned int again = 0, named = 0;
	struct pmclog_rec rec;
	struct target t;

	lose_records(_metadata, self, &t);
	self->r.chunk = 65536;
	self->r.pause_ms = 0;
	ASSERT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(0, dev_flush(self->dev));
	end_log(_metadata, self);
	LOG_FOR_EACH(&self->r.log, rec) {
		again += is_of(&rec, PMCLOG_T_SYSEXIT, t.pid);
		named += is_of(&rec, PMCLOG_T_PROC_CREATE, t.pid);
	}
	TH_LOG("logged again %u times, named %u times", again, named);
	target_kill(&t);
	EXPECT_LT(0, again);
	/* by the pass that ends while they are lost, and by the next */
	EXPECT_GE(2, again);
	EXPECT_EQ(again + 1, named);
}

/*
 * The log ends while records of the process are lost and it runs: what the log has of
 * it is of use to its last samples, which nothing that is logged then can replace.
 */
TEST_F(lostagain, ends)
{
	unsigned int late = 0, samples = 0;
	struct pmclog_rec rec;
	bool ended = false;
	struct target t;
	struct sample s;

	lose_records(_metadata, self, &t);
	end_log(_metadata, self);
	LOG_FOR_EACH(&self->r.log, rec) {
		if (is_of(&rec, PMCLOG_T_PROC_CREATE, t.pid))
			ended = false;
		if (is_of(&rec, PMCLOG_T_SYSEXIT, t.pid))
			ended = true;
		if (log_sample(&rec, &s) && s.pid == (uint32_t)t.pid) {
			late += ended;
			samples++;
		}
	}
	target_kill(&t);
	TH_LOG("%u samples of it, %u after its end", samples, late);
	if (!samples)
		SKIP(return, "the rings were full before it was sampled");
	EXPECT_EQ(0, late);
}

/* some passes of the writer thread */
#define EXITING_MS	1500

/* The records of this process are lost, too. */
static pid_t fork_zombie(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	return waitid(P_PID, pid, &info, WEXITED | WNOWAIT) ? -1 : pid;
}

/*
 * The process is killed while records of it are lost, and nobody waits for it: it does not
 * live in the log after its end.  Nor does one that was created since.
 */
TEST_F(lostagain, zombie)
{
	unsigned int named = 0, gone = 0, young_lives = 0;
	struct pmclog_rec rec;
	siginfo_t info;
	struct target t;
	pid_t young;

	lose_records(_metadata, self, &t);
	young = fork_zombie();
	ASSERT_LT(0, young);
	ASSERT_EQ(0, kill(t.pid, SIGKILL));
	ASSERT_EQ(0, waitid(P_PID, t.pid, &info, WEXITED | WNOWAIT));
	self->r.chunk = 65536;
	self->r.pause_ms = 0;
	ASSERT_EQ(0, dev_flush(self->dev));
	sleep_ms(EXITING_MS);
	ASSERT_EQ(0, dev_flush(self->dev));
	end_log(_metadata, self);
	LOG_FOR_EACH(&self->r.log, rec) {
		if (is_of(&rec, PMCLOG_T_PROC_CREATE, t.pid)) {
			named++;
			gone = 0;
		}
		gone += is_of(&rec, PMCLOG_T_SYSEXIT, t.pid);
		young_lives += is_of(&rec, PMCLOG_T_PROC_CREATE, young);
		if (is_of(&rec, PMCLOG_T_SYSEXIT, young))
			young_lives = 0;
	}
	target_kill(&t);
	ASSERT_EQ(young, waitpid(young, NULL, 0));
	EXPECT_LT(0, named);
	EXPECT_LT(0, gone);
	EXPECT_EQ(0, young_lives);
}

#define PLACE	"/tmp/lostagain"

/* As map_code(), with a file that keeps it from its end. */
static int hold_file(struct target *t, void *arg)
{
	return open(PLACE "/file", O_RDWR) < 0 ? 1 : map_code(t, arg);
}

/*
 * The process is past its exit hook, and not at its end: what is logged of it then has no
 * end, unless the writer thread waits for that.
 */
TEST_F(lostagain, ending)
{
	struct fusefile *hold = shared_memory(sizeof(*hold));
	unsigned int named = 0, gone = 0;
	struct pmclog_rec rec;
	bool lives = true;
	struct target t;
	pid_t server;

	server = fusefile_begin(PLACE, hold);
	if (!server)
		SKIP(return, "no FUSE");
	hold->hold_flush = true;
	lose_records_of(_metadata, self, &t, hold_file);
	ASSERT_EQ(0, kill(t.pid, SIGKILL));
	EXPECT_TRUE(wait_true(&hold->held, scaled(5000, 60000)));
	self->r.chunk = 65536;
	self->r.pause_ms = 0;
	ASSERT_EQ(0, dev_flush(self->dev));
	sleep_ms(EXITING_MS);
	ASSERT_EQ(0, dev_flush(self->dev));
	hold->let_go = true;
	EXPECT_TRUE(wait_ended(t.pid, scaled(5000, 60000)));
	sleep_ms(EXITING_MS);
	end_log(_metadata, self);
	fusefile_end(PLACE, server);
	LOG_FOR_EACH(&self->r.log, rec) {
		if (is_of(&rec, PMCLOG_T_PROC_CREATE, t.pid)) {
			named++;
			lives = true;
		} else if (is_of(&rec, PMCLOG_T_SYSEXIT, t.pid)) {
			gone++;
			lives = false;
		}
	}
	target_kill(&t);
	TH_LOG("named %u times, gone %u times", named, gone);
	EXPECT_LT(0, named);
	EXPECT_FALSE(lives);
}

TEST_HARNESS_MAIN
