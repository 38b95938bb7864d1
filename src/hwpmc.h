/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hwpmc: declarations that the module's files share.
 *
 * Lock order, outermost first:
 *
 *	owner->mutex		ioctls of an owner (but statistics), PMC life cycle
 *	  owner->cpus_mutex	events of CPUs: the same, but released during waits
 *				for the log; and hotplug work
 *	  exec_update_lock	of a process, for reading: prevents its exec
 *	    owner->targets_mutex processes with PMCs attached: see target.h
 *	  hooks_mutex		registration of tracepoints and probes
 *	  cpus_read_lock	taken inside perf and cpuhp calls
 *	owners_mutex		in stats.c: the list of all owners
 *	  owner->fold_mutex	prevents folding of this owner's PMCs
 *	accounts_mutex		in limits.c: resources of users
 *	owner->log.lock		spinlock: requests to the writer thread
 *	owner->log.stream.lock	spinlock: the data for read(2)
 *	rows_lock		spinlock in rows.c: rows in use and disabled ones
 *
 * A walk over all owners takes one fold_mutex after another, never two at a time.
 * The writer thread takes no mutex but targets_mutex and fold_mutex, and with the
 * last reference owners_mutex and accounts_mutex: ioctls wait for the thread with
 * owner->mutex held.  Overflow handlers and hooks take no lock at all (except one in
 * compat.h, under which no other is taken).  What they find through RCU or through
 * the event is freed only after both are synchronized with.
 */
#ifndef HWPMC_HWPMC_H
#define HWPMC_HWPMC_H

#include <linux/bitmap.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/workqueue.h>

#include <uapi/linux/hwpmc.h>
#include <uapi/linux/pmclog.h>

#include "log/log.h"

struct hwpmc_pmc;
struct owner_ring;

/**
 * struct hwpmc_owner - an open file description of /dev/hwpmc
 *
 * @ref:    held by the file and the writer thread
 * @serial: number of the owner, for trace events; constant
 * @cred:   the opener's credentials, referenced; constant
 * @traces_all: the opener may inspect every process; constant
 * @account: of its user; NULL: no limits; constant
 * @mutex:  ioctls, PMC life cycle
 * @cpus_mutex: taken with @mutex, and released while the holder of @mutex waits for
 *	the log: a CPU that comes online meanwhile gets its rings and events.  The
 *	hotplug work holds this one alone.  An ioctl holds both for the fields that the
 *	work changes, even if only @mutex is named here
 * @pmcs:   by row; stored under @mutex, cleared under @fold_mutex when a PMC is
 *	folded.  Under @mutex only the PMCs in @live may be accessed
 * @live:   @mutex; rows of PMCs that are not released
 * @next_row, @is_owner: @mutex; @is_owner: has had a PMC or a log
 * @gate_open: stored under @mutex; READ_ONCE by handlers: see recordall.c
 * @end_row: above all rows ever used; grows under @mutex
 * @rings:  by CPU number; a ring appears when its CPU is first seen online
 *	(cpuhp callback) and stays until the last reference is dropped
 * @want_rings: CPUs that come online get a ring
 * @hp_node: instance of the cpuhp state; @hp_added: @mutex
 * @cpu_lives: by CPU number: how often it came online (cpuhp callback)
 * @hp_work: brings the PMCs' events in line with the online CPUs
 * @hook_node: hooks_mutex; in the RCU list of owners that log processes
 * @hooked: @hook_node is in the list; WRITE_ONCE under @mutex, READ_ONCE by hooks
 * @follow_node: hooks_mutex; in the RCU list of owners that follow all processes
 * @follow_all: follows all processes, not only targets; locking as for @hooked
 * @exit_trigger: see trigger.c; WRITE_ONCE under @mutex, READ_ONCE by hooks
 * @hooks_held: @mutex; sets of probes that the owner keeps registered
 * @targets_mutex, @targets: see target.h; @lost_all: no target is left
 * @fold_mutex: prevents folding, so that the sum over the PMCs is complete; its
 *	holder never waits
 * @unwinder: stored under @mutex with release, before the first event that needs
 *	it; freed with the owner; see unwind.h
 * @pid_ns: the namespace of the pids in the log
 * @opener: the process that opened the device, referenced; constant
 * @noring_dropped: process records of CPUs without a ring, and dumps without
 *	memory; any context
 * @noring_told, @noring_seen: the thread's: how many of these losses are in the
 *	log, and how many are repaired by a dump
 */
