// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMCs that sample at a rate: perf chooses the periods, and the log says how many
 * events each sample stands for, so that their sum is the count.
 */
#include <pthread.h>

#include "periods.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

#define RATE		400
#define STEP_FAULTS	20000	/* by each step of a process that faults */

/* What the log says of the PMC; @rate: its rate or period */
static uint32_t flags_of(struct log *log, uint32_t pmcid, uint64_t *rate)
{
	struct pmclog_rec rec;
	uint32_t flags = 0;

	LOG_FOR_EACH(log, rec) {
		if (rec.type != PMCLOG_T_PMCALLOCATEDYN ||
		    REC32(&rec, pmcallocatedyn, pmcid) != pmcid)
			continue;
		flags = REC32(&rec, pmcallocatedyn, flags);
		*rate = REC64(&rec, pmcallocatedyn, rate);
	}
	return flags;
}

/* ------------------------------------------------------------------------ */
FIXTURE(freq)
{
	int dev;
	struct target t;
};

static int faulter(struct target *t, void *arg)
{
	for (;;) {
		fault_pages(STEP_FAULTS);
		target_pause(t);
	}
	return 0;
}

FIXTURE_SETUP(freq)
{
	ASSERT_TRUE(target_begin(&self->t, faulter, NULL));
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(freq)
{
	close(self->dev);
	target_kill(&self->t);
}

static struct hwpmc_allocate faults_at(uint64_t rate)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_FREQ);

	a.count = rate;
	return a;
}

/*
 * Faults until there are @n samples more.  perf knows the rate of an event from ticks
 * alone, and on a busy machine it is wrong by a lot for a while.
 */
static void faults(META, int dev, struct target *t, uint64_t n)
{
	struct hwpmc_driverstats st;
	uint64_t until = 0;
	int steps = 0;

	do {
		ASSERT_GT(1000, steps++);
		ASSERT_TRUE(target_step(t));
		ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
		until = until ?: st.account.committed + n;
	} while (st.account.committed < until);
}

/*
 * All but what each thread had counted since its last sample.  perf itself loses what
 * was counted when it gives up a period that was far too long, so half will do.
 */
static void expect_sum(META, struct periods *p, uint64_t count)
{
	TH_LOG("%" PRIu64 " events, %" PRIu64 " samples, %" PRIu64
	       " records, sum %" PRIu64 ", longest %" PRIu64, count, p->samples,
	       p->records, p->sum, p->longest);
	EXPECT_EQ(0, p->without);
	EXPECT_LT(0, p->samples);
	EXPECT_GE(p->samples, p->records);
	EXPECT_LE(count / 2, p->sum + 4 * p->longest * cpus_possible());
	EXPECT_GE(count + 3 * p->longest * cpus_possible(), p->sum);
}

/* Stops the PMC; *@count: its events; *@p: what the log says of it */
static void end(META, int dev, uint32_t id, int file, struct log *log,
		struct periods *p, uint64_t *count)
{
	ASSERT_EQ(0, dev_stop(dev, id));
	*count = dev_value(dev, id);
	END_LOG(dev, file, log, 0);
	periods_look(log, id, p);
}

TEST_F(freq, sum_is_the_count)
{
	int file = temp_file();
	uint64_t count, rate = 0;
	struct periods p;
	struct log log;
	uint32_t id;

	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_run_on(self->dev, faults_at(RATE), self->t.pid, &id));
	faults(_metadata, self->dev, &self->t, 300);
	end(_metadata, self->dev, id, file, &log, &p, &count);
	EXPECT_LE(STEP_FAULTS, count);
	expect_sum(_metadata, &p, count);
	/* perf begins with a period of 1, and soon knows better */
	EXPECT_LT(4, p.longest);
	EXPECT_GT(count / 4, p.samples);
	EXPECT_TRUE(flags_of(&log, id, &rate) & HWPMC_F_FREQ);
	EXPECT_EQ(RATE, rate);
}

TEST_F(freq, packed)
{
	int file = temp_file();
	struct periods p;
	struct log log;
	uint64_t count;
	uint32_t id;

	ASSERT_EQ(0, dev_configure_flags(self->dev, file, HWPMC_LOG_PACKED));
	ASSERT_EQ(0, dev_run_on(self->dev, faults_at(RATE), self->t.pid, &id));
	faults(_metadata, self->dev, &self->t, 150);
	end(_metadata, self->dev, id, file, &log, &p, &count);
	expect_sum(_metadata, &p, count);
}

