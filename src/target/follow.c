// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets that fork, exec, exit and leave the CPU.
 *
 * The hooks run where nothing may sleep or allocate, also on PREEMPT_RT.  They
 * leave the work to the task itself, when it returns to user mode or exits.  So a
 * new task has its counters before it executes any instruction of its own, and the
 * counts of a process are complete when its parent sees its end.
 *
 * Queued work holds references to the objects that it needs and to the module,
 * whose exit waits until the last work has returned.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/rhashtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "hooks.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/record.h"
#include "target.h"

/* Commits a complete record, if there is a log.  Process context. */
void hwpmc_follow_record_now(struct hwpmc_owner *o, const void *rec, u32 len,
			     u32 pid)
{
	preempt_disable();
	if (READ_ONCE(o->hooks.hooked))
		hwpmc_record_commit(o, rec, len, pid);
	preempt_enable();
}

/*
 * False: @task has run its last works.  That is never so for a child that does not
 * run yet, or for the current task in a hook, so references that a hook has taken
 * are not leaked.
 */
static bool leave_work(struct task_struct *task, struct callback_head *work,
		       task_work_func_t fn)
{
	init_task_work(work, fn);
	__module_get(THIS_MODULE);
	if (!compat_task_work_add(task, work))
		return true;
	module_put(THIS_MODULE);
	return false;
}

/*
 * Ends a thread's work.  Must be its last step, since it may drop the last
 * reference to anything.
 */
static void work_done(struct target_thread *tt)
{
	hwpmc_thread_put(tt);
	module_put(THIS_MODULE);
}

/* Runs before its thread can fork again.  Also adds threads that were missed. */
static void refill_work(struct callback_head *head)
{
	struct target_thread *tt = container_of(head, struct target_thread,
						refill);
	struct hwpmc_target *t = tt->target;
	struct hwpmc_owner *o = t->owner;

	if (!READ_ONCE(tt->slot))
		xchg(&tt->slot, kzalloc(sizeof(*tt->slot), HWPMC_GFP));
	clear_bit(0, &tt->refilling);
	if (READ_ONCE(t->missed)) {
		mutex_lock(&o->targets_mutex);
		if (!t->gone && hwpmc_thread_follow_all(t, false))
			atomic64_inc(&o->noring.beyond_dump);
		mutex_unlock(&o->targets_mutex);
	}
	work_done(tt);
}

/*
 * The fork was logged to a log that has ended since, or is about to, or just before
 * the hooks began to log: the next log has only the parent.  If the owner follows all
 * processes, or the child has become a target since, a dump has the child, too, with
 * mappings that the record of the fork would replace by those that the parent has
 * meanwhile.  But that dump may come later than the first sample, which needs a name.
 * @made: the child has become a target just now
 */
static void tell_again(const struct hwpmc_target *parent,
		       const struct hwpmc_target *t, bool made)
{
	struct pmclog_procfork f = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PROCFORK, sizeof(f)),
		.oldpid = parent->nr,
		.newpid = t->nr,
	};
	struct pmclog_proc_create p = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PROC_CREATE,
					  PMCLOG_PROC_CREATE_LEN),
		.pid = t->nr,
	};

	strscpy(p.comm, current->comm, sizeof(p.comm));
	preempt_disable();	/* an RCU read section: see follow_all() */
	if (made && !READ_ONCE(t->owner->hooks.follow_all))
		hwpmc_follow_record_now(t->owner, &f, sizeof(f), t->nr);
	hwpmc_follow_record_now(t->owner, &p, PMCLOG_PROC_CREATE_LEN, t->nr);
	preempt_enable();
}

/*
 * If the parent was dumped between the fork and now, its records may follow the fork
 * in the log.  Then the log does not show which PMCs and mappings the child inherits.
 */
static bool dumped_meanwhile(const struct hwpmc_target *parent,
			     const struct fork_slot *slot)
{
	lockdep_assert_held(&parent->owner->targets_mutex);
	return (long)(parent->told_at - slot->attaches) >= 0;
}

