// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMCs of the process modes: onto processes, off them, and all over them.
 *
 * Called under owner->mutex; takes targets_mutex.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc.h"
#include "target.h"

#define TREE_CHUNK	32
#define TREE_TRIES	1000	/* against who forks faster than we attach */
#define BUSY_TRIES	1000	/* and who execs each time we come */
#define BUSY_NAPS	100	/* of a millisecond, under targets_mutex */

/* Of our own: a process execs, and that takes long. */
#define BUSY		(-EINPROGRESS)

/*
 * RCU read section: bounded, since a user can make a very long line of
 * descendants, and this is asked of each of them.
 */
static bool is_descendant(struct task_struct *task,
			  struct task_struct *root)
{
	unsigned int n;

	/* an exec of another thread than the leader gives it another number */
	for (n = 0; n < MAX_GENERATIONS && data_race(task->pid); n++) {
		if (same_thread_group(task, root))
			return true;
		task = rcu_dereference(task->real_parent);
	}
	return false;
}

static bool has_ended(const struct task_struct *leader)
{
	return !atomic_read(&leader->signal->live);
}

static struct hwpmc_target *find_target(struct hwpmc_owner *o, struct pid *pid)
{
	struct hwpmc_target *t;

	rcu_read_lock();
	t = target_find_rcu(o, pid);
	rcu_read_unlock();
	return t;	/* stays: targets_mutex */
}

/* ESRCH: the process has ended. */
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
	if (t && target_find_link(t, pmc))
		goto out;
	err = -ENOMEM;
	if (!t)
		t = target_new(o, pid, nr);
	if (!t)
		goto out;
	kref_get(&t->ref);
	link = target_link(t, pmc);
	if (link) {
		link->fresh = true;
		err = thread_follow_all(t, true);
		if (!err && list_empty(&t->threads))
			err = -ESRCH;
	}
	if (err && link)
		target_unlink(t, link);
	if (err)
		target_settle(t);
	target_put(t);
out:
	put_pid(pid);
	return err;
}

/**
 * struct busy - who execs while an attach comes to him
 * @task: that took too long, referenced, or NULL
 * @naps: that are left to wait for them all with targets_mutex held
 */
struct busy {
	struct task_struct *task;
	unsigned int	naps;
};

static void set_busy(struct busy *busy, struct task_struct *task)
{
	if (busy->task)
		put_task_struct(busy->task);
	busy->task = task ? get_task_struct(task) : NULL;
}

/* It does not exec between the question and its counters. */
static int attach_process(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			  struct task_struct *leader, struct busy *busy)
{
	int err;

	if (!access_try_hold(leader, &busy->naps)) {
		set_busy(busy, leader);
		return BUSY;
	}
	err = access_attach(o, leader);
	if (!err)
		err = link_process(o, pmc, leader);
	access_release(leader);
	return err;
}

/* Some descendants that do not have the PMC yet, referenced. */
static unsigned int find_children(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
				  struct task_struct *root,
				  struct task_struct **tasks)
{
	struct hwpmc_target *t;
	struct task_struct *p;
	unsigned int n = 0;

	rcu_read_lock();
	for_each_process(p) {
		if (n == TREE_CHUNK)
			break;
		if (p == root || has_ended(p) || !is_descendant(p, root))
			continue;
		t = target_find_rcu(o, task_tgid(p));
		if (!t || !target_find_link(t, pmc))
			tasks[n++] = get_task_struct(p);
	}
	rcu_read_unlock();
	return n;
}

static int attach_child(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			struct task_struct *task, struct busy *busy)
{
	int err = attach_process(o, pmc, task, busy);

	return err == -ESRCH || has_ended(task) ? 0 : err;
}

