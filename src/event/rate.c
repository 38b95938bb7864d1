// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many samples a PMC should have had.
 *
 * The period may change while a PMC does not run, so each part of the count is divided
 * by the period that it had.
 *
 * Under owner->mutex; of a CPU also in the hotplug work, under owner->cpus_mutex alone,
 * which PMCSETCOUNT and a budget hold as well.
 */
#include <linux/math64.h>

#include "pmc/pmc.h"

/*
 * The number of samples that the period in force asks for, since it was set.  The count
 * of a clock event stands still while perf throttles it, so its running time is used.
 * If modes are excluded, or perf chooses the period, the number is not known (0).
 * Neither is it if each thread begins to count its periods at 0: a thread that ends
 * before the first has no sample.
 */
static u64 expected_since(const struct hwpmc_pmc *pmc,
			  const struct count_sum *since,
			  const struct count_sum *now)
{
	const struct perf_event_attr *a = &pmc->attr;

	if (!pmc_is_sampling(pmc) || pmc->flags & HWPMC_F_FREQ)
		return 0;
	if (!pmc_is_system(pmc) && attr_is_exact(&pmc->attr))
		return 0;
	if (!attr_is_clock(a))
		return div64_u64(now->value - since->value, pmc->period);
	if (a->exclude_user || a->exclude_kernel || a->exclude_idle)
		return 0;
	return div64_u64(now->running - since->running, pmc->period);
}

/* hwpmc_rate_read - the count of @pmc's events that @r describes is now @now */
void hwpmc_rate_read(const struct hwpmc_pmc *pmc, struct rate_expected *r,
		     const struct count_sum *now)
{
	WRITE_ONCE(r->expected, r->before + expected_since(pmc, &r->since, now));
}

/* hwpmc_rate_set_sum - the sum of all events of @pmc is now @sum */
void hwpmc_rate_set_sum(struct hwpmc_pmc *pmc, const struct count_sum *sum)
{
	sum_set(&pmc->sum, sum);
	if (!pmc_is_system(pmc))
		hwpmc_rate_read(pmc, &pmc->rate, sum);
}

static void period_ends(struct rate_expected *r, const struct count_sum *now)
{
	r->before = r->expected;
	r->since = *now;
}

/* hwpmc_rate_period_ends - what is counted from now on may have another period */
void hwpmc_rate_period_ends(struct hwpmc_pmc *pmc)
{
	struct pmc_cpu *pc;
	unsigned int cpu;

	if (!pmc_is_system(pmc)) {
		period_ends(&pmc->rate, &pmc->sum);
		return;
	}
	for_each_pmc_cpu(pmc, cpu, pc) {
		struct count_sum now = {
			.value = pc->total,
			.enabled = pc->enabled,
			.running = pc->running,
		};

		period_ends(&pc->rate, &now);
	}
}