/* Each log can be read alone. */
TEST_F(freq, rotated)
{
	struct periods p, sum = { 0 };
	uint64_t count;
	int file[3], i;
	struct log log;
	uint32_t id;

	for (i = 0; i < 3; i++)
		file[i] = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, file[0]));
	ASSERT_EQ(0, dev_run_on(self->dev, faults_at(RATE), self->t.pid, &id));
	for (i = 1; i < 3; i++) {
		faults(_metadata, self->dev, &self->t, 100);
		ASSERT_EQ(0, dev_rotate(self->dev, file[i]));
	}
	faults(_metadata, self->dev, &self->t, 100);
	ASSERT_EQ(0, dev_stop(self->dev, id));
	count = dev_value(self->dev, id);
	ASSERT_EQ(0, dev_closelog(self->dev));
	for (i = 0; i < 3; i++) {
		LOAD_LOG(&log, file[i], 0);
		periods_look(&log, id, &p);
		EXPECT_EQ(0, p.without);
		EXPECT_LT(0, p.samples);
		sum.samples += p.samples;
		sum.records += p.records;
		sum.sum += p.sum;
		if (p.longest > sum.longest)
			sum.longest = p.longest;
		log_free(&log);
	}
	expect_sum(_metadata, &sum, count);
}

/* So can each snapshot, of a window that has moved on. */
TEST_F(freq, flight)
{
	struct hwpmc_driverstats st;
	struct periods p;
	struct log log;
	uint32_t id;
	int i;

	ASSERT_EQ(0, dev_flight(self->dev, 256 << 10, 0));
	/* so often that a period is short, and few */
	ASSERT_EQ(0, dev_run_on(self->dev, faults_at(50000), self->t.pid, &id));
	for (i = 0; i < 3; i++) {
		int file = temp_file();

		do {
			faults(_metadata, self->dev, &self->t, 100);
			ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
		} while (st.bytes_written < (i + 2) * (256U << 10));
		ASSERT_EQ(0, dev_snapshot(self->dev, file, 0));
		LOAD_LOG(&log, file, LOG_DROPS);
		periods_look(&log, id, &p);
		TH_LOG("%" PRIu64 " samples, %" PRIu64 " records", p.samples,
		       p.records);
		EXPECT_LT(0, p.samples);
		EXPECT_EQ(0, p.without);
		log_free(&log);
		close(file);
	}
}

/* Threads of one process on all CPUs, each with an event of its own. */
static int crowd_of_faulters(struct target *t, void *arg)
{
	pid_t child[4];
	int i;

	target_pause(t);
	for (i = 0; i < 4; i++) {
		child[i] = fork();
		if (!child[i]) {
			pin_to(i % 2);
			fault_pages(STEP_FAULTS * (i + 1));
			_exit(0);
		}
	}
	for (i = 0; i < 4; i++)
		wait_for(child[i]);
	return target_pause(t);
}

TEST_F(freq, descendants)
{
	struct hwpmc_allocate a = faults_at(RATE);
	int file = temp_file();
	struct periods p;
	struct target t;
	struct log log;
	uint64_t count;
	uint32_t id;

	a.flags |= HWPMC_F_DESCENDANTS;
	ASSERT_TRUE(target_begin(&t, crowd_of_faulters, NULL));
	ASSERT_TRUE(target_step(&t));
	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_run_on(self->dev, a, t.pid, &id));
	ASSERT_TRUE(target_step(&t));
	end(_metadata, self->dev, id, file, &log, &p, &count);
	target_kill(&t);
	EXPECT_LE(10 * STEP_FAULTS, count);
	expect_sum(_metadata, &p, count);
}

#define SHORT_LIVES	200
#define SHORT_FAULTS	50

static int short_lives(struct target *t, void *arg)
{
	pid_t child;
	int i;

	pin_to(0);
	target_pause(t);
	fault_pages(2 * STEP_FAULTS);
	target_pause(t);
	for (i = 0; i < SHORT_LIVES; i++) {
		child = fork();
		if (!child) {
			fault_pages(SHORT_FAULTS);
			_exit(0);
		}
		wait_for(child);
	}
	return target_pause(t);
}

/*
 * A new process has the period that was found so far: with perf's first one, each of
 * these would be sampled a few times.
 */
TEST_F(freq, new_processes)
{
	struct hwpmc_allocate a = faults_at(RATE / 20);
	struct hwpmc_driverstats before, after;
	struct target t;
	int file = temp_file();
	uint32_t id;

	a.flags |= HWPMC_F_DESCENDANTS;
	ASSERT_TRUE(target_begin(&t, short_lives, NULL));
	ASSERT_TRUE(target_step(&t));
	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_run_on(self->dev, a, t.pid, &id));
	ASSERT_TRUE(target_step(&t));
	ASSERT_EQ(0, dev_flush(self->dev));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &before));
	ASSERT_TRUE(target_step(&t));
	ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &after));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	target_kill(&t);
	TH_LOG("%" PRIu64 " samples of %d events, then %" PRIu64 " of %d processes",
	       (uint64_t)before.account.committed, 2 * STEP_FAULTS,
	       (uint64_t)(after.account.committed - before.account.committed),
	       SHORT_LIVES);
	EXPECT_GT(2 * SHORT_LIVES,
		  after.account.committed - before.account.committed);
	close(file);
}

