/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets: the processes that PMCs of the modes TS and TC are attached to.
 *
 *	target		a process, for one owner
 *	  link		a PMC attached to it
 *	  thread	each of its threads
 *	    event	each of the PMCs in each of the threads
 *
 * Two tables lead from a process to its targets and from a task to its threads, of
 * all owners.  Hooks look them up under RCU, without a lock.  A process that no
 * owner samples costs one lookup, however many targets there are.  A target found by
 * a hook may have lost its last reference, so the hook takes one by
 * kref_get_unless_zero().  A thread holds its target.  Everything else is under
 * owner->targets_mutex.  It is taken by ioctls, by the writer thread, and by targets
 * themselves when they return to user mode or exit.  Its holder never waits for the
 * log, and for user space only where perf does: a target can hold its perf context.
 */
#ifndef HWPMC_TARGET_H
#define HWPMC_TARGET_H

#include <linux/rhashtable-types.h>
#include <linux/task_work.h>
#include <linux/xarray.h>

#include "pmc/pmc.h"

/* memory for a thread's next child: the fork hook cannot allocate any */
struct fork_slot {
	struct callback_head work;
	struct hwpmc_target *target;	/* the parent's, referenced */
	bool		process;	/* else a thread */
	unsigned long	telling;	/* log.told.telling at the fork, 0: no log */
	unsigned long	attaches;	/* log.told.attaches at the fork */
};

/**
 * struct hwpmc_target - a process
 * @hash:    in the table by @pid; RCU
 * @node:    in owner->targets
 * @owner:   referenced
 * @pid:     of the thread group, referenced; constant
 * @nr:      pid as the owner sees it; constant
 * @links:   PMCs attached
 * @threads: threads that have their counters
 * @pending: number of threads without counters yet; atomic, so that a hook can
 *	     add one
 * @descend: a link is for descendants as well; READ_ONCE by hooks
 * @sampled: number of links that sample; READ_ONCE by hooks
 * @first_id: id of an attached PMC; READ_ONCE by hooks
 * @names_log, @maps_log: number of the log that has its names and mappings
 * @told_at: log.told.attaches at the last dump that logged something of it
 * @missed:  a thread is not followed: a hook had no memory for it, or its work had
 *	     none; WRITE_ONCE
 * @attaching: its first attach is in progress: it gives the threads counters, then
 *	     looks for children; WRITE_ONCE, READ_ONCE by hooks
 * @exec:    work of the thread that has execed; under way while @execing.  Not the
 *	     thread record's, because that thread may have none
 * @left:    it loses all PMCs without a request: by an exec, or because its threads
 *	     cannot be followed
 * @gone:    its last thread has ended, or the last PMC was detached
 * @ended:   bit: set by the hook that sees the process end, and by the removal
 *	     of the last PMC; the second of them logs the end for an owner that
 *	     follows all processes
 */
struct hwpmc_target {
	struct rhlist_head hash;
	struct list_head node;
	struct kref	ref;
	struct hwpmc_owner *owner;
	struct pid	*pid;
	u32		nr;
	struct list_head links;
	struct list_head threads;
	atomic_t	pending;
	bool		descend;
	unsigned int	sampled;
	u32		first_id;
	unsigned long	names_log;
	unsigned long	maps_log;
	unsigned long	told_at;
	bool		missed;
	bool		attaching;
	struct callback_head exec;
	unsigned long	execing;
	bool		left;
	bool		gone;
	unsigned long	ended;
	struct rcu_head	rcu;
};

/*
 * Cleared memory for objects that are made under targets_mutex, which all targets of
 * the owner need to fork and to end.  So this does not wait for a full control group:
 * memory that cannot be charged to it is bounded by max_counters.  NULL without memory.
 */
static inline void *target_alloc(size_t size)
{
	return kzalloc(size, GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN) ?:
		       kzalloc(size, HWPMC_GFP & ~__GFP_ACCOUNT);
}

/* The same for an array of threads or processes, which is freed before the mutex is. */
static inline void *target_alloc_array(size_t n, size_t size)
{
	return kvcalloc(n, size, GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN) ?:
		       hwpmc_memory(array_size(n, size), NUMA_NO_NODE, __GFP_ZERO);
}

