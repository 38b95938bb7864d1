// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counts of PMCs, and the periods of sampling PMCs.
 *
 * Under owner->mutex.
 */
#include <linux/cpumask.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>

#include "hwpmc.h"
#include "pmc.h"
#include "sample/record.h"
#include "target/target.h"

#define DEFAULT_RATE	4000	/* samples a second, as perf record has it */

/* Reads the events and updates pmc->sum. */
void hwpmc_pmc_refresh(struct hwpmc_pmc *pmc)
{
	struct count_sum sum = {};
	unsigned int cpu;

	if (!pmc_is_system(pmc)) {
		hwpmc_targets_read(pmc);
		return;
	}
	for_each_possible_cpu(cpu) {
		struct pmc_cpu *pc = pmc->cpus[cpu];

		if (!pc)
			continue;
		hwpmc_event_read(pc);
		sum.value += pc->total;
		sum.enabled += pc->enabled;
		sum.running += pc->running;
	}
	hwpmc_rate_set_sum(pmc, &sum);
}

void hwpmc_pmc_refresh_all(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_live_pmc(o, row, pmc)
		hwpmc_pmc_refresh(pmc);
}

/*
 * Returns the old value.  The times begin with the new one: a count that is scaled by
 * them must not have the times of another.
 */
static u64 set_value(struct hwpmc_pmc *pmc, u64 value)
{
	hwpmc_pmc_refresh(pmc);
	pmc->zero_before = pmc->zero;
	pmc->zero.origin = value - pmc->sum.value;
	pmc->zero.enabled = pmc->sum.enabled;
	pmc->zero.running = pmc->sum.running;
	return pmc->zero_before.origin + pmc->sum.value;
}

/* @period: or rate, as asked for */
static u64 period_in_force(const struct hwpmc_pmc *pmc, u64 period)
{
	return pmc->flags & HWPMC_F_FREQ ?
		       min(period, hwpmc_param_max_rate()) :
		       max(period, hwpmc_param_min_period(&pmc->attr));
}

/* Returns the period, or rate, in force for @period, which is in force without a budget. */
static u64 period_within_budget(const struct hwpmc_pmc *pmc, u64 period)
{
	return pmc->flags & HWPMC_F_FREQ ? hwpmc_budget_rate(pmc, period) : period;
}

static void set_asked(struct hwpmc_pmc *pmc, u64 count)
{
	pmc->asked = period_in_force(pmc, count);
	if (pmc->flags & HWPMC_F_FREQ)
		hwpmc_budget_expect(pmc, pmc->asked);
	pmc->period = period_within_budget(pmc, pmc->asked);
	pmc->period_logged = pmc->period;
}

/*
 * hwpmc_pmc_fill_period - the period or rate of a new PMC
 * @count: of PMCALLOCATE
 *
 * A clock has the same period at all times, as in perf, unless a budget lowers its
 * rate.
 */
void hwpmc_pmc_fill_period(struct hwpmc_pmc *pmc, u64 count)
{
	if (!(pmc->flags & HWPMC_F_FREQ)) {
		count = count ?: hwpmc_source_default_period(pmc->attr.type);
	} else {
		count = count ?: DEFAULT_RATE;
		if (attr_is_clock(&pmc->attr) && !pmc->owner->budget.ppm) {
			pmc->flags &= ~HWPMC_F_FREQ;
			count = div64_u64(NSEC_PER_SEC, count);
		}
	}
	set_asked(pmc, count);
}

/*
 * Samples taken with the old period may still be in the rings.  The new period
 * is therefore announced through the rings, in time order.
 */
static int announce_period(struct hwpmc_pmc *pmc)
{
	struct pmclog_pmcallocatedyn a = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PMCALLOCATEDYN, sizeof(a)),
	};

	if (!hwpmc_log_active(pmc->owner)) {
		WRITE_ONCE(pmc->period_logged, pmc->period);
		return 0;
	}
	hwpmc_pmc_describe(pmc, &a);
	return hwpmc_log_commit(pmc->owner, &a, sizeof(a));
}

/*
 * hwpmc_pmc_forget_logged - no record of an older period is in the rings
 *
 * The rest of the last log may have had one after the period was set.  owner->mutex; no
 * writer thread.
 */
void hwpmc_pmc_forget_logged(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	lockdep_assert_held(&o->mutex);
	for_each_pmc(o, row, pmc)
		WRITE_ONCE(pmc->period_logged, pmc->period);
}

/* Returns the first error; the other events are set all the same. */
static int set_cpus_period(struct hwpmc_pmc *pmc, u64 period)
{
	unsigned int cpu;
	int err, first = 0;

	for_each_possible_cpu(cpu) {
		struct pmc_cpu *pc = pmc->cpus[cpu];

		if (!pc || !pc->event)
			continue;
		err = hwpmc_event_set_period(pmc, pc->event, period);
		first = first ?: err;
	}
	return first;
}

/*
 * hwpmc_pmc_set_period - see struct hwpmc_pmc's @period
 *
 * If an event refuses it, all have the old one again.
 */