/* Are the mappings of @t to be logged, and not in the log that is being made? */
static bool lacks_maps(const struct hwpmc_target *t)
{
	return t->sampled && !READ_ONCE(t->owner->hooks.follow_all) &&
	       t->maps_log != READ_ONCE(t->owner->log.told.telling);
}

/*
 * The current process, @t, is in the log with the mappings that its parent had there,
 * and these may be incomplete.  A dump would come after its first samples.
 */
static void tell_maps(struct hwpmc_target *t)
{
	struct hwpmc_owner *o = t->owner;
	unsigned long telling = READ_ONCE(o->log.told.telling);

	lockdep_assert_held(&o->targets_mutex);
	if (!READ_ONCE(o->hooks.hooked) || t->names_log != telling || !lacks_maps(t) ||
	    !hwpmc_access_still(o, current))
		return;
	if (hwpmc_mapping_commit_all(o, t)) {
		t->maps_log = telling;
		return;
	}
	/* samples before the dump may lack them */
	preempt_disable();
	hwpmc_record_lost(o, t->nr);
	preempt_enable();
}

/*
 * The new process gets all PMCs that its parent has for descendants, or none, so
 * that it never reports counts that are incomplete.
 */
static int follow_process(struct hwpmc_target *parent,
			  const struct fork_slot *slot)
{
	struct hwpmc_owner *o = parent->owner;
	struct pid *pid = task_tgid(current);
	struct target_link *link, *mine;
	struct hwpmc_target *t;
	bool made;
	int err = 0;

	rcu_read_lock();
	/* an attach may have been faster */
	t = hwpmc_target_find_rcu(o, pid);
	rcu_read_unlock();
	made = !t;
	if (made) {
		t = hwpmc_target_new(o, pid, owner_pid_of(o, current));
		if (!t)
			return -ENOMEM;
		/* the records of the fork have these */
		t->names_log = parent->names_log;
		t->maps_log = dumped_meanwhile(parent, slot) ? 0 : parent->maps_log;
	}
	if (slot->telling != READ_ONCE(o->log.told.telling))
		tell_again(parent, t, made);
	list_for_each_entry(link, &parent->links, node) {
		if (!link_logs(link, HWPMC_F_DESCENDANTS) ||
		    hwpmc_target_find_link(t, link->pmc))
			continue;
		hwpmc_thread_note_pmu(parent, link);
		mine = hwpmc_target_link(t, link->pmc);
		if (!mine) {
			err = -ENOMEM;
			break;
		}
		mine->fresh = link->fresh;
		mine->told_log = link->told_log;
		if (dumped_meanwhile(parent, slot))
			hwpmc_target_log_attach(t, link->pmc);
	}
	if (made)
		tell_maps(t);
	kref_get(&t->ref);	/* in the owner's list: not zero */
	if (!err)
		err = hwpmc_thread_follow(t, current);
	/* the fork preceded the start of this log's process records, or a dump */
	if (READ_ONCE(o->hooks.hooked) &&
	    (t->names_log != READ_ONCE(o->log.told.telling) || lacks_maps(t)))
		hwpmc_log_want_dump(o);
	if (err && made)
		hwpmc_target_detach_all(t);
	else
		hwpmc_target_settle(t);
	hwpmc_target_put(t);
	return err;
}

/* In the new task, before its first instruction in user mode. */
static void fork_work(struct callback_head *head)
{
	struct fork_slot *slot = container_of(head, struct fork_slot, work);
	struct hwpmc_target *t = slot->target;
	struct hwpmc_owner *o = t->owner;
	int err = 0;

	mutex_lock(&o->targets_mutex);
	if (!t->gone)
		err = slot->process ? follow_process(t, slot) :
				      hwpmc_thread_follow(t, current);
	else if (slot->process && t->left)
		err = -ESRCH;	/* no PMCs are left for the child */
	atomic_dec(&t->pending);
	hwpmc_target_settle(t);
	mutex_unlock(&o->targets_mutex);
	if (err) {
		/* a user at the limit, or with execs, must not flood the kernel log */
		if (err != -EDQUOT && err != -ESRCH)
			pr_warn_ratelimited("%s (%d) is not followed: %d\n",
					    current->comm, current->pid, err);
		atomic64_inc(&o->noring.beyond_dump);
	}
	hwpmc_target_put(t);
	kfree(slot);
	module_put(THIS_MODULE);
}