/**
 * struct target_link - a PMC attached to a process
 * @sum:      counts of threads that have ended
 * @told_log: number of the log that has its PMCATTACH, before all later records
 * @fresh:    from the attach under way, or inherited from such a link
 * @leaves:   stopped, to be unlinked
 */
struct target_link {
	struct list_head node;
	struct hwpmc_pmc *pmc;
	struct count_sum sum;
	unsigned long	told_log;
	bool		fresh;
	bool		leaves;
};

/**
 * struct target_thread - a thread of a target
 * @hash:   in the table by @task; RCU
 * @sliced: in the table of those whose slices are logged; see thread.c
 * @node:   in target->threads
 * @ref:    held by the list and by each work under way
 * @target: referenced
 * @task:   referenced
 * @events: changed under the mutex, RCU for the task's own context switch
 * @slot:   for its next child; xchg()
 * @refill: work that makes the next @slot; under way while @refilling
 * @exit:   work of the exit
 */
struct target_thread {
	struct rhlist_head hash;
	struct hlist_node sliced;
	struct list_head node;
	struct kref	ref;
	struct hwpmc_target *target;
	struct task_struct *task;
	struct list_head events;
	struct fork_slot *slot;
	struct callback_head refill;
	struct callback_head exit;
	unsigned long	refilling;
	bool		gone;
	struct rcu_head	rcu;
};

/**
 * struct thread_event - a PMC in a thread
 * @link:   not to be used under RCU alone
 * @logged: each slice is logged, as @pmcid's; constant
 * @told:   count when last logged; the task's own, runqueue lock held.  At the end of
 *	a log, when no hook uses it, under targets_mutex
 * @stopped, @thread: used while the event is being dropped
 */
struct thread_event {
	struct list_head node;
	struct list_head stopped;
	struct target_thread *thread;
	struct target_link *link;
	struct perf_event *event;
	bool		logged;
	u32		pmcid;
	u64		told;
	struct rcu_head	rcu;
};

/* the result of hwpmc_targets_find_rcu(); in the same RCU read section */
#define for_each_target_rcu(t, pos, list)			\
	rhl_for_each_entry_rcu(t, pos, list, hash)

#define for_each_thread_event(t, tt, te)			\
	list_for_each_entry(tt, &(t)->threads, node)		\
		list_for_each_entry(te, &(tt)->events, node)

static inline bool link_logs(const struct target_link *link, u32 flag)
{
	return link->pmc->flags & flag;
}

/* The PROCCSW of a thread: its count since the last one.  @value: its count now */
static inline struct pmclog_proccsw
thread_slice(const struct target_thread *tt, const struct thread_event *te,
	     u64 value)
{
	return (struct pmclog_proccsw){
		.h.header = PMCLOG_HEADER(PMCLOG_T_PROCCSW,
					  sizeof(struct pmclog_proccsw)),
		.value = value - te->told,
		.pmcid = te->pmcid,
		.pid = tt->target->nr,
		.tid = owner_tid_of(tt->target->owner, tt->task),
	};
}

/* @pid: referenced; @live: the process had not ended */
struct tree_process {
	struct pid	*pid;
	bool		live;
};

/**
 * struct tree - a process and its descendants
 * @root:  its pid; NULL: it is gone
 * @found: pids of the descendants
 * @all, @n: all processes, of the tree or not, in the order of their birth
 * @cut:   there were more processes
 */
struct tree {
	struct pid	*root;
	struct xarray	found;
	struct tree_process *all;
	unsigned int	n;
	bool		cut;
};

/* attach.c: process modes; under owner->mutex */
int hwpmc_attach_self(struct hwpmc_owner *o, struct hwpmc_pmc *pmc);
void hwpmc_attach_undo(struct hwpmc_pmc *pmc);
int hwpmc_attach_target(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, int pid);
int hwpmc_attach_detach(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, int pid);
void hwpmc_targets_enable(struct hwpmc_pmc *pmc);
void hwpmc_targets_disable(struct hwpmc_pmc *pmc);
void hwpmc_targets_read(struct hwpmc_pmc *pmc);
int hwpmc_targets_set_period(struct hwpmc_pmc *pmc, u64 period);
void hwpmc_targets_release(struct hwpmc_pmc *pmc);
void hwpmc_targets_release_all(struct hwpmc_owner *o);

