// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of targets, and an event in each thread for each PMC.
 *
 * perf's inheritance is not used: it would copy all of a task's events for each
 * child, and has no counts of single processes.  All under owner->targets_mutex
 * unless stated otherwise.
 */
#include <linux/hashtable.h>
#include <linux/rculist.h>
#include <linux/rhashtable.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/record.h"
#include "sample/sample.h"
#include "target.h"

#define SCAN_TRIES	1000	/* for a process that keeps creating threads */
#define SLICED_BITS	14	/* 4 threads each for one user's max_counters */

/* By task: a key has one entry, which lists the threads of all owners. */
static struct rhltable threads;

static const struct rhashtable_params by_task = {
	.key_len = sizeof(struct task_struct *),
	.key_offset = offsetof(struct target_thread, task),
	.head_offset = offsetof(struct target_thread, hash),
	.automatic_shrinking = true,
};

/*
 * Those whose slices are logged, by task, for the hook of context switches, which has a
 * runqueue lock.  Not in a table that changes its size: before 6.3 its entries are moved
 * with interrupts enabled, and a lookup waits for the end of a move, which may have been
 * interrupted by a wakeup that waits for that lock.
 */
static DEFINE_HASHTABLE(sliced, SLICED_BITS);	/* sliced_lock; RCU */
static DEFINE_SPINLOCK(sliced_lock);

int hwpmc_threads_init(void)
{
	return rhltable_init(&threads, &by_task);
}

/* No target is left. */
void hwpmc_threads_exit(void)
{
	rhltable_destroy(&threads);
}

/*
 * hwpmc_threads_find_rcu - the thread records of all owners for @task, or NULL
 *
 * RCU read section; not with a lock that interrupts take.
 */
struct rhlist_head *hwpmc_threads_find_rcu(const struct task_struct *task)
{
	return rhltable_lookup(&threads, &task, by_task);
}

/*
 * hwpmc_thread_for_each_rcu - call @fn for each owner's record of @task
 *
 * RCU read section, preemption off; not with a lock that interrupts take.
 */
void hwpmc_thread_for_each_rcu(const struct task_struct *task,
			       void (*fn)(struct target_thread *tt, void *arg),
			       void *arg)
{
	struct target_thread *tt;
	struct rhlist_head *pos;

	rhl_for_each_entry_rcu(tt, pos, hwpmc_threads_find_rcu(task), hash)
		fn(tt, arg);
}

/*
 * hwpmc_thread_for_each_sliced - call @fn for each owner's record of @task, if slices of
 * it are logged
 *
 * RCU read section, preemption off, the runqueue lock held.
 */
void hwpmc_thread_for_each_sliced(const struct task_struct *task,
				  void (*fn)(struct target_thread *tt))
{
	struct target_thread *tt;

	hash_for_each_possible_rcu(sliced, tt, sliced, (unsigned long)task)
		if (tt->task == task)
			fn(tt);
}

/* Stays until the thread is dropped. */
static void sliced_add(struct target_thread *tt)
{
	spin_lock(&sliced_lock);
	if (!hash_hashed(&tt->sliced))
		hash_add_rcu(sliced, &tt->sliced, (unsigned long)tt->task);
	spin_unlock(&sliced_lock);
}

static void sliced_remove(struct target_thread *tt)
{
	/* only holders of the mutex change it; the lock is for its neighbours */
	if (hlist_unhashed_lockless(&tt->sliced))
		return;
	spin_lock(&sliced_lock);
	hash_del_rcu(&tt->sliced);
	spin_unlock(&sliced_lock);
}

/* @t's record in the result of hwpmc_threads_find_rcu().  RCU read section. */
struct target_thread *hwpmc_thread_among_rcu(struct rhlist_head *list,
					     const struct hwpmc_target *t)
{
	struct target_thread *tt;
	struct rhlist_head *pos;

	rhl_for_each_entry_rcu(tt, pos, list, hash)
		if (tt->target == t)
			return tt;
	return NULL;
}

/* RCU read section. */
static struct target_thread *thread_find_rcu(const struct hwpmc_target *t,
					     const struct task_struct *task)
{
	return hwpmc_thread_among_rcu(hwpmc_threads_find_rcu(task), t);
}

static void thread_free(struct kref *ref)
{
	struct target_thread *tt = container_of(ref, struct target_thread, ref);

	kfree(tt->slot);
	put_task_struct(tt->task);
	hwpmc_target_put(tt->target);
	kfree_rcu(tt, rcu);
}