/* EAGAIN: there is no end to it. */
static int attach_children(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			   struct task_struct *root, struct busy *busy)
{
	struct task_struct *tasks[TREE_CHUNK];
	unsigned int i, n, tries;
	int err = 0;

	for (tries = 0; tries < TREE_TRIES; tries++) {
		if (signal_pending(current))
			return -EINTR;
		n = find_children(o, pmc, root, tasks);
		for (i = 0; i < n; i++) {
			if (!err)
				err = attach_child(o, pmc, tasks[i], busy);
			put_task_struct(tasks[i]);
		}
		if (err || !n)
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

	record_now(t->owner, &d, sizeof(d), PMCLOG_PID_KERNEL);
}

/*
 * Of what no log was told of there is no end to tell; and a log that another one
 * was told of before has both.
 */
static void take_off(struct hwpmc_target *t, struct target_link *link)
{
	struct hwpmc_pmc *pmc = link->pmc;
	bool told = link->told_log, here = target_link_told(t, link);

	target_unlink(t, link);
	if (!told)
		return;
	if (!here)
		target_log_attach(t, pmc);
	log_detach(t, pmc);
}

/*
 * All that target_stop_link() has put on @stopped, of @pmc, leaves, with one grace
 * period: all targets need the mutex.  @tell: PMCDETACH
 */
static void take_off_stopped(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
			     struct list_head *stopped, bool tell)
{
	struct hwpmc_target *t, *next;
	struct target_link *link;

	thread_events_drop(stopped);
	list_for_each_entry_safe(t, next, &o->targets, node) {
		link = target_find_link(t, pmc);
		if (!link || !link->leaves)
			continue;
		if (tell)
			take_off(t, link);
		else
			target_unlink(t, link);
		target_settle(t);
	}
}

/* All of @pmc. */
static void take_off_all(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool tell)
{
	struct hwpmc_target *t;
	struct target_link *link;
	LIST_HEAD(stopped);

	list_for_each_entry(t, &o->targets, node) {
		link = target_find_link(t, pmc);
		if (link)
			target_stop_link(t, link, &stopped);
	}
	take_off_stopped(o, pmc, &stopped, tell);
}

/* All the links of this attach: kept, or taken back. */
static void settle_fresh(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool keep)
{
	struct hwpmc_target *t;
	struct target_link *link;
	LIST_HEAD(stopped);

	list_for_each_entry(t, &o->targets, node) {
		link = target_find_link(t, pmc);
		if (!link || !link->fresh)
			continue;
		link->fresh = false;
		if (!keep)
			target_stop_link(t, link, &stopped);
	}
	take_off_stopped(o, pmc, &stopped, false);
}

/*
 * There are targets again, and not only for an attach, or a start, that fails in
 * the end.  targets_mutex: they may have gone meanwhile.
 */
static void targets_stay(struct hwpmc_owner *o)
{
	if (!list_empty(&o->targets))
		WRITE_ONCE(o->lost_all, false);
}

/* All of it or nothing. */
static int try_attach(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
		      struct task_struct *task, struct busy *busy)
{
	bool was = pmc->attached;
	bool had;
	int err;

	mutex_lock(&o->targets_mutex);
	had = !list_empty(&o->targets);
	err = attach_process(o, pmc, task, busy);
	if (!err && (pmc->flags & HWPMC_F_DESCENDANTS))
		err = attach_children(o, pmc, task, busy);
	settle_fresh(o, pmc, !err);
	if (err) {
		pmc->attached = was;
		/* the last one ended, and what is taken back was there still */
		if (had && list_empty(&o->targets))
			target_lost(o);
	}
	mutex_unlock(&o->targets_mutex);
	return err;
}

/* Until @task's exec is over.  BUSY: it is, try again; -EINTR. */
static int await_exec(struct hwpmc_pmc *pmc, struct task_struct *task)
{
	int err;

	event_drops_settle(pmc);	/* those that were taken back */
	err = access_hold(task);
	if (err)
		return err;
	access_release(task);
	return signal_pending(current) ? -EINTR : BUSY;
}

/*
 * The mutex is what all targets need to fork, to exec and to end: with it a try
 * waits for a tenth of a second, for however many that exec.  For who is BUSY
 * then it waits without.
 */
static int attach(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
		  struct task_struct *task)
{
	struct busy busy = {};
	unsigned int tries;
	int err = BUSY;

	for (tries = 0; tries < BUSY_TRIES && err == BUSY; tries++) {
		busy.naps = BUSY_NAPS;
		err = try_attach(o, pmc, task, &busy);
		if (err == BUSY)
			err = await_exec(pmc, busy.task);
	}
	set_busy(&busy, NULL);
	return err == BUSY ? -EAGAIN : err;
}

/*
 * attach_self - @pmc onto the calling process
 *
 * Errors as attach_to().
 */
int attach_self(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	return attach(o, pmc, current->group_leader);
}

/*
 * attach_to - @pmc onto process @pid, as the caller's namespace numbers it
 *
 * With DESCENDANTS all of its descendants as well, or none.  ESRCH, EPERM,
 * EEXIST, ENOMEM, EINTR, EAGAIN (processes or threads are made without end), or
 * what perf says of the event.
 */
int attach_to(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, int pid)
{
	struct task_struct *task;
	int err = -ESRCH;

	rcu_read_lock();
	task = get_pid_task(pid ? find_vpid(pid) : task_tgid(current),
			    PIDTYPE_TGID);
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	if (!has_ended(task))
		err = attach(o, pmc, task);
	put_task_struct(task);
	if (err)
		return err;
	mutex_lock(&o->targets_mutex);
	targets_stay(o);
	mutex_unlock(&o->targets_mutex);
	return 0;
}

/* Some PMC has lost all its targets; under targets_mutex as well. */
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
 * @pmc has no targets any more, and did not lose them.  Others have lost theirs
 * before, when its own were there still: now all are lost.
 */
static void forget_lost(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;

	pmc->attached = false;
	if (list_empty(&o->targets) && !o->lost_all && any_lost(o))
		target_lost(o);
}

/*
 * The attach_self() of a start that fails, or is taken back, of a PMC that does not
 * run: it was never lost.  The log may tell of it already.
 */
void attach_undo(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;

	mutex_lock(&o->targets_mutex);
	take_off_all(o, pmc, true);
	forget_lost(pmc);
	mutex_unlock(&o->targets_mutex);
	event_drops_settle(pmc);
}

/*
 * target_detach_all - nothing counts in @t any more; targets_mutex
 *
 * The caller has a reference.
 */
void target_detach_all(struct hwpmc_target *t)
{
	struct target_link *link, *next;
	struct hwpmc_owner *o = t->owner;
	LIST_HEAD(stopped);
	bool lost = false;

	list_for_each_entry(link, &t->links, node)
		target_stop_link(t, link, &stopped);
	thread_events_drop(&stopped);
	list_for_each_entry_safe(link, next, &t->links, node) {
		lost |= link->pmc->ntargets == 1;
		take_off(t, link);
	}
	target_settle(t);
	if (lost)
		target_lost(o);
}

static bool in_tree(const struct hwpmc_target *t, struct task_struct *root)
{
	struct task_struct *task;
	bool yes;

	rcu_read_lock();
	task = pid_task(t->pid, PIDTYPE_TGID);
	yes = task && is_descendant(task, root);
	rcu_read_unlock();
	return yes;
}

/* EINVAL: it is not attached to @root. */
static int detach_tree(struct hwpmc_owner *o, struct hwpmc_pmc *pmc,
		       struct task_struct *root)
{
	bool all = pmc->flags & HWPMC_F_DESCENDANTS;
	struct hwpmc_target *t;
	struct target_link *link;
	LIST_HEAD(stopped);
	int err = -EINVAL;

	mutex_lock(&o->targets_mutex);
	t = find_target(o, task_tgid(root));
	if (t && target_find_link(t, pmc))
		err = 0;
	list_for_each_entry(t, &o->targets, node) {
		link = target_find_link(t, pmc);
		if (err || !link ||
		    (t->pid != task_tgid(root) && !(all && in_tree(t, root))))
			continue;
		target_stop_link(t, link, &stopped);
	}
	take_off_stopped(o, pmc, &stopped, true);
	if (!err && !pmc->ntargets)
		target_lost(o);
	mutex_unlock(&o->targets_mutex);
	return err;
}

/*
 * detach_from - @pmc off process @pid, with DESCENDANTS off its tree
 *
 * ESRCH, or EINVAL when it is not attached there.
 */
int detach_from(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, int pid)
{
	struct task_struct *task;
	int err;

	rcu_read_lock();
	task = get_pid_task(pid ? find_vpid(pid) : task_tgid(current),
			    PIDTYPE_TGID);
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	if (has_ended(task))
		err = -ESRCH;
	else
		err = detach_tree(o, pmc, task);
	put_task_struct(task);
	return err;
}

/* PMCSTART: everywhere, and in threads to come. */
void targets_enable(struct hwpmc_pmc *pmc)
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

void targets_disable(struct hwpmc_pmc *pmc)
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
void targets_read(struct hwpmc_pmc *pmc)
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
		link = target_find_link(t, pmc);
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
	sum_set(&pmc->sum, &sum);
}

int targets_set_period(struct hwpmc_pmc *pmc, u64 period)
{
	struct hwpmc_owner *o = pmc->owner;
	struct target_thread *tt;
	struct thread_event *te;
	struct hwpmc_target *t;
	int err = 0;

	mutex_lock(&o->targets_mutex);
	list_for_each_entry(t, &o->targets, node)
		for_each_thread_event(t, tt, te)
			if (te->link->pmc == pmc && !err)
				err = perf_event_period(te->event, period);
	if (!err)
		WRITE_ONCE(pmc->period, period);
	mutex_unlock(&o->targets_mutex);
	return err;
}

/* PMCRELEASE.  A handler may run until the next synchronize_rcu(). */
void targets_release(struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *o = pmc->owner;

	mutex_lock(&o->targets_mutex);
	WRITE_ONCE(pmc->state, PMC_STOPPED);
	take_off_all(o, pmc, false);
	forget_lost(pmc);
	mutex_unlock(&o->targets_mutex);
}
