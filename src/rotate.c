// SPDX-License-Identifier: GPL-2.0-only
/*
 * One log ends, the next begins, and no PMC stops.
 *
 * The new log must be readable on its own: it begins with all processes as they
 * are at the cut.  To look at them takes a while, so that is done before the
 * cut, into memory (the tee); and what processes do from there to the cut goes
 * to both, the old log and the tee.
 */
#include <linux/file.h>
#include <linux/mm.h>

#include "emit.h"
#include "hwpmc.h"
#include "sink.h"
#include "trace.h"

/*
 * Room for a record of the log to come.  Without memory it goes nowhere; the
 * new log says so, and the processes are dumped into it late.
 */
void *tee_room(struct hwpmc_owner *o, u32 len)
{
	struct hwpmc_log *log = &o->log;
	void *p = NULL;

	/* to be refused it takes long, and the rest would be for nothing */
	if (!log->tee_failed)
		p = chunk_room(o, &log->tee, len);
	if (p)
		return p;
	log->tee_failed = true;
	return log->spare;
}

/*
 * All processes, and from here on what they do, go to the tee.  The log that goes
 * on is not told of them by that, but for what is new.
 */
void tee_begin(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	bool all_told = log->all_told;

	log->tee_failed = false;
	log->teeing = true;
	/* who forks from here on is told of in both, or again */
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

/* rotate - ends the log and begins the next in @to, all of which it takes over */
void rotate(struct hwpmc_owner *o, const struct log_place *to)
{
	struct hwpmc_log *log = &o->log;
	bool following = log->req.dump_done;
	bool all_told;

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
