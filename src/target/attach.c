// SPDX-License-Identifier: GPL-2.0-only
/*
 * Process-mode PMCs: attach to processes, detach, and operations on all targets.
 *
 * Called under owner->mutex; takes targets_mutex.  An attach releases cpus_mutex.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "target.h"

#define TREE_TRIES	1000	/* bound, against processes that fork without end */

static bool process_has_ended(const struct task_struct *leader)
{
	return !atomic_read(&leader->signal->live);
}

static struct hwpmc_target *find_target(struct hwpmc_owner *o, struct pid *pid)
{
	struct hwpmc_target *t;

	rcu_read_lock();
	t = hwpmc_target_find_rcu(o, pid);
	rcu_read_unlock();
	return t;	/* stays valid under targets_mutex */
}

/* Under targets_mutex.  ESRCH: the process has ended. */
static int link_process(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			  struct task_struct *leader)
{
	u32 nr = owner_pid_of(o, leader);
	struct target_link *link = NULL;
	struct pid *pid = get_task_pid(leader, PIDTYPE_TGID);
	struct hwpmc_target *t;
	int err = -ESRCH;

	if (!pid || nr == PMCLOG_PID_KERNEL)
		goto out;
	t = find_target(o, pid);
	err = -EEXIST;
	if (t && hwpmc_target_find_link(t, pmc))
		goto out;
	err = -ENOMEM;
	if (!t)
		t = hwpmc_target_new(o, pid, nr);
	if (!t)
		goto out;
	kref_get(&t->ref);	/* in the owner's list: not zero */
	hwpmc_thread_lost_pmu(o, pmc);	/* then no thread gets an event */
	/* if it has other PMCs, a child that they miss is a loss all the same */
	WRITE_ONCE(t->attaching, list_empty(&t->links));
	smp_wmb();		/* before @descend: note_missed() */
	link = hwpmc_target_link(t, pmc);
	if (link) {
		link->fresh = true;
		err = hwpmc_thread_follow_all(t, true);
		if (!err && list_empty(&t->threads))
			err = -ESRCH;
	}
	WRITE_ONCE(t->attaching, false);
	if (err && link)
		hwpmc_target_unlink(t, link);
	if (err)
		hwpmc_target_settle(t);
	hwpmc_target_put(t);
out:
	put_pid(pid);
	return err;
}

/* The process does not exec now.  Lets it if the caller may not attach to it. */
static int check_held(struct hwpmc_owner *o, struct task_struct *leader)
{
	int err = hwpmc_access_attach(o, leader);

	if (err)
		hwpmc_access_release(leader);
	return err;
}

/*
 * Blocks exec in @leader's process, which the caller may attach to.  An exec in progress
 * may take long.  All targets need targets_mutex to fork, exec and exit, so it is released
 * while this waits for the exec.  A target may hold it for long: no process that is out of
 * the caller's reach waits for that.  cpus_mutex is not held: see attach_all().
 * -ERESTARTSYS, and the errors of hwpmc_access_attach().
 */
static int hold_process(struct hwpmc_owner *o, struct task_struct *leader)
{
	int err;

	if (hwpmc_access_try_hold(leader))
		return check_held(o, leader);
	mutex_unlock(&o->targets_mutex);
	err = hwpmc_access_hold(leader);
	if (!err)
		err = check_held(o, leader);
	mutex_lock(&o->targets_mutex);
	return err;
}

/* No exec happens between the access check and the creation of the counters. */
static int attach_process(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			  struct task_struct *leader)
{
	int err = hold_process(o, leader);

	if (err)
		return err;
	err = link_process(o, pmc, leader);
	hwpmc_access_release(leader);
	return err;
}

static int attach_child(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			struct pid *pid)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	int err;

	if (!task)
		return 0;
	err = process_has_ended(task) ? 0 : attach_process(o, pmc, task);
	/* EEXIST: while the mutex was released, the fork's task work was faster */
	if (err == -ESRCH || err == -EEXIST || process_has_ended(task))
		err = 0;
	put_task_struct(task);
	return err;
}

static bool has_pmc(struct hwpmc_owner *o, const struct hwpmc_pmc *pmc,
		    struct pid *pid)
{
	struct hwpmc_target *t = find_target(o, pid);

	return t && hwpmc_target_find_link(t, pmc);
}

/* 1: some processes lacked the PMC and may have had children meanwhile. */
static int attach_found(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			struct tree *tree)
{
	struct tree_process *p;
	int err = 0, again = tree->cut;

	for (p = tree->all; p < tree->all + tree->n && !err; p++) {
		if (!p->live || !hwpmc_tree_has(tree, p->pid) ||
		    has_pmc(o, pmc, p->pid))
			continue;
		again = 1;
		err = signal_pending(current) ? -EINTR :
		      attach_child(o, pmc, p->pid);
	}
	return err ? err : again;
}

