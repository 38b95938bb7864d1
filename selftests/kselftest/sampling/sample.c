// SPDX-License-Identifier: GPL-2.0-only
/*
 * What people use: sample the whole machine, count on the whole machine.
 */
#include <sched.h>

#include "recorder.h"
#include "test.h"

/* A slow machine that is busy would take samples and do nothing else. */
#define HZ	scaled(1000, 200)

/* A user- and a kernel-heavy load on each of the first two CPUs. */
struct loads {
	int cpu[2];
	pid_t user[2];
	pid_t kernel[2];
};

static bool loads_begin(struct loads *l)
{
	unsigned int i;

	if (online_cpus(l->cpu, 2) < 2)
		return false;
	for (i = 0; i < 2; i++) {
		l->user[i] = load_user(l->cpu[i]);
		l->kernel[i] = load_kernel(l->cpu[i]);
	}
	return true;
}

static void loads_end(struct loads *l)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		load_end(l->user[i]);
		load_end(l->kernel[i]);
	}
}

/* What a sample log says of the loads. */
struct tally {
	uint64_t of[2][2];	/* by CPU; user, kernel load */
	uint64_t wrong_cpu;
	uint64_t user_load_in_user;
	uint64_t kernel_load_in_kernel;
	uint64_t kernel_then_user;	/* frames of both in one chain */
	uint64_t recorder;
};

static void tally_sample(struct tally *t, const struct loads *l,
			 const struct sample *s)
{
	bool both = addr_is_kernel(s->pc[0]) && !addr_is_kernel(s->pc[s->npc - 1]);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (s->pid == l->user[i]) {
			t->of[i][0]++;
			t->user_load_in_user += s->user;
		} else if (s->pid == l->kernel[i]) {
			t->of[i][1]++;
			t->kernel_load_in_kernel += !s->user;
			t->kernel_then_user += both;
		} else {
			continue;
		}
		t->wrong_cpu += s->cpu != l->cpu[i];
	}
}

static void tally(struct tally *t, const struct loads *l, struct log *log,
		  pid_t recorder)
{
	struct sample s;

	memset(t, 0, sizeof(*t));
	LOG_FOR_EACH_SAMPLE(log, s) {
		tally_sample(t, l, &s);
		t->recorder += s.tid == recorder || s.pid == recorder;
	}
}

/* RATE records: what was achieved is what became of the overflows. */
static uint64_t achieved(struct log *log)
{
	struct pmclog_rec rec;
	uint64_t sum = 0;

	LOG_FOR_EACH(log, rec)
		if (IS_EXT(&rec, RATE))
			sum += REC64(&rec, ext_rate, achieved);
	return sum;
}

static void record(META, struct hwpmc_allocate a, uint64_t at_least)
{
	uint64_t of_user, of_kernel;
	int dev = dev_open(), file = temp_file();
	struct hwpmc_driverstats st;
	unsigned int i;
	struct tally t;
	struct loads l;
	struct log log;
	pid_t recorder;

	ASSERT_TRUE(loads_begin(&l));
	ASSERT_EQ(0, dev_configure(dev, file));
	recorder = recorder_pid();
	EXPECT_LT(0, recorder);
	ASSERT_EQ(0, dev_run(dev, a, NULL));
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(wait_samples(dev, file, at_least,
					 .cpus = 1ULL << l.cpu[i]));
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	loads_end(&l);
	LOAD_LOG(&log, file, 0);
	TH_LOG("%llu samples (user %llu, kernel %llu), deepest %u, cut %llu, %zu bytes",
	       (unsigned long long)log.samples, (unsigned long long)log.user,
	       (unsigned long long)log.kernel, log.deepest,
	       (unsigned long long)log.account.cut, log.len);

	tally(&t, &l, &log, recorder);
	EXPECT_EQ(0, t.recorder);
	EXPECT_EQ(0, t.wrong_cpu);
	for (i = 0; i < 2; i++) {
		EXPECT_LE(at_least, log.cpu_samples[l.cpu[i]]);
		EXPECT_LE(at_least / 8, t.of[i][0]);
		EXPECT_LE(at_least / 8, t.of[i][1]);
	}
	/*
	 * A load in user mode is seen in user mode, and the other way round; but
	 * for interrupts, which are both's, and on a slow machine most of it.
	 */
	of_user = t.of[0][0] + t.of[1][0];
	of_kernel = t.of[0][1] + t.of[1][1];
	EXPECT_LT(of_user, 10 * t.user_load_in_user);
	EXPECT_LT(of_kernel, 3 * t.kernel_load_in_kernel);
	EXPECT_LT(4 * of_user * (of_kernel - t.kernel_load_in_kernel),
		  3 * of_kernel * t.user_load_in_user);
	EXPECT_LT(9 * t.kernel_load_in_kernel, 10 * t.kernel_then_user);
	EXPECT_LT(3, log.deepest);
	EXPECT_GE(module_param("callchaindepth"), log.deepest);
	EXPECT_EQ(getpid(), log.owner_pid);

	EXPECT_EQ(log.account.overflows, achieved(&log));
	EXPECT_EQ(log.account.overflows, st.account.overflows);
	EXPECT_EQ(log.account.committed, st.intr_processed);
	EXPECT_EQ(log.samples, st.account.written);
	EXPECT_EQ(log.len, st.bytes_written);
	EXPECT_EQ(log.records, st.records_written);
	EXPECT_EQ(0, st.log_errno);
	EXPECT_EQ(0, st.account.in_rings);
	log_free(&log);
}

