// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the contents of a flight recorder as a separate log.
 *
 *	INITIALIZE | base | SNAPSHOT | segments | rates, CLOCK, CLOSELOG
 *
 * The writer thread writes it between two passes.  It does nothing else until
 * the file has taken all of it, and the rings fill meanwhile.  An ioctl that no
 * longer wants the snapshot can cancel it with a signal to the thread.
 */
#include <linux/file.h>
#include <linux/sched/signal.h>

#include "emit.h"
#include "flight.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sink.h"

/* ------------------------------------------------------------------------
 * ioctl side, under owner->mutex
 */

/* log.lock */
static void snapshot_cancel(struct hwpmc_log *log)
{
	if (!log->req.snapping)
		return;
	WRITE_ONCE(log->snap.cancel, true);
	/* ends any wait for its file; see snapshot_finish() */
	if (log->req.writing)
		send_sig(SIGKILL, log->task, 1);
}

/* The caller was interrupted: takes the file back, or cancels the write. */
static void take_back(struct hwpmc_owner *o)
{
	struct log_request *req = &o->log.req;
	struct file *file = NULL;

	spin_lock(&o->log.lock);
	swap(file, req->snap_file);
	if (file)
		req->snap_done = req->snap_want;
	else if (req->snap_done != req->snap_want)
		snapshot_cancel(&o->log);
	spin_unlock(&o->log.lock);
	if (file)
		fput(file);
}

/* The counts that the rates are made of have just been read. */
int hwpmc_snapshot_take(struct hwpmc_owner *o, struct file *file)
{
	struct log_request *req = &o->log.req;
	u64 want;

	spin_lock(&o->log.lock);
	req->snap_file = file;
	req->snap_error = -EINTR;
	want = ++req->snap_want;
	spin_unlock(&o->log.lock);
	hwpmc_log_kick(o);
	if (log_wait(o, hwpmc_log_answered(o, &req->snap_done, want),
		     WAIT_INTERRUPTIBLE)) {
		take_back(o);
		if (log_wait(o, hwpmc_log_answered(o, &req->snap_done, want),
			     WAIT_KILLABLE))
			return -EINTR;
	}
	return READ_ONCE(req->snap_error);
}

/* EINVAL: a file that may hold the device */
int hwpmc_snapshot_arm(struct hwpmc_owner *o, struct file *file)
{
	struct hwpmc_log *log = &o->log;

	if (hwpmc_log_may_hold(file)) {	/* an armed snapshot may wait forever */
		fput(file);
		return -EINVAL;
	}
	spin_lock(&log->lock);
	WRITE_ONCE(log->snap.ended, false);
	swap(file, log->req.armed_file);
	if (!file)
		hwpmc_trigger_arm(&log->snap.trigger);
	spin_unlock(&log->lock);
	if (file)
		fput(file);
	return 0;
}

static bool at_rest(struct hwpmc_log *log)
{
	bool yes;

	spin_lock(&log->lock);
	yes = !log->req.snapping;
	spin_unlock(&log->lock);
	return yes;
}

/*
 * Disarms the snapshot.  Cancels a snapshot in progress.  Returns the error of
 * a snapshot that has been taken.
 */
int hwpmc_snapshot_disarm(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct file *file = NULL;
	bool taken;
	int err;

	spin_lock(&log->lock);
	taken = log->snap.ended;
	err = taken ? log->req.armed_error : 0;
	WRITE_ONCE(log->snap.ended, false);
	swap(file, log->req.armed_file);
	if (file) {
		hwpmc_trigger_disarm(&log->snap.trigger);
	} else if (log->req.snapping) {
		snapshot_cancel(log);
		taken = true;
	}
	spin_unlock(&log->lock);
	if (file) {
		fput(file);
		return err;
	}
	if (!taken)
		return -EINVAL;
	if (log_wait(o, at_rest(log), WAIT_INTERRUPTIBLE))
		return -EINTR;
	WRITE_ONCE(log->snap.ended, false);
	return READ_ONCE(log->req.armed_error);
}

/* ------------------------------------------------------------------------
 * The writer thread
 */
bool hwpmc_snapshot_wanted(struct hwpmc_log *log, const struct log_request *r)
{
	return r->snap_file || hwpmc_trigger_fired(&log->snap.trigger);
}

static int put_chunks(struct hwpmc_owner *o, struct list_head *chunks)
{
	struct log_meta *m;
	int err = 0;

	list_for_each_entry(m, chunks, list) {
		err = hwpmc_sink_put_file(o, m->data, m->len);
		if (err)
			break;
	}
	return err;
}

/* Writes the records that were made for the snapshot. */
static int put_tee(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	/* with the signal of snapshot_cancel() pending, allocations may fail */
	int err = READ_ONCE(log->snap.cancel) ? -EINTR : -ENOMEM;

	log->tee.to = false;
	if (!log->tee.failed)
		err = put_chunks(o, &log->tee.list);
	hwpmc_chunk_free_all(o, &log->tee.list);
	return err;
}

static void begin_tee(struct hwpmc_log *log)
{
	log->tee.failed = false;
	log->tee.to = true;
}

/* Stamps the base with the time since which the window is complete. */
static void stamp_base(struct flight *f, u64 since)
{
	struct log_meta *m;
	u32 at;

	list_for_each_entry(m, &f->base, list) {
		cond_resched();
		for (at = 0; at < m->len;
		     at += PMCLOG_HEADER_LEN(*(u32 *)(m->data + at)))
			((struct pmclog_hdr *)(m->data + at))->tsc = since;
	}
}

