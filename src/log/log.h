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

#include "kept.h"
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

/**
 * struct log_share - where and how the writer thread runs
 * @bound: no better than the process that configured the log; false: the thread is
 *	privileged
 * @nice, @policy: of a @bound thread
 * @placed: it runs on @cpus only: a @bound thread, and that of an owner for some CPUs
 * @cpus: allocated if @placed
 * @paid: run time charged so far; nanoseconds
 * @owed: run time of workers in place of the thread, not charged yet; nanoseconds
 *
 * Written before the thread runs; later only the thread uses it.
 */
struct log_share {
	bool		bound;
	int		nice;
	unsigned int	policy;
	bool		placed;
	cpumask_var_t	cpus;
	u64		paid;
	u64		owed;
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
 * struct log_end - how and when the log ends: see logend.c
 * @keeper: the process that configured the log, or last rotated it to a new file,
 *	referenced; log.lock
 * @bound:  the log's file is released when the keeper has ended; log.lock
 * @orphaned: the keeper of a @bound file has ended; WRITE_ONCE under log.lock
 * @ending: jiffies when a close began to end the log, or 0; under owner->mutex,
 *	or by the last close before @closed
 * @closed: the last close has begun, and no other log begins; stored with release
 * @gave_up: only @watch uses it
 * @close_work: the last close of another process: see main.c
 * @watch:  checks whether the keeper lives, and after the last close whether the
 *	thread has ended
 */
struct log_end {
	struct pid	*keeper;
	bool		bound;
	bool		orphaned;
	unsigned long	ending;
	bool		closed;
	bool		gave_up;
	struct delayed_work watch;
	struct work_struct close_work;
};

/**
 * struct log_snap - snapshots of a flight recorder
 * @cancel: WRITE_ONCE under log.lock: abandon the snapshot that is being written
 * @ended:  an armed snapshot has ended, and no ioctl has read its result; WRITE_ONCE
 * @trigger: see trigger.c
 */
struct log_snap {
	bool		cancel;
	bool		ended;
	struct trigger	trigger;
};

/**
 * struct log_out - the file, and the records to be written; the thread's
 * @file:  of the log, or of the snapshot
 * @seekable, @pos: the file has a position, and that position
 * @buf, @size, @used: records that are not written yet
 * @pack:  NULL: samples are not packed
 * @path:  scratch for d_path()
 * @spare: room for a record of the next log if there is no memory; discarded
 */
struct log_out {
	struct file	*file;
	bool		seekable;
	loff_t		pos;
	u8		*buf;
	u32		size;
	u32		used;
	struct pack	*pack;
	char		*path;
	u8		*spare;
};

/**
 * struct log_told - what the log already has; the writer thread's
 * @last_tsc: time of the last record
 * @number:   counts logs, for told_log of links and PMCs; READ_ONCE by fork hooks
 * @attaches: odd while attaches are being logged; READ_ONCE by fork hooks
 * @telling:  the next log's number while that is being made, else @number;
 *	READ_ONCE by fork hooks
 * @epoch:    counts the parts that can be read alone: logs, and segments of a window
 * @meta:     the last entry of the list @meta of struct hwpmc_log that has been emitted
 * @all:      all processes are in this log
 */
struct log_told {
	u64		last_tsc;
	unsigned long	number;
	unsigned long	attaches;
	unsigned long	telling;
	u32		epoch;
	struct log_meta	*meta;
	bool		all;
};

/**
 * struct log_tee - the next log while it is being made: see rotate.c; the thread's
 * @list: its records so far
 * @on:   it is being made: records of processes go to both logs
 * @to:   records that are emitted now go to @list, not to the buffer
 * @failed: no memory for a record
 * @drops: @proc_drops of struct log_acct when it was begun
 * @told: like @all of struct log_told, for the tee
 */
struct log_tee {
	struct list_head list;
	bool		on;
	bool		to;
	bool		failed;
	bool		told;
	u64		drops;
};

#define LOST_MAX	128

/**
 * struct lost_process - a process to be logged again, because a record of it was lost
 * @nr:    in the owner's pid namespace
 * @since: when the process was first found busy: a fork, an exec, or its mmap lock
 *	   (CLOCK_MONOTONIC); 0: not yet
 * @after: the process is not read before this time (CLOCK_MONOTONIC); 0: by the
 *	next pass
 * @owed:  the log has its names, but not its mappings, and no loss is counted for that yet
 * @ends:  it has been logged, and has begun to end: only its SYSEXIT is waited for
 */
struct lost_process {
	u32		nr;
	bool		owed;
	bool		ends;
	u64		since;
	u64		after;
};

/**
 * struct log_lost - processes to be dumped after losses; the thread's: see dump_lost.c
 * @at, @n: processes of which a record was lost
 * @due: all processes are to be dumped ...
 * @not_before: ... but not before this time (CLOCK_MONOTONIC)
 * @complete_since: all losses before this time are repaired (CLOCK_MONOTONIC)
 */
struct log_lost {
	struct lost_process at[LOST_MAX];
	unsigned int	n;
	bool		due;
	u64		not_before;
	u64		complete_since;
};

/**
 * struct lock_wait - a wait for a process' mmap lock: see dump_process.c; the thread's
 * @over: work that ends the wait
 * @task: the thread, while @over may be queued
 */
struct lock_wait {
	struct delayed_work over;
	struct task_struct *task;
};

/**
 * struct log_pace - how soon the next pass is due: see drain_sleep()
 * @resting: the thread sleeps for longer than usual; WRITE_ONCE by the thread,
 *	READ_ONCE by hooks that commit a process record
 * @news:    the pass has taken process records; the thread's, like the rest
 * @asking:  maps of unwind tables are still to be looked through
 * @taken:   samples and process records from the rings, by all passes before this one
 * @gave:    ns that the thread has slept in hwpmc_drain_give_way()
 */
struct log_pace {
	bool		resting;
	bool		news;
	bool		asking;
	u64		taken;
	u64		gave;
};

/**
 * struct log_acct - the accounts of this log and of all logs; the thread's, except
 *	@retired
 * @quiet:   the last look for records was quiet on all CPUs
 * @samples_taken, @proc_taken: samples and process records taken from the
 *	rings, for all logs
 * @cut_taken, @cut_by_taken: samples with cut chains, by their flags
 * @late_taken: samples whose chain is to come later, by their flags
 * @late_answers_taken: deferred chains that were taken from the rings
 * @buf_samples, @buf_records: in the buffer, not written yet
 * @base:    the account at the start of this log
 * @retired: of folded PMCs; fold_mutex
 * @samples_logged: in this log: written or buffered
 * @lost_here: in this log: discarded
 * @made:    in this log: records that the thread itself made
 * @drops, @proc_drops: losses that were logged, in all logs
 */
struct log_acct {
	bool		quiet;
	u64		samples_taken;
	u64		proc_taken;
	u64		cut_taken;
	u64		cut_by_taken[PMCLOG_CUT_NCAUSE];
	u64		late_taken;
	u64		late_answers_taken;
	u64		buf_samples;
	u64		buf_records;
	struct pmclog_account base;
	struct pmclog_account retired;
	u64		samples_logged;
	u64		lost_here;
	u64		made;
	u64		drops[PMCLOG_DROP_NCAUSE];
	u64		proc_drops;
};

/* for statistics: written by the thread, read anywhere without a lock */
struct log_totals {
	atomic64_t	written;	/* samples */
	atomic64_t	discarded;
	atomic64_t	made;
	atomic64_t	bytes;
	atomic64_t	records;
	atomic64_t	sweeps;
};

/**
 * struct log_maker - the process that configured the log; constant while the log lasts,
 *	except for @tell_kernel
 * @pid, @host: as it and the host name were seen in its namespaces
 * @memcg: referenced; may be NULL
 * @tell_kernel: the log may have kernel addresses; WRITE_ONCE before the thread
 *	runs, and by the thread: the kernel may be locked down meanwhile
 */
struct log_maker {
	pid_t		pid;
	bool		tell_kernel;
	char		host[__NEW_UTS_LEN + 1];
	struct mem_cgroup *memcg;
};

/**
 * struct log_times - how far the log is; the thread's
 * @horizon: of the last look: no record appears later with a stamp below it
 * @drops_told: losses up to this time are logged
 * @next_clock, @real_ahead: when to log the clocks again; the wall clock before
 *	CLOCK_MONOTONIC_RAW when they were logged, or at the cut that ended a log.  In a
 *	flight recorder: in the window
 */
struct log_times {
	u64		horizon;
	u64		drops_told;
	u64		next_clock;
	u64		real_ahead;
};

/**
 * struct hwpmc_log - an owner's log
 *
 * @state:  log.lock; set to OPEN under owner->mutex
 * @lock, @req: requests
 * @meta, @meta_bytes: log.lock; entries are only added while the thread runs
 * @error:  WRITE_ONCE by the thread (negative errno)
 * @abort:  WRITE_ONCE: the thread writes nothing more, because the last close has
 *	waited for too long, or because no process will read the log from the device
 * @end, @snap: see their structures
 * @flight: window of a flight recorder, or NULL; changed while no thread runs, and
 *	by the thread at its end
 * @task:   referenced; set before the thread runs, replaced by the next log's.  A
 *	wakeup without owner->mutex must be in an RCU read section
 * @kick:   the thread has work to do
 * @done:   the thread has ended
 * @waitq:  for requesters and poll
 * @maker: see struct log_maker
 * @share: see struct log_share
 * @sink: constant while the log lasts
 * @stream: see struct log_stream
 * @totals: see struct log_totals
 * Only the thread uses the rest.
 * @fold_later: a released PMC could not be folded yet
 * @out, @told, @tee, @kept, @acct, @pace, @times, @lost, @lock_wait: see their structures
 * @merge: of the owner's rings
 */
struct hwpmc_log {
	enum log_state	state;
	spinlock_t	lock;
	struct log_request req;
	struct list_head meta;
	u32		meta_bytes;
	int		error;
	bool		abort;
	struct log_end	end;
	struct log_snap	snap;
	struct flight	*flight;
	struct task_struct *task;
	bool		kick;
	struct completion done;
	wait_queue_head_t waitq;
	struct log_maker maker;
	struct log_share share;
	const struct sink_ops *sink;
	struct log_stream stream;
	struct log_totals totals;

