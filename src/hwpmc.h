/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hwpmc: declarations that the module's files share.
 *
 * Lock order, outermost first:
 *
 *	owner->mutex		ioctls of an owner (but those of stats.c and info.c, and
 *				tables), PMC life cycle
 *	  owner->cpus_mutex	events of CPUs: ioctls as above, but released during
 *				waits for the log and for an exec; hotplug work.
 *				The budget's work tries this mutex and the one above
 *	  exec_update_lock	of a process, for reading: prevents its exec
 *	    owner->targets_mutex processes with PMCs attached: see target.h
 *	  hooks_mutex		registration of tracepoints and probes; works take it
 *	    hooks_lock		spinlock in hooks.c: holders of probes, lists of owners
 *	  cpus_read_lock	taken inside perf and cpuhp calls, and for rings
 *	limit_account->work	in limits.c: one worker for a user at a time
 *	  sum_mutex		in stats.c: one sum over all owners at a time; a worker
 *				makes it, and holds this alone
 *	    owners_mutex	in stats.c: the list of all owners
 *	      owner->fold_mutex	prevents folding of this owner's PMCs
 *	  unwinder->lock	see unwind.h.  Sampled tasks and the writer thread
 *				only try it, except for the last reference.  The
 *				thread also waits for it at the end of a log
 *	unwinders_mutex		in unwind_map.c: the list of all unwinders
 *	accounts_mutex		in limits.c: resources of users
 *	owner->log.lock		spinlock: requests to the writer thread
 *	owner->log.stream.lock	spinlock: the data for read(2)
 *	rows_lock		spinlock in rows.c: rows in use and disabled ones
 *
 * A walk over all owners takes one fold_mutex after another, never two at a time.  The
 * writer thread waits for no mutex but targets_mutex and, when the log has ended,
 * fold_mutex and unwinder->lock (and for a worker that puts paths): ioctls wait for the
 * thread with owner->mutex held.  It only tries other locks.  The thread, a target or
 * statistics may drop the last reference to an owner, which waits for fold_mutex,
 * owners_mutex, unwinder->lock and accounts_mutex.  Overflow handlers take no lock at all,
 * and hooks wait for none: that of an exec tries the mmap lock, and before 6.16 that of an
 * exit takes the raw spinlock of compat_process_gone(), under which no other is taken.  An
 * object that they find through RCU or through the event is freed only after a grace
 * period, and after the event is released.
 */
#ifndef HWPMC_HWPMC_H
#define HWPMC_HWPMC_H

#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include <uapi/linux/hwpmc.h>
#include <uapi/linux/pmclog.h>

#include "log/log.h"

struct hwpmc_pmc;
struct owner_ring;

/**
 * struct owner_pmcs - an owner's PMCs: see pmc.c
 * @at:     by row; stored under owner->mutex, cleared under owner->fold_mutex when a
 *	PMC is folded.  Under owner->mutex only the PMCs in @live may be accessed
 * @live:   owner->mutex; rows of PMCs that are not released
 * @next_row: owner->mutex
 * @end_row: above all rows ever used; grows under owner->mutex
 */
struct owner_pmcs {
	struct hwpmc_pmc *at[HWPMC_NROW];
	DECLARE_BITMAP(live, HWPMC_NROW);
	u32		next_row;
	u32		end_row;
};

/**
 * struct owner_hotplug - the owner's part of CPU hotplug: see hotplug.c
 * @node:   instance of the cpuhp state
 * @added:  owner->mutex; @node is one
 * @cpu_lives: by CPU number: how often it came online (cpuhp callback)
 * @memcg:  of the process that configured the last log, or tried to; referenced.
 *	NULL: none yet, or no control groups.  Rings of CPUs that come online are
 *	charged to it.  Changed under owner->cpus_mutex and cpus_read_lock
 * @want_rings: CPUs that come online get a ring; WRITE_ONCE under owner->cpus_mutex
 *	and cpus_read_lock, READ_ONCE by the cpuhp callback
 * @only:   the CPUs that the owner is for; NULL: all.  Changed under owner->mutex,
 *	owner->cpus_mutex and cpus_read_lock, while there is no PMC and no writer
 *	thread; then no handler, hook or deferred chain looks.  See cpus.c
 * @work:   brings the PMCs' events in line with the online CPUs
 */
