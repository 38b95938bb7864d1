// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits process records to a ring.  A record that finds no room is counted as
 * lost, and the writer thread dumps its process again.
 *
 * Process context (tracepoints, kprobes, notifiers), preemption off.  The hooks call
 * these functions only for owners that are for the CPU: see hwpmc_hooks_each().
 */
#include "hwpmc.h"
#include "record.h"

/*
 * Wakes the writer thread once the ring is half full, unless a pass is already
 * requested.  Any context.
 */
void hwpmc_record_wake_writer(struct owner_ring *or)
{
	struct hwpmc_ring *r = &or->ring;

	if (ring_above(r, ring_read(&r->head), r->size / 2) &&
	    !READ_ONCE(or->owner->log.kick))
		irq_work_queue(&or->wake);
}

/* if the list overflows, the thread dumps all processes */
static void list_pid(struct owner_ring *or, u32 pid)
{
	u32 head = or->lost_head;

	WRITE_ONCE(or->lost[head % RING_NLOST], pid); /* dump_lost.c */
	smp_store_release(&or->lost_head, head + 1);
}

static void note_lost(struct owner_ring *or, u32 pid, u64 now)
{
	if (or->proc_dropped == READ_ONCE(or->proc_counted))
		WRITE_ONCE(or->proc_first, now);
	WRITE_ONCE(or->proc_last, now);
	/* pairs with take_process_losses() */
	smp_store_release(&or->proc_dropped, or->proc_dropped + 1);
	if (pid != PMCLOG_PID_KERNEL)
		list_pid(or, pid);
}

/* No dump repairs the loss of a record that is of no process. */
static void note_noring(struct hwpmc_owner *o, u32 pid)
{
	atomic64_inc(pid == PMCLOG_PID_KERNEL ? &o->noring.beyond_dump :
						&o->noring.dropped);
}

static void lose_in(struct hwpmc_owner *o, struct owner_ring *or, u32 pid)
{
	u64 entered;

	if (!or) {
		note_noring(o, pid);
		return;
	}
	entered = ring_enter(&or->ring);
	note_lost(or, pid, ring_clock());
	hwpmc_record_end(or, entered);
}

/*
 * A record of @pid could not be made in this context; counted as lost.  Also called by
 * the writer thread, which may run on a CPU that the owner is not for.
 */
void hwpmc_record_lost(struct hwpmc_owner *o, u32 pid)
{
	lose_in(o, owner_this_ring(o), pid);
}

/* See hwpmc_record_begin(); @or: its ring, or NULL */
static void *begin_in(struct hwpmc_owner *o, struct owner_ring *or, u32 len,
		      u32 kind, u32 pid, u64 *entered)
{
	enum ring_result res;
	void *s;
	u64 now;

	if (!or) {
		note_noring(o, pid);
		return NULL;
	}
	*entered = ring_enter(&or->ring);
	s = ring_reserve(&or->ring, len, kind, 0, &now, &res);
	if (s) {
		WRITE_ONCE(or->proc_committed, or->proc_committed + 1);
		return s;
	}
	note_lost(or, pid, now);
	hwpmc_record_end(or, *entered);
	return NULL;
}

/*
 * hwpmc_record_begin - reserve room for a process record of @len bytes
 * @pid: process to dump again if there is no room
 * @ring, @entered: out: for hwpmc_record_end()
 *
 * Returns the payload, to be committed by hwpmc_record_end(), or NULL.  Only
 * the stamp is set: the caller must fill all the rest.
 */
void *hwpmc_record_begin(struct hwpmc_owner *o, u32 len, u32 kind, u32 pid,
			 struct owner_ring **ring, u64 *entered)
{
	*ring = owner_this_ring(o);
	return begin_in(o, *ring, len, kind, pid, entered);
}

/*
 * Ends a rest of the writer thread.  A thread that begins to rest just now may not see
 * the record before the rest is over.
 */
static void hurry_writer(struct owner_ring *or)
{
	struct hwpmc_log *log = &or->owner->log;

	if (READ_ONCE(log->pace.resting) && !READ_ONCE(log->kick))
		irq_work_queue(&or->wake);
}

