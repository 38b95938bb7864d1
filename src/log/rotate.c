// SPDX-License-Identifier: GPL-2.0-only
/*
 * One log ends, the next begins, and no PMC stops.
 *
 * The new log must be readable on its own, so it begins with all processes as
 * they are at the cut.  Collecting them takes a while.  Therefore it is done
 * before the cut, into memory (the tee).  Process records from then to the cut
 * go to both the old log and the tee.
 */
#include <linux/file.h>
#include <linux/mm.h>

#include "emit.h"
#include "hwpmc.h"
#include "sink.h"
#include "trace.h"

/*
 * Returns room for a record of the next log.  Without memory the record is
 * lost; the new log says so, and the processes are dumped into it later.
 */
void *tee_room(struct hwpmc_owner *o, u32 len)
{
	struct hwpmc_log *log = &o->log;
	void *p = NULL;

	/* a failing allocation is slow, and an incomplete tee is useless */
	if (!log->tee_failed)
		p = chunk_room(o, &log->tee, len);
	if (p)
		return p;
	log->tee_failed = true;
	return log->spare;
}

/*
 * Dumps all processes into the tee, which also gets their later changes.  The
 * current log gets only what is new in the dump.
 */
void tee_begin(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	bool all_told = log->all_told;

	log->tee_failed = false;
	log->teeing = true;
	/* a fork from here on is logged in both logs, or twice */
	WRITE_ONCE(log->telling, log->number + 1);
	dump_all(o);
	swap(all_told, log->all_told);
	log->tee_told = all_told;
}

static void tee_end(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct log_meta *m;

	log->teeing = false;
	if (log->tee_failed)
		dump_failed(o);
	else
		list_for_each_entry(m, &log->tee, list)
			emit_meta(o, m);
	chunks_free(o, &log->tee);
}

/*
 * rotate - end the log and begin the next in @to; takes over all of @to
 *
 * The old file may take the rest only much later, and the caller of the ioctl may be
 * gone by then.  The new file may hold the device open meanwhile, so the caller keeps
 * both files from here on.
 */
void rotate(struct hwpmc_owner *o, const struct log_place *to)
{
	struct hwpmc_log *log = &o->log;
	bool following = log->req.dump_done;
	bool all_told;

	if (to->bound)
		log_keep(o, get_pid(to->keeper), true);
	if (following)
		tee_begin(o);
	all_told = following && log->tee_told;
	drain_end_log(o);
	log->sink->end(o);
	log_keep(o, to->keeper, to->bound);
	kvfree(log->pack);
	log->pack = to->pack;
	WRITE_ONCE(log->error, 0);
	log->number++;
	WRITE_ONCE(log->telling, log->number);
	sink_swap(log, to->file);
	drain_begin_log(o, log->drops_told);
	emit_news(o);
	if (following)
		tee_end(o);
	log->all_told = all_told;
	trace_hwpmc_log(o, "rotate", 0);
}