struct owner_hotplug {
	struct hlist_node node;
	bool		added;
	u32		*cpu_lives;
	struct mem_cgroup *memcg;
	bool		want_rings;
	struct cpumask	*only;
	struct delayed_work work;
};

/**
 * struct owner_budget - what sampling may cost: see budget.c
 * @ppm:    millionths of each CPU's time; 0: no budget.  WRITE_ONCE under owner->mutex
 *	while there is no PMC; READ_ONCE by handlers and the writer thread
 * @scale:  owner->mutex; this part of the rates asked for is in force, of BUDGET_ONE
 * @before: owner->mutex; @scale before the last PMC that was expected
 * @since:  owner->mutex; when the budget was set
 * @looked: owner->mutex; when the last window began
 * @worst:  owner->mutex; cost in the last window, in millionths
 * @rests:  owner->mutex; rates do not rise before this time
 * @added:  owner->mutex; @work has been initialized
 * @work:   keeps to the budget
 */
struct owner_budget {
	u32		ppm;
	u32		scale;
	u32		before;
	u64		since;
	u64		looked;
	u64		worst;
	u64		rests;
	bool		added;
	struct delayed_work work;
};

/**
 * struct owner_hooks - which records the hooks commit for the owner: see hooks.c
 * @node:   hooks_lock; in the RCU list of owners that log processes
 * @hooked: @node is in the list; WRITE_ONCE under owner->mutex, READ_ONCE by hooks
 * @slices: a thread that loses its counter logs its last slice.  Set while @hooked, and
 *	for as long as the end of the log takes: see hwpmc_thread_end_slices().  Written
 *	under owner->mutex, cleared under targets_mutex as well, READ_ONCE under
 *	targets_mutex
 * @follow_node: hooks_lock; in the RCU list of owners that follow all processes
 * @follow_all: follows all processes, not only targets; WRITE_ONCE under
 *	owner->mutex, READ_ONCE by hooks
 * @follows_from: what followers_begun became when the owner began to follow, 0:
 *	@follow_all is not set; locking as for @follow_all
 * @exit_trigger: see trigger.c; WRITE_ONCE under owner->mutex, READ_ONCE by hooks
 * @held:   owner->mutex; sets of probes that the owner keeps registered
 */
struct owner_hooks {
	struct list_head node;
	bool		hooked, slices;
	struct list_head follow_node;
	bool		follow_all;
	unsigned long	follows_from;
	u64		exit_trigger;
	unsigned long	held;
};

/**
 * struct owner_noring - lost process records that no ring counts
 * @dropped: those of processes on CPUs without a ring, and dumps and bases of a flight
 *	recorder without memory; any context
 * @beyond_dump: losses that a dump does not repair; any context.  These are failed
 *	attempts to follow a task, most of them because of max_counters, records of no
 *	process and PROCCSWs on CPUs without a ring, kernel modules that were not kept,
 *	and losses that another log has.  The next PROCCSW of the thread has the lost
 *	one's value
 * @told: the writer thread's: how many of both are logged
 * @told_at: the writer thread's: when it last counted them
 * @lost, @seen: the writer thread's: how many of @dropped are logged, and for how
 *	many of these a dump was requested
 */
struct owner_noring {
	atomic64_t	dropped;
	atomic64_t	beyond_dump;
	u64		told;
	u64		told_at;
	u64		lost;
	u64		seen;
};

/* counts of the owner's operations, and of its requests for rings */
struct owner_calls {
	atomic64_t	done;
	atomic64_t	failed;
	atomic64_t	ring_requests;
	atomic64_t	ring_failures;
};