/* EAGAIN: new descendants kept appearing. */
static int attach_descendants(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			      struct task_struct *root)
{
	unsigned int tries;
	struct tree tree;
	int err;

	for (tries = 0; tries < TREE_TRIES; tries++) {
		err = hwpmc_tree_find(&tree, root, true);
		if (!err)
			err = attach_found(o, pmc, &tree);
		hwpmc_tree_free(&tree);
		if (err <= 0)
			return err;
	}
	return -EAGAIN;
}

static void log_detach(struct hwpmc_target *t, const struct hwpmc_pmc *pmc)
{
	struct pmclog_pmcdetach d = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PMCDETACH, sizeof(d)),
		.pmcid = pmc->id,
		.pid = t->nr,
	};

	hwpmc_follow_record_now(t->owner, &d, sizeof(d), PMCLOG_PID_KERNEL);
}

/*
 * If no log has this link's PMCATTACH, its end is not logged.  If an earlier log
 * has it, the current log gets both PMCATTACH and PMCDETACH.
 */
static void take_off(struct hwpmc_target *t, struct target_link *link)
{
	struct hwpmc_pmc *pmc = link->pmc;
	bool told = link->told_log, here = hwpmc_target_link_told(t, link);

	hwpmc_target_unlink(t, link);
	if (!told)
		return;
	if (!here)
		hwpmc_target_log_attach(t, pmc);
	log_detach(t, pmc);
}

/*
 * Removes all links of @pmc that hwpmc_target_stop_link() has put on @stopped,
 * with one grace period: all targets need targets_mutex.  @tell: log PMCDETACH
 */
static void take_off_stopped(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			     struct list_head *stopped, bool tell)
{
	struct hwpmc_target *t, *next;
	struct target_link *link;

	hwpmc_thread_events_drop(stopped);
	list_for_each_entry_safe(t, next, &o->targets, node) {
		link = hwpmc_target_find_link(t, pmc);
		if (!link || !link->leaves)
			continue;
		if (tell)
			take_off(t, link);
		else
			hwpmc_target_unlink(t, link);
		hwpmc_target_settle(t);
	}
}

/* Removes all links of @pmc. */
static void take_off_all(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool tell)
{
	struct hwpmc_target *t;
	struct target_link *link;
	LIST_HEAD(stopped);

	list_for_each_entry(t, &o->targets, node) {
		link = hwpmc_target_find_link(t, pmc);
		if (link)
			hwpmc_target_stop_link(t, link, &stopped);
	}
	take_off_stopped(o, pmc, &stopped, tell);
}

/* Keeps or takes back all links that this attach created. */
static void settle_fresh(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool keep)
{
	struct hwpmc_target *t;
	struct target_link *link;
	LIST_HEAD(stopped);

	list_for_each_entry(t, &o->targets, node) {
		link = hwpmc_target_find_link(t, pmc);
		if (!link || !link->fresh)
			continue;
		link->fresh = false;
		if (!keep)
			hwpmc_target_stop_link(t, link, &stopped);
	}
	/* the log may already have records of these links */
	take_off_stopped(o, pmc, &stopped, true);
}

/*
 * There are targets again, from an attach or a start that has succeeded.  Under
 * targets_mutex: the targets may have ended meanwhile.
 */
static void targets_stay(struct hwpmc_owner *o)
{
	if (!list_empty(&o->targets))
		WRITE_ONCE(o->lost_all, false);
}

/*
 * Attaches everything or nothing.  targets_mutex may be released to wait for an
 * exec.  The processes attached so far have fresh links then, and the processes
 * that they create inherit fresh links.
 *
 * cpus_mutex is released for all of it: a CPU that comes online does not wait for
 * an exec.  hold_process() could not take it again, because exec_update_lock comes
 * after it.
 */
static int attach_all(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
		      struct task_struct *task)
{
	bool was, had;
	int err;

	mutex_unlock(&o->cpus_mutex);
	mutex_lock(&o->targets_mutex);
	was = pmc->attached;
	had = !list_empty(&o->targets);
	err = attach_process(o, pmc, task);
	if (!err && (pmc->flags & HWPMC_F_DESCENDANTS))
		err = attach_descendants(o, pmc, task);
	settle_fresh(o, pmc, !err);
	if (err)
		pmc->attached = was;
	/*
	 * Success, but all targets of @pmc have ended meanwhile; or failure, and
	 * the last target of other PMCs ended before the rollback
	 */
	if (err ? had && list_empty(&o->targets) : !pmc->ntargets)
		hwpmc_target_lost(o);
	mutex_unlock(&o->targets_mutex);
	mutex_lock(&o->cpus_mutex);
	return err;
}