static int put_begin(struct hwpmc_owner *o, const struct trigger *cause)
{
	struct flight *f = o->log.flight;
	const struct flight_segment *s = flight_seg(f, 0);
	u64 since = s->since;
	int err;

	begin_tee(&o->log);
	/* the wall clock may have been set since */
	hwpmc_emit_initialize(o, since, since + s->real_ahead);
	err = put_tee(o);
	if (err)
		return err;
	stamp_base(f, since);
	err = put_chunks(o, &f->base);
	if (err)
		return err;
	begin_tee(&o->log);
	hwpmc_emit_snapshot(o, cause, since);
	return put_tee(o);
}

static int put_segments(struct hwpmc_owner *o)
{
	struct flight *f = o->log.flight;
	unsigned int i;
	int err = 0;

	for (i = 0; i < f->n && !err; i++) {
		const struct flight_segment *s = flight_seg(f, i);

		if (s->used)
			err = hwpmc_sink_put_file(o, s->data, s->used);
	}
	return err;
}

/*
 * @rates: the rates have just been read
 *
 * The window has none of these records: neither its account nor its clocks know of
 * them.
 */
static int put_end(struct hwpmc_owner *o, struct pmclog_account *a, bool rates)
{
	struct hwpmc_log *log = &o->log;
	u64 made = log->acct.made, next_clock = log->times.next_clock;
	u64 real_ahead = log->times.real_ahead;

	begin_tee(log);
	if (rates)
		hwpmc_emit_all_rates(o);
	log->acct.made = a->made;
	hwpmc_emit_end(o, a);
	log->acct.made = made;
	log->times.next_clock = next_clock;
	log->times.real_ahead = real_ahead;
	return put_tee(o);
}

/* From here on snapshot_cancel() sends a signal.  False: it was called before. */
static bool begin_writing(struct hwpmc_log *log)
{
	bool go;

	spin_lock(&log->lock);
	go = !log->snap.cancel;
	log->req.writing = go;
	spin_unlock(&log->lock);
	return go;
}

static int put_snapshot(struct hwpmc_owner *o, const struct trigger *cause)
{
	struct hwpmc_log *log = &o->log;
	struct flight *f = log->flight;
	struct pmclog_account a;
	u64 last;
	int err;

	hwpmc_drain_cut(o, &a);
	hwpmc_sink_flush(o);
	/* the window may have lost its notice to what was drained */
	hwpmc_flight_tell_losses(o);
	if (!begin_writing(log))
		return -EINTR;
	hwpmc_flight_account(o, &a);
	hwpmc_stats_sub_account(&a, &flight_seg(f, 0)->start);
	a.made += f->base_records;
	last = log->told.last_tsc;
	err = put_begin(o, cause);
	/* all records before the cause have been logged by now */
	log->told.last_tsc = max(last, cause->when);
	if (!err)
		err = put_segments(o);
	if (!err)
		err = put_end(o, &a, cause->cause == PMCLOG_SNAPSHOT_ASKED);
	return err;
}

/*
 * log.lock.  No signal comes after this; a pending one must not interrupt the
 * next write.
 */
static void snapshot_finish(struct hwpmc_log *log)
{
	log->req.snapping = false;
	log->req.writing = false;
	if (log->snap.cancel)
		flush_signals(current);
	WRITE_ONCE(log->snap.cancel, false);
}

static void answer_asked(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct trigger cause = {
		.cause = PMCLOG_SNAPSHOT_ASKED,
		.pmcid = PMCLOG_PMCID_NONE,
		.when = ring_clock(),
	};
	struct file *file = NULL;
	u64 want;
	int err;

	spin_lock(&log->lock);
	swap(file, log->req.snap_file);
	want = log->req.snap_want;
	log->req.snapping = file;
	spin_unlock(&log->lock);
	if (!file)
		return;
	hwpmc_sink_swap(log, file);
	hwpmc_sink_begin(log);
	err = put_snapshot(o, &cause);
	hwpmc_sink_end_file(o);
	spin_lock(&log->lock);
	snapshot_finish(log);
	log->req.snap_error = err;
	/* a later request may have been taken back meanwhile */
	log->req.snap_done = max(log->req.snap_done, want);
	spin_unlock(&log->lock);
	wake_up_all(&log->waitq);
}

static void answer_trigger(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct file *file = NULL;
	struct trigger cause;
	int err;

	spin_lock(&log->lock);
	if (hwpmc_trigger_fired(&log->snap.trigger)) {
		swap(file, log->req.armed_file);
		cause = log->snap.trigger;
		hwpmc_trigger_disarm(&log->snap.trigger);
		log->req.snapping = file;
	}
	spin_unlock(&log->lock);
	if (!file)
		return;
	hwpmc_sink_swap(log, file);
	hwpmc_sink_begin(log);
	err = put_snapshot(o, &cause);
	hwpmc_sink_end_file(o);
	spin_lock(&log->lock);
	snapshot_finish(log);
	log->req.armed_error = err;
	WRITE_ONCE(log->snap.ended, true);
	spin_unlock(&log->lock);
	/* signal first: a process in poll() has it when poll() returns */
	kill_fasync(&o->fasync, SIGIO, POLL_PRI);
	wake_up_all(&log->waitq);
}

/*
 * hwpmc_snapshot_answer - write the snapshots that an ioctl or a trigger
 * requests
 *
 * Everything logged before is in the window.
 */
void hwpmc_snapshot_answer(struct hwpmc_owner *o)
{
	if (!o->log.flight)
		return;
	hwpmc_flight_tell_losses(o);
	answer_asked(o);
	answer_trigger(o);
}

/* The log ends: the armed snapshot is not taken any more. */
void hwpmc_snapshot_forget(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct file *file = NULL;

	spin_lock(&log->lock);
	swap(file, log->req.armed_file);
	if (file)
		hwpmc_trigger_disarm(&log->snap.trigger);
	spin_unlock(&log->lock);
	if (file)
		__fput_sync(file);
}
