// SPDX-License-Identifier: GPL-2.0-only
/*
 * An owner's log, as seen by ioctls: requests to the writer thread, and waiting
 * for them.  All under owner->mutex, except where noted.
 *
 * A wait that depends on the reader of the log can be interrupted.  The wait of the
 * last close is in logend.c.
 */
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "emit.h"
#include "flight.h"
#include "hwpmc.h"
#include "log.h"
#include "sample/record.h"
#include "sink.h"
#include "trace.h"

void hwpmc_log_init(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;

	spin_lock_init(&log->lock);
	INIT_LIST_HEAD(&log->meta);
	INIT_LIST_HEAD(&log->tee.list);
	INIT_LIST_HEAD(&log->kept.records);
	init_completion(&log->done);
	init_waitqueue_head(&log->waitq);
	hwpmc_stream_init(&log->stream);
	hwpmc_log_watch_init(log);
}

/* Any context but NMI. */
void hwpmc_log_kick(struct hwpmc_owner *o)
{
	struct task_struct *task;

	WRITE_ONCE(o->log.kick, true);
	rcu_read_lock();	/* see start_writer() */
	task = READ_ONCE(o->log.task);
	if (task)
		wake_up_process(task);
	rcu_read_unlock();
}

/* The next pass comes as soon as usual.  Any context but NMI. */
void hwpmc_log_end_rest(struct hwpmc_owner *o)
{
	if (READ_ONCE(o->log.pace.resting))
		hwpmc_log_kick(o);
}

static enum log_state log_state(struct hwpmc_owner *o)
{
	return smp_load_acquire(&o->log.state); /* pairs with drain_may_end() */
}

bool hwpmc_log_active(struct hwpmc_owner *o)
{
	return log_state(o) == LOG_OPEN;
}

/*
 * Is there a writer thread?  It may still write the rest of a log that has ended.  None
 * begins, because the caller holds owner->mutex.
 */
bool hwpmc_log_has_writer(struct hwpmc_owner *o)
{
	return log_state(o) != LOG_NONE;
}

/*
 * hwpmc_log_hand_over - is there a writer thread to fold a PMC that was just
 * deleted?
 *
 * The thread leaves (LOG_NONE, under log.lock) only if no deleted PMC is left.
 */
bool hwpmc_log_hand_over(struct hwpmc_owner *o)
{
	bool there;

	spin_lock(&o->log.lock);
	there = o->log.state != LOG_NONE;
	spin_unlock(&o->log.lock);
	if (there)
		hwpmc_log_kick(o);
	return there;
}

/* Returns a writable file that the thread can write to, referenced. */
struct file *hwpmc_log_get_file(int fd)
{
	struct file *file = fget(fd);
	int err;

	if (!file)
		return ERR_PTR(-EBADF);
	err = file->f_mode & FMODE_WRITE ? hwpmc_sink_check(file) : -EBADF;
	if (err) {
		fput(file);
		return ERR_PTR(err);
	}
	return file;
}

static int alloc_merge(struct hwpmc_log *log)
{
	const unsigned int n = nr_cpu_ids + 1;	/* as owner->rings */
	struct merge *m = &log->merge;

	if (m->src)
		return 0;
	m->src = kcalloc(n, sizeof(*m->src), HWPMC_GFP);
	m->heap = kcalloc(n, sizeof(*m->heap), HWPMC_GFP);
	m->n = n;
	if (m->src && m->heap)
		return 0;
	kfree(m->src);
	kfree(m->heap);
	m->src = NULL;
	m->heap = NULL;
	return -ENOMEM;
}

/* The thread of an owner for some CPUs has its stack where it runs. */
static int node_of_writer(const struct hwpmc_owner *o)
{
	return o->hp.only ? cpu_to_node(cpumask_first(o->hp.only)) : NUMA_NO_NODE;
}

/*
 * A task that dealt with the last log (follow.c) may still be about to wake its
 * thread, without owner->mutex.  It wakes the old thread, or the new one once the
 * new log is set up.
 */
static int start_writer(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct task_struct *task, *last = log->task;

	task = kthread_create_on_node(hwpmc_drain_thread, o, node_of_writer(o),
				      "hwpmc/%d", task_tgid_vnr(current));
	/* for some shortages of memory fork returns EAGAIN */
	if (IS_ERR(task))
		return PTR_ERR(task) == -EAGAIN ? -ENOMEM : PTR_ERR(task);
	/* the thread drops both when it ends, maybe long after the close */
	owner_get(o);
	hwpmc_limit_keep(o);
	__module_get(THIS_MODULE);
	reinit_completion(&log->done);
	log->abort = false;
	log->end.ending = 0;
	log->snap.cancel = false;
	WRITE_ONCE(log->snap.ended, false);
	WRITE_ONCE(log->error, 0);
	spin_lock(&log->lock);
	memset(&log->req, 0, sizeof(log->req));
	spin_unlock(&log->lock);
	WRITE_ONCE(log->told.number, log->told.number + 1);
	WRITE_ONCE(log->told.telling, log->told.number);
	o->is_owner = true;
	WRITE_ONCE(log->state, LOG_OPEN);
	smp_store_release(&log->task, get_task_struct(task));
	wake_up_process(task);
	if (last) {
		synchronize_rcu();	/* no task is about to wake it */
		put_task_struct(last);
	}
	return 0;
}

