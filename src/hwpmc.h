/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hwpmc: what the module's rooms share.
 *
 * Lock order, outermost first:
 *
 *	owner->mutex		ioctls of an owner, PMC life cycle, hotplug work
 *	  hooks_mutex		registration of tracepoints and probes
 *	  cpus_read_lock	taken inside perf and cpuhp calls
 *	owner->log.lock		spinlock: requests to the writing thread
 *
 * The writing thread takes neither mutex: ioctls wait for it with the owner's
 * mutex held.  Overflow handlers and hooks take no lock at all; what they find
 * through RCU or through the event stays until both are synchronized with.
 */
#ifndef HWPMC_HWPMC_H
#define HWPMC_HWPMC_H

#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <asm/local64.h>

#include <uapi/linux/hwpmc.h>
#include <uapi/linux/pmclog.h>

#include "merge.h"

/* the last part of a ring is for process records */
#define HWPMC_RING_KEEP_SHIFT	3	/* an eighth */

/* kinds of ring records */
enum hwpmc_kind {
	KIND_SAMPLE	= 1,	/* struct pmclog_callchain */
	KIND_RECORD	= 2,	/* any other record, ready-made */
	KIND_MAP	= 3,	/* struct ring_map */
	KIND_EXEC	= 4,	/* struct ring_exec */
};

/* A mapping; the writing thread makes the path and drops the file. */
struct ring_map {
	struct ring_stamp stamp;
	struct file	*file;		/* referenced; NULL: anonymous */
	u64		start;
	u64		len;
	u64		offset;
	u32		pid;
	u32		prot;
	u32		vdso;
	u32		pad;
};

struct ring_exec {
	struct ring_stamp stamp;
	struct file	*file;		/* referenced, may be NULL */
	u64		base;
	u64		dyn;
	u32		pid;
	u32		pad;
};

/**
 * struct pmc_stat - what became of a PMC's overflows on one CPU
 *
 * Written by the handler on that CPU at any nesting; read by anybody, exactly
 * within a quiet look at the ring.
 */
struct pmc_stat {
	local64_t	overflows;
	local64_t	committed;
	local64_t	dropped[PMCLOG_DROP_NCAUSE];
	local64_t	filtered;
	local64_t	cut;
	local64_t	throttled;
	u64		first[PMCLOG_DROP_NCAUSE];	/* in this drop_epoch */
	u64		last[PMCLOG_DROP_NCAUSE];
	u32		epoch[PMCLOG_DROP_NCAUSE];
};

/* the same, as read */
struct pmc_count {
	u64	overflows;
	u64	committed;
	u64	dropped[PMCLOG_DROP_NCAUSE];
	u64	filtered;
	u64	cut;
	u64	throttled;
	u64	first[PMCLOG_DROP_NCAUSE];
	u64	last[PMCLOG_DROP_NCAUSE];
};

/**
 * struct pmc_cpu - a PMC on one CPU
 * @pmc, @cpu: constant
 * @stat:  see there
 * @event: owner->mutex; NULL while the CPU is away
 * @life:  owner->mutex; owner->cpu_lives of the CPU when @event was made
 * @base, @enabled0, @running0: owner->mutex; from events that are gone
 * @total, @enabled, @running: last reading, with what is gone; WRITE_ONCE under
 *	owner->mutex, READ_ONCE by the writing thread
 * @look, @seen, @told: the writing thread's: counters at the last look, at the
 *	last one that was quiet, and drops logged
 */
struct pmc_cpu {
	struct hwpmc_pmc *pmc;
	int		cpu;
	struct pmc_stat	stat;

	struct perf_event *event;
	u32		life;
	u64		base;
	u64		enabled0;
	u64		running0;

	u64		total;
	u64		enabled;
	u64		running;

	struct pmc_count look, seen;
	u64		told[PMCLOG_DROP_NCAUSE];
};

enum pmc_state {
	PMC_ALLOCATED,
	PMC_RUNNING,
	PMC_STOPPED,
	PMC_DELETED,		/* no events any more; the thread folds it */
};