	struct log_out	out;
	struct log_told	told;
	struct log_tee	tee;
	struct log_kept	kept;
	struct merge	merge;
	struct log_acct	acct;
	struct log_pace	pace;
	struct log_times times;
	bool		fold_later;
	struct log_lost	lost;
	struct lock_wait lock_wait;
};

/* log.c: ioctl side, under owner->mutex */
void hwpmc_log_init(struct hwpmc_owner *o);
int hwpmc_log_begin(struct hwpmc_owner *o, struct file *file,
		    const struct hwpmc_configurelog *c);
int hwpmc_log_there(struct hwpmc_owner *o);
int hwpmc_log_get_place(struct hwpmc_owner *o, int fd, u32 flags,
			struct log_place *to);
int hwpmc_log_rotate(struct hwpmc_owner *o, const struct log_place *to);
int hwpmc_log_flush(struct hwpmc_owner *o);
int hwpmc_log_dump(struct hwpmc_owner *o);
void hwpmc_log_want_dump(struct hwpmc_owner *o);
void hwpmc_log_begin_end(struct hwpmc_owner *o);
int hwpmc_log_await_end(struct hwpmc_owner *o);
void hwpmc_log_forget(struct hwpmc_owner *o);
void hwpmc_log_free(struct hwpmc_owner *o);
bool hwpmc_log_active(struct hwpmc_owner *o);
bool hwpmc_log_has_writer(struct hwpmc_owner *o);
bool hwpmc_log_hand_over(struct hwpmc_owner *o);
void hwpmc_log_kick(struct hwpmc_owner *o);
void hwpmc_log_end_rest(struct hwpmc_owner *o);
struct file *hwpmc_log_get_file(int fd);
bool hwpmc_log_answered(struct hwpmc_owner *o, const u64 *done, u64 want);

/* writelog.c: ioctl side, under owner->mutex */
int hwpmc_log_commit(struct hwpmc_owner *o, const void *rec, u32 len);
int hwpmc_log_userdata(struct hwpmc_owner *o, u32 value);
int hwpmc_log_write_records(struct hwpmc_owner *o, u64 uaddr, u32 len);

/* logend.c */
bool hwpmc_log_may_hold(struct file *file);
void hwpmc_log_keep(struct hwpmc_owner *o, struct pid *keeper, bool bound);
void hwpmc_log_watch_init(struct hwpmc_log *log);
bool hwpmc_log_is_callers(struct hwpmc_owner *o);
void hwpmc_log_shutdown(struct hwpmc_owner *o);

/* drain.c: the writer thread */
int hwpmc_drain_share(struct hwpmc_owner *o);
void hwpmc_drain_unshare(struct hwpmc_owner *o);
int hwpmc_drain_thread(void *arg);
void hwpmc_drain_give_way(struct hwpmc_owner *o, bool begins);
void hwpmc_drain_upto(struct hwpmc_owner *o, u64 upto);
void hwpmc_drain_begin_log(struct hwpmc_owner *o, u64 tsc);
void hwpmc_drain_end_log(struct hwpmc_owner *o);
void hwpmc_drain_account(struct hwpmc_owner *o, struct pmclog_account *a);
void hwpmc_drain_cut(struct hwpmc_owner *o, struct pmclog_account *a);

/* chunks.c: the writer thread's */
#define CHUNK_BYTES	(64U << 10)
#define CHUNK_ROOM	(CHUNK_BYTES - (u32)sizeof(struct log_meta))

void *hwpmc_chunk_alloc(struct hwpmc_log *log, size_t bytes);
int hwpmc_chunk_add(struct hwpmc_owner *o, struct list_head *chunks);
void *hwpmc_chunk_room(struct hwpmc_owner *o, struct list_head *chunks,
		       u32 len);
void hwpmc_chunk_free(struct hwpmc_owner *o, struct log_meta *m);
void hwpmc_chunk_free_all(struct hwpmc_owner *o, struct list_head *chunks);

/* rotate.c */
void hwpmc_rotate_log(struct hwpmc_owner *o, const struct log_place *to);
void *hwpmc_rotate_tee_room(struct hwpmc_owner *o, u32 len);
void hwpmc_rotate_tee_begin(struct hwpmc_owner *o);
void hwpmc_rotate_tee_tell_losses(struct hwpmc_owner *o);

#endif /* HWPMC_LOG_H */
