/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An owner's log: what ioctls ask of it, and what its writing thread has.
 */
#ifndef HWPMC_LOG_H
#define HWPMC_LOG_H

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/utsname.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <uapi/linux/hwpmc.h>
#include <uapi/linux/pmclog.h>

#include "merge.h"
#include "stream.h"
#include "trigger.h"

struct hwpmc_owner;
struct mem_cgroup;

/**
 * struct log_place - where a log with a file goes
 * @file: referenced
 * @pack: of its samples, or NULL
 * @keeper: the process that asked for it, referenced
 * @bound: the log goes there no longer than the keeper lives: see logend.c
 */
struct log_place {
	struct file	*file;
	struct pack	*pack;
	struct pid	*keeper;
	bool		bound;
};

/* requests to the writing thread; log.lock */
struct log_request {
	u64		flush_want;	/* sequence numbers */
	u64		flush_done;
	u64		dump_want;
	u64		dump_done;
	u64		dump_awaited;	/* what an ioctl waits for; 0: nobody */
	u64		rotate_want;
	u64		rotate_done;
	struct log_place rotate;	/* without a file: none is asked for */
	u64		snap_want;
	u64		snap_done;
	struct file	*snap_file;
	int		snap_error;	/* what came of the last one */
	struct file	*armed_file;	/* for the first trigger */
	int		armed_error;
	bool		snapping;	/* into a file that was armed or asked for */
	bool		writing;	/* ... and it has begun with that */
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

/*
 * Suspend freezes who waits where he is: to wake him up first would end an
 * interruptible wait with EINTR, and a killable one would keep the machine
 * awake.  With owner->mutex held: who wants that meanwhile can be frozen too.
 */
#define WAIT_INTERRUPTIBLE	(TASK_INTERRUPTIBLE | TASK_FREEZABLE_UNSAFE)
#define WAIT_KILLABLE		(TASK_KILLABLE | TASK_FREEZABLE_UNSAFE)

/*
 * Where and how the writing thread of an owner without privilege runs: no better
 * than the process that configured the log.  Written before the thread runs, then
 * its own.
 */
struct log_share {
	bool		bound;		/* false: the thread is privileged */
	int		nice;
	unsigned int	policy;
	cpumask_var_t	cpus;
	u64		paid;		/* of its running time; nanoseconds */
};

/*
 * wait_event_state() for a holder of owner->mutex that waits for the log.  A CPU
 * that comes online meanwhile does not wait for the reader.
 */
#define log_wait(o, condition, state) ({			\
	int err_;						\
								\
	mutex_unlock(&(o)->cpus_mutex);				\
	err_ = wait_event_state((o)->log.waitq, condition, state); \
	mutex_lock(&(o)->cpus_mutex);				\
	err_;							\
})

/**
 * struct hwpmc_log - an owner's log
 *
 * @state:  log.lock; changed to OPEN under owner->mutex
 * @lock, @req: requests
 * @meta, @meta_bytes: log.lock; entries are only added, and freed with the owner
 * @error:  WRITE_ONCE by the thread (negative errno)
 * @cancel: WRITE_ONCE under log.lock: give the snapshot up that is being written
 * @snapped: an armed snapshot has been, and nobody has asked since; WRITE_ONCE
 * @trigger: see trigger.c
 * @flight: window of a flight recorder, NULL: none; changed while no thread runs,
 *	and by it as it ends
 * @abort:  set when a closer's patience is at its end: write nothing more
 * @keeper: the process that configured the log, or rotated to its file last,
 *	referenced; log.lock
 * @bound:  its file is given up when the keeper has ended; log.lock
 * @orphaned: ... and he has; WRITE_ONCE under log.lock
 * @ending, @closed: jiffies of when a close began to end the log; 0: none has.
 *	That was the last close: nothing begins any more; WRITE_ONCE
 * @watch:  looks whether the keeper lives, and after the last close whether the
 *	thread has ended; @gave_up is its own
 * @task:   referenced; set before the thread runs, replaced by the next log's: who
 *	wakes it without owner->mutex does so in an RCU read section
 * @kick:   the thread has something to do
 * @done:   the thread has ended
 * @waitq:  for requesters and poll
 * @owner_pid, @memcg, @host: of the process that configured the log, and the
 *	machine's name there; constant while the log lasts
 * @tell_kernel: the kernel's addresses may be in it; WRITE_ONCE before the thread
 *	runs, and by it: the kernel may be locked down meanwhile
 * @share: see there
 * @sink: constant while the log lasts
 * @stream: see there
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
	struct pid	*keeper;
	bool		bound;
	bool		orphaned;
	unsigned long	ending;
	bool		closed;
	bool		gave_up;
	struct delayed_work watch;
	bool		cancel;
	bool		snapped;
	struct trigger	trigger;
	struct flight	*flight;
	struct task_struct *task;
	bool		kick;
	struct completion done;
	wait_queue_head_t waitq;
	pid_t		owner_pid;
	bool		tell_kernel;
	char		host[__NEW_UTS_LEN + 1];
	struct mem_cgroup *memcg;	/* referenced; may be NULL */
	struct log_share share;
	const struct sink_ops *sink;
	struct log_stream stream;

	struct file	*file;		/* of the log, or the snapshot's */
	bool		seekable;
	loff_t		pos;
	u8		*buf;
	u32		size;
	u32		used;
	struct pack	*pack;		/* NULL: samples are not packed */
	char		*path;		/* scratch for d_path() */
	u8		*spare;		/* for a record that goes nowhere */
	u64		last_tsc;
	unsigned long	number;		/* counts logs, for told_log */
	unsigned long	attaches;	/* odd while attaches are being told;
					 * the thread's, READ_ONCE by who forks */
	unsigned long	telling;	/* the log to come, while it is being
					 * made; READ_ONCE by who forks */
	struct log_meta	*meta_told;	/* last one written to this log */
	bool		all_told;	/* of all processes, in this log */
	struct list_head tee;		/* see rotate.c */
	bool		teeing;
	bool		to_tee;
	bool		tee_failed;
	bool		tee_told;	/* as @all_told, in the tee */
	u64		drops_told;	/* up to when losses are in the log */
	u64		next_clock;	/* when to log the clocks again */

	struct merge	merge;
	bool		quiet;		/* the last look was, on all CPUs */
	u64		samples_taken;	/* consumed, ever */
	u64		proc_taken;
	u64		cut_taken;	/* of the samples, as their flags say */
	u64		cut_by_taken[PMCLOG_CUT_NCAUSE];
	u64		late_taken;
	u64		late_answers_taken;	/* and these ones' chains */
	u64		buf_samples;	/* not written yet */
	u64		buf_records;
	struct pmclog_account base;	/* at the start of this log */
	struct pmclog_account seen;	/* at the last look */
	struct pmclog_account retired;	/* of PMCs that are gone; fold_mutex */
	u64		samples_logged;	/* in this log: written or buffered */
	u64		lost_here;	/* in this log: discarded */
	u64		made;		/* in this log */
	u64		drops[PMCLOG_DROP_NCAUSE];	/* told of, ever */
	u64		proc_drops;

	/* for statistics: read by anybody */
	atomic64_t	written;	/* samples */
	atomic64_t	discarded;
	atomic64_t	taken;
	atomic64_t	made_total;
	atomic64_t	bytes;
	atomic64_t	records;
	atomic64_t	sweeps;
};