/**
 * struct owner_limit - what the owner's user may have: see limits.c
 * @account: of the user; NULL: no limits; constant
 * @holders: the file, the writer thread, and targets: for as long as one has it, the
 *	owner counts for the user; any context
 */
struct owner_limit {
	struct limit_account *account;
	refcount_t	holders;
};

/**
 * struct owner_sum - the owner in sums over all owners: see stats.c
 * @node:   in the list of all owners, owners_mutex
 * @last:   the last sum that has this owner, owners_mutex
 */
struct owner_sum {
	struct list_head node;
	u64		last;
};

/**
 * struct hwpmc_owner - an open file description of /dev/hwpmc
 *
 * @ref:    held by the file, the writer thread, targets, and walks over all owners
 * @free:   frees the owner, whose parts are all layers'; constant
 * @rcu:    kfree_rcu(), because a hook may still hold a target of the owner
 * @serial: number of the owner, for trace events; constant
 * @file:   constant; used only by ioctls, while the file is open
 * @cred:   the opener's credentials, referenced; constant
 * @traces_all: the opener may inspect every process; constant
 * @mutex:  ioctls, PMC life cycle
 * @cpus_mutex: taken with @mutex, and released while the holder of @mutex waits for
 *	the log or for an exec: a CPU that comes online meanwhile gets its rings and
 *	events.  The hotplug work holds this one alone.  An ioctl holds both for the
 *	fields that the work changes, even if only @mutex is named here
 * @limit, @pmcs, @budget, @hp, @hooks, @sum, @noring, @calls, @log: see their structures
 * @is_owner: @mutex; has had a PMC or a log
 * @gate_open: stored under @mutex; READ_ONCE by handlers: see recordall.c
 * @rings:  by CPU number; a ring appears when its CPU is first seen online
 *	(cpuhp callback) and stays until the last reference is dropped.  One more,
 *	behind them, is RING_OF_IOCTLS: see record.h
 * @targets_mutex, @targets: see target.h.  Whether there is a target may also be read
 *	under @mutex alone: only an attach, which holds it, adds a first one
 * @lost_all: all targets are gone; WRITE_ONCE under @targets_mutex, READ_ONCE
 *	by poll(2)
 * @fold_mutex: prevents folding, so that the sum over the PMCs is complete; its
 *	holder never waits
 * @unwinder: stored under @mutex with release, before the first event that needs
 *	it; freed with the owner; see unwind.h
 * @pid_ns: the namespace of the pids in the log
 * @opener: the process that opened the device, referenced; constant
 * @fasync: locked by fasync_helper(); kill_fasync() reads it under RCU
 * @drops:  number of events that works are releasing: see hwpmc_event_drop(); atomic
 */
struct hwpmc_owner {
	struct kref	ref;
	void		(*free)(struct kref *ref);
	struct rcu_head	rcu;	/* kfree_rcu(): at most 4 kB from the start */
	u32		serial;
	struct file	*file;		/* not referenced: it refers to the owner */
	const struct cred *cred;
	bool		traces_all;
	struct owner_limit limit;
	struct mutex	mutex;
	struct mutex	cpus_mutex;
	struct owner_pmcs pmcs;
	bool		is_owner;
	bool		gate_open;
	struct owner_ring **rings;
	struct owner_budget budget;
	struct owner_hotplug hp;
	struct owner_hooks hooks;
	struct mutex	targets_mutex;
	struct mutex	fold_mutex;
	struct list_head targets;
	bool		lost_all;
	struct unwinder	*unwinder;
	struct pid_namespace *pid_ns;
	struct pid	*opener;
	struct fasync_struct *fasync;
	struct owner_sum sum;

	atomic_t	drops;
	struct owner_noring noring;
	struct owner_calls calls;

	struct hwpmc_log log;
};

static inline void owner_get(struct hwpmc_owner *o)
{
	kref_get(&o->ref);
}