/*
 * hwpmc_attach_self - attach @pmc to the calling process; PMCSTART and RECORD
 *
 * Errors as hwpmc_attach_target().
 */
int hwpmc_attach_self(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	return attach_all(o, pmc, current->group_leader);
}

/*
 * hwpmc_attach_target - attach @pmc to process @pid, a number in the caller's
 * pid namespace
 *
 * With DESCENDANTS also to all its descendants, or to none.  ESRCH, EPERM,
 * EEXIST, ENOMEM, EAGAIN (processes or threads are created without end), EINTR,
 * ERESTARTSYS (a signal during an exec), or the error that perf returns for the event.
 */
int hwpmc_attach_target(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, int pid)
{
	struct task_struct *task;
	int err = -ESRCH;

	rcu_read_lock();
	task = get_pid_task(pid ? find_vpid(pid) : task_tgid(current),
			    PIDTYPE_TGID);
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	if (!process_has_ended(task))
		err = attach_all(o, pmc, task);
	put_task_struct(task);
	if (err)
		return err;
	mutex_lock(&o->targets_mutex);
	targets_stay(o);
	mutex_unlock(&o->targets_mutex);
	return 0;
}

/* Has any PMC lost all its targets?  Also under targets_mutex. */
static bool any_lost(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_live_pmc(o, row, pmc)
		if (pmc->attached && !pmc->ntargets)
			return true;
	return false;
}

/*
 * @pmc has no targets any more, but did not lose them.  Other PMCs may have lost
 * theirs while @pmc still had some: then all targets are lost now.
 */
static void forget_lost(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;

	pmc->attached = false;
	if (list_empty(&o->targets) && !o->lost_all && any_lost(o))
		hwpmc_target_lost(o);
}

/*
 * Undoes the hwpmc_attach_self() of a start that fails or is taken back.  @pmc
 * does not run, so its targets were never lost.  The log may have their
 * PMCATTACH already.
 */
void hwpmc_attach_undo(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;

	mutex_lock(&o->targets_mutex);
	take_off_all(o, pmc, true);
	forget_lost(pmc);
	mutex_unlock(&o->targets_mutex);
	hwpmc_event_drops_settle(pmc);
}

/*
 * hwpmc_target_detach_all - remove all PMCs from @t; under targets_mutex
 *
 * The caller has a reference.
 */
void hwpmc_target_detach_all(struct hwpmc_target *t)
{
	struct target_link *link, *next;
	struct hwpmc_owner *o = t->owner;
	LIST_HEAD(stopped);
	bool lost = false;

	list_for_each_entry(link, &t->links, node)
		hwpmc_target_stop_link(t, link, &stopped);
	hwpmc_thread_events_drop(&stopped);
	list_for_each_entry_safe(link, next, &t->links, node) {
		lost |= hwpmc_target_link_last(link);
		take_off(t, link);
	}
	hwpmc_target_settle(t);
	if (lost)
		hwpmc_target_lost(o);
}

/*
 * Under targets_mutex: a child of a target either is a target too, or gets no PMC
 * any more.  EINVAL: @pmc is not attached to @root.
 */
static int stop_tree(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
		     struct task_struct *root, struct list_head *stopped)
{
	struct target_link *link;
	struct hwpmc_target *t;
	struct tree tree;
	int err;

	err = hwpmc_tree_find(&tree, root, pmc->flags & HWPMC_F_DESCENDANTS);
	t = err ? NULL : find_target(o, tree.root);
	if (!err && (!t || !hwpmc_target_find_link(t, pmc)))
		err = -EINVAL;
	list_for_each_entry(t, &o->targets, node) {
		link = hwpmc_target_find_link(t, pmc);
		if (!err && link && hwpmc_tree_has(&tree, t->pid))
			hwpmc_target_stop_link(t, link, stopped);
	}
	hwpmc_tree_free(&tree);
	return err;
}

static int detach_tree(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
		       struct task_struct *root)
{
	LIST_HEAD(stopped);
	int err;

	mutex_lock(&o->targets_mutex);
	err = stop_tree(o, pmc, root, &stopped);
	take_off_stopped(o, pmc, &stopped, true);
	if (!err && !pmc->ntargets)
		hwpmc_target_lost(o);
	mutex_unlock(&o->targets_mutex);
	return err;
}

/*
 * hwpmc_attach_detach - detach @pmc from process @pid, with DESCENDANTS from
 * its tree
 *
 * ESRCH, ENOMEM, or EINVAL if @pmc is not attached there.
 */
int hwpmc_attach_detach(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, int pid)
{
	struct task_struct *task;
	int err;

	rcu_read_lock();
	task = get_pid_task(pid ? find_vpid(pid) : task_tgid(current),
			    PIDTYPE_TGID);
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	if (process_has_ended(task))
		err = -ESRCH;
	else
		err = detach_tree(o, pmc, task);
	put_task_struct(task);
	return err;
}

