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
#include <linux/slab.h>

#include "hwpmc.h"

#define TEE_CHUNK	(64 << 10)

static void tee_free(struct hwpmc_log *log)
{
	struct log_meta *m, *next;

	list_for_each_entry_safe(m, next, &log->tee, list)
		kvfree(m);
	INIT_LIST_HEAD(&log->tee);
}

/*
 * Room for a record of the log to come.  Without memory it goes nowhere; the
 * processes are then dumped into the new log, late but complete.
 */
void *tee_room(struct hwpmc_log *log, u32 len)
{
	struct log_meta *m = NULL;
	void *p;

	if (!list_empty(&log->tee))
		m = list_last_entry(&log->tee, struct log_meta, list);
	if (!m || TEE_CHUNK - m->len < len) {
		m = kvmalloc(struct_size(m, data, TEE_CHUNK),
			     GFP_KERNEL_ACCOUNT);
		if (!m) {
			log->tee_failed = true;
			return log->spare;
		}
		m->len = 0;
		list_add_tail(&m->list, &log->tee);
	}
	p = m->data + m->len;
	m->len += len;
	return p;
}

static void tee_begin(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;

	log->tee_failed = false;
	log->teeing = true;
	dump_all(o);
}

static void tee_end(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct log_meta *m;

	log->teeing = false;
	if (log->tee_failed)
		dump_all(o);
	else
		list_for_each_entry(m, &log->tee, list)
			emit_meta(o, m);
	tee_free(log);
}

/*
 * rotate - ends the log and begins the next in @file, which it takes over
 */
void rotate(struct hwpmc_owner *o, struct file *file)
{
	struct hwpmc_log *log = &o->log;
	bool following = log->req.dump_done;

	if (following)
		tee_begin(o);
	drain_end_log(o);
	__fput_sync(log->file);
	WRITE_ONCE(log->error, 0);
	log->number++;
	sink_swap(log, file);
	drain_begin_log(o, log->drops_told);
	emit_news(o);
	if (following)
		tee_end(o);
}