#define THREADS		1000
#define THREAD_FAULTS	20

/* One after another */
static bool make_threads(int n, void *(*body)(void *arg), void *arg)
{
	pthread_t thread;

	while (n--)
		if (pthread_create(&thread, NULL, body, arg) ||
		    pthread_join(thread, NULL))
			return false;
	return true;
}

static void *short_thread(void *arg)
{
	fault_pages(THREAD_FAULTS);
	return NULL;
}

static int short_threads(struct target *t, void *arg)
{
	pin_to(0);
	target_pause(t);
	fault_pages(2 * STEP_FAULTS);
	target_pause(t);
	if (!make_threads(THREADS, short_thread, NULL))
		return 1;
	return target_pause(t);
}

/* What the samples of PMC @id stand for, but for those of thread @but */
static void sum_threads(struct log *log, uint32_t id, pid_t but, struct periods *p)
{
	struct pmclog_rec rec;
	struct sample s;

	LOG_FOR_EACH(log, rec) {
		periods_note(p, id, &rec);
		if (!log_sample(&rec, &s) || s.tid == (uint32_t)but)
			continue;
		p->sum += p->now[s.cpu];
		p->samples++;
	}
}

/* The log of @t, which makes @steps steps and is killed, by @a, which gets its id */
static void record_threads(META, int dev, struct hwpmc_allocate *a,
			   struct target *t, unsigned int steps, struct log *log)
{
	int file = temp_file();

	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_run_on(dev, *a, t->pid, &a->id));
	while (steps--)
		ASSERT_TRUE(target_step(t));
	ASSERT_EQ(0, dev_closelog(dev));
	target_kill(t);
	LOAD_LOG(log, file, 0);
}

/*
 * Each of these threads has fewer events than a period, but together they have many.
 * They are as many in the log as they were, within what chance does.
 */
TEST_F(freq, short_threads)
{
	struct hwpmc_allocate a = faults_at(2 * RATE);
	struct periods p = { 0 };
	struct target t;
	struct log log;

	ASSERT_TRUE(target_begin(&t, short_threads, NULL));
	ASSERT_TRUE(target_step(&t));
	record_threads(_metadata, self->dev, &a, &t, 2, &log);
	sum_threads(&log, a.id, t.pid, &p);
	TH_LOG("%" PRIu64 " samples of threads with %d events stand for %" PRIu64,
	       p.samples, THREADS * THREAD_FAULTS, p.sum);
	EXPECT_LE(THREADS * THREAD_FAULTS / 3, p.sum);
	EXPECT_GE(THREADS * THREAD_FAULTS * 3, p.sum);
}

#define FEW_FAULTS	40

static int few_faults(struct target *t, void *arg)
{
	target_pause(t);
	fault_pages(FEW_FAULTS);
	return target_pause(t);
}

/*
 * Perf begins with a period of 1, and has a long one after a few samples.  The last of
 * these stands for the events before it, not for those of the period that begins there.
 */
TEST_F(freq, few_events)
{
	struct hwpmc_allocate a = faults_at(RATE);
	struct periods p;
	struct target t;
	struct log log;

	ASSERT_TRUE(target_begin(&t, few_faults, NULL));
	ASSERT_TRUE(target_step(&t));
	record_threads(_metadata, self->dev, &a, &t, 1, &log);
	periods_look(&log, a.id, &p);
	TH_LOG("%" PRIu64 " samples of %d events stand for %" PRIu64 ", one for %" PRIu64,
	       p.samples, FEW_FAULTS, p.sum, p.longest);
	EXPECT_LT(2, p.samples);
	/* there are a few more events, and a PERIOD need not be exact */
	EXPECT_GE(FEW_FAULTS * 5 / 4, p.sum);
}

/* A counter of the machine's, if it has one. */
TEST_F(freq, cycles)
{
	struct hwpmc_allocate a = pmc_sampler(CYCLES, 100);
	int file = temp_file();
	struct periods p;
	uint64_t count;
	struct log log;
	uint32_t id;

	if (!perf_has(a.type, a.config))
		SKIP(return, "no counter of cycles here");
	a.flags |= HWPMC_F_FREQ;
	BEGIN_LOG(self->dev, file, a, &id);
	faults(_metadata, self->dev, &self->t, 100);
	ASSERT_EQ(0, dev_stop(self->dev, id));
	count = dev_value(self->dev, id);
	END_LOG(self->dev, file, &log, LOG_DROPS);
	periods_look(&log, id, &p);
	TH_LOG("%" PRIu64 " cycles, %" PRIu64 " samples, %" PRIu64
	       " records, sum %" PRIu64 ", longest %" PRIu64, count, p.samples,
	       p.records, p.sum, p.longest);
	EXPECT_EQ(0, p.without);
	EXPECT_LT(10000, p.longest);
	/* no more than there were; an interrupt may come late, or not at all */
	EXPECT_GE(count + 4 * p.longest * cpus_possible(), p.sum);
}

