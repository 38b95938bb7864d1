// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the log needs of targets: the table of them, and whether they have lost their
 * events.  Their life is in target.c, which is above the log.
 */
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>

#include "compat.h"
#include "hwpmc.h"
#include "target/target.h"

/*
 * By thread group: a key has one entry, which lists the targets of all owners.
 * Lookups take no lock.  Writers are in process context.  The table's own
 * worker resizes it.
 */
static struct rhltable targets;

static const struct rhashtable_params by_process = {
	.key_len = sizeof(struct pid *),
	.key_offset = offsetof(struct hwpmc_target, pid),
	.head_offset = offsetof(struct hwpmc_target, hash),
	.automatic_shrinking = true,
};

int hwpmc_targets_init(void)
{
	return rhltable_init(&targets, &by_process);
}

/* No target is left. */
void hwpmc_targets_exit(void)
{
	rhltable_destroy(&targets);
}

/* Lookups find @t from here on.  -ENOMEM and the like. */
int hwpmc_targets_insert(struct hwpmc_target *t)
{
	return rhltable_insert(&targets, &t->hash, by_process);
}

void hwpmc_targets_remove(struct hwpmc_target *t)
{
	rhltable_remove(&targets, &t->hash, by_process);
}

/*
 * hwpmc_targets_find_rcu - the targets of all owners for process @pid, or NULL
 *
 * For for_each_target_rcu().  RCU read section; not with a lock that interrupts take.
 */
struct rhlist_head *hwpmc_targets_find_rcu(const struct pid *pid)
{
	/*
	 * Owners that record the whole system have none.  An insertion that has
	 * returned is seen here whenever its entry would be.
	 */
	if (!atomic_read(&targets.ht.nelems))
		return NULL;
	return rhltable_lookup(&targets, &pid, by_process);
}

/* @o's target in the result of hwpmc_targets_find_rcu().  RCU read section. */
struct hwpmc_target *hwpmc_target_among_rcu(struct rhlist_head *list,
					    const struct hwpmc_owner *o)
{
	struct hwpmc_target *t;
	struct rhlist_head *pos;

	for_each_target_rcu(t, pos, list)
		if (t->owner == o)
			return t;
	return NULL;
}

/* RCU read section; not with a lock that interrupts take. */
struct hwpmc_target *hwpmc_target_find_rcu(const struct hwpmc_owner *o,
					   const struct pid *pid)
{
	return hwpmc_target_among_rcu(hwpmc_targets_find_rcu(pid), o);
}

/*
 * perf removes all counters, of any owner, from a task that execs a set-id program
 * or one that it may not read.  A PMU that is removed takes only its own counters.
 * Under targets_mutex.
 */
bool hwpmc_targets_thread_lost(const struct target_thread *tt)
{
	const struct thread_event *te;

	list_for_each_entry(te, &tt->events, node)
		if (compat_event_is_gone(te->event) &&
		    !hwpmc_event_lost_pmu(te->link->pmc, te->event))
			return true;
	return false;
}

/*
 * hwpmc_targets_lost_events - is @t about to be detached, because of its exec, or
 * because none of its threads is followed?
 *
 * Under targets_mutex.
 */
bool hwpmc_targets_lost_events(const struct hwpmc_target *t)
{
	const struct target_thread *tt;

	lockdep_assert_held(&t->owner->targets_mutex);
	list_for_each_entry(tt, &t->threads, node) {
		if (!hwpmc_targets_thread_lost(tt))
			continue;
		/* since 6.16 exits take them before task work; PF_EXITING is set first */
		smp_rmb();
		if (test_bit(0, &t->execing) ||
		    !(data_race(READ_ONCE(tt->task->flags)) & PF_EXITING))
			return true;
	}
	/* only a child that is being created keeps the target */
	return list_empty(&t->threads);
}