static u64 log_ask_writer(struct hwpmc_owner *o, u64 *want)
{
	u64 n;

	spin_lock(&o->log.lock);
	n = ++*want;
	spin_unlock(&o->log.lock);
	hwpmc_log_kick(o);
	return n;
}

/* Requests a dump of the processes that are not logged yet.  Any process context. */
void hwpmc_log_want_dump(struct hwpmc_owner *o)
{
	log_ask_writer(o, &o->log.req.dump_want);
}

/* The records of WRITELOG and those of modules belong to the last log.  No thread runs. */
static void meta_free(struct hwpmc_log *log)
{
	struct log_meta *m, *next;

	list_for_each_entry_safe(m, next, &log->meta, list)
		kvfree(m);
	INIT_LIST_HEAD(&log->meta);
	log->meta_bytes = 0;
	hwpmc_kept_forget(&log->kept);
}

/*
 * hwpmc_log_begin - begin a log for whose records the owner has rings
 * @file: NULL for a log without a file; else the log takes over the reference
 */
int hwpmc_log_begin(struct hwpmc_owner *o, struct file *file,
		    const struct hwpmc_configurelog *c)
{
	int err = alloc_merge(&o->log);

	if (!err)
		err = hwpmc_sink_attach(o, file, c);
	if (err)
		return err;
	meta_free(&o->log);
	o->log.maker.pid = owner_pid_of(o, current);
	WRITE_ONCE(o->log.maker.tell_kernel,
		   hwpmc_access_privileged(o) && !hwpmc_access_locked() &&
			   !hwpmc_access_perf(o, false, false));
	/* a concurrent sethostname() may change it */
	data_race(strscpy(o->log.maker.host, utsname()->nodename,
			  sizeof(o->log.maker.host)));
	hwpmc_log_keep(o, get_task_pid(current, PIDTYPE_TGID),
		       file && hwpmc_log_may_hold(file));
	/* this log reports forks that could not be followed before, as of now */
	o->log.times.drops_told = ring_clock();
	err = hwpmc_drain_share(o);
	if (!err)
		err = start_writer(o);
	if (err) {
		hwpmc_drain_unshare(o);
		hwpmc_log_keep(o, NULL, false);
		hwpmc_sink_detach(&o->log);
		hwpmc_stream_detach(o);
		hwpmc_flight_free(o);
		return err;
	}
	trace_hwpmc_log(o, "begin", 0);
	hwpmc_stream_begin(o);
	return 0;
}

static int await_done(struct hwpmc_owner *o, unsigned int state)
{
	int err;

	mutex_unlock(&o->cpus_mutex);	/* as in log_wait() */
	err = wait_for_completion_state(&o->log.done, state);
	mutex_lock(&o->cpus_mutex);
	return err;
}

/* Waits until the thread has left.  -EINTR */
int hwpmc_log_await_end(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;

	if (await_done(o, WAIT_INTERRUPTIBLE))
		return -EINTR;
	/* the thread completes under the lock, and has left when it unlocks */
	spin_lock(&log->lock);
	spin_unlock(&log->lock);
	return 0;
}

/*
 * hwpmc_log_there - is there a log, or data of one that is still to be read?
 *
 * If the log has been read completely, its thread is about to leave.  -EINTR
 */
int hwpmc_log_there(struct hwpmc_owner *o)
{
	switch (hwpmc_stream_state(o)) {
	case STREAM_READ:
		return hwpmc_log_await_end(o);
	case STREAM_NONE:
		return log_state(o) != LOG_NONE;
	default:
		return true;
	}
}

/* Nothing needs the log any more: lets the thread write the rest. */
void hwpmc_log_begin_end(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;

	spin_lock(&log->lock);
	log->req.close = true;
	log->state = LOG_CLOSING;
	spin_unlock(&log->lock);
	hwpmc_log_kick(o);
}

/*
 * hwpmc_log_forget - wait for the end of an aborted log that is read from the device,
 * and discard its data, so that the next log can begin
 *
 * The thread does not wait for a reader now, so this takes only as long as the thread's
 * current work.  A killed caller does not wait, and leaves unread data.
 */
void hwpmc_log_forget(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;

	if (await_done(o, WAIT_KILLABLE))
		return;
	/* the thread has left: see hwpmc_log_await_end() */
	spin_lock(&log->lock);
	spin_unlock(&log->lock);
	hwpmc_stream_drop(o);
}

/* The thread answers requests in passes; @want is the number of this request. */
bool hwpmc_log_answered(struct hwpmc_owner *o, const u64 *done, u64 want)
{
	bool yes;

	spin_lock(&o->log.lock);
	yes = *done >= want || o->log.state == LOG_NONE;
	spin_unlock(&o->log.lock);
	return yes;
}