#define CLOCK_THREADS	1000
#define THREAD_NS	(MSEC / 2)

static void *short_burner(void *arg)
{
	/* on a slow machine it takes longer to make a thread */
	uint64_t *sum = arg, start = thread_ns();

	while (thread_ns() < start + THREAD_NS)
		;
	*sum += thread_ns() - start;
	return NULL;
}

static int short_burners(struct target *t, void *arg)
{
	if (!make_threads(CLOCK_THREADS, short_burner, arg))
		return 1;
	return target_pause(t);
}

/* The same of a clock, whose period is as long as fifty threads together take. */
TEST_F(freq, short_threads_by_clock)
{
	uint64_t *sum = shared_memory(sizeof(*sum)), samples = 0;
	struct hwpmc_allocate a = pmc_clock_of(HWPMC_MODE_TS, 0);
	struct target t;
	struct sample s;
	struct log log;

	a.count = 50 * THREAD_NS;
	ASSERT_TRUE(target_begin(&t, short_burners, sum));
	record_threads(_metadata, self->dev, &a, &t, 1, &log);
	LOG_FOR_EACH_SAMPLE(&log, s)
		samples += s.tid != t.pid;
	TH_LOG("%" PRIu64 " samples of %d threads, for %" PRIu64 " of their %" PRIu64
	       " ms", samples, CLOCK_THREADS, samples * a.count / MSEC, *sum / MSEC);
	EXPECT_LE(*sum / 3, samples * a.count);
}

/*
 * ... and of a clock that keeps its rate for the sake of a budget: the samples have
 * periods then.
 */
TEST_F(freq, short_threads_by_clock_with_rate)
{
	uint64_t *sum = shared_memory(sizeof(*sum));
	struct hwpmc_allocate a = pmc_clock_of(HWPMC_MODE_TS, 0);
	struct hwpmc_setbudget b = { .ppm = 1000000 };
	struct periods p = { 0 };
	struct target t;
	struct log log;

	a.flags |= HWPMC_F_FREQ;
	a.count = NSEC / (50 * THREAD_NS);
	ASSERT_EQ(0, dev_ioctl(self->dev, HWPMC_IOC_SETBUDGET, &b));
	ASSERT_TRUE(target_begin(&t, short_burners, sum));
	record_threads(_metadata, self->dev, &a, &t, 1, &log);
	sum_threads(&log, a.id, t.pid, &p);
	TH_LOG("%" PRIu64 " samples of %d threads, for %" PRIu64 " of their %" PRIu64
	       " ms", p.samples, CLOCK_THREADS, p.sum / MSEC, *sum / MSEC);
	EXPECT_LE(*sum / 3, p.sum);
}

/* A clock has one period all the time. */
TEST_F(freq, clock)
{
	struct hwpmc_allocate a = pmc_clock(1);
	int file = temp_file();
	struct periods p;
	uint64_t rate = 0;
	struct log log;
	uint32_t id;

	a.flags |= HWPMC_F_FREQ;
	a.count = 500;
	ASSERT_EQ(0, dev_configure(self->dev, file));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(2 * MSEC, a.count);
	id = a.id;
	ASSERT_EQ(0, dev_start(self->dev, id));
	EXPECT_TRUE(wait_committed(self->dev, 20));
	END_LOG(self->dev, file, &log, 0);
	periods_look(&log, id, &p);
	EXPECT_EQ(0, p.records);
	EXPECT_FALSE(flags_of(&log, id, &rate) & HWPMC_F_FREQ);
	EXPECT_EQ(2 * MSEC, rate);
}

TEST_F(freq, values)
{
	struct hwpmc_allocate a = faults_at(0);
	uint64_t rate = 1;

	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(4000, a.count);
	ASSERT_EQ(0, dev_setcount(self->dev, a.id, &rate));
	EXPECT_EQ(1, rate);
	rate = 1000000;
	ASSERT_EQ(0, dev_setcount(self->dev, a.id, &rate));
	EXPECT_EQ(50000, rate);
	rate = 0;
	EXPECT_EQ(-EINVAL, dev_setcount(self->dev, a.id, &rate));
	a = faults_at(INT64_MAX);
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(50000, a.count);
	a = faults_at((uint64_t)INT64_MAX + 1);
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
	a = pmc_clock(1);
	a.flags |= HWPMC_F_FREQ;
	a.count = INT64_MAX;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(20000, a.count);
	a = pmc_process_counter(FAULTS, HWPMC_F_FREQ);
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
}

TEST_HARNESS_MAIN