/**
 * struct forked - a fork of the current task
 * @child: does not run yet
 * @list: the targets that the hook has found, and logs the fork for
 */
struct forked {
	struct task_struct *child;
	struct rhlist_head *list;
};

static bool leave_slot(struct target_thread *tt, struct fork_slot *slot,
		       const struct forked *f, bool process)
{
	struct hwpmc_target *t = tt->target;

	slot->target = t;
	slot->process = process;
	/* a target that is newer than @list: the hook does not log the fork */
	slot->telling = READ_ONCE(t->owner->hooks.hooked) &&
			hwpmc_target_among_rcu(f->list, t->owner) == t ?
			READ_ONCE(t->owner->log.told.telling) : 0;
	slot->attaches = READ_ONCE(t->owner->log.told.attaches);
	/* not zero: its thread holds a reference, and the refill holds the thread */
	kref_get(&t->ref);
	atomic_inc(&t->pending);
	if (leave_work(f->child, &slot->work, fork_work))
		return true;
	atomic_dec(&t->pending);
	hwpmc_target_put(t);		/* not the last: the thread has one */
	return false;
}

static bool take_slot(struct target_thread *tt, const struct forked *f,
		      bool process)
{
	struct fork_slot *slot = xchg(&tt->slot, NULL);

	if (!slot || leave_slot(tt, slot, f, process))
		return slot;
	xchg(&tt->slot, slot);
	return false;
}

static void fork_thread(struct target_thread *tt, void *arg)
{
	struct hwpmc_target *t = tt->target;
	const struct forked *f = arg;
	bool process = !same_thread_group(f->child, current);

	if (process && !READ_ONCE(t->descend))
		return;
	/* the refill holds the thread until the task is back in user mode */
	if (!test_and_set_bit(0, &tt->refilling)) {
		if (!kref_get_unless_zero(&tt->ref))
			return;
		if (!leave_work(current, &tt->refill, refill_work))
			return;		/* the task forks no more */
	}
	if (!compat_leaves_works(f->child) && take_slot(tt, f, process))
		return;
	if (process)
		atomic64_inc(&t->owner->noring.beyond_dump);
	else
		WRITE_ONCE(t->missed, true);
}

/*
 * The current task has created @child, and has no thread record in some targets of
 * its process.  An attach in progress scans again.  Otherwise there was no memory for
 * the record, and if the child is a process, it counts as lost.
 */
static void note_missed(struct rhlist_head *list, struct task_struct *child)
{
	struct rhlist_head *threads = hwpmc_threads_find_rcu(current), *pos;
	bool process = !same_thread_group(child, current);
	struct hwpmc_target *t;

	for_each_target_rcu(t, pos, list) {
		if (hwpmc_thread_among_rcu(threads, t))
			continue;
		WRITE_ONCE(t->missed, true);
		if (!process || !READ_ONCE(t->descend))
			continue;
		smp_rmb();	/* pairs with link_process() */
		if (!READ_ONCE(t->attaching))
			atomic64_inc(&t->owner->noring.beyond_dump);
	}
}

/*
 * hwpmc_follow_fork - the current task has created @child, which does not run
 * yet
 * @list: the result of hwpmc_targets_find_rcu() for the current task
 *
 * Tracepoint: RCU read section, preemption off.  Kernel threads are skipped: they
 * never return to user mode.
 */