/* Process context; for what the last reference waits for see the lock order. */
static inline void owner_put(struct hwpmc_owner *o)
{
	kref_put(&o->ref, o->free);
}

/*
 * True if @t still has a pid and the owner is in the first pid namespace: no
 * translation is needed.  An exiting task loses its pid, and runs on for a while.
 */
static inline bool owner_sees_pids(const struct hwpmc_owner *o,
				   const struct task_struct *t)
{
	return o->pid_ns == &init_pid_ns && data_race(pid_alive(t));
}

/* pids and tids as the owner sees them; the idle task is 0, an unseen one -1 */
static inline u32 owner_pid_of(const struct hwpmc_owner *o,
			       struct task_struct *t)
{
	pid_t nr;

	if (owner_sees_pids(o, t))
		return t->tgid;
	nr = task_tgid_nr_ns(t, o->pid_ns);
	return nr || data_race(is_idle_task(t)) ? nr : PMCLOG_PID_KERNEL;
}

static inline u32 owner_tid_of(const struct hwpmc_owner *o,
			       struct task_struct *t)
{
	pid_t nr;

	if (owner_sees_pids(o, t))
		return t->pid;
	nr = task_pid_nr_ns(t, o->pid_ns);
	return nr || data_race(is_idle_task(t)) ? nr : PMCLOG_PID_KERNEL;
}

/* Is the owner for @cpu?  See struct owner_hotplug's @only.  Any context. */
static inline bool owner_has_cpu(const struct hwpmc_owner *o, unsigned int cpu)
{
	return !o->hp.only || cpumask_test_cpu(cpu, o->hp.only);
}

/* The possible CPUs that the owner is for; context as of struct owner_hotplug's @only */
static inline const struct cpumask *owner_cpus(const struct hwpmc_owner *o)
{
	return o->hp.only ?: cpu_possible_mask;
}

/* the resources with a limit per user */
enum limit_kind {
	LIMIT_OWNERS,
	LIMIT_PMCS,
	LIMIT_RING_BYTES,
	LIMIT_COUNTERS,		/* of PMCs: on each CPU, in each thread */
	LIMIT_DROPS,		/* events that works release; no parameter */
	LIMIT_KINDS,
};

/* CPU time with a limit per user (max_cpu), each by itself */
enum limit_time {
	LIMIT_WRITERS,		/* the writer threads */
	LIMIT_WORKERS,		/* kernel workers that read what all owners have */
	LIMIT_TIMES,
};

/* Does the event's count stand for nanoseconds? */
static inline bool attr_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/*
 * Is each event one thing that the kernel does, and counts itself?  Of a fixed period,
 * every so many-th of a thread is a sample.
 */
static inline bool attr_is_exact(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
		return !attr_is_clock(attr);
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return true;
	default:
		return false;
	}
}

/*
 * memory.c.  Without memory a request fails, and no process is killed.  Charged to the
 * memory cgroup of the caller, or to the active one.
 */
#define HWPMC_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

void *hwpmc_memory(size_t bytes, int node, gfp_t flags);

/* worker.c */
u64 hwpmc_run_by_worker(void (*fn)(void *arg), void *arg);

/* params.c */
unsigned int hwpmc_param_chain_depth(void);
u32 hwpmc_param_ring_bytes(void);
u32 hwpmc_param_buffer_bytes(void);
u64 hwpmc_param_min_period(const struct perf_event_attr *attr);
u64 hwpmc_param_max_rate(void);
bool hwpmc_param_unprivileged(void);
bool hwpmc_param_perf_rules(void);
s64 hwpmc_param_limit(enum limit_kind kind);
u32 hwpmc_param_cpu_percent(void);
void hwpmc_params_check(void);

/* ioctl.c */
long hwpmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* owner.c */
struct hwpmc_owner *hwpmc_owner_create(struct file *file);
int hwpmc_owner_lock(struct hwpmc_owner *o);
void hwpmc_owner_unlock(struct hwpmc_owner *o);
void hwpmc_owner_flush(struct hwpmc_owner *o, struct file *file);
void hwpmc_owner_close(struct hwpmc_owner *o);

