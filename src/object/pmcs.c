// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the log needs of a PMC: its description, and its end.
 *
 * The writer thread calls this, too.  The PMCs' life is in pmc.c, which is above the log.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hwpmc.h"
#include "pmc/pmc.h"

/* Describes a PMC for the log; leaves out the record header. */
void hwpmc_pmc_describe(const struct hwpmc_pmc *pmc,
			struct pmclog_pmcallocatedyn *a)
{
	a->pmcid = pmc->id;
	a->event = 0x20000 + pmc->row;
	a->flags = pmc->flags;
	strscpy(a->name, pmc->name, sizeof(a->name));
	a->rate = pmc_is_sampling(pmc) ? READ_ONCE(pmc->period) : 0;
	a->config = pmc->attr.config;
	a->type = pmc->attr.type;
	a->cpu = pmc->cpu;
}

/*
 * A PMC is charged for each CPU: it has an event there, or per-CPU overflow
 * counters.
 */
static u64 cpu_counters(const struct hwpmc_owner *o, u32 mode, int cpu)
{
	if (mode == HWPMC_MODE_TC)
		return 0;
	return cpu < 0 ? cpumask_weight(owner_cpus(o)) : 1;
}

int hwpmc_pmc_charge(struct hwpmc_owner *o, u32 mode, int cpu)
{
	int err = hwpmc_limit_charge(o, LIMIT_PMCS, 1);

	if (err)
		return err;
	err = hwpmc_limit_charge(o, LIMIT_COUNTERS, cpu_counters(o, mode, cpu));
	if (err)
		hwpmc_limit_release(o, LIMIT_PMCS, 1);
	return err;
}

void hwpmc_pmc_uncharge(struct hwpmc_owner *o, u32 mode, int cpu)
{
	hwpmc_limit_release(o, LIMIT_COUNTERS, cpu_counters(o, mode, cpu));
	hwpmc_limit_release(o, LIMIT_PMCS, 1);
}

/* A PMC that is in no array any more, or not yet. */
void hwpmc_pmc_free(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kfree(pmc->cpus[cpu]);
	hwpmc_filter_free(pmc);
	hwpmc_pmc_uncharge(pmc->owner, pmc->mode, pmc->cpu);
	kfree(pmc);
}

/*
 * hwpmc_pmc_fold - add the counters of a released PMC to its owner's and free
 * it
 * @wait: for statistics that are being read
 *
 * Called by the writer thread, or under owner->mutex if there is none.  The
 * PMC has no events any more, and an RCU grace period has passed since the last
 * one.  Returns false if it would have had to wait.
 */
bool hwpmc_pmc_fold(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool wait)
{
	struct pmclog_account sum = {};
	struct pmc_count count;
	unsigned int cpu;

	/* final by now, so read before the mutex: the caller may be one that gets no CPU */
	for_each_possible_cpu(cpu) {
		if (!pmc->cpus[cpu])
			continue;
		hwpmc_stats_read_count(&count, &pmc->cpus[cpu]->stat);
		hwpmc_stats_add_count(&sum, &count);
	}
	if (wait)
		mutex_lock(&o->fold_mutex);
	else if (!mutex_trylock(&o->fold_mutex))
		return false;
	hwpmc_stats_add_account(&o->log.acct.retired, &sum);
	smp_store_release(&o->pmcs.at[pmc->row], NULL);
	hwpmc_rows_put(pmc->cpu, pmc->row);
	mutex_unlock(&o->fold_mutex);
	hwpmc_pmc_free(pmc);
	return true;
}
