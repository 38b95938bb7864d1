// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps the targets that are not fully logged, and the PMCs that they have.  Called
 * only by the writer thread.
 */
#include <linux/file.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "dump.h"
#include "emit.h"
#include "hwpmc.h"
#include "process_list.h"
#include "pmc/pmc.h"
#include "target/target.h"

/* Under targets_mutex.  NULL if out of memory. */
static struct dump_target *note_target(struct hwpmc_owner *o,
				       struct hwpmc_target *t)
{
	unsigned long number = o->log.told.telling, before = o->log.told.number;
	struct target_link *link;
	struct dump_target *dt;
	unsigned int n = 0;

	list_for_each_entry(link, &t->links, node)
		n += link->told_log != number;
	dt = kzalloc(struct_size(dt, ids, n), HWPMC_GFP);
	if (!dt)
		return NULL;
	list_for_each_entry(link, &t->links, node) {
		if (link->told_log == number)
			continue;
		dt->ids[dt->nids++] = link->pmc->id;
		dt->news |= link->told_log != before;
		link->told_log = number;
	}
	dt->pid = get_pid(t->pid);
	dt->nr = t->nr;
	/*
	 * Otherwise the dump of all processes has logged them.  If the owner begins to
	 * follow all processes just now, the targets run until that dump.
	 */
	if (!READ_ONCE(o->hooks.follow_all) || !o->log.told.all) {
		dt->names = t->names_log != number;
		dt->maps = t->sampled && t->maps_log != number;
	}
	t->names_log = number;
	t->maps_log = t->sampled ? number : 0;
	if (dt->nids || dt->names || dt->maps)
		t->told_at = o->log.told.attaches;
	return dt;
}

/* Is some of @t not even in the current log, which the next one is about to replace? */
static bool is_untold(const struct hwpmc_owner *o, const struct hwpmc_target *t)
{
	unsigned long number = o->log.told.number;

	return !READ_ONCE(o->hooks.follow_all) &&
	       (t->names_log < number || (t->sampled && t->maps_log < number));
}

/* Was the process created at @since or later?  Not known of one that has ended. */
static bool is_young(const struct hwpmc_target *t, u64 since)
{
	const struct task_struct *task;
	bool young;

	rcu_read_lock();
	task = pid_task(t->pid, PIDTYPE_TGID);
	young = task && task->start_time >= since;
	rcu_read_unlock();
	return young;
}

static void forget_told(struct hwpmc_target *t)
{
	t->names_log = 0;
	t->maps_log = 0;
}

/*
 * Collects the targets that are not fully logged, or were created at @since or later,
 * as they are at @tsc: a later detach or exit has a later stamp.  False if out of memory.
 */
static bool note_targets(struct hwpmc_owner *o, u64 since, struct list_head *list,
			 u64 *tsc)
{
	struct hwpmc_target *t;
	struct dump_target *dt;
	bool good = true, untold;
	struct mem_cgroup *old;

	/* a cgroup at its limit must not delay the targets, which need the mutex */
	old = set_active_memcg(NULL);
	mutex_lock(&o->targets_mutex);
	*tsc = ring_clock();
	list_for_each_entry(t, &o->targets, node) {
		untold = is_untold(o, t);
		if (!since || is_young(t, since))
			forget_told(t);
		dt = note_target(o, t);
		if (!dt) {
			good = false;
			break;
		}
		dt->news |= untold;
		list_add_tail(&dt->node, list);
		if (!dt->nids && !dt->names && !dt->maps) {
			list_del(&dt->node);
			put_pid(dt->pid);
			kfree(dt);
		}
	}
	mutex_unlock(&o->targets_mutex);
	set_active_memcg(old);
	return good;
}

static void emit_attaches(struct hwpmc_owner *o, const struct dump_target *dt,
			  struct file *exe, u64 tsc)
{
	unsigned int i;

	for (i = 0; i < dt->nids; i++)
		hwpmc_emit_attach(o, dt->ids[i], dt->nr, exe, tsc);
}

/* Logs the PMCs of a target; without a path if the process has ended. */
static void tell_target(struct dump_batch *b, struct hwpmc_owner *o,
			const struct dump_target *dt, u64 tsc)
{
	struct task_struct *task;
	struct file *exe = NULL;

	if (!dt->nids)
		return;
	task = get_pid_task(dt->pid, PIDTYPE_TGID);
	if (task) {
		exe = hwpmc_dump_batch_exe(b, task);
		put_task_struct(task);
	}
	if (hwpmc_dump_is_for_log(o, dt))
		emit_attaches(o, dt, exe, tsc);
	if (o->log.tee.on) {
		o->log.tee.to = true;
		emit_attaches(o, dt, exe, tsc);
		o->log.tee.to = false;
	}
	if (exe)
		fput(exe);
}

static bool is_target(const struct hwpmc_owner *o, const struct pid *pid)
{
	bool yes;

	rcu_read_lock();
	yes = hwpmc_target_find_rcu(o, pid);
	rcu_read_unlock();
	return yes;
}

static void dump_target(struct dump_batch *b, struct hwpmc_owner *o,
			const struct dump_target *dt)
{
	struct task_struct *task;

	/* a target that was detached meanwhile is not logged */
	if ((!dt->names && !dt->maps) || !is_target(o, dt->pid))
		return;
	task = get_pid_task(dt->pid, PIDTYPE_TGID);
	if (!task)
		return;
	hwpmc_dump_batch_add(b, task, dt);
	put_task_struct(task);
}

static void free_noted(struct list_head *list)
{
	struct dump_target *dt, *next;

	list_for_each_entry_safe(dt, next, list, node) {
		put_pid(dt->pid);
		kfree(dt);
	}
}

/*
 * hwpmc_dump_targets - log the targets that are not fully logged
 * @since: and those that were created at that time or later (CLOCK_MONOTONIC), even if
 *	they are; 0: all of them
 */
void hwpmc_dump_targets(struct hwpmc_owner *o, u64 since)
{
	struct dump_batch *b = hwpmc_dump_batch_new(o, false);
	struct dump_target *dt;
	LIST_HEAD(list);
	u64 tsc;

	if (!b) {
		hwpmc_dump_failed(o);
		return;
	}
	/* the child of a process that forks meanwhile logs itself: follow_process() */
	WRITE_ONCE(o->log.told.attaches, o->log.told.attaches + 1);
	if (!note_targets(o, since, &list, &tsc))
		hwpmc_dump_failed(o);
	/* this also announces the PMCs that they are targets of */
	hwpmc_drain_upto(o, tsc);
	/* all attaches precede later events of any of the targets */
	list_for_each_entry(dt, &list, node)
		tell_target(b, o, dt, tsc);
	list_for_each_entry(dt, &list, node) {
		if (dump_is_over(o))
			break;
		dump_target(b, o, dt);
	}
	hwpmc_dump_batch_tell(b);
	smp_store_release(&o->log.told.attaches, o->log.told.attaches + 1);
	free_noted(&list);
	hwpmc_dump_batch_free(b);
}
