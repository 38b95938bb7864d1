// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps the processes, threads and executable mappings that exist already.
 *
 * Called only by the writer thread, and only for owners whose hooks are in place:
 * a change before a process is read is in the rings with an earlier stamp, a
 * change after it with a later one.
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "dump.h"
#include "emit.h"
#include "hwpmc.h"
#include "process_list.h"
#include "sample/record.h"
#include "target/target.h"

#define LISTS_MAX	16	/* of processes, for those that are created meanwhile */

/*
 * Dumps the processes in @now that are not in @before, then moves @now to @before.
 * True: there were some.
 */
static bool dump_fresh(struct hwpmc_owner *o, struct dump_batch *b,
		       struct process_list *before, struct process_list *now)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < now->n && !dump_is_over(o); i++) {
		if (hwpmc_process_list_has(before, now->tasks[i]))
			continue;
		hwpmc_dump_batch_add(b, now->tasks[i], NULL);
		any = true;
	}
	hwpmc_dump_batch_tell(b);
	hwpmc_process_list_put(before);
	*before = *now;
	hwpmc_process_list_sort(before);
	return any;
}

/*
 * In the log, the child of a process that is not dumped yet has no mappings.  So
 * the list is made again until it has no new process, LISTS_MAX times at most.
 */
static void dump_processes(struct hwpmc_owner *o)
{
	struct dump_batch *b = hwpmc_dump_batch_new(o, false);
	struct process_list before = {}, now;
	bool any = true;
	int lists;

	if (!b) {
		hwpmc_dump_failed(o);
		return;
	}
	o->log.tee.to = o->log.tee.on;
	hwpmc_emit_names(o, 0, 0, "swapper", o->log.told.last_tsc);
	o->log.tee.to = false;
	for (lists = 0; any && lists < LISTS_MAX && !dump_is_over(o); lists++) {
		if (!hwpmc_process_list_get(&now)) {
			pr_warn_ratelimited("no memory to dump the processes\n");
			hwpmc_dump_failed(o);
			break;
		}
		any = dump_fresh(o, b, &before, &now);
	}
	/* processes were created up to the last list: their children may have no mappings */
	if (any && !dump_is_over(o))
		hwpmc_dump_count_loss(o);
	hwpmc_process_list_put(&before);
	hwpmc_dump_batch_free(b);
}

/* Dumps everything that belongs into the log, even if it was dumped before. */
void hwpmc_dump_all(struct hwpmc_owner *o)
{
	bool all = READ_ONCE(o->hooks.follow_all);

	if (all) {
		dump_processes(o);
		/* stays true at the end of the log, when the owner follows nothing any more */
		o->log.told.all = true;
	}
	hwpmc_dump_targets(o, all ? U64_MAX : 0);
}

/* Dumps the processes and targets that are not in this log yet. */
void hwpmc_dump_news(struct hwpmc_owner *o)
{
	if (READ_ONCE(o->hooks.follow_all) && !o->log.told.all)
		hwpmc_dump_all(o);
	else
		hwpmc_dump_targets(o, U64_MAX);
}

/*
 * hwpmc_dump_young - log the processes that were created since @since
 *
 * Records of other processes were lost since then, and these processes were
 * dumped again.  In the log, a child that one of them created in between has
 * only the mappings that its parent had there.
 * @since: CLOCK_MONOTONIC
 */
void hwpmc_dump_young(struct hwpmc_owner *o, u64 since)
{
	struct process_list all;
	struct dump_batch *b;
	unsigned int i;

	if (!READ_ONCE(o->hooks.follow_all)) {
		hwpmc_dump_targets(o, since);
		return;
	}
	if (!hwpmc_process_list_get(&all)) {
		hwpmc_dump_failed(o);
		return;
	}
	b = hwpmc_dump_batch_new(o, false);
	for (i = 0; b && i < all.n && !dump_is_over(o); i++) {
		if (all.tasks[i]->start_time >= since)
			hwpmc_dump_batch_add(b, all.tasks[i], NULL);
		cond_resched();
	}
	hwpmc_process_list_put(&all);
	if (!b) {
		hwpmc_dump_failed(o);
		return;
	}
	hwpmc_dump_batch_tell(b);
	hwpmc_dump_batch_free(b);
}
