// SPDX-License-Identifier: GPL-2.0-only
/*
 * One log ends, the next begins, and no PMC stops.
 *
 * The new log must be readable on its own, so it begins with all processes as they
 * are at the switch.  Collecting them takes a while.  Therefore it is done before
 * the switch, into memory (the tee).  Process records from then to the switch go
 * to both the old log and the tee.  Counts of processes go to the old log only.
 */
#include <linux/file.h>
#include <linux/mm.h>

#include "emit.h"
#include "hwpmc.h"
#include "sink.h"
#include "trace.h"

/*
 * Returns room for a record of the next log.  Without memory the record is
 * lost.  The new log reports that, and the processes are dumped into it later.
 */
void *hwpmc_rotate_tee_room(struct hwpmc_owner *o, u32 len)
{
	struct hwpmc_log *log = &o->log;
	void *p = NULL;

	/* a failing allocation is slow, and an incomplete tee is useless */
	if (!log->tee.failed)
		p = hwpmc_chunk_room(o, &log->tee.list, len);
	if (p)
		return p;
	log->tee.failed = true;
	return log->out.spare;
}

/*
 * Dumps all processes into the tee, which also gets their later changes.  The
 * current log gets only the new part of the dump.
 */
void hwpmc_rotate_tee_begin(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	bool all_told = log->told.all;
	u64 tsc;

	log->tee.failed = false;
	log->tee.drops = log->acct.proc_drops;
	/*
	 * The number decides to which log the record of an attach or of a
	 * target's end belongs.  Records under the old number are not for the
	 * tee, which does not have their targets.
	 */
	mutex_lock(&o->targets_mutex);
	tsc = ring_clock();
	smp_mb();	/* a hook that sees the new number has no earlier stamp */
	/* a fork from here on is logged in both logs, or twice */
	WRITE_ONCE(log->told.telling, log->told.number + 1);
	mutex_unlock(&o->targets_mutex);
	/* some clocks stand still for as long as it takes to see the number */
	hwpmc_drain_upto(o, tsc - 1);
	log->tee.on = true;
	hwpmc_dump_all(o);
	swap(all_told, log->told.all);
	log->tee.told = all_told;
}

/*
 * hwpmc_rotate_tee_tell_losses - have the log that was made in the tee report that it
 * may lack records
 *
 * The losses of process records while it was made are in the current log only.  Their
 * processes are dumped again by the next pass, into the next log.
 */
void hwpmc_rotate_tee_tell_losses(struct hwpmc_owner *o)
{
	if (o->log.acct.proc_drops != o->log.tee.drops)
		atomic64_inc(&o->noring.beyond_dump);
}

static void tee_end(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct log_meta *m;

	log->tee.on = false;
	if (log->tee.failed)
		hwpmc_dump_failed(o);
	else
		hwpmc_rotate_tee_tell_losses(o);
	/* before the first sample */
	hwpmc_emit_process_drops(o);
	if (!log->tee.failed)
		list_for_each_entry(m, &log->tee.list, list)
			hwpmc_emit_meta(o, m);
	hwpmc_chunk_free_all(o, &log->tee.list);
}

/*
 * hwpmc_rotate_log - end the log and begin the next in @to; takes over all of
 * @to
 *
 * The old file may accept its last data only much later, when the caller of the ioctl
 * may have ended.  The new file may hold the device open meanwhile, so from here on
 * the caller is the keeper of both files.
 */
void hwpmc_rotate_log(struct hwpmc_owner *o, const struct log_place *to)
{
	struct hwpmc_log *log = &o->log;
	bool following = log->req.dump_done;
	bool all_told;

	if (to->bound)
		hwpmc_log_keep(o, get_pid(to->keeper), true);
	if (following)
		hwpmc_rotate_tee_begin(o);
	all_told = following && log->tee.told;
	hwpmc_drain_end_log(o);
	log->sink->end(o);
	hwpmc_log_keep(o, to->keeper, to->bound);
	kvfree(log->out.pack);
	log->out.pack = to->pack;
	WRITE_ONCE(log->error, 0);
	/* targets that were noted for a failed tee are in no log */
	WRITE_ONCE(log->told.number, log->told.number + 1 +
				     (following && log->tee.failed));
	WRITE_ONCE(log->told.telling, log->told.number);
	hwpmc_sink_swap(log, to->file);
	hwpmc_drain_begin_log(o, log->times.drops_told);
	hwpmc_emit_news(o);
	hwpmc_kept_begin(o);	/* later than the list of modules in the metadata */
	if (following)
		tee_end(o);
	log->told.all = all_told;
	trace_hwpmc_log(o, "rotate", 0);
}