TEST(cpu_clock)
{
	record(_metadata, pmc_clock(HZ), scaled(1500, 100));
}

TEST(cycles)
{
	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	record(_metadata, pmc_sampler(CYCLES, CYCLES_PERIOD),
	       scaled(500, 50));
}

/*
 * As people record, for some seconds: pmcstat's default rate, or where there are cycles,
 * fewer (CYCLES_PERIOD).  Samples may be lost; scripts/matrix reads how many were.
 */
TEST(losses)
{
	struct hwpmc_allocate a = pmc_clock(scaled(4000, 200));
	int dev = dev_open(), file = temp_file();
	struct loads l;
	struct log log;

	if (perf_has(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
		a = pmc_sampler(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				CYCLES_PERIOD);
	ASSERT_TRUE(loads_begin(&l));
	BEGIN_LOG(dev, file, a, NULL);
	sleep_ms(5000);
	ASSERT_EQ(0, dev_closelog(dev));
	loads_end(&l);
	LOAD_LOG(&log, file, LOG_DROPS);
	TH_LOG("%llu samples, %llu lost", (unsigned long long)log.samples,
	       (unsigned long long)log_dropped(&log));
	EXPECT_LT(0, log.samples);
	EXPECT_EQ(log.account.overflows - log.account.filtered,
		  log.samples + log_dropped(&log));
	close(dev);
}

/* One CPU's PMC samples that CPU only; without chains a sample is one pc. */
TEST(one_cpu_no_chain)
{
	struct hwpmc_allocate a = pmc_clock(HZ);
	int dev = dev_open(), file = temp_file();
	struct loads l;
	struct log log;

	ASSERT_TRUE(loads_begin(&l));
	a.cpu = l.cpu[1];
	a.flags = 0;
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	EXPECT_EQ(HWPMC_ID(l.cpu[1], HWPMC_MODE_SS, HWPMC_CLASS_SOFT, 0), a.id);
	ASSERT_EQ(0, dev_start(dev, a.id));
	EXPECT_TRUE(wait_committed(dev, 500));
	ASSERT_EQ(0, dev_closelog(dev));
	loads_end(&l);
	LOAD_LOG(&log, file, 0);
	EXPECT_EQ(1, log.deepest);
	EXPECT_LT(100, log.cpu_samples[l.cpu[1]]);
	EXPECT_EQ(log.samples, log.cpu_samples[l.cpu[1]]);
	EXPECT_LT(0, log.user);
	EXPECT_LT(0, log.kernel);
}

/* USER and SYSTEM choose the mode that is sampled. */
TEST(user_or_system)
{
	static const uint32_t caps[2] = { HWPMC_CAP_USER, HWPMC_CAP_SYSTEM };
	struct loads l;
	struct log log;
	int i;

	ASSERT_TRUE(loads_begin(&l));
	for (i = 0; i < 2; i++) {
		struct hwpmc_allocate a = pmc_clock(HZ);
		int dev = dev_open(), file = temp_file();

		a.caps = caps[i];
		BEGIN_LOG(dev, file, a, NULL);
		EXPECT_TRUE(wait_committed(dev, 100));
		END_LOG(dev, file, &log, 0);
		EXPECT_LT(20, log.samples);
		EXPECT_EQ(log.samples, i ? log.kernel : log.user);
		close(dev);
	}
	loads_end(&l);
}

TEST(exclude_idle)
{
	struct hwpmc_allocate a = pmc_clock(HZ);
	int dev = dev_open(), file = temp_file();
	pid_t busy = load_user(0);
	struct log log;

	ASSERT_EQ(0, dev_configure(dev, file));
	a.flags |= HWPMC_F_EXCLUDE_IDLE;
	ASSERT_EQ(0, dev_run(dev, a, &a.id));
	EXPECT_TRUE(wait_committed(dev, 400));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(busy);
	LOAD_LOG(&log, file, 0);
	EXPECT_LT(100, log.samples);
	EXPECT_EQ(0, LOG_COUNT(&log, CALLCHAIN, callchain, tid, 0));
}

__attribute__((noinline, optimize("no-omit-frame-pointer",
				  "no-optimize-sibling-calls")))
static unsigned int descend(unsigned int depth)
{
	volatile unsigned int i;

	if (depth)
		return descend(depth - 1) + depth;
	for (i = 0; i < 100000; i++)
		;
	return i;
}

/* Deeper than the limit: cut there, and counted. */
TEST(depth)
{
	unsigned int limit = module_param("callchaindepth"), at_limit = 0, n = 0;
	int dev = dev_open(), file = temp_file();
	struct sample s;
	struct log log;
	pid_t pid;

	pid = fork_bound();
	if (!pid)
		for (;;)
			descend(limit + 50);
	BEGIN_LOG(dev, file, pmc_clock(HZ), NULL);
	/* one of two CPUs is its */
	EXPECT_TRUE(wait_committed(dev, 1000));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(&log, file, 0);
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if (s.pid != pid || !s.user)
			continue;
		n++;
		at_limit += s.npc == limit;
	}
	EXPECT_EQ(limit, log.deepest);
	EXPECT_LT(50, n);
	EXPECT_LT(n * 8, at_limit * 10);
	/* but for a chain that ends just there */
	EXPECT_LE(at_limit * 49 / 50, log.account.cut);
}

/* A period below the minimum is raised, and that is told. */
TEST(minimum_period)
{
	int dev = dev_open(), file = temp_file();
	struct hwpmc_allocate a = pmc_clock(HZ);
	uint64_t count = 1, least, first = 0, told = 0, turns;
	int cpus[LOG_MAX_CPU];
	struct pmclog_rec rec;
	struct log log;

	ASSERT_EQ(0, dev_configure(dev, file));
	a.count = 1;
	strcpy(a.name, "as-it-is-called");
	ASSERT_EQ(0, dev_allocate(dev, &a));
	EXPECT_LE(10000, a.count);
	/* the log has it as it is now */
	ASSERT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, dev_setcount(dev, a.id, &count));
	EXPECT_EQ(a.count, count);
	least = count;
	count = 50 * MSEC;
	ASSERT_EQ(0, dev_setcount(dev, a.id, &count));
	EXPECT_EQ(50 * MSEC, count);
	turns = now_ns();
	ASSERT_EQ(0, dev_start(dev, a.id));
	EXPECT_TRUE(wait_committed(dev, 40));
	ASSERT_EQ(0, dev_closelog(dev));
	turns = (now_ns() - turns) / count + 1;
	LOAD_LOG(&log, file, 0);
	LOG_FOR_EACH(&log, rec) {
		if (rec.type != PMCLOG_T_PMCALLOCATEDYN)
			continue;
		told = REC64(&rec, pmcallocatedyn, rate);
		first = first ?: told;
		EXPECT_STREQ("as-it-is-called",
			     REC_TEXT(&rec, pmcallocatedyn, name));
	}
	/* as it was allocated, and as it was changed */
	EXPECT_EQ(least, first);
	EXPECT_EQ(50 * MSEC, told);
	/* 20 Hz on each CPU, no more; what an emulated one sleeps through is lost */
	EXPECT_LE(40, log.samples);
	EXPECT_GE(online_cpus(cpus, LOG_MAX_CPU) * turns, log.samples);
	a = pmc_clock(HZ);
	a.count = 0;
	ASSERT_EQ(0, dev_allocate(dev, &a));
	EXPECT_EQ(65536, a.count);
	a = pmc_sampler(FAULTS, 1);
	ASSERT_EQ(0, dev_allocate(dev, &a));
	EXPECT_EQ(1, a.count);
}

TEST_HARNESS_MAIN
