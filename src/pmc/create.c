// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a PMC: created when it is allocated, released with it.
 *
 * Under owner->mutex.
 */
#include <linux/err.h>
#include <linux/rcupdate.h>

#include "hwpmc.h"
#include "pmc.h"
#include "sample/sample.h"
#include "target/hooks.h"
#include "target/target.h"
#include "unwind/unwind.h"

/* The events on CPUs; those in targets are hwpmc_targets_release()'s. */
void hwpmc_create_undo_cpus(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu])
			hwpmc_event_release(pmc->cpus[cpu]);
}

/* hwpmc_event_drops_wait() and synchronize_rcu() must follow. */
void hwpmc_create_undo(struct hwpmc_pmc *pmc)
{
	if (!pmc_is_system(pmc))
		hwpmc_targets_release(pmc);
	hwpmc_create_undo_cpus(pmc);
}

/* Checks now, not at the first attach, that the event can be created. */
static int try_event(struct hwpmc_pmc *pmc)
{
	struct perf_event *event =
		hwpmc_event_new(pmc, -1, current, pmc, hwpmc_overflow_thread);

	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return pmc_is_sampling(pmc) ? hwpmc_event_add_cpus(pmc) : 0;
}

/* The owner's first PMC that needs an unwinder begins it; it stays. */
static int begin_unwinder(struct hwpmc_owner *o)
{
	struct unwinder *u;
	int err;

	if (o->unwinder)
		return 0;
	u = hwpmc_unwind_new(o);
	if (IS_ERR(u))
		return PTR_ERR(u);
	/* an unwinder needs to know of mappings */
	err = hwpmc_hooks_hold(o, BIT(HOOK_MAPS));
	if (err)
		hwpmc_unwind_put(u);
	else
		hwpmc_unwind_begin(o, u);
	return err;
}

static int create_once(struct hwpmc_pmc *pmc)
{
	int err;

	if (!pmc_is_system(pmc))
		err = try_event(pmc);
	else
		err = hwpmc_event_create_cpus(pmc);
	/* last, because it stays; no handler runs before the PMC does */
	if (!err && (pmc->flags & HWPMC_F_UNWIND))
		err = begin_unwinder(pmc->owner);
	if (err) {
		hwpmc_create_undo(pmc);
		hwpmc_event_drops_wait(pmc);
		synchronize_rcu();
	}
	return err;
}

/*
 * hwpmc_create_events - create the events of a new PMC
 *
 * A precise one is as precise as its PMU can have it.  All its events are the same.
 */
int hwpmc_create_events(struct hwpmc_pmc *pmc)
{
	int err;

	do {
		err = create_once(pmc);
	} while (err && hwpmc_source_less_precise(&pmc->attr, err));
	return err;
}