/* Any process context. */
void hwpmc_thread_put(struct target_thread *tt)
{
	kref_put(&tt->ref, thread_free);
}

/* Stops the event and adds it to @stopped, for hwpmc_thread_events_drop(). */
void hwpmc_thread_event_stop(struct target_thread *tt, struct thread_event *te,
			     struct list_head *stopped)
{
	list_del_rcu(&te->node);
	perf_event_disable(te->event);
	te->thread = tt;
	list_add_tail(&te->stopped, stopped);
}

/* False: the record is lost, and counted as such. */
static bool commit_slice(struct target_thread *tt,
			 const struct pmclog_proccsw *slice)
{
	bool done;

	if (!slice->value)
		return true;
	preempt_disable();
	done = hwpmc_record_commit(tt->target->owner, slice, sizeof(*slice),
				   PMCLOG_PID_KERNEL);
	preempt_enable();
	return done;
}

static void end_slice(struct target_thread *tt, struct thread_event *te)
{
	struct pmclog_proccsw slice;
	u64 enabled, running, value;

	value = perf_event_read_value(te->event, &enabled, &running);
	slice = thread_slice(tt, te, value);
	/* or else the next log has it in its next slice */
	if (commit_slice(tt, &slice))
		te->told = value;
}

/* Adds the event's count to its link, logs its last slice, and drops it. */
static void drop_stopped(struct thread_event *te)
{
	struct target_thread *tt = te->thread;
	struct pmclog_proccsw slice;
	struct count_sum last;

	last.value = perf_event_read_value(te->event, &last.enabled,
					   &last.running);
	sum_add(&te->link->sum, &last);
	if (te->logged && READ_ONCE(tt->target->owner->hooks.slices)) {
		slice = thread_slice(tt, te, last.value);
		commit_slice(tt, &slice);
	}
	/* perhaps the last event that shows that the PMU was removed */
	hwpmc_event_lost_pmu(te->link->pmc, te->event);
	hwpmc_event_drop(te->link->pmc, te->event);
	hwpmc_limit_release(tt->target->owner, LIMIT_COUNTERS, 1);
	kfree_rcu(te, rcu);
}

/*
 * hwpmc_thread_end_slices - log the slices that have not ended
 *
 * Under owner->mutex.  The log is about to end, and takes records still.  The hook that
 * logs a slice has been switched off, and a grace period has passed since.  The PMCs are
 * stopped: they do not run without a log.  A thread that has lost its counter meanwhile
 * has logged its slice itself.
 */
void hwpmc_thread_end_slices(struct hwpmc_owner *o)
{
	struct target_thread *tt;
	struct hwpmc_target *t;
	struct thread_event *te;

	mutex_lock(&o->targets_mutex);
	list_for_each_entry(t, &o->targets, node)
		for_each_thread_event(t, tt, te)
			if (te->logged)
				end_slice(tt, te);
	WRITE_ONCE(o->hooks.slices, false);
	mutex_unlock(&o->targets_mutex);
}

/* Drops all stopped events with one grace period. */
void hwpmc_thread_events_drop(struct list_head *stopped)
{
	struct thread_event *te, *next;
	bool wait = false;

	/* the task may be switching out just now, and log its slice */
	list_for_each_entry(te, stopped, stopped)
		wait |= te->logged && te->thread->task != current;
	if (wait)
		synchronize_rcu();
	list_for_each_entry_safe(te, next, stopped, stopped)
		drop_stopped(te);
}

static struct thread_event *find_event(struct target_thread *tt,
				       const struct target_link *link)
{
	struct thread_event *te;

	list_for_each_entry(te, &tt->events, node)
		if (te->link == link)
			return te;
	return NULL;
}

/*
 * hwpmc_thread_note_pmu - note in the PMC of @link, one of @t's, if its PMU was removed
 *
 * Called before the PMC gets more events: another PMU may have the number by now,
 * and perf would make events of that one.  A PMU that is removed takes all its
 * events, so the first event that its thread still has, or that has lost its PMU,
 * shows it.  False: there is no such event.
 */
bool hwpmc_thread_note_pmu(const struct hwpmc_target *t,
			   const struct target_link *link)
{
	struct target_thread *tt;
	struct thread_event *te;

	list_for_each_entry(tt, &t->threads, node) {
		te = find_event(tt, link);
		if (te && (hwpmc_event_lost_pmu(link->pmc, te->event) ||
			   !compat_event_is_gone(te->event)))
			return true;
	}
	return false;
}