/* stats.c */
void hwpmc_stats_add_owner(struct hwpmc_owner *o);
void hwpmc_stats_remove_owner(struct hwpmc_owner *o);
int hwpmc_stats_for_each_owner(struct hwpmc_owner *asker,
			       void (*fn)(struct hwpmc_owner *o, void *arg), void *arg);
void hwpmc_stats_owner(struct hwpmc_owner *o, struct hwpmc_driverstats *st);
int hwpmc_stats_own(struct hwpmc_owner *o, struct hwpmc_driverstats *st);
int hwpmc_stats_module(struct hwpmc_owner *o, struct hwpmc_driverstats *st);

/* access.c: permissions */
#define MAX_GENERATIONS	1024	/* between the caller and a descendant */
int hwpmc_access_gate(const struct hwpmc_owner *o);
bool hwpmc_access_privileged(const struct hwpmc_owner *o);
bool hwpmc_access_system(const struct hwpmc_owner *o);
bool hwpmc_access_admin(const struct hwpmc_owner *o);
bool hwpmc_access_traces_all(const struct cred *cred);
bool hwpmc_access_is_private(u32 type, u64 config, u32 mode);
int hwpmc_access_allocate(const struct hwpmc_owner *o,
			  struct hwpmc_allocate *a);
int hwpmc_access_locked(void);
int hwpmc_access_perf(struct hwpmc_owner *o, bool system, bool tracepoint);
int hwpmc_access_lockdown(const struct hwpmc_allocate *a);
int hwpmc_access_hold(struct task_struct *task);
bool hwpmc_access_try_hold(struct task_struct *task);
void hwpmc_access_release(struct task_struct *task);
int hwpmc_access_attach(struct hwpmc_owner *o, struct task_struct *task);
bool hwpmc_access_still(struct hwpmc_owner *o, struct task_struct *task);

/* limits.c */
int hwpmc_limit_open(struct hwpmc_owner *o);
void hwpmc_limit_keep(struct hwpmc_owner *o);
void hwpmc_limit_leave(struct hwpmc_owner *o);
struct limit_account *hwpmc_limit_hold(struct hwpmc_owner *o);
void hwpmc_limit_drop(struct limit_account *a);
int hwpmc_limit_charge(struct hwpmc_owner *o, enum limit_kind kind, u64 n);
void hwpmc_limit_release(struct hwpmc_owner *o, enum limit_kind kind, u64 n);
void hwpmc_limit_give_back(struct limit_account *a, enum limit_kind kind, u64 n);
u64 hwpmc_limit_run(struct hwpmc_owner *o, enum limit_time kind, u64 ran);
int hwpmc_limit_begin_work(struct hwpmc_owner *o);
void hwpmc_limit_end_work(struct hwpmc_owner *o, u64 ran);

/* info.c */
void hwpmc_info_cpus(struct hwpmc_cpuinfo *c);
int hwpmc_info_pmcs(struct hwpmc_owner *o, struct hwpmc_pmcinfo *a);
int hwpmc_info_events(struct hwpmc_dyneventinfo *a);

/* atbase.c */
int hwpmc_atbase_get(struct hwpmc_owner *o, struct hwpmc_atbase *a);

/* hotplug.c */
int hwpmc_hotplug_init(void);
void hwpmc_hotplug_exit(void);
int hwpmc_hotplug_add_owner(struct hwpmc_owner *o);
void hwpmc_hotplug_remove_owner(struct hwpmc_owner *o);
int hwpmc_hotplug_begin_rings(struct hwpmc_owner *o);
void hwpmc_hotplug_sync_rings(struct hwpmc_owner *o);
void hwpmc_hotplug_free_rings(struct hwpmc_owner *o);

#endif /* HWPMC_HWPMC_H */
