// SPDX-License-Identifier: GPL-2.0-only
/*
 * RECORD starts or stops all PMCs of an owner at once.
 *
 * Counters cannot be started on several CPUs in one instant.  So samples of the
 * PMCs started here pass a gate of the owner.  The gate opens when the last
 * counter runs, and closes before the first one stops.
 *
 * Under owner->mutex.
 */
#include <linux/bitmap.h>
#include <linux/rcupdate.h>

#include "hwpmc.h"
#include "pmc.h"
#include "sample/record.h"
#include "target/hooks.h"
#include "target/target.h"

/*
 * Does the PMC run by RECORD?  A PMC that was stopped on its own does not any
 * more.
 */
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
 * Logs the operation, if there is a log.  A record that finds no room is
 * counted as lost; the operation goes on all the same.
 */
static void recordall_log(struct hwpmc_owner *o, const struct hwpmc_record *a)
{
	struct pmclog_ext_record r = {
		.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, sizeof(r)),
		.e.cookie = PMCLOG_EXT_COOKIE,
		.e.subtype = PMCLOG_EXT_RECORD,
		.on = a->on,
		.npmc = a->npmc,
		.skew = a->skew,
	};

	if (!hwpmc_log_active(o) || !hwpmc_log_commit(o, &r, sizeof(r)))
		return;
	hwpmc_record_untold(o);
}

static void recordall_disable(struct hwpmc_owner *o, const unsigned long *set)
{
	unsigned int row;

	for_each_set_bit(row, set, HWPMC_NROW)
		hwpmc_pmc_disable(o->pmcs.at[row]);
	/* after all are disabled, because reading takes long */
	for_each_set_bit(row, set, HWPMC_NROW)
		hwpmc_pmc_refresh(o->pmcs.at[row]);
}

/*
 * Detaches the PMCs that were attached to the caller for this start.  An owner that
 * follows all processes by now keeps doing so: the log has all of them.
 */
static void undo_prepare(struct hwpmc_owner *o, struct recorded *done)
{
	const bool all = o->hooks.follow_all;
	unsigned int row;

	for_each_set_bit(row, done->fresh, HWPMC_NROW)
		hwpmc_attach_undo(o->pmcs.at[row]);
	bitmap_zero(done->fresh, HWPMC_NROW);
	hwpmc_hooks_undo(o, done->held | (all ? BIT(HOOK_TASKS) | BIT(HOOK_MAPS) : 0),
			 done->hooked || all);
}

/* The log's reader decides how long the preparation takes: the rules may have changed. */
static int recordall_may_start(struct hwpmc_owner *o, const unsigned long *set)
{
	unsigned int row;
	int err = 0;

	for_each_set_bit(row, set, HWPMC_NROW) {
		err = hwpmc_pmc_may_start(o, o->pmcs.at[row]);
		if (err)
			break;
	}
	return err;
}

/* Prepares all PMCs, which may fail or take long, before the first one counts. */
static int recordall_prepare(struct hwpmc_owner *o, struct recorded *done)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;
	int err = 0;

	bitmap_zero(done->fresh, HWPMC_NROW);
	done->held = o->hooks.held;
	done->hooked = o->hooks.hooked;
	for_each_set_bit(row, done->rows, HWPMC_NROW) {
		pmc = o->pmcs.at[row];
		if (!pmc_is_system(pmc) && !pmc->attached)
			__set_bit(row, done->fresh);
		err = hwpmc_pmc_prepare(o, pmc);
		if (err)
			break;
	}
	err = err ?: recordall_may_start(o, done->rows);
	if (err)
		undo_prepare(o, done);
	return err;
}

static void recordall_enable(struct hwpmc_owner *o, const unsigned long *set,
			     u64 *skew)
{
	u64 start = ring_clock();
	unsigned int row;

	for_each_set_bit(row, set, HWPMC_NROW)
		hwpmc_pmc_enable(o->pmcs.at[row]);
	*skew = ring_clock() - start;
}