/**
 * struct hwpmc_pmc - one allocated PMC
 *
 * Constant but for:
 * @state:   owner->mutex; READ_ONCE elsewhere
 * @period:  owner->mutex; READ_ONCE elsewhere
 * @origin:  owner->mutex; counting: value = origin + sum of totals
 * @told_log: the writing thread's: number of the log that knows this id
 * @folding: the writing thread's: deleted before its last look
 *
 * Freed by whoever folds it: the writing thread, or without one the owner.
 */
struct hwpmc_pmc {
	struct hwpmc_owner *owner;
	u32		id;
	u32		row;
	u32		mode;
	u32		flags;
	int		cpu;		/* or HWPMC_CPU_ALL */
	struct perf_event_attr attr;
	char		name[HWPMC_NAME_MAX];

	enum pmc_state	state;
	u64		period;
	u64		origin;
	unsigned long	told_log;
	bool		folding;

	struct pmc_cpu	*cpus[];	/* by CPU number; NULL: not there */
};

static inline bool mode_is_sampling(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS;
}

static inline bool pmc_is_sampling(const struct hwpmc_pmc *pmc)
{
	return mode_is_sampling(pmc->mode);
}

/* process records of a CPU, as read */
struct proc_count {
	u64	committed;
	u64	dropped;
	u64	first;
	u64	last;
};

#define RING_NLOST	16

/**
 * struct owner_ring - a CPU's ring of an owner
 * @wake: hard irq_work: wakes the writing thread at the watermark
 * @proc_*: process records; written on this CPU in process context with
 *	preemption off, read by the writing thread
 * @lost: pids whose records were lost: written there, read by the thread
 * @proc_look, @proc_seen, @proc_told: as in struct pmc_cpu
 */
struct owner_ring {
	struct hwpmc_ring ring;
	struct irq_work	wake;
	struct hwpmc_owner *owner;
	unsigned int	cpu;

	u32		drop_epoch;	/* the thread's; handlers read it */

	u64		proc_committed;
	u64		proc_dropped;
	u64		proc_first;
	u64		proc_last;
	u32		lost_head;
	u32		lost[RING_NLOST];

	u32		lost_tail;
	struct proc_count proc_look, proc_seen;
	u64		proc_told;
};

/* requests to the writing thread; log.lock */
struct log_request {
	u64		flush_want;	/* sequence numbers */
	u64		flush_done;
	u64		dump_want;
	u64		dump_done;
	u64		rotate_want;
	u64		rotate_done;
	struct file	*rotate_file;
	bool		close;
};

enum log_state {
	LOG_NONE,
	LOG_OPEN,
	LOG_CLOSING,	/* told to end; the thread still runs */
};

/* ready-made metadata from WRITELOG, kept for rotated logs */
struct log_meta {
	struct list_head list;
	u32		len;
	u8		data[] __aligned(8);
};

/**
 * struct hwpmc_log - an owner's log
 *
 * @state:  log.lock; changed to OPEN under owner->mutex
 * @lock, @req: requests
 * @meta, @meta_bytes: log.lock; entries are only added, and freed with the owner
 * @error:  WRITE_ONCE by the thread (negative errno)
 * @abort:  set by a closer whose patience is at its end: write nothing more
 * @task:   referenced; set before the thread runs, replaced by the next log's
 * @kick:   the thread has something to do
 * @done:   the thread has ended
 * @waitq:  for requesters and poll
 * @owner_pid, @see_kernel: who configured the log, and whether its addresses
 *	may be told; constant while the log lasts
 * The rest is the thread's own.
 */
struct hwpmc_log {
	enum log_state	state;
	spinlock_t	lock;
	struct log_request req;
	struct list_head meta;
	u32		meta_bytes;
	int		error;
	bool		abort;
	struct task_struct *task;
	bool		kick;
	struct completion done;
	wait_queue_head_t waitq;
	pid_t		owner_pid;
	bool		see_kernel;