/* PMCSTART: in all targets, and in threads created later. */
void hwpmc_targets_enable(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;
	struct target_thread *tt;
	struct thread_event *te;
	struct hwpmc_target *t;

	mutex_lock(&o->targets_mutex);
	targets_stay(o);
	WRITE_ONCE(pmc->state, PMC_RUNNING);
	list_for_each_entry(t, &o->targets, node)
		for_each_thread_event(t, tt, te)
			if (te->link->pmc == pmc)
				perf_event_enable(te->event);
	mutex_unlock(&o->targets_mutex);
}

void hwpmc_targets_disable(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;
	struct target_thread *tt;
	struct thread_event *te;
	struct hwpmc_target *t;

	mutex_lock(&o->targets_mutex);
	WRITE_ONCE(pmc->state, PMC_STOPPED);
	list_for_each_entry(t, &o->targets, node)
		for_each_thread_event(t, tt, te)
			if (te->link->pmc == pmc)
				perf_event_disable(te->event);
	mutex_unlock(&o->targets_mutex);
}

/* Brings @pmc->sum up to date. */
void hwpmc_targets_read(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;
	struct count_sum sum, now;
	struct target_thread *tt;
	struct target_link *link;
	struct thread_event *te;
	struct hwpmc_target *t;

	mutex_lock(&o->targets_mutex);
	sum = pmc->gone;
	list_for_each_entry(t, &o->targets, node) {
		link = hwpmc_target_find_link(t, pmc);
		if (!link)
			continue;
		sum_add(&sum, &link->sum);
		for_each_thread_event(t, tt, te) {
			if (te->link != link)
				continue;
			now.value = perf_event_read_value(te->event,
							  &now.enabled,
							  &now.running);
			sum_add(&sum, &now);
		}
	}
	mutex_unlock(&o->targets_mutex);
	hwpmc_rate_set_sum(pmc, &sum);
}

/* Returns the first error; the other events are set all the same. */
static int set_threads_period(struct hwpmc_pmc *pmc, u64 period)
{
	struct target_thread *tt;
	struct thread_event *te;
	struct hwpmc_target *t;
	int err, first = 0;

	list_for_each_entry(t, &pmc->owner->targets, node)
		for_each_thread_event(t, tt, te) {
			if (te->link->pmc != pmc)
				continue;
			err = hwpmc_event_set_period(pmc, te->event, period);
			first = first ?: err;
		}
	return first;
}

/* hwpmc_targets_set_period - as hwpmc_pmc_set_period(), of threads */
int hwpmc_targets_set_period(struct hwpmc_pmc *pmc, u64 period)
{
	struct hwpmc_owner *o = pmc->owner;
	struct pmc_cpu *pc;
	unsigned int cpu;
	int err;

	mutex_lock(&o->targets_mutex);
	/* new threads find the period of a new rate */
	for_each_pmc_cpu(pmc, cpu, pc)
		WRITE_ONCE(pc->last_period, 0);
	err = set_threads_period(pmc, period);
	if (err)
		set_threads_period(pmc, pmc->period);
	else
		WRITE_ONCE(pmc->period, period);
	mutex_unlock(&o->targets_mutex);
	return err;
}

static void release_targets(struct hwpmc_pmc *pmc)
{
	WRITE_ONCE(pmc->state, PMC_STOPPED);
	take_off_all(pmc->owner, pmc, false);
	hwpmc_rate_set_sum(pmc, &pmc->gone);	/* for the last rates in the log */
	forget_lost(pmc);
}

/* PMCRELEASE.  A handler may run until the next synchronize_rcu(). */
void hwpmc_targets_release(struct hwpmc_pmc *pmc)
{
	mutex_lock(&pmc->owner->targets_mutex);
	release_targets(pmc);
	mutex_unlock(&pmc->owner->targets_mutex);
}

/*
 * hwpmc_targets_release_all - hwpmc_targets_release() of all PMCs, with one grace
 * period
 *
 * The lock is held from the stop of the first event on: otherwise targets that fork
 * would cost a grace period for each PMC.
 */
void hwpmc_targets_release_all(struct hwpmc_owner *o)
{
	struct target_link *link;
	struct hwpmc_target *t;
	struct hwpmc_pmc *pmc;
	LIST_HEAD(stopped);
	unsigned int row;

	mutex_lock(&o->targets_mutex);
	list_for_each_entry(t, &o->targets, node)
		list_for_each_entry(link, &t->links, node)
			hwpmc_target_stop_link(t, link, &stopped);
	hwpmc_thread_events_drop(&stopped);
	for_each_live_pmc(o, row, pmc)
		if (!pmc_is_system(pmc))
			release_targets(pmc);
	mutex_unlock(&o->targets_mutex);
}