int hwpmc_pmc_set_period(struct hwpmc_pmc *pmc, u64 period)
{
	int err;

	if (!pmc_is_system(pmc))
		return hwpmc_targets_set_period(pmc, period);
	err = set_cpus_period(pmc, period);
	if (err)
		set_cpus_period(pmc, pmc->period);
	else
		WRITE_ONCE(pmc->period, period);
	return err;
}

/* @asked: in force without a budget.  The PMC does not run. */
static int change_period(struct hwpmc_pmc *pmc, u64 asked)
{
	int err;

	hwpmc_pmc_refresh(pmc);
	hwpmc_rate_period_ends(pmc);
	if (pmc->flags & HWPMC_F_FREQ)
		hwpmc_budget_expect(pmc, asked);
	err = hwpmc_pmc_set_period(pmc, period_within_budget(pmc, asked));
	if (err)
		hwpmc_budget_unexpect(pmc);
	else
		pmc->asked = asked;
	return err;
}

/* Undoes the last change_period().  What @old costs is known: it is not expected. */
static void restore_period(struct hwpmc_pmc *pmc, u64 old)
{
	const u64 refused = pmc->asked;

	hwpmc_pmc_refresh(pmc);
	hwpmc_rate_period_ends(pmc);
	pmc->asked = old;	/* the rates of the budget follow from it */
	hwpmc_budget_unexpect(pmc);
	if (hwpmc_pmc_set_period(pmc, period_within_budget(pmc, old)))
		pmc->asked = refused;
}

/* @old: out: the value before */
int hwpmc_pmc_setcount(struct hwpmc_owner *o, struct hwpmc_setcount *a,
		       u64 *old)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, a->id);
	int err;

	if (a->reserved)
		return -EINVAL;
	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (pmc->state == PMC_RUNNING)
		return -EBUSY;
	if (!pmc_is_sampling(pmc)) {
		*old = set_value(pmc, a->count);
		return 0;
	}
	if (!a->count || a->count > S64_MAX)
		return -EINVAL;
	a->count = period_in_force(pmc, a->count);
	*old = pmc->asked;
	err = change_period(pmc, a->count);
	if (err)
		return err;
	err = announce_period(pmc);
	if (err)
		restore_period(pmc, *old);
	return err;
}

/*
 * hwpmc_pmc_setcount_undo - PMCSETCOUNT could not return its result: the old
 * value again
 *
 * The log has the new period already.  If it has no room for the old one, that
 * record is counted as lost.
 */
void hwpmc_pmc_setcount_undo(struct hwpmc_owner *o, u32 id, u64 old)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, id);

	if (WARN_ON_ONCE(IS_ERR(pmc)))
		return;		/* owner->mutex was held since the change */
	if (!pmc_is_sampling(pmc)) {
		pmc->zero = pmc->zero_before;
		return;
	}
	restore_period(pmc, old);
	if (!announce_period(pmc))
		return;
	hwpmc_record_untold(o);
}

/* The other CPUs are not interrupted. */
static int read_one_cpu(const struct hwpmc_pmc *pmc, struct hwpmc_rw *a)
{
	struct pmc_cpu *pc;

	if (a->cpu < 0 || a->cpu >= (int)nr_cpu_ids || !pmc_is_system(pmc))
		return -EINVAL;
	pc = pmc->cpus[array_index_nospec(a->cpu, nr_cpu_ids)];
	if (!pc)
		return cpu_possible(a->cpu) && !cpu_online(a->cpu) ? -ENXIO :
								     -EINVAL;
	hwpmc_event_read(pc);
	a->value = pc->total;
	a->enabled = pc->enabled;
	a->running = pc->running;
	return 0;
}

static void read_sum(struct hwpmc_pmc *pmc, struct hwpmc_rw *a)
{
	hwpmc_pmc_refresh(pmc);
	a->value = pmc->zero.origin + pmc->sum.value;
	a->enabled = pmc->sum.enabled - pmc->zero.enabled;
	a->running = pmc->sum.running - pmc->zero.running;
}

int hwpmc_pmc_rw(struct hwpmc_owner *o, struct hwpmc_rw *a)
{
	struct hwpmc_pmc *pmc;
	u64 new = a->value;
	int err = 0;

	if (a->reserved || !a->flags ||
	    (a->flags & ~(HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE)))
		return -EINVAL;
	pmc = hwpmc_pmc_find(o, a->id);
	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (a->flags & HWPMC_F_NEWVALUE) {
		if (a->cpu != HWPMC_CPU_ALL)
			return -EINVAL;
		if (pmc->state == PMC_RUNNING)
			return -EBUSY;
	}
	if (pmc->cpu >= 0 && !cpu_online(pmc->cpu))
		return -ENXIO;
	/* the only CPU of a PMC has all of its value */
	if (a->cpu == HWPMC_CPU_ALL || (a->cpu >= 0 && a->cpu == pmc->cpu))
		read_sum(pmc, a);
	else
		err = read_one_cpu(pmc, a);
	if (!err && (a->flags & HWPMC_F_NEWVALUE))
		set_value(pmc, new);
	return err;
}

/* PMCRW could not return its result: the old value again.  Cannot fail. */
void hwpmc_pmc_rw_undo(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, id);

	if (!WARN_ON_ONCE(IS_ERR(pmc)))
		pmc->zero = pmc->zero_before;
}