/* The same for all targets of the PMC.  True: its PMU was removed. */
bool hwpmc_thread_lost_pmu(const struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	const struct hwpmc_target *t;
	struct target_link *link;

	list_for_each_entry(t, &o->targets, node) {
		link = hwpmc_target_find_link(t, pmc);
		if (link && hwpmc_thread_note_pmu(t, link))
			break;
	}
	return READ_ONCE(pmc->no_pmu);
}

/* Without an event if the PMU was removed: the PMC's other counts go on. */
static int add_event(struct target_thread *tt, struct target_link *link)
{
	struct hwpmc_owner *o = tt->target->owner;
	struct hwpmc_pmc *pmc = link->pmc;
	struct thread_event *te;
	int err;

	if (find_event(tt, link))
		return 0;
	hwpmc_thread_note_pmu(tt->target, link);
	if (READ_ONCE(pmc->no_pmu))
		return 0;
	err = hwpmc_limit_charge(o, LIMIT_COUNTERS, 1);
	if (err)
		return err;
	te = target_alloc(sizeof(*te));
	if (!te) {
		hwpmc_limit_release(o, LIMIT_COUNTERS, 1);
		return -ENOMEM;
	}
	te->link = link;
	te->pmcid = pmc->id;
	te->logged = link_logs(link, HWPMC_F_LOG_PROCCSW);
	te->event =
		hwpmc_event_new(pmc, -1, tt->task, pmc, hwpmc_overflow_thread);
	if (IS_ERR(te->event)) {
		err = PTR_ERR(te->event);
		hwpmc_limit_release(o, LIMIT_COUNTERS, 1);
		kfree(te);
		return (err == -ENOENT || err == -ENODEV) &&
		       hwpmc_thread_lost_pmu(o, pmc) ? 0 : err;
	}
	if (te->logged)
		sliced_add(tt);
	list_add_tail_rcu(&te->node, &tt->events);
	if (pmc->state == PMC_RUNNING)
		perf_event_enable(te->event);
	return 0;
}

/* Removes a thread; its counts go to the links. */
void hwpmc_thread_drop(struct target_thread *tt)
{
	struct thread_event *te, *next;
	LIST_HEAD(stopped);

	if (tt->gone)
		return;
	tt->gone = true;
	sliced_remove(tt);
	rhltable_remove(&threads, &tt->hash, by_task);
	list_for_each_entry_safe(te, next, &tt->events, node)
		hwpmc_thread_event_stop(tt, te, &stopped);
	hwpmc_thread_events_drop(&stopped);
	list_del(&tt->node);
	hwpmc_thread_put(tt);
}

static struct target_thread *thread_new(struct hwpmc_target *t,
					struct task_struct *task)
{
	struct target_thread *tt = target_alloc(sizeof(*tt));

	if (!tt)
		return NULL;
	tt->slot = target_alloc(sizeof(*tt->slot));
	if (!tt->slot) {
		kfree(tt);
		return NULL;
	}
	kref_init(&tt->ref);
	INIT_LIST_HEAD(&tt->events);
	tt->target = t;
	tt->task = task;
	/* hooks find @tt from here on; the caller holds @t and @task */
	if (rhltable_insert(&threads, &tt->hash, by_task)) {
		kfree(tt->slot);
		kfree(tt);
		return NULL;
	}
	kref_get(&t->ref);	/* in the owner's list, so not zero */
	get_task_struct(task);
	list_add_tail(&tt->node, &t->threads);
	/* a task that passed the exit hook before has PF_EXITING set */
	smp_mb();
	return tt;
}

static bool thread_is_exiting(const struct task_struct *task)
{
	/* a running task writes its own flags at any time */
	return data_race(task->flags) & PF_EXITING;
}

/*
 * hwpmc_thread_follow - create counters for @task, a thread of @t, for all PMCs
 * of @t
 *
 * Returns 0 also if the thread is about to end.  An older record is left to its exit
 * hook, because a drop here would take a grace period for each such thread.  Without
 * memory the thread counts as missed, and is tried again at the next fork or attach of
 * its process.
 */