static void set_gated(struct hwpmc_owner *o, const unsigned long *set)
{
	unsigned int row;

	for_each_set_bit(row, set, HWPMC_NROW)
		WRITE_ONCE(o->pmcs.at[row]->gated, true);
}

/*
 * Begins a log if a PMC needs one and there is none; then returns 1.  First
 * checks that all PMCs may start, because a log can be read once it has begun.
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
		err = hwpmc_pmc_check(o, o->pmcs.at[row]);
		if (err)
			return err;
		needed |= hwpmc_pmc_needs_log(o->pmcs.at[row]);
	}
	if (!needed || hwpmc_log_active(o))
		return 0;
	return hwpmc_logging_configure(o, &stream) ?: 1;
}

/* Drops the log that was begun: the caller does not know of it. */
static void drop_log(struct hwpmc_owner *o, struct recorded *done)
{
	if (done->log)
		hwpmc_logging_drop(o);
	done->log = false;
}

/* Starts the PMCs in @set, which are prepared; cannot fail. */
static void open_gate(struct hwpmc_owner *o, struct hwpmc_record *a,
		      const unsigned long *set)
{
	WRITE_ONCE(o->gate_open, false);
	set_gated(o, set);
	recordall_enable(o, set, &a->skew);
	recordall_log(o, a);
	/*
	 * a handler that sees the gate open reads a later clock than the
	 * record's
	 */
	smp_store_release(&o->gate_open, true);
}

/* @done->rows: the PMCs to start */
static int recordall_begin(struct hwpmc_owner *o, struct hwpmc_record *a,
			   struct recorded *done)
{
	int err = have_log(o, done->rows);

	if (err < 0)
		return err;
	done->log = err;
	err = recordall_prepare(o, done);
	if (err)
		drop_log(o, done);
	else
		open_gate(o, a, done->rows);
	return err;
}

static void recordall_end(struct hwpmc_owner *o, struct hwpmc_record *a,
			  const unsigned long *set)
{
	WRITE_ONCE(o->gate_open, false);
	/*
	 * A handler that saw the gate open may still have to read the clock.
	 * Not expedited: that would let a user interrupt all CPUs at will.
	 */
	synchronize_rcu();
	a->skew = 0;
	recordall_log(o, a);
	recordall_disable(o, set);
}

/*
 * hwpmc_recordall_run - RECORD
 * @done: out: changes to undo if the result cannot be returned to the caller
 *
 * On: EBUSY: recording already; ENOENT: no PMCs; or an error of PMCSTART for
 * one of them, or of CONFIGURELOG for a log without a file.  After an error
 * none is started.  Off: EINVAL: nothing to stop.
 */
int hwpmc_recordall_run(struct hwpmc_owner *o, struct hwpmc_record *a,
			struct recorded *done)
{
	done->log = false;
	if (a->on > 1)
		return -EINVAL;
	a->npmc = find_recording(o, done->rows);
	if (!a->on) {
		if (!a->npmc)
			return -EINVAL;
		recordall_end(o, a, done->rows);
		return 0;
	}
	if (a->npmc)
		return -EBUSY;
	if (bitmap_empty(o->pmcs.live, HWPMC_NROW))
		return -ENOENT;
	a->npmc = find_idle(o, done->rows);
	a->skew = 0;
	return a->npmc ? recordall_begin(o, a, done) : 0;
}

/* The result cannot be returned to the caller: undo it. */
void hwpmc_recordall_undo(struct hwpmc_owner *o, struct hwpmc_record *a,
			  struct recorded *done)
{
	if (!a->npmc)
		return;
	if (a->on) {
		a->on = 0;	/* as the log has it */
		recordall_end(o, a, done->rows);
		undo_prepare(o, done);
		drop_log(o, done);
		return;
	}
	/* their targets and the log are there, as they were */
	a->on = 1;
	open_gate(o, a, done->rows);
}