	struct file	*file;
	bool		seekable;
	loff_t		pos;
	u8		*buf;
	u32		size;
	u32		used;
	char		*path;		/* scratch for d_path() */
	u8		*spare;		/* for a record that goes nowhere */
	u64		last_tsc;
	unsigned long	number;		/* counts logs, for told_log */
	struct log_meta	*meta_told;	/* last one written to this log */
	struct list_head tee;		/* see rotate.c */
	bool		teeing;
	bool		to_tee;
	bool		tee_failed;
	u64		drops_told;	/* up to when losses are in the log */
	u64		next_clock;	/* when to log the clocks again */

	struct merge	merge;
	bool		quiet;		/* the last look was, on all CPUs */
	u64		samples_taken;	/* consumed, ever */
	u64		proc_taken;
	u64		buf_samples;	/* not written yet */
	u64		buf_records;
	struct pmclog_account base;	/* at the start of this log */
	struct pmclog_account seen;	/* at the last look */
	struct pmclog_account retired;	/* of PMCs that are gone */
	u64		samples_logged;	/* in this log: written or buffered */
	u64		lost_here;	/* in this log: discarded */
	u64		made;		/* in this log */

	/* for statistics: read by anybody */
	atomic64_t	written;	/* samples */
	atomic64_t	discarded;
	atomic64_t	taken;
	atomic64_t	made_total;
	atomic64_t	bytes;
	atomic64_t	records;
	atomic64_t	sweeps;
};

/**
 * struct hwpmc_owner - an open file description of /dev/hwpmc
 *
 * @ref:    the file, and the writing thread
 * @mutex:  ioctls, PMC life cycle
 * @pmcs:   by row; stored under @mutex, cleared under log.lock by whoever
 *	folds a PMC.  Under @mutex only those in @live may be looked at
 * @live:   @mutex; rows of PMCs that are not released
 * @next_row, @is_owner: @mutex; @is_owner: has had a PMC or a log
 * @rings:  by CPU number; a ring appears when its CPU is first seen online
 *	(cpuhp callback) and stays until the last reference goes
 * @want_rings: CPUs that come online get a ring
 * @hp_node: instance of the cpuhp state; @hp_added: @mutex
 * @cpu_lives: by CPU number: how often it came online (cpuhp callback)
 * @hp_work: brings the PMCs' events in line with the online CPUs
 * @hook_node: hooks_mutex; in the RCU list of owners that follow processes
 * @pid_ns: pids in the log are those of this namespace
 * @noring_dropped: process records of CPUs without a ring; any context
 * @noring_told, @noring_seen: the thread's: how many of them are in the log,
 *	and are made good by a dump
 */
struct hwpmc_owner {
	struct kref	ref;
	struct file	*file;		/* not referenced: it refers to us */
	struct mutex	mutex;
	struct hwpmc_pmc *pmcs[HWPMC_NROW];
	DECLARE_BITMAP(live, HWPMC_NROW);
	u32		next_row;
	bool		is_owner;
	struct owner_ring **rings;
	bool		want_rings;
	struct hlist_node hp_node;
	bool		hp_added;
	u32		*cpu_lives;
	struct delayed_work hp_work;
	struct list_head hook_node;
	bool		hooked;
	struct pid_namespace *pid_ns;
	struct fasync_struct *fasync;
	struct list_head node;		/* of all owners, owners_lock */

	atomic64_t	noring_dropped;
	u64		noring_told, noring_seen;

	atomic64_t	syscalls;
	atomic64_t	syscall_errors;
	atomic64_t	ring_requests;
	atomic64_t	ring_failures;

	struct hwpmc_log log;
};

/* under owner->mutex */
#define for_each_live_pmc(o, row, pmc)				\
	for_each_set_bit(row, (o)->live, HWPMC_NROW)		\
		if (!((pmc) = (o)->pmcs[row])) {} else

/* by who folds PMCs: the writing thread, or without one under owner->mutex */
#define for_each_pmc(o, row, pmc)				\
	for ((row) = 0; (row) < HWPMC_NROW; (row)++)		\
		if (!((pmc) = smp_load_acquire(&(o)->pmcs[row]))) {} else

/* pids and tids as the owner sees them; idle is 0, unseen is -1 */
static inline u32 owner_pid_of(const struct hwpmc_owner *o,
			       struct task_struct *t)
{
	pid_t nr = task_tgid_nr_ns(t, o->pid_ns);