int hwpmc_thread_follow(struct hwpmc_target *t, struct task_struct *task)
{
	struct target_link *link;
	struct target_thread *tt;
	bool made = false;
	int err = 0;

	rcu_read_lock();
	tt = thread_find_rcu(t, task);
	rcu_read_unlock();
	if (!tt) {
		tt = thread_new(t, task);
		made = true;
	}
	if (!tt) {
		WRITE_ONCE(t->missed, true);
		return -ENOMEM;
	}
	list_for_each_entry(link, &t->links, node) {
		err = add_event(tt, link);
		if (err)
			break;
	}
	if (thread_is_exiting(task)) {
		err = 0;
		if (made)
			hwpmc_thread_drop(tt);
	}
	if (err == -ENOMEM)
		WRITE_ONCE(t->missed, true);
	return err == -ESRCH ? 0 : err;
}

static bool is_followed(const struct hwpmc_target *t,
			const struct task_struct *task)
{
	const struct target_thread *tt = thread_find_rcu(t, task);
	const struct target_link *link;
	unsigned int links = 0, events = 0;
	const struct thread_event *te;

	if (!tt)
		return false;
	list_for_each_entry(link, &t->links, node)
		links += !READ_ONCE(link->pmc->no_pmu);
	list_for_each_entry(te, &tt->events, node)
		events += !READ_ONCE(te->link->pmc->no_pmu);
	return links == events;
}

/*
 * Is it a thread of the process itself that goes on?  Its I/O workers may exit
 * late.
 */
static bool goes_on(const struct task_struct *task)
{
	return !thread_is_exiting(task) &&
	       !(data_race(task->flags) & COMPAT_NO_USER_REGS);
}

/* Does the process of @t go on, with threads that are followed or not? */
bool hwpmc_thread_left(const struct hwpmc_target *t)
{
	struct task_struct *leader, *task;
	bool left = false;

	rcu_read_lock();
	leader = pid_task(t->pid, PIDTYPE_TGID);
	if (leader && !(READ_ONCE(leader->signal->flags) & SIGNAL_GROUP_EXIT))
		for_each_thread(leader, task) {
			left = goes_on(task);
			if (left)
				break;
		}
	rcu_read_unlock();
	return left;
}

/* Returns the threads without all counters, referenced; NULL without memory. */
static struct task_struct **find_unfollowed(const struct hwpmc_target *t,
					    unsigned int *count)
{
	struct task_struct *leader, *task, **tasks;
	unsigned int n = 0, size;

	rcu_read_lock();
	leader = pid_task(t->pid, PIDTYPE_TGID);
	/* later threads are found by the next scan */
	size = leader ? data_race(get_nr_threads(leader)) + 1 : 1;
	rcu_read_unlock();
	tasks = target_alloc_array(size, sizeof(*tasks));
	if (!tasks)
		return NULL;
	rcu_read_lock();
	leader = pid_task(t->pid, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, task)
			/* in the list: its count is not zero for a grace period */
			if (n < size && !thread_is_exiting(task) &&
			    !is_followed(t, task))
				tasks[n++] = get_task_struct(task);
	rcu_read_unlock();
	*count = n;
	return tasks;
}

/* Returns how many threads lacked counters and have them now, or an error. */
static int follow_found(struct hwpmc_target *t, bool interruptible)
{
	struct task_struct **tasks;
	unsigned int i, n;
	int err = 0;

	tasks = find_unfollowed(t, &n);
	if (!tasks) {
		WRITE_ONCE(t->missed, true);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		if (i && !err && interruptible && signal_pending(current))
			err = -EINTR;
		if (!err)
			err = hwpmc_thread_follow(t, tasks[i]);
		put_task_struct(tasks[i]);
		cond_resched();
	}
	kvfree(tasks);
	return err ? err : n;
}

/*
 * hwpmc_thread_follow_all - create counters for all threads of @t
 * @interruptible: EINTR when a signal comes
 *
 * A thread that has no counters yet may create others meanwhile: the next scan
 * finds them.  EAGAIN if the scans do not end.
 */
int hwpmc_thread_follow_all(struct hwpmc_target *t, bool interruptible)
{
	unsigned int tries;
	int found;

	for (tries = 0; tries < SCAN_TRIES; tries++) {
		WRITE_ONCE(t->missed, false);
		smp_mb();	/* missed before: in the thread list; later: sets @missed */
		found = follow_found(t, interruptible);
		if (found < 0)
			return found;
		if (!found && !READ_ONCE(t->missed))
			return 0;
	}
	return -EAGAIN;
}