void hwpmc_follow_fork(struct task_struct *child, struct rhlist_head *list)
{
	struct forked f = { .child = child, .list = list };

	/* a softirq may clear PF_MEMALLOC of the task it interrupts for a while */
	if (data_race(child->flags | current->flags) & PF_KTHREAD)
		return;
	hwpmc_thread_for_each_rcu(current, fork_thread, &f);
	note_missed(list, child);
}

/*
 * Does the exec of the current thread, the only one left, end the target?  Without a
 * record of the thread, for lack of memory, nothing counts in the process any more:
 * only a child that is being created keeps the target.  Under targets_mutex.
 */
static bool leaves_by_exec(const struct hwpmc_target *t)
{
	const struct target_thread *tt;

	/* killed before its first instruction: its exit removes the target */
	if (current->flags & PF_EXITING)
		return false;
	rcu_read_lock();
	tt = hwpmc_thread_among_rcu(hwpmc_threads_find_rcu(current), t);
	rcu_read_unlock();
	return !tt || hwpmc_targets_thread_lost(tt) || !hwpmc_access_still(t->owner, current);
}

static void exec_work(struct callback_head *head)
{
	struct hwpmc_target *t = container_of(head, struct hwpmc_target, exec);
	struct hwpmc_owner *o = t->owner;

	clear_bit(0, &t->execing);
	mutex_lock(&o->targets_mutex);
	if (!t->gone && leaves_by_exec(t)) {
		t->left = true;
		hwpmc_target_detach_all(t);
	}
	mutex_unlock(&o->targets_mutex);
	hwpmc_target_put(t);
	module_put(THIS_MODULE);
}

/*
 * hwpmc_follow_exec - the current task has execed a new image
 * @list: the result of hwpmc_targets_find_rcu() for it
 *
 * Tracepoint: RCU read section, preemption off.
 */
void hwpmc_follow_exec(struct rhlist_head *list)
{
	struct hwpmc_target *t;
	struct rhlist_head *pos;

	for_each_target_rcu(t, pos, list) {
		if (test_and_set_bit(0, &t->execing))
			continue;
		if (kref_get_unless_zero(&t->ref))
			leave_work(current, &t->exec, exec_work);
	}
}

static void exit_work(struct callback_head *head)
{
	struct target_thread *tt = container_of(head, struct target_thread,
						exit);
	struct hwpmc_target *t = tt->target;
	struct hwpmc_owner *o = t->owner;

	mutex_lock(&o->targets_mutex);
	if (!tt->gone) {
		hwpmc_thread_drop(tt);
		hwpmc_target_settle(t);
	}
	mutex_unlock(&o->targets_mutex);
	work_done(tt);
}

static void exit_thread_work(struct target_thread *tt, void *arg)
{
	if (kref_get_unless_zero(&tt->ref))
		leave_work(current, &tt->exit, exit_work);
}

/* @task, which is current, exits.  Tracepoint. */
void hwpmc_follow_exit(struct task_struct *task)
{
	hwpmc_thread_for_each_rcu(task, exit_thread_work, NULL);
}

static void log_slice(struct target_thread *tt, struct thread_event *te)
{
	u64 value = compat_event_count(te->event);
	struct pmclog_proccsw c = thread_slice(tt, te, value);

	if (c.value &&
	    hwpmc_record_commit_slice(tt->target->owner, &c, sizeof(c)))
		te->told = value;
}

static void switch_thread(struct target_thread *tt)
{
	struct thread_event *te;

	if (!READ_ONCE(tt->target->owner->hooks.hooked))
		return;
	list_for_each_entry_rcu(te, &tt->events, node)
		if (te->logged)
			log_slice(tt, te);
}

/*
 * hwpmc_follow_switch - @prev leaves this CPU while its counters still count
 *
 * Tracepoint, runqueue lock held, interrupts off.
 */
void hwpmc_follow_switch(struct task_struct *prev)
{
	hwpmc_thread_for_each_sliced(prev, switch_thread);
}