	return nr || is_idle_task(t) ? nr : PMCLOG_PID_KERNEL;
}

static inline u32 owner_tid_of(const struct hwpmc_owner *o,
			       struct task_struct *t)
{
	pid_t nr = task_pid_nr_ns(t, o->pid_ns);

	return nr || is_idle_task(t) ? nr : PMCLOG_PID_KERNEL;
}

/* preemption off */
static inline struct owner_ring *owner_this_ring(const struct hwpmc_owner *o)
{
	return smp_load_acquire(&o->rings[smp_processor_id()]);
}

static inline void stamp_header(struct ring_stamp *s, u32 type, u32 len)
{
	s->header = PMCLOG_HEADER(type, len);
	s->spare = 0;
}

/* params.c */
unsigned int param_chain_depth(void);
u32 param_ring_bytes(void);
u32 param_buffer_bytes(void);
u64 param_min_period(const struct perf_event_attr *attr);
bool param_unprivileged(void);
void params_check(void);

/* main.c */
extern const struct file_operations hwpmc_fops;

/* ioctl.c */
long hwpmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* owner.c */
struct hwpmc_owner *owner_create(struct file *file);
void owner_close(struct hwpmc_owner *o);
void owner_get(struct hwpmc_owner *o);
void owner_put(struct hwpmc_owner *o);

/* stats.c */
void stats_add_owner(struct hwpmc_owner *o);
void stats_remove_owner(struct hwpmc_owner *o);
void stats_owner(struct hwpmc_owner *o, struct hwpmc_driverstats *st);
void stats_module(struct hwpmc_driverstats *st);
void account_add_count(struct pmclog_account *a, const struct pmc_count *c);
void account_add(struct pmclog_account *a, const struct pmclog_account *b);
void account_sub(struct pmclog_account *a, const struct pmclog_account *b);
void pmc_count_read(struct pmc_count *c, const struct pmc_stat *s);

/* pmc.c: all under owner->mutex */
#define HWPMC_CAPS_OFFERED	(HWPMC_CAP_INTERRUPT | HWPMC_CAP_USER | \
				 HWPMC_CAP_SYSTEM | HWPMC_CAP_READ | \
				 HWPMC_CAP_WRITE | HWPMC_CAP_SYSWIDE)

bool pmc_privileged(struct hwpmc_owner *o);
int pmc_allocate(struct hwpmc_owner *o, struct hwpmc_allocate *a);
void pmc_describe(const struct hwpmc_pmc *pmc, struct pmclog_pmcallocatedyn *a);
int pmc_release(struct hwpmc_owner *o, u32 id);
int pmc_setcount(struct hwpmc_owner *o, struct hwpmc_setcount *a);
int pmc_rw(struct hwpmc_owner *o, struct hwpmc_rw *a);
int pmc_start(struct hwpmc_owner *o, u32 id);
int pmc_stop(struct hwpmc_owner *o, u32 id);
void pmc_stop_logging(struct hwpmc_owner *o);
void pmc_refresh_all(struct hwpmc_owner *o);
void pmc_release_all(struct hwpmc_owner *o);
void pmc_fold(struct hwpmc_owner *o, struct hwpmc_pmc *pmc);

/* event.c: under owner->mutex */
int event_init(void);
void event_exit(void);
int event_create(struct pmc_cpu *pc);
void event_release(struct pmc_cpu *pc);
void event_read(struct pmc_cpu *pc);
int event_sync_cpus(struct hwpmc_pmc *pmc);

/* hotplug.c */
int hotplug_init(void);
void hotplug_exit(void);
int hotplug_add_owner(struct hwpmc_owner *o);
void hotplug_remove_owner(struct hwpmc_owner *o);
int rings_create(struct hwpmc_owner *o);
void rings_sync(struct hwpmc_owner *o);
void rings_free(struct hwpmc_owner *o);

/* sample.c */
int sample_init(void);
void sample_exit(void);
void hwpmc_overflow(struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *regs);

/* chain.c */
#define CHAIN_SLACK	32	/* room for the handler's own frames */
unsigned int chain_kernel(u64 *pc, unsigned int max, struct pt_regs *regs,
			  bool *cut);
