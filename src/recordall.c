// SPDX-License-Identifier: GPL-2.0-only
/*
 * RECORD: all PMCs of an owner are started, and stopped again, at once.
 *
 * Counters cannot be started on several CPUs in one instant.  So the samples of
 * those that are started here pass a gate of the owner's, which is shut until
 * the last counter runs, and again before the first one stops.
 *
 * Under owner->mutex.
 */
#include <linux/bitmap.h>
#include <linux/rcupdate.h>

#include "hwpmc.h"
#include "pmc.h"
#include "record.h"
#include "target.h"

/* What runs by RECORD; a PMC that was stopped by itself does not any more. */
static bool is_recording(const struct hwpmc_pmc *pmc)
{
	return pmc->gated && pmc->state == PMC_RUNNING;
}

static unsigned int find_recording(struct hwpmc_owner *o, unsigned long *set)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	bitmap_zero(set, HWPMC_NROW);
	for_each_live_pmc(o, row, pmc)
		if (is_recording(pmc))
			__set_bit(row, set);
	return bitmap_weight(set, HWPMC_NROW);
}

static unsigned int find_idle(struct hwpmc_owner *o, unsigned long *set)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	bitmap_zero(set, HWPMC_NROW);
	for_each_live_pmc(o, row, pmc)
		if (pmc->state != PMC_RUNNING)
			__set_bit(row, set);
	return bitmap_weight(set, HWPMC_NROW);
}

/*
 * Into the log, if there is one.  One that finds no room is counted as lost:
 * that is no reason to go on recording, or not to begin.
 */
static void tell(struct hwpmc_owner *o, const struct hwpmc_record *a)
{
	struct pmclog_ext_record r = {
		.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(r)),
		.e.cookie = PMCLOG_EXT_COOKIE,
		.e.subtype = PMCLOG_EXT_RECORD,
		.on = a->on,
		.npmc = a->npmc,
		.skew = a->skew,
	};

	if (!log_active(o) || !log_commit(o, &r, sizeof(r)))
		return;
	preempt_disable();
	record_lost(o, PMCLOG_PID_KERNEL);
	preempt_enable();
}

static void disable(struct hwpmc_owner *o, const unsigned long *set)
{
	unsigned int row;

	for_each_set_bit(row, set, HWPMC_NROW)
		pmc_disable(o->pmcs[row]);
	/* behind them all: this takes long */
	for_each_set_bit(row, set, HWPMC_NROW)
		pmc_refresh(o->pmcs[row]);
}

/* What was attached to the caller for this start was not before. */
static void undo_prepare(struct hwpmc_owner *o, struct recorded *done)
{
	unsigned int row;

	for_each_set_bit(row, done->fresh, HWPMC_NROW)
		attach_undo(o->pmcs[row]);
	bitmap_zero(done->fresh, HWPMC_NROW);
}

/*
 * All that can fail or takes long, for all of them, before the first one counts.
 */
static int prepare(struct hwpmc_owner *o, struct recorded *done)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;
	int err = 0;

	bitmap_zero(done->fresh, HWPMC_NROW);
	for_each_set_bit(row, done->rows, HWPMC_NROW) {
		pmc = o->pmcs[row];
		if (!pmc_is_system(pmc) && !pmc->attached)
			__set_bit(row, done->fresh);
		err = pmc_prepare(o, pmc);
		if (err)
			break;
	}
	if (err)
		undo_prepare(o, done);
	return err;
}

static void enable(struct hwpmc_owner *o, const unsigned long *set, u64 *skew)
{
	u64 start = ring_clock();
	unsigned int row;

	for_each_set_bit(row, set, HWPMC_NROW)
		pmc_enable(o->pmcs[row]);
	*skew = ring_clock() - start;
}

static void set_gated(struct hwpmc_owner *o, const unsigned long *set)
{
	unsigned int row;

	for_each_set_bit(row, set, HWPMC_NROW)
		WRITE_ONCE(o->pmcs[row]->gated, true);
}

/*
 * A log for those that need one, if there is none: then 1.  Not before it is
 * clear that they may start: once begun, a log is there to be read.
 */
static int have_log(struct hwpmc_owner *o, const unsigned long *set)
{
	static const struct hwpmc_configurelog stream = {
		.fd = -1,
		.flags = HWPMC_LOG_STREAM,
	};
	bool needed = false;
	unsigned int row;
	int err;

	for_each_set_bit(row, set, HWPMC_NROW) {
		err = pmc_check(o, o->pmcs[row]);
		if (err)
			return err;
		needed |= pmc_needs_log(o->pmcs[row]);
	}
	if (!needed || log_active(o))
		return 0;
	return log_configure(o, &stream) ?: 1;
}

/* Nobody is told of the log that was begun. */
static void drop_log(struct hwpmc_owner *o, struct recorded *done)
{
	if (done->log)
		log_drop(o);
	done->log = false;
}

/* @done->rows: what to start */
static int begin(struct hwpmc_owner *o, struct hwpmc_record *a,
		 struct recorded *done)
{
	int err = have_log(o, done->rows);

	if (err < 0)
		return err;
	done->log = err;
	err = prepare(o, done);
	if (err) {
		drop_log(o, done);
		return err;
	}
	WRITE_ONCE(o->gate_open, false);
	set_gated(o, done->rows);
	enable(o, done->rows, &a->skew);
	tell(o, a);
	/* whoever sees it open reads a later clock than the record's */
	smp_store_release(&o->gate_open, true);
	return 0;
}

static void end(struct hwpmc_owner *o, struct hwpmc_record *a,
		const unsigned long *set)
{
	WRITE_ONCE(o->gate_open, false);
	/*
	 * A handler that has seen it open still has a clock to read.  Not
	 * expedited: that would interrupt all CPUs whenever a user likes.
	 */
	synchronize_rcu();
	a->skew = 0;
	tell(o, a);
	disable(o, set);
}

/*
 * record_all - RECORD
 * @done: out: what to take back if the caller cannot be told
 *
 * On: EBUSY: recording already; ENOENT: no PMCs; or what PMCSTART says of one
 * of them, or CONFIGURELOG of a log without a file: then none is started.  Off:
 * EINVAL: there is nothing to be stopped.
 */
int record_all(struct hwpmc_owner *o, struct hwpmc_record *a,
	       struct recorded *done)
{
	done->log = false;
	if (a->on > 1)
		return -EINVAL;
	a->npmc = find_recording(o, done->rows);
	if (!a->on) {
		if (!a->npmc)
			return -EINVAL;
		end(o, a, done->rows);
		return 0;
	}
	if (a->npmc)
		return -EBUSY;
	if (bitmap_empty(o->live, HWPMC_NROW))
		return -ENOENT;
	a->npmc = find_idle(o, done->rows);
	a->skew = 0;
	return a->npmc ? begin(o, a, done) : 0;
}

/* The caller cannot be told what was done: it is taken back. */
void record_all_undo(struct hwpmc_owner *o, struct hwpmc_record *a,
		     struct recorded *done)
{
	if (!a->npmc)
		return;
	if (a->on) {
		end(o, a, done->rows);
		undo_prepare(o, done);
		drop_log(o, done);
		return;
	}
	a->on = 1;
	begin(o, a, done);
}