/* object/targets.c */
int hwpmc_targets_init(void);
void hwpmc_targets_exit(void);
int hwpmc_targets_insert(struct hwpmc_target *t);
void hwpmc_targets_remove(struct hwpmc_target *t);
struct rhlist_head *hwpmc_targets_find_rcu(const struct pid *pid);
struct hwpmc_target *hwpmc_target_among_rcu(struct rhlist_head *list,
					    const struct hwpmc_owner *o);
struct hwpmc_target *hwpmc_target_find_rcu(const struct hwpmc_owner *o,
					   const struct pid *pid);
bool hwpmc_targets_thread_lost(const struct target_thread *tt);
bool hwpmc_targets_lost_events(const struct hwpmc_target *t);

/* target.c: processes and links; under targets_mutex unless stated otherwise */
struct hwpmc_target *hwpmc_target_new(struct hwpmc_owner *o, struct pid *pid,
				      u32 nr);
struct target_link *hwpmc_target_link(struct hwpmc_target *t,
				      struct hwpmc_pmc *pmc);
void hwpmc_target_stop_link(struct hwpmc_target *t, struct target_link *link,
			    struct list_head *stopped);
void hwpmc_target_unlink(struct hwpmc_target *t, struct target_link *link);
void hwpmc_target_log_attach(const struct hwpmc_target *t,
			     const struct hwpmc_pmc *pmc);
bool hwpmc_target_link_told(const struct hwpmc_target *t,
			    const struct target_link *link);
void hwpmc_target_settle(struct hwpmc_target *t);
void hwpmc_target_lost(struct hwpmc_owner *o);
bool hwpmc_target_link_last(const struct target_link *link);
struct target_link *hwpmc_target_find_link(const struct hwpmc_target *t,
					   const struct hwpmc_pmc *pmc);
void hwpmc_target_put(struct hwpmc_target *t);
void hwpmc_target_detach_all(struct hwpmc_target *t);	/* attach.c */

/* thread.c: threads and events; under targets_mutex unless stated otherwise */
int hwpmc_threads_init(void);
void hwpmc_threads_exit(void);
struct rhlist_head *hwpmc_threads_find_rcu(const struct task_struct *task);
struct target_thread *hwpmc_thread_among_rcu(struct rhlist_head *list,
					     const struct hwpmc_target *t);
void hwpmc_thread_for_each_rcu(const struct task_struct *task,
			       void (*fn)(struct target_thread *tt, void *arg),
			       void *arg);
void hwpmc_thread_for_each_sliced(const struct task_struct *task,
				  void (*fn)(struct target_thread *tt));
int hwpmc_thread_follow(struct hwpmc_target *t, struct task_struct *task);
int hwpmc_thread_follow_all(struct hwpmc_target *t, bool interruptible);
bool hwpmc_thread_left(const struct hwpmc_target *t);
bool hwpmc_thread_note_pmu(const struct hwpmc_target *t,
			   const struct target_link *link);
bool hwpmc_thread_lost_pmu(const struct hwpmc_owner *o, struct hwpmc_pmc *pmc);
void hwpmc_thread_drop(struct target_thread *tt);
void hwpmc_thread_put(struct target_thread *tt);
void hwpmc_thread_event_stop(struct target_thread *tt, struct thread_event *te,
			     struct list_head *stopped);
void hwpmc_thread_events_drop(struct list_head *stopped);
void hwpmc_thread_end_slices(struct hwpmc_owner *o);

/* tree.c */
int hwpmc_tree_find(struct tree *tree, struct task_struct *root, bool all);
bool hwpmc_tree_has(struct tree *tree, struct pid *pid);
void hwpmc_tree_free(struct tree *tree);

/* follow.c: hooks, and the work that they queue to tasks */
void hwpmc_follow_fork(struct task_struct *child, struct rhlist_head *list);
void hwpmc_follow_exec(struct rhlist_head *list);
void hwpmc_follow_exit(struct task_struct *task);
void hwpmc_follow_switch(struct task_struct *prev);
void hwpmc_follow_record_now(struct hwpmc_owner *o, const void *rec, u32 len,
			     u32 pid);

#endif /* HWPMC_TARGET_H */
