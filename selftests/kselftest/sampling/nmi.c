// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers that interrupt: counters' overflow interrupts, taken as NMIs where
 * the machine can do that, over timers' over what processes do.
 */
#include <limits.h>

#include "rate.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

/* Interrupts are off below this function, in any context. */
#define IRQ_OFF_FUNCTION	"hrtimer_interrupt"

struct pmc_tally {
	uint32_t id;
	unsigned int samples;
	unsigned int irq_off;
};

static bool is_irq_off(const struct symbols *kernel, const struct sample *s)
{
	unsigned int i;

	for (i = 0; i < s->npc && addr_is_kernel(s->pc[i]); i++)
		if (!strcmp(IRQ_OFF_FUNCTION,
			    symbols_name(kernel, s->pc[i] - !!i)))
			return true;
	return false;
}

/* Counts until there are more than @samples of each, @irq_off of the last one. */
static bool tally(struct log *log, const struct symbols *kernel,
		  struct pmc_tally *t, unsigned int n, unsigned int samples,
		  unsigned int irq_off)
{
	unsigned int k, few;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s) {
		for (k = few = 0; k < n; k++) {
			if (t[k].id == s.pmcid) {
				t[k].samples++;
				t[k].irq_off += is_irq_off(kernel, &s);
			}
			few += t[k].samples <= samples;
		}
		if (!few && t[n - 1].irq_off >= irq_off)
			return true;
	}
	return false;
}

/* What is asked of a log below, and in how many samples. */
struct nmi_wanted {
	const struct symbols	*kernel;
	const struct pmc_tally	*pmcs;		/* their ids */
	unsigned int		n;		/* 2 at most */
	unsigned int		samples;	/* each */
	unsigned int		irq_off;	/* the last one */
};

/* No more than it needs: while this looks, the log grows. */
static bool has_tally(struct log *log, void *arg)
{
	const struct nmi_wanted *w = arg;
	struct pmc_tally t[2];

	memcpy(t, w->pmcs, w->n * sizeof(t[0]));
	return tally(log, w->kernel, t, w->n, w->samples, w->irq_off);
}

/*
 * A timer's interrupt is itself sampled by counters if their interrupt is not
 * masked there.  The timer of another PMC keeps it busy.
 */
TEST(interrupts_off)
{
	struct symbols *kernel = symbols_kernel();
	unsigned int hz = affordable_hz(2000);
	pid_t loads[2] = { load_kernel(0), load_kernel(1) };
	struct pmc_tally t[2] = {};
	struct nmi_wanted wanted = {
		.kernel = kernel,
		.pmcs = t,
		.n = perf_has(CYCLES) ? 2 : 1,
		.samples = 100,
		.irq_off = overflows_are_nmis() ? 4 : 0,
	};
	int dev = dev_open(), file = temp_file();
	struct log log;
	int i;

	ASSERT_NE(NULL, kernel);
	BEGIN_LOG(dev, file, pmc_clock(hz), &t[0].id);
	if (perf_has(CYCLES))
		ASSERT_EQ(0, dev_run(dev, pmc_sampler(CYCLES, CYCLES_PERIOD),
				     &t[1].id));
	sleep_ms(2000);
	EXPECT_TRUE(wait_log(dev, file, has_tally, &wanted));
	ASSERT_EQ(0, dev_closelog(dev));
	for (i = 0; i < 2; i++)
		load_end(loads[i]);
	LOAD_LOG(&log, file, LOG_DROPS);
	tally(&log, kernel, t, 2, UINT_MAX, 0);
	TH_LOG("asked for %u Hz; cpu-clock: %u samples, %u with interrupts off; cycles: %u, %u",
	       hz, t[0].samples, t[0].irq_off, t[1].samples, t[1].irq_off);
	/* the timer cannot interrupt itself: the criterion is sound */
	EXPECT_LT(100, t[0].samples);
	EXPECT_EQ(0, t[0].irq_off);
	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	EXPECT_LT(100, t[1].samples);
	if (!overflows_are_nmis()) {
		EXPECT_EQ(0, t[1].irq_off);
		SKIP(return, "overflow interrupts are ordinary ones here");
	}
	EXPECT_LT(3, t[1].irq_off);
}

static bool is_everywhere(struct log *log, void *unused)
{
	unsigned int n[2][2] = {}, i;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s)
		if (s.cpu < 2)
			n[s.cpu][s.user]++;
	for (i = 0; i < 2; i++)
		if (n[i][false] < 30 || n[i][true] < 30)
			return false;
	return true;
}

/* Overflow interrupts come from both CPUs, from user and kernel mode. */
TEST(cycles_everywhere)
{
	pid_t loads[4] = {
		load_user(0), load_user(1), load_kernel(0), load_kernel(1),
	};
	int dev = dev_open(), file = temp_file();
	struct log log;
	uint32_t id;
	int i;

	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_run(dev, pmc_sampler(CYCLES, CYCLES_PERIOD), &id));
	EXPECT_TRUE(wait_log(dev, file, is_everywhere, NULL));
	ASSERT_EQ(0, dev_closelog(dev));
	for (i = 0; i < 4; i++)
		load_end(loads[i]);
	LOAD_LOG(&log, file, 0);
	EXPECT_TRUE(is_everywhere(&log, NULL));
	EXPECT_EQ(0, log.account.dropped[PMCLOG_DROP_NESTED]);
}

/* Faults and switches without end. */
static void churn(void)
{
	for (;;) {
		fault_pages(64);
		usleep(100);
	}
}

/* All kinds of producers at once, as often as they may. */
#define NPMC	5

TEST(nested_producers)
{
	/* before anything else runs here */
	unsigned int hz = affordable_hz(7000);
	pid_t loads[4] = {
		fork_pinned(0, churn), fork_pinned(1, churn), load_kernel(0), load_kernel(1),
	};
	struct hwpmc_allocate a[NPMC] = {
		pmc_sampler(FAULTS, 1),
		pmc_sampler(SWITCHES, 1),
		pmc_clock(hz),
		pmc_clock(affordable_hz(3000)),
		perf_has(CYCLES) ? pmc_sampler(CYCLES, CYCLES_PERIOD / 5) :
				   pmc_clock(affordable_hz(5000)),
	};
	struct symbols *none = symbols_kernel();
	struct pmc_tally t[NPMC] = {};
	int dev = dev_open(), file = temp_file();
	struct log log;
	unsigned int i;

	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < NPMC; i++)
		ASSERT_EQ(0, dev_run(dev, a[i], &t[i].id));
	sleep_ms(scaled(1500, 5000));
	EXPECT_TRUE(wait_committed(dev, NPMC * 1000));
	ASSERT_EQ(0, dev_closelog(dev));
	for (i = 0; i < 4; i++)
		load_end(loads[i]);
	LOAD_LOG(&log, file, LOG_DROPS | LOG_PROC_DROPS);
	tally(&log, none, t, NPMC, UINT_MAX, 0);
	for (i = 0; i < NPMC; i++) {
		TH_LOG("%x: %u samples", t[i].id, t[i].samples);
		EXPECT_LT(20, t[i].samples);
	}
	EXPECT_EQ(0, log.account.dropped[PMCLOG_DROP_NORING]);
}

TEST_HARNESS_MAIN
