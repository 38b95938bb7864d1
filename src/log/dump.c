// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps what exists already: processes, threads and executable mappings.
 *
 * Called only by the writer thread, and only for owners whose hooks are in place:
 * a change before a process is looked at is in the rings with an earlier stamp, a
 * change after it with a later one.
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "dump.h"
#include "emit.h"
#include "hwpmc.h"
#include "process_list.h"
#include "target/target.h"

#define LISTS_MAX	16	/* of processes, for those that are created meanwhile */

/* Dumps those that are not in @before, which then is @now.  True: there were any. */
static bool dump_fresh(struct dump_batch *b, struct process_list *before,
		       struct process_list *now)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < now->n; i++) {
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
 * The child of a process that is not dumped yet has no mappings by the log.  So the
 * list is made again until nothing is new in it, or often.
 */
static void dump_processes(struct hwpmc_owner *o)
{
	struct dump_batch *b = hwpmc_dump_batch_new(o);
	struct process_list before = {}, now;
	bool any = true;
	int lists;

	if (!b)
		return;
	o->log.tee.to = o->log.tee.on;
	hwpmc_emit_names(o, 0, 0, "swapper", o->log.told.last_tsc);
	o->log.tee.to = false;
	for (lists = 0; any && lists < LISTS_MAX; lists++) {
		if (!hwpmc_process_list_get(&now)) {
			pr_warn_ratelimited("no memory to dump the processes\n");
			hwpmc_dump_failed(o);
			break;
		}
		any = dump_fresh(b, &before, &now);
	}
	hwpmc_process_list_put(&before);
	hwpmc_dump_batch_free(b);
}

/* Dumps all that belongs into the log, even if it was dumped before. */
void hwpmc_dump_all(struct hwpmc_owner *o)
{
	bool all = READ_ONCE(o->hooks.follow_all);

	if (all)
		dump_processes(o);
	hwpmc_dump_targets(o, !all);
	o->log.told.all = all;
}

/* Dumps what is not in this log yet. */
void hwpmc_dump_news(struct hwpmc_owner *o)
{
	if (READ_ONCE(o->hooks.follow_all) && !o->log.told.all)
		hwpmc_dump_all(o);
	else
		hwpmc_dump_targets(o, false);
}

/* @last: nobody waits for the children: they are dumped when they are targets */
static bool is_forking(struct hwpmc_owner *o, bool last)
{
	struct hwpmc_target *t;
	bool forking = false;

	lockdep_assert_held(&o->targets_mutex);
	list_for_each_entry(t, &o->targets, node) {
		if (!atomic_read(&t->pending))
			continue;
		forking = true;
		if (last)
			t->told_at = o->log.told.attaches;
	}
	return forking && !last;
}

/*
 * May the process be dumped that has the number of which a record was lost?
 * @d: gets what the owner wants to know of it
 *
 * The process that had the number may have ended, and this one may be another
 * user's.  The log of an owner that does not follow all processes names targets only.
 * A target that it may not inspect any more is named: the log has its samples.
 *
 * 0, -ESRCH, or -EAGAIN: the process may be a child of a target, and not a target
 * yet.  The log has such a child from its fork on.  The fork is pending before a
 * record of it can be lost.
 */
static int may_dump(struct hwpmc_owner *o, const struct pid *pid,
		    struct task_struct *task, struct dump *d, bool last)
{
	struct hwpmc_target *t;
	int err = 0;

	if (READ_ONCE(o->hooks.follow_all))
		return 0;
	mutex_lock(&o->targets_mutex);
	rcu_read_lock();
	/* none that is gone: the mutex is held */
	t = hwpmc_target_find_rcu(o, pid);
	if (t) {
		d->no_maps = !t->sampled;
		t->told_at = o->log.told.attaches;
	}
	rcu_read_unlock();
	if (!t)
		err = atomic_read(&task->signal->live) && is_forking(o, last) ?
		      -EAGAIN : -ESRCH;
	mutex_unlock(&o->targets_mutex);
	return err;
}

/*
 * Looks at a process of which a record was lost.  -EAGAIN: not at this moment; an exec
 * logs the new image itself when it ends.  -EBUSY: cannot be done.
 */
static int look_again(struct dump *d, struct hwpmc_owner *o,
		      struct task_struct *task, bool last)
{
	if (hwpmc_dump_look(d, o, task))
		return 0;
	if ((d->in_exec || d->no_lock) && !last)
		return -EAGAIN;
	hwpmc_dump_process_failed(o, d, d->no_memory);
	if (!d->no_lock)
		return -EBUSY;
	/* an exec may have been lost: rather no mappings than those of before */
	return hwpmc_dump_look_at_names(d, o, task) ? 0 : -ESRCH;
}

/*
 * A record of @pid's process, number @nr, was lost: SYSEXIT makes readers forget it,
 * then it is logged.  What the log has of it is of use until then.
 */
static int dump_again(struct hwpmc_owner *o, const struct pid *pid, u32 nr,
		      struct task_struct *task, bool last)
{
	struct dump d = {};
	int err;

	err = task ? may_dump(o, pid, task, &d, last) : -ESRCH;
	if (!err)
		err = look_again(&d, o, task, last);
	if (!err)
		hwpmc_drain_upto(o, d.tsc);
	if (!err || err == -ESRCH)
		hwpmc_emit_sysexit(o, nr, o->log.told.last_tsc);
	if (!err)
		hwpmc_dump_tell(&d, o);
	hwpmc_dump_free(&d);
	return err;
}

/*
 * hwpmc_dump_pid - a record of process @nr was lost: log the process again
 * @last: it cannot be put off: a child that is not a target yet is not logged
 *
 * False: nothing was done, this has to be repeated.
 */
bool hwpmc_dump_pid(struct hwpmc_owner *o, u32 nr, bool last)
{
	struct task_struct *task = NULL;
	struct pid *pid;
	int err;

	rcu_read_lock();
	pid = get_pid(find_pid_ns(nr, o->pid_ns));
	if (pid)
		task = get_pid_task(pid, PIDTYPE_TGID);
	rcu_read_unlock();
	/* as in hwpmc_dump_targets(): for forks of the process meanwhile */
	WRITE_ONCE(o->log.told.attaches, o->log.told.attaches + 1);
	err = dump_again(o, pid, nr, task, last);
	smp_store_release(&o->log.told.attaches, o->log.told.attaches + 1);
	if (task)
		put_task_struct(task);
	put_pid(pid);
	return err != -EAGAIN;
}

/*
 * hwpmc_dump_young - log the processes that were created since @since
 *
 * Records of other processes were lost since then, and have been made up for.  A
 * child that was created before that has in the log only what its parent had.
 * @since: CLOCK_MONOTONIC
 */
void hwpmc_dump_young(struct hwpmc_owner *o, u64 since)
{
	struct process_list all;
	struct dump_batch *b;
	unsigned int i;

	if (!READ_ONCE(o->hooks.follow_all)) {
		hwpmc_dump_young_targets(o, since);
		return;
	}
	if (!hwpmc_process_list_get(&all)) {
		hwpmc_dump_failed(o);
		return;
	}
	b = hwpmc_dump_batch_new(o);
	for (i = 0; b && i < all.n; i++) {
		if (all.tasks[i]->start_time >= since)
			hwpmc_dump_batch_add(b, all.tasks[i], NULL);
		cond_resched();
	}
	hwpmc_process_list_put(&all);
	if (!b)
		return;
	hwpmc_dump_batch_tell(b);
	hwpmc_dump_batch_free(b);
}