/* log.c: ioctl side, under owner->mutex */
void log_init(struct hwpmc_owner *o);
int log_configure(struct hwpmc_owner *o, const struct hwpmc_configurelog *c);
int log_rotate(struct hwpmc_owner *o, int fd, u32 flags);
int log_flush(struct hwpmc_owner *o);
int log_close(struct hwpmc_owner *o);
void log_drop(struct hwpmc_owner *o);
int log_userdata(struct hwpmc_owner *o, u32 value);
int log_commit(struct hwpmc_owner *o, const void *rec, u32 len);
int log_write_records(struct hwpmc_owner *o, u64 uaddr, u32 len);
int log_dump(struct hwpmc_owner *o);
void log_want_dump(struct hwpmc_owner *o);
void log_begin_end(struct hwpmc_owner *o);
void log_free(struct hwpmc_owner *o);
bool log_active(struct hwpmc_owner *o);
bool log_hand_over(struct hwpmc_owner *o);
void log_kick(struct hwpmc_owner *o);
struct file *log_get_file(int fd);
bool log_answered(struct hwpmc_owner *o, const u64 *done, u64 want);

/* logend.c */
bool log_may_hold(struct file *file);
void log_keep(struct hwpmc_owner *o, struct pid *keeper, bool bound);
void log_watch_init(struct hwpmc_log *log);
void log_flush_closer(struct hwpmc_owner *o, struct file *file);
void log_shutdown(struct hwpmc_owner *o);

/* drain.c: the writing thread */
int drain_share(struct hwpmc_owner *o);
void drain_unshare(struct hwpmc_owner *o);
int drain_thread(void *arg);
void drain_upto(struct hwpmc_owner *o, u64 upto);
void drain_begin_log(struct hwpmc_owner *o, u64 tsc);
void drain_end_log(struct hwpmc_owner *o);
void drain_account(struct hwpmc_owner *o, struct pmclog_account *a);
void drain_cut(struct hwpmc_owner *o, struct pmclog_account *a);

/* chunks.c: the writing thread's */
#define CHUNK_BYTES	(64U << 10)
#define CHUNK_ROOM	(CHUNK_BYTES - (u32)sizeof(struct log_meta))

void *log_alloc(struct hwpmc_log *log, size_t bytes);
int chunk_add(struct hwpmc_owner *o, struct list_head *chunks);
void *chunk_room(struct hwpmc_owner *o, struct list_head *chunks, u32 len);
void chunk_free(struct hwpmc_owner *o, struct log_meta *m);
void chunks_free(struct hwpmc_owner *o, struct list_head *chunks);

/* rotate.c */
void rotate(struct hwpmc_owner *o, const struct log_place *to);
void *tee_room(struct hwpmc_owner *o, u32 len);
void tee_begin(struct hwpmc_owner *o);

#endif /* HWPMC_LOG_H */