unsigned int chain_user(u64 *pc, unsigned int max, struct pt_regs *regs,
			bool *cut);

/* record.c: process records into rings; preemption off */
void *record_begin(struct hwpmc_owner *o, u32 len, u32 kind, u32 pid,
		   struct owner_ring **ring, unsigned int *depth);
void record_end(struct owner_ring *or, unsigned int depth);
void record_commit(struct hwpmc_owner *o, const void *rec, u32 len, u32 pid);
void record_lost(struct hwpmc_owner *o, u32 pid);
void ring_wake_if_needed(struct owner_ring *or);

/* hooks.c */
int hooks_follow(struct hwpmc_owner *o);
void hooks_unfollow(struct hwpmc_owner *o);
void hooks_exit(void);
extern struct list_head hook_owners;	/* RCU; changed under hooks_mutex */

/* for each owner that follows processes; in an RCU read section */
#define for_each_hook_owner(o) \
	list_for_each_entry_rcu(o, &hook_owners, hook_node)

/* proc.c: the probes */
void map_fill(struct ring_map *m, struct vm_area_struct *vma, u32 pid);
int proc_probes_register(void);
void proc_probes_unregister(void);

/* kmod.c */
int kmod_register(void);
void kmod_unregister(void);

/* log.c: ioctl side, under owner->mutex */
void log_init(struct hwpmc_owner *o);
int log_configure(struct hwpmc_owner *o, int fd);
int log_rotate(struct hwpmc_owner *o, int fd);
int log_flush(struct hwpmc_owner *o);
int log_close(struct hwpmc_owner *o);
int log_userdata(struct hwpmc_owner *o, u32 value);
int log_commit(struct hwpmc_owner *o, const void *rec, u32 len);
int log_write_records(struct hwpmc_owner *o, u64 uaddr, u32 len);
int log_dump(struct hwpmc_owner *o);
void log_shutdown(struct hwpmc_owner *o);
void log_free(struct hwpmc_owner *o);
bool log_active(struct hwpmc_owner *o);
bool log_hand_over(struct hwpmc_owner *o);
void log_kick(struct hwpmc_owner *o);

/* drain.c: the writing thread */
int drain_thread(void *arg);
void drain_upto(struct hwpmc_owner *o, u64 upto);
void drain_begin_log(struct hwpmc_owner *o, u64 tsc);
void drain_end_log(struct hwpmc_owner *o);

/* rotate.c */
void rotate(struct hwpmc_owner *o, struct file *file);
void *tee_room(struct hwpmc_log *log, u32 len);

/* emit.c: records of the thread's own making, and into the buffer */
void emit_ring_record(void *arg, unsigned int cpu, u32 kind,
		      struct ring_stamp *s, u32 len);
void *emit_reserve(struct hwpmc_owner *o, u32 type, u32 len, u64 tsc);
void emit_begin(struct hwpmc_owner *o, u64 tsc);
void emit_meta(struct hwpmc_owner *o, const struct log_meta *m);
void emit_news(struct hwpmc_owner *o);
void emit_drops(struct hwpmc_owner *o, u64 tsc);
void emit_rates(struct hwpmc_owner *o, struct hwpmc_pmc *pmc);
void emit_clock(struct hwpmc_owner *o);
void emit_end(struct hwpmc_owner *o, struct pmclog_account *account);
void emit_names(struct hwpmc_owner *o, u32 pid, u32 tid, const char *comm,
		u64 tsc);
void emit_mapping(struct hwpmc_owner *o, const struct ring_map *m, u64 tsc);
void emit_sysexit(struct hwpmc_owner *o, u32 pid, u64 tsc);

/* sink.c */
int sink_attach(struct hwpmc_log *log, struct file *file);
int sink_check(struct file *file);
void sink_flush(struct hwpmc_owner *o);
void sink_swap(struct hwpmc_log *log, struct file *file);
void sink_detach(struct hwpmc_log *log);

/* dump.c */
void dump_all(struct hwpmc_owner *o);
void dump_pid(struct hwpmc_owner *o, u32 pid);

#endif /* HWPMC_HWPMC_H */
