/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An owner's log: the requests of ioctls, and the data of the writer thread.
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

#include "ring/merge.h"
#include "stream.h"
#include "sample/trigger.h"

struct hwpmc_owner;
struct mem_cgroup;

/**
 * struct log_place - the destination of a log with a file
 * @file: referenced
 * @pack: for its samples, or NULL
 * @keeper: the process that supplied the file, referenced
 * @bound: the log keeps the file only while the keeper lives: see logend.c
 */
struct log_place {
	struct file	*file;
	struct pack	*pack;
	struct pid	*keeper;
	bool		bound;
};

/* requests to the writer thread; under log.lock */
struct log_request {
	u64		flush_want;	/* sequence numbers */
	u64		flush_done;
	u64		dump_want;
	u64		dump_done;
	u64		dump_awaited;	/* an ioctl waits for this one; 0: none */
	u64		rotate_want;
	u64		rotate_done;
	struct log_place rotate;	/* without a file: no request */
	u64		snap_want;
	u64		snap_done;
	struct file	*snap_file;
	int		snap_error;	/* result of the last one */
	struct file	*armed_file;	/* for the first trigger */
	int		armed_error;
	bool		snapping;	/* a requested or armed snapshot is taken */
	bool		writing;	/* ... and the thread has begun to write it */
	bool		close;
};

enum log_state {
	LOG_NONE,
	LOG_OPEN,
	LOG_CLOSING,	/* requested to end; the thread still runs */
};

/* complete metadata records from WRITELOG, kept for rotated logs */
struct log_meta {
	struct list_head list;
	u32		len;
	u8		data[] __aligned(8);
};

/*
 * Lets suspend freeze waiters in place.  Waking them first would end an
 * interruptible wait with EINTR; a killable wait would block suspend.  UNSAFE,
 * because owner->mutex is held: tasks that wait for it can be frozen, too.
 */
#define WAIT_INTERRUPTIBLE	(TASK_INTERRUPTIBLE | TASK_FREEZABLE_UNSAFE)
#define WAIT_KILLABLE		(TASK_KILLABLE | TASK_FREEZABLE_UNSAFE)

/*
 * Where and how the writer thread of an unprivileged owner runs: no better than
 * the process that configured the log.  Written before the thread runs; later
 * only the thread uses it.
 */
struct log_share {
	bool		bound;		/* false: the thread is privileged */
	int		nice;
	unsigned int	policy;
	cpumask_var_t	cpus;
	u64		paid;		/* run time charged so far; nanoseconds */
};

/*
 * wait_event_state() for a holder of owner->mutex that waits for the log.  It
 * releases cpus_mutex, so a CPU that comes online does not wait for the reader.
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
 * @state:  log.lock; set to OPEN under owner->mutex
 * @lock, @req: requests
 * @meta, @meta_bytes: log.lock; entries are only added, and freed with the owner
 * @error:  WRITE_ONCE by the thread (negative errno)
 * @cancel: WRITE_ONCE under log.lock: abandon the snapshot that is being written
 * @snapped: an armed snapshot has ended, and no ioctl has asked since; WRITE_ONCE
 * @trigger: see trigger.c
 * @flight: window of a flight recorder, or NULL; changed while no thread runs, and
 *	by the thread at its end
 * @abort:  set when a closer's patience has run out: write nothing more
 * @keeper: the process that configured the log, or last rotated it to a new file,
 *	referenced; log.lock
 * @bound:  the log's file is released when the keeper has ended; log.lock
 * @orphaned: ... and the keeper has ended; WRITE_ONCE under log.lock
 * @ending, @closed: jiffies when a close began to end the log, or 0; @closed: it
 *	was the last close, and nothing new begins; WRITE_ONCE
 * @watch:  checks whether the keeper lives, and after the last close whether the
 *	thread has ended; only it uses @gave_up
 * @task:   referenced; set before the thread runs, replaced by the next log's.  A
 *	wakeup without owner->mutex must be in an RCU read section
 * @kick:   the thread has work to do
 * @done:   the thread has ended
 * @waitq:  for requesters and poll
 * @owner_pid, @memcg, @host: of the process that configured the log, with the
 *	host name that it saw; constant while the log lasts
 * @tell_kernel: the log may have kernel addresses; WRITE_ONCE before the thread
 *	runs, and by the thread: the kernel may be locked down meanwhile
 * @share: see struct log_share
 * @sink: constant while the log lasts
 * @stream: see struct log_stream
 * Only the thread uses the rest.
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

	struct file	*file;		/* of the log, or of the snapshot */
	bool		seekable;
	loff_t		pos;
	u8		*buf;
	u32		size;
	u32		used;
	struct pack	*pack;		/* NULL: samples are not packed */
	char		*path;		/* scratch for d_path() */
	u8		*spare;		/* for a record that is thrown away */
	u64		last_tsc;
	unsigned long	number;		/* counts logs, for told_log */
	unsigned long	attaches;	/* odd while attaches are being logged;
					 * the thread's, READ_ONCE by fork hooks */
	unsigned long	telling;	/* the next log, while it is being made;
					 * READ_ONCE by fork hooks */
	struct log_meta	*meta_told;	/* last one written to this log */
	bool		all_told;	/* all processes are in this log */
	struct list_head tee;		/* see rotate.c */
	bool		teeing;
	bool		to_tee;
	bool		tee_failed;
	bool		tee_told;	/* like @all_told, for the tee */
	u64		drops_told;	/* losses up to this time are in the log */
	u64		next_clock;	/* when to log the clocks again */

	struct merge	merge;
	bool		quiet;		/* the last look was quiet on all CPUs */
	u64		samples_taken;	/* consumed, ever */
	u64		proc_taken;
	u64		cut_taken;	/* samples with cut chains, by their flags */
	u64		cut_by_taken[PMCLOG_CUT_NCAUSE];
	u64		late_taken;
	u64		late_answers_taken;	/* deferred chains that came */
	u64		buf_samples;	/* not written yet */
	u64		buf_records;
	struct pmclog_account base;	/* at the start of this log */
	struct pmclog_account retired;	/* of folded PMCs; fold_mutex */
	u64		samples_logged;	/* in this log: written or buffered */
	u64		lost_here;	/* in this log: discarded */
	u64		made;		/* in this log */
	u64		drops[PMCLOG_DROP_NCAUSE];	/* logged, ever */
	u64		proc_drops;

	/* for statistics: read without a lock */
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

/* drain.c: the writer thread */
int drain_share(struct hwpmc_owner *o);
void drain_unshare(struct hwpmc_owner *o);
int drain_thread(void *arg);
void drain_upto(struct hwpmc_owner *o, u64 upto);
void drain_begin_log(struct hwpmc_owner *o, u64 tsc);
void drain_end_log(struct hwpmc_owner *o);
void drain_account(struct hwpmc_owner *o, struct pmclog_account *a);
void drain_cut(struct hwpmc_owner *o, struct pmclog_account *a);

/* chunks.c: the writer thread's */
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