/*
 * hwpmc_log_flush - FLUSHLOG: returns when everything logged before is written
 *
 * ... or when the thread waits for the reader of the device, which may be the
 * caller.  EINVAL without a log, EINTR, or the log's write error.
 */
int hwpmc_log_flush(struct hwpmc_owner *o)
{
	struct log_request *req = &o->log.req;
	u64 want;

	if (!hwpmc_log_active(o))
		return -EINVAL;
	if (READ_ONCE(o->log.error))
		return READ_ONCE(o->log.error);
	want = log_ask_writer(o, &req->flush_want);
	if (log_wait(o,
		     hwpmc_log_answered(o, &req->flush_done, want) ||
			     hwpmc_stream_full(o),
		     WAIT_INTERRUPTIBLE))
		return -EINTR;
	return READ_ONCE(o->log.error);
}

/*
 * hwpmc_log_dump - log the processes and mappings that are not logged yet
 *
 * The owner already follows them, so no change is missed.  ENOBUFS: the reader of
 * the device has to read first.  ERESTARTSYS: interrupted by a signal; the dump
 * goes on, and the next request for a dump waits for the rest of it.
 */
int hwpmc_log_dump(struct hwpmc_owner *o)
{
	struct log_request *req = &o->log.req;
	int err;
	u64 want;

	spin_lock(&o->log.lock);
	want = ++req->dump_want;
	req->dump_awaited = want;
	spin_unlock(&o->log.lock);
	hwpmc_log_kick(o);
	err = log_wait(o,
		       hwpmc_log_answered(o, &req->dump_done, want) ||
			       hwpmc_stream_stuck(o),
		       WAIT_INTERRUPTIBLE);
	spin_lock(&o->log.lock);
	req->dump_awaited = 0;
	spin_unlock(&o->log.lock);
	if (err)
		return err;
	return hwpmc_log_answered(o, &req->dump_done, want) ? 0 : -ENOBUFS;
}

/* Withdraws a rotation that the thread has not begun. */
static bool cancel_rotate(struct hwpmc_owner *o)
{
	struct log_place to = {};

	spin_lock(&o->log.lock);
	swap(to, o->log.req.rotate);
	spin_unlock(&o->log.lock);
	if (!to.file)
		return false;
	kvfree(to.pack);
	put_pid(to.keeper);
	fput(to.file);
	return true;
}

/*
 * hwpmc_log_get_place - the place of ROTATELOG's log, for hwpmc_log_rotate()
 *
 * EINVAL without a log, for a log that is read from the device, or for a file that
 * cannot be used for a log; EBADF, ENOMEM.
 */
int hwpmc_log_get_place(struct hwpmc_owner *o, int fd, u32 flags,
			struct log_place *to)
{
	if (!hwpmc_log_active(o) || o->log.flight ||
	    hwpmc_stream_state(o) != STREAM_NONE)
		return -EINVAL;
	to->file = hwpmc_log_get_file(fd);
	if (IS_ERR(to->file))
		return PTR_ERR(to->file);
	if (flags & HWPMC_LOG_PACKED) {
		to->pack = hwpmc_pack_new();
		if (!to->pack) {
			fput(to->file);
			return -ENOMEM;
		}
	}
	to->keeper = get_task_pid(current, PIDTYPE_TGID);
	to->bound = hwpmc_log_may_hold(to->file);
	return 0;
}

/*
 * hwpmc_log_rotate - have the thread end the log and begin the next one at @to, which it
 * takes over
 *
 * A signal interrupts the caller.  EINTR: the thread had not begun, and nothing has
 * changed.  EINPROGRESS: the thread is ending the old log, and goes on to the new
 * one as soon as the old file has taken the rest.
 * Clears a write error: the new log starts without one.
 */
int hwpmc_log_rotate(struct hwpmc_owner *o, const struct log_place *to)
{
	struct log_request *req = &o->log.req;
	u64 want;

	spin_lock(&o->log.lock);
	req->rotate = *to;
	want = ++req->rotate_want;
	spin_unlock(&o->log.lock);
	hwpmc_log_kick(o);
	if (!log_wait(o, hwpmc_log_answered(o, &req->rotate_done, want),
		      WAIT_INTERRUPTIBLE))
		return 0;
	if (cancel_rotate(o))
		return -EINTR;
	return hwpmc_log_answered(o, &req->rotate_done, want) ?
	       0 : -EINPROGRESS;
}

/* Called when the last reference to the owner is dropped. */
void hwpmc_log_free(struct hwpmc_owner *o)
{
	cancel_delayed_work_sync(&o->log.end.watch);	/* never queued again */
	meta_free(&o->log);
	hwpmc_stream_detach(o);
	kfree(o->log.merge.src);
	kfree(o->log.merge.heap);
	if (o->log.task)
		put_task_struct(o->log.task);
}