struct hwpmc_owner {
	struct kref	ref;
	struct rcu_head	rcu;	/* kfree_rcu(): at most 4 kB from the start */
	u32		serial;
	struct file	*file;		/* not referenced: it refers to the owner */
	const struct cred *cred;
	bool		traces_all;
	struct limit_account *account;
	struct mutex	mutex;
	struct mutex	cpus_mutex;
	struct hwpmc_pmc *pmcs[HWPMC_NROW];
	DECLARE_BITMAP(live, HWPMC_NROW);
	u32		next_row;
	u32		end_row;
	bool		is_owner;
	bool		gate_open;
	struct owner_ring **rings;
	bool		want_rings;
	struct hlist_node hp_node;
	bool		hp_added;
	u32		*cpu_lives;
	struct delayed_work hp_work;
	struct list_head hook_node;
	struct list_head follow_node;
	bool		hooked;
	bool		follow_all;
	u64		exit_trigger;
	unsigned long	hooks_held;
	struct mutex	targets_mutex;
	struct mutex	fold_mutex;
	struct list_head targets;
	bool		lost_all;
	struct unwinder	*unwinder;
	struct pid_namespace *pid_ns;
	struct pid	*opener;
	struct fasync_struct *fasync;
	struct list_head node;		/* in the list of all owners, owners_mutex */

	atomic64_t	noring_dropped;
	u64		noring_told, noring_seen;

	atomic64_t	syscalls;
	atomic64_t	syscall_errors;
	atomic64_t	ring_requests;
	atomic64_t	ring_failures;

	struct hwpmc_log log;
};

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
	return nr || is_idle_task(t) ? nr : PMCLOG_PID_KERNEL;
}

static inline u32 owner_tid_of(const struct hwpmc_owner *o,
			       struct task_struct *t)
{
	pid_t nr;

	if (owner_sees_pids(o, t))
		return t->pid;
	nr = task_pid_nr_ns(t, o->pid_ns);
	return nr || is_idle_task(t) ? nr : PMCLOG_PID_KERNEL;
}

/* the resources with a limit per user */
enum limit_kind {
	LIMIT_OWNERS,
	LIMIT_PMCS,
	LIMIT_RING_BYTES,
	LIMIT_COUNTERS,		/* of PMCs: on each CPU, in each thread */
	LIMIT_KINDS,
};

/* params.c */
unsigned int param_chain_depth(void);
u32 param_ring_bytes(void);
u32 param_buffer_bytes(void);
u64 param_min_period(const struct perf_event_attr *attr);
bool param_unprivileged(void);
bool param_perf_rules(void);
s64 param_limit(enum limit_kind kind);
u32 param_cpu_percent(void);
void params_check(void);

/* main.c */
extern const struct file_operations hwpmc_fops;

/* ioctl.c */
long hwpmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* owner.c */
struct hwpmc_owner *owner_create(struct file *file);
int owner_lock(struct hwpmc_owner *o);
void owner_unlock(struct hwpmc_owner *o);
void owner_close(struct hwpmc_owner *o);
void owner_get(struct hwpmc_owner *o);
void owner_put(struct hwpmc_owner *o);

/* stats.c */
void stats_add_owner(struct hwpmc_owner *o);
void stats_remove_owner(struct hwpmc_owner *o);
void stats_for_each_owner(void (*fn)(struct hwpmc_owner *o, void *arg),
			  void *arg);
void stats_owner(struct hwpmc_owner *o, struct hwpmc_driverstats *st);
void stats_module(struct hwpmc_driverstats *st);

/* access.c: permissions */
#define MAX_GENERATIONS	1024	/* between the caller and a descendant */
int access_gate(const struct hwpmc_owner *o);
bool pmc_privileged(const struct hwpmc_owner *o);
bool access_system(const struct hwpmc_owner *o);
bool access_admin(const struct hwpmc_owner *o);
bool access_traces_all(const struct cred *cred);
int access_allocate(const struct hwpmc_owner *o, struct hwpmc_allocate *a);
int access_locked(void);
int access_perf(struct hwpmc_owner *o, bool system, bool tracepoint);
int access_lockdown(const struct hwpmc_allocate *a);
int access_hold(struct task_struct *task);
bool access_try_hold(struct task_struct *task);
void access_release(struct task_struct *task);
int access_attach(struct hwpmc_owner *o, struct task_struct *task);
bool access_still(struct hwpmc_owner *o, struct task_struct *task);

/* limits.c */
int limit_open(struct hwpmc_owner *o);
void limit_close(struct hwpmc_owner *o);
void limit_forget(struct hwpmc_owner *o);
int limit_charge(struct hwpmc_owner *o, enum limit_kind kind, u64 n);
void limit_release(struct hwpmc_owner *o, enum limit_kind kind, u64 n);
u64 limit_run(struct hwpmc_owner *o, u64 ran);

/* info.c */
void info_cpus(struct hwpmc_cpuinfo *c);
int info_pmcs(struct hwpmc_owner *o, struct hwpmc_pmcinfo *a);
int info_events(struct hwpmc_dyneventinfo *a);

/* atbase.c */
int atbase_get(struct hwpmc_owner *o, struct hwpmc_atbase *a);

/* hotplug.c */
int hotplug_init(void);
void hotplug_exit(void);
int hotplug_add_owner(struct hwpmc_owner *o);
void hotplug_remove_owner(struct hwpmc_owner *o);
int rings_create(struct hwpmc_owner *o);
void rings_sync(struct hwpmc_owner *o);
void rings_free(struct hwpmc_owner *o);

#endif /* HWPMC_HWPMC_H */