static void end_without_hurry(struct owner_ring *or, u64 entered)
{
	ring_exit(&or->ring, entered);
	hwpmc_record_wake_writer(or);
}

void hwpmc_record_end(struct owner_ring *or, u64 entered)
{
	end_without_hurry(or, entered);
	hurry_writer(or);
}

static void record_fill(struct ring_stamp *s, const void *rec, u32 len)
{
	const struct ring_stamp *from = rec;

	s->header = from->header;
	s->spare = 0;
	memcpy(s + 1, from + 1, len - sizeof(*s));
}

static bool commit_in(struct hwpmc_owner *o, struct owner_ring *or,
		      const void *rec, u32 len, u32 pid)
{
	struct ring_stamp *s;
	u64 entered;

	s = begin_in(o, or, len, KIND_RECORD, pid, &entered);
	if (!s)
		return false;
	record_fill(s, rec, len);
	hwpmc_record_end(or, entered);
	return true;
}

/* Commits a complete record; only its stamp is set here.  False: it is lost, and counted. */
bool hwpmc_record_commit(struct hwpmc_owner *o, const void *rec, u32 len,
			 u32 pid)
{
	return commit_in(o, owner_this_ring(o), rec, len, pid);
}

/*
 * hwpmc_record_tell - commit a record of no process, on any CPU; under owner->mutex
 *
 * Does not wait for room.  False: it is lost, and counted.
 */
bool hwpmc_record_tell(struct hwpmc_owner *o, const void *rec, u32 len)
{
	bool told;

	preempt_disable();
	told = commit_in(o, owner_ioctl_ring(o), rec, len, PMCLOG_PID_KERNEL);
	preempt_enable();
	return told;
}

/* Such a record could not be committed; counted as lost.  Under owner->mutex */
void hwpmc_record_untold(struct hwpmc_owner *o)
{
	preempt_disable();
	lose_in(o, owner_ioctl_ring(o), PMCLOG_PID_KERNEL);
	preempt_enable();
}

/* Does not use the part of the ring that is kept for process records. */
static bool commit_sparing(struct owner_ring *or, const void *rec, u32 len)
{
	enum ring_result res;
	struct ring_stamp *s;
	u64 now;

	s = ring_reserve(&or->ring, len, KIND_RECORD,
			 or->ring.size >> HWPMC_RING_KEEP_SHIFT, &now, &res);
	if (!s)
		return false;
	WRITE_ONCE(or->proc_committed, or->proc_committed + 1);
	record_fill(s, rec, len);
	return true;
}

/*
 * Commits a deferred user chain.  If it is lost, no process is dumped again: its
 * samples stay as they are, flagged and counted as late, and readers count their
 * chains as cut.  So it is if the task has moved to a CPU that the owner is not for:
 * another owner's log is of that CPU, and does not have the samples.
 */
void hwpmc_record_commit_deferred(struct hwpmc_owner *o, const void *rec,
				  u32 len)
{
	struct owner_ring *or = owner_this_ring(o);
	u64 entered;

	/* a CPU may have a ring of a log before SETCPUS */
	if (!or || !owner_has_cpu(o, or->cpu))
		return;
	entered = ring_enter(&or->ring);
	if (commit_sparing(or, rec, len))
		WRITE_ONCE(or->late_answered, or->late_answered + 1);
	end_without_hurry(or, entered);
}

/*
 * hwpmc_record_commit_slice - commit a PROCCSW
 *
 * There is one for each context switch, so they could fill the part of the ring that
 * is kept for other records.  False: it is lost, and counted.  The caller adds its
 * value to the next one, so no process is dumped again.
 */
bool hwpmc_record_commit_slice(struct hwpmc_owner *o, const void *rec, u32 len)
{
	struct owner_ring *or = owner_this_ring(o);
	u64 entered;
	bool good;

	if (!or) {
		atomic64_inc(&o->noring.beyond_dump);
		return false;
	}
	entered = ring_enter(&or->ring);
	good = commit_sparing(or, rec, len);
	if (!good)
		note_lost(or, PMCLOG_PID_KERNEL, ring_clock());
	end_without_hurry(or, entered);
	return good;
}
