// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flight recorder: the last part of the log, in memory.
 *
 *	base | segment | segment | ... | segment that is being filled
 *
 * When there is no room for the next segment, the oldest is discarded as a whole.
 * Its descriptions of processes, mappings and PMCs move to the base, so that the
 * rest can be read alone.  This makes the base grow, so it is rebuilt from time to
 * time, like the start of a next log (see rotate.c), at the start of a segment.
 * The new base replaces the old one when that segment is the oldest.
 */
#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "emit.h"
#include "flight.h"
#include "hwpmc.h"
#include "kept.h"
#include "sink.h"

/* a segment may have millions */
#define RECORDS_AT_ONCE	1024

/* what happens to a record when its segment is discarded */
enum state_of {
	STATE_OF_NOTHING,	/* discarded as well */
	STATE_OF_TASKS,		/* kept until there is a new base */
	STATE_OF_KERNEL,	/* kept */
};

static enum state_of state_of_ext(const struct pmclog_ext *e)
{
	if (e->cookie != PMCLOG_EXT_COOKIE)
		return STATE_OF_NOTHING;
	switch (e->subtype) {
	case PMCLOG_EXT_MAPPING:
		return STATE_OF_TASKS;
	case PMCLOG_EXT_HOST:
	case PMCLOG_EXT_KERNEL:
	case PMCLOG_EXT_MODULE:
	case PMCLOG_EXT_SECTION:
	case PMCLOG_EXT_BUILDID:
	case PMCLOG_EXT_FIELDS:
		return STATE_OF_KERNEL;
	default:
		return STATE_OF_NOTHING;
	}
}

/* A new base announces all PMCs again. */
static enum state_of flight_state_of_record(const void *rec)
{
	const struct pmclog_map_in *m = rec;	/* and MAP_OUT */

	switch (PMCLOG_HEADER_TYPE(m->h.header)) {
	case PMCLOG_T_USERDATA:
		return state_of_ext(rec);
	case PMCLOG_T_MAP_IN:
	case PMCLOG_T_MAP_OUT:
		return m->pid == PMCLOG_PID_KERNEL ? STATE_OF_KERNEL :
						     STATE_OF_TASKS;
	case PMCLOG_T_PMCALLOCATEDYN:
	case PMCLOG_T_PMCATTACH:
	case PMCLOG_T_PMCDETACH:
	case PMCLOG_T_PROCEXEC:
	case PMCLOG_T_PROCFORK:
	case PMCLOG_T_SYSEXIT:
	case PMCLOG_T_THR_CREATE:
	case PMCLOG_T_THR_EXIT:
	case PMCLOG_T_PROC_CREATE:
		return STATE_OF_TASKS;
	default:
		return STATE_OF_NOTHING;
	}
}

static bool is_process_loss(const void *rec)
{
	const struct pmclog_dropnotify *d = rec;

	return PMCLOG_HEADER_TYPE(d->h.header) == PMCLOG_T_DROPNOTIFY &&
	       d->pmcid == PMCLOG_PMCID_NONE;
}

static u32 record_len(const void *rec)
{
	return PMCLOG_HEADER_LEN(*(const u32 *)rec);
}

/* The owner's samples and losses, as far as they are logged. */
void hwpmc_flight_account(struct hwpmc_owner *o, struct pmclog_account *a)
{
	struct hwpmc_log *log = &o->log;
	unsigned int i;

	hwpmc_drain_account(o, a);
	a->overflows = a->committed + a->filtered;
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		/* drops that a look has seen may not be logged yet */
		a->dropped[i] = log->acct.drops[i];
		a->overflows += log->acct.drops[i];
	}
	a->proc_dropped = log->acct.proc_drops;
	a->written = a->committed;
	a->made = log->acct.made;
}

/*
 * A record that should have been kept is lost.  Everything is dumped again into
 * the segment that is being filled, after a notice of the loss.  If memory stays
 * short, this is not repeated while the last notice is still in the window.
 */
static void flight_lose_record(struct hwpmc_owner *o, enum state_of state)
{
	struct flight *f = o->log.flight;

	/* user metadata is emitted again only if some of it was lost */
	f->lost_meta |= state == STATE_OF_KERNEL;
	if (f->hush) {
		f->still = true;
		return;
	}
	f->hush = FLIGHT_SEGMENTS;
	f->lost = true;
	/*
	 * not hwpmc_dump_failed(), which would fail a base that is being
	 * rebuilt
	 */
	atomic64_inc(&o->noring.dropped);
}

/* Moves a record to the base. */
static void flight_keep_record(struct hwpmc_owner *o, const void *rec,
			       enum state_of state)
{
	struct flight *f = o->log.flight;
	u32 len = record_len(rec);
	void *to = NULL;

	/* a refused allocation takes long: one attempt for each segment */
	if (!f->barren)
		to = hwpmc_chunk_room(o, &f->base, len);
	if (!to) {
		f->barren = true;
		flight_lose_record(o, state);
		return;
	}
	memcpy(to, rec, len);
	f->base_bytes += len;
	f->base_records++;
}

/**
 * struct module_end - the end of a kernel module, in the base
 * @start: the module's address
 * @nr: of its MAP_OUT among the base's records
 */
struct module_end {
	u64	start;
	u64	nr;
};

/* By address, then the last one first */
static int compare_ends(const void *a, const void *b)
{
	const struct module_end *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->nr > y->nr ? -1 : x->nr < y->nr;
}

static int compare_start(const void *start, const void *end)
{
	const u64 *s = start;
	const struct module_end *e = end;

	return *s < e->start ? -1 : *s > e->start;
}

/* More are left to the next time: sorting does not let others run. */
#define ENDS_MAX	65536

/* Notes the first ends of modules in @to, unless that is NULL.  Returns their number. */
static size_t note_ends(const struct flight *f, struct module_end *to)
{
	const struct log_meta *m;
	size_t n = 0;
	u64 nr = 0;
	u32 at;

	list_for_each_entry(m, &f->base, list) {
		cond_resched();
		for (at = 0; at < m->len; at += record_len(m->data + at), nr++) {
			if (!hwpmc_kept_is_end((const void *)(m->data + at)) ||
			    n == ENDS_MAX)
				continue;
			if (to)
				to[n] = (struct module_end) {
					hwpmc_kept_start((const void *)(m->data + at)), nr,
				};
			n++;
		}
	}
	return n;
}

/*
 * The last end at each address, sorted; kvfree().  NULL: there is none, or no memory.
 * Then the base keeps the records of modules that have gone until it is made again.
 */
static struct module_end *last_ends(struct hwpmc_log *log, size_t *count)
{
	size_t n = note_ends(log->flight, NULL), i, last = 0;
	struct module_end *ends;

	ends = n ? hwpmc_chunk_alloc(log, n * sizeof(*ends)) : NULL;
	if (!ends)
		return NULL;
	note_ends(log->flight, ends);
	sort(ends, n, sizeof(*ends), compare_ends, NULL);
	for (i = 1; i < n; i++)
		if (ends[i].start != ends[last].start)
			ends[++last] = ends[i];
	*count = last + 1;
	return ends;
}

/**
 * struct sweep - what is known while the base is reduced
 * @ends: of last_ends()
 * @n: their number
 * @nr: of the next record
 * @listed: the last MAP_IN is of a program's list, and has the path of the module's file
 */
struct sweep {
	struct module_end *ends;
	size_t		n;
	u64		nr;
	bool		listed;
};

/*
 * Is the next record @rec of a module that has gone since?  Its last end stays, and so
 * does what a program listed: no other record has the path, should the module come back.
 * Lists do not grow.
 */
static bool has_gone(struct sweep *s, const void *rec)
{
	const struct pmclog_map_in *m = rec;
	const struct module_end *e;
	u64 nr = s->nr++, start;

	if (!s->ends || !hwpmc_kept_wants(rec))
		return false;
	if (PMCLOG_HEADER_TYPE(m->h.header) == PMCLOG_T_MAP_IN)
		s->listed = m->path[0] == '/';
	if (s->listed && !hwpmc_kept_is_end(rec))
		return false;
	start = hwpmc_kept_start(rec);
	e = bsearch(&start, s->ends, s->n, sizeof(*s->ends), compare_start);
	return e && nr < e->nr;
}

/*
 * Reduces the base to the kernel's records, in as few chunks as possible.  A machine
 * may load and unload modules all the time: see kept.c.
 */
static void sweep_base(struct hwpmc_owner *o)
{
	struct flight *f = o->log.flight;
	struct log_meta *m, *next, *to;
	u32 at, len, all, used = 0;
	struct sweep sweep = {};

	sweep.ends = last_ends(&o->log, &sweep.n);
	f->base_bytes = 0;
	f->base_records = 0;
	to = list_first_entry(&f->base, struct log_meta, list);
	list_for_each_entry(m, &f->base, list) {
		cond_resched();
		for (at = 0, all = m->len; at < all; at += len) {
			len = record_len(m->data + at);
			if (has_gone(&sweep, m->data + at) ||
			    flight_state_of_record(m->data + at) !=
			    STATE_OF_KERNEL)
				continue;
			if (CHUNK_ROOM - used < len) {	/* then @to is not @m */
				to->len = used;
				to = list_next_entry(to, list);
				used = 0;
			}
			memmove(to->data + used, m->data + at, len);
			used += len;
			f->base_bytes += len;
			f->base_records++;
		}
	}
	kvfree(sweep.ends);
	to->len = used;
	m = list_next_entry(to, list);
	list_for_each_entry_safe_from(m, next, &f->base, list)
		hwpmc_chunk_free(o, m);
}

static void count_base(struct flight *f, const struct list_head *chunks)
{
	struct log_meta *m;
	u32 at;

	list_for_each_entry(m, chunks, list) {
		cond_resched();
		f->base_bytes += m->len;
		for (at = 0; at < m->len; at += record_len(m->data + at))
			f->base_records++;
	}
}

static void set_limit(struct flight *f)
{
	f->base_limit = max_t(size_t, 2 * f->base_bytes,
			      (size_t)f->room * FLIGHT_SEGMENTS / 4);
}

/* Discards the oldest segment. */
static void drop_oldest(struct hwpmc_owner *o)
{
	struct flight *f = o->log.flight;
	struct flight_segment *s = flight_seg(f, 0);
	struct list_head *anew = &flight_seg(f, 1)->base;
	enum state_of state, least = STATE_OF_TASKS;
	unsigned int n = 0;
	bool lossy = false;
	u32 at;

	if (!list_empty(anew)) {
		least = STATE_OF_KERNEL;
		sweep_base(o);
	}
	f->barren = false;
	for (at = 0; at < s->used; at += record_len(s->data + at)) {
		state = flight_state_of_record(s->data + at);
		if (state >= least)
			flight_keep_record(o, s->data + at, state);
		lossy |= is_process_loss(s->data + at);
		if (!(++n % RECORDS_AT_ONCE))
			cond_resched();
	}
	if (!list_empty(anew)) {
		count_base(f, anew);
		list_splice_tail_init(anew, &f->base);
		f->renewing = false;
		f->untold = false;	/* this base has what was lost before it */
		set_limit(f);
	} else {
		f->untold |= lossy;
		f->renew |= !f->renewing && f->base_bytes > f->base_limit;
	}
	s->used = 0;
	f->first = (f->first + 1) % FLIGHT_SEGMENTS;
	f->n--;
}

/* Begins the next segment.  The buffer is empty: all records are in the window. */
static void flight_next_segment(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct flight *f = log->flight;
	struct flight_segment *s;

	if (f->hush && !--f->hush && f->still) {
		f->still = false;
		flight_lose_record(o, STATE_OF_TASKS);
	}
	if (f->n == FLIGHT_SEGMENTS)
		drop_oldest(o);
	f->n++;
	s = flight_last(f);
	s->since = log->told.last_tsc;
	s->real_ahead = log->times.real_ahead;
	hwpmc_flight_account(o, &s->start);
	log->told.epoch++;
	hwpmc_pack_forget(log);
}

/* Skips the log's first record, which has its start time: a snapshot has its own. */
static u32 skip_beginning(const struct hwpmc_log *log, const void *buf)
{
	const struct pmclog_hdr *h = buf;
	struct flight *f = log->flight;

	if (f->begun)
		return 0;
	f->begun = true;
	flight_last(f)->since = h->tsc;
	flight_last(f)->real_ahead = log->times.real_ahead;
	return record_len(buf);
}

/* There is always room for a full buffer. */
static ssize_t flight_write(struct hwpmc_owner *o, const void *buf, u32 len)
{
	struct flight *f = o->log.flight;
	struct flight_segment *s = flight_last(f);
	u32 skip = skip_beginning(&o->log, buf);

	memcpy(s->data + s->used, buf + skip, len - skip);
	s->used += len - skip;
	if (f->room - s->used < o->log.out.size)
		flight_next_segment(o);
	return len;
}

/* Never waits: the window takes all data. */
static void flight_wait(struct hwpmc_owner *o)
{
}

/*
 * The next dump logs everything that is not noted under the new number.  A base that
 * was just made is noted under it.
 */
static void next_number(struct hwpmc_log *log)
{
	WRITE_ONCE(log->told.number, log->told.number + 1);
	WRITE_ONCE(log->told.telling, log->told.number);
}

/*
 * Makes a complete base for the next segment.  It begins with all PMCs that later
 * records may name.  False if out of memory.
 */
static bool make_base(struct hwpmc_owner *o, struct list_head *base)
{
	struct hwpmc_log *log = &o->log;
	LIST_HEAD(dump);

	hwpmc_rotate_tee_begin(o);
	hwpmc_sink_flush(o);
	log->tee.on = false;
	list_splice_init(&log->tee.list, &dump);
	log->tee.to = true;
	hwpmc_emit_pmcs(o);
	log->tee.to = false;
	list_splice_init(&log->tee.list, base);
	list_splice_tail(&dump, base);
	if (!log->tee.failed) {
		hwpmc_rotate_tee_tell_losses(o);
		return true;
	}
	hwpmc_chunk_free_all(o, base);
	return false;
}

/*
 * The window keeps a notice until the new base replaces the one that may lack records.
 * A notice that comes before the new base is discarded at about that time, so no
 * further base is made because of it.  While a base is being made, one more is not
 * asked for: this notice asks for it if it outlives that base.
 */
static void tell_loss_again(struct hwpmc_owner *o)
{
	struct flight *f = o->log.flight;

	f->untold = false;
	f->lossy |= !f->renewing;
	atomic64_inc(&o->noring.beyond_dump);
	hwpmc_emit_process_drops(o);
}

/*
 * hwpmc_flight_tell_losses - before a snapshot: the window has a notice of all losses
 *
 * The notice may fill a segment, and discard another notice.  The next segment has room.
 */
void hwpmc_flight_tell_losses(struct hwpmc_owner *o)
{
	while (o->log.flight->untold) {
		tell_loss_again(o);
		hwpmc_sink_flush(o);
	}
}

static void flight_renew_base(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct flight *f = log->flight;
	u64 began = ktime_get_ns(), gave = log->pace.gave, now;
	LIST_HEAD(base);

	f->renew = false;
	f->lossy = false;
	f->renewing = true;	/* no second base is made meanwhile */
	if (make_base(o, &base)) {
		flight_next_segment(o);
		list_splice(&base, &flight_last(f)->base);
	} else {
		f->renewing = false;
		set_limit(f);
	}
	next_number(log);
	hwpmc_emit_news(o);	/* PMCs that were allocated meanwhile */
	hwpmc_sink_flush(o);
	now = ktime_get_ns();
	f->not_before = now + 9 * (now - began - (log->pace.gave - gave));
}

/* Work between two passes. */
static void flight_tend(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct flight *f = log->flight;

	if (f->lost) {
		f->lost = false;
		next_number(log);
		if (f->lost_meta) {
			log->told.meta = NULL;
			hwpmc_emit_news(o);
			hwpmc_kept_emit(o);	/* later than that list of modules */
		}
		f->lost_meta = false;
	}
	/* behind a new base, a notice would ask for one more */
	if (!f->renewing)
		hwpmc_flight_tell_losses(o);
	/* if losses continue, this takes at most a tenth of the time */
	if (f->lossy && ktime_get_ns() >= f->not_before)
		f->renew = true;
	/* before the first dump, the log has no processes that a base could describe */
	if (f->renew && log->req.dump_done)
		flight_renew_base(o);
}

static void flight_end(struct hwpmc_owner *o)
{
	hwpmc_flight_free(o);
}

static const struct sink_ops sink_flight = {
	.write	= flight_write,
	.wait	= flight_wait,
	.tend	= flight_tend,
	.end	= flight_end,
};

/* Also frees a window that is incomplete; does nothing if there is none. */
void hwpmc_flight_free(struct hwpmc_owner *o)
{
	struct flight *f = o->log.flight;
	unsigned int i;

	if (!f)
		return;
	o->log.flight = NULL;
	for (i = 0; i < FLIGHT_SEGMENTS; i++) {
		kvfree(f->seg[i].data);
		hwpmc_chunk_free_all(o, &f->seg[i].base);
	}
	hwpmc_chunk_free_all(o, &f->base);
	hwpmc_limit_release(o, LIMIT_RING_BYTES,
			    (u64)f->room * FLIGHT_SEGMENTS);
	kfree(f);
}

/*
 * Refuses more than half of the memory that is available: reclaiming more would
 * keep the machine busy, and the caller could not be interrupted.  Others may
 * allocate memory meanwhile, so each segment is checked.
 */
static int alloc_segments(struct hwpmc_owner *o)
{
	struct flight *f = o->log.flight;
	unsigned int i;
	u64 pages;

	for (i = 0; i < FLIGHT_SEGMENTS; i++) {
		pages = (u64)f->room * (FLIGHT_SEGMENTS - i) >> PAGE_SHIFT;
		if (pages > si_mem_available() / 2 ||
		    fatal_signal_pending(current))
			return -ENOMEM;
		f->seg[i].data = hwpmc_memory(f->room, NUMA_NO_NODE, __GFP_ACCOUNT);
		if (!f->seg[i].data)
			return -ENOMEM;
	}
	/* so that the first records, which are logged once, always have room */
	return hwpmc_chunk_add(o, &f->base);
}

bool hwpmc_flight_size_ok(u64 size)
{
	return size >= FLIGHT_MIN && size <= FLIGHT_MAX;
}

/*
 * hwpmc_flight_attach - make a window of @size bytes the log's destination
 *
 * -EDQUOT: the user may not have that much; -ENOMEM.  An error leaves nothing.
 */
int hwpmc_flight_attach(struct hwpmc_owner *o, u64 size)
{
	struct hwpmc_log *log = &o->log;
	u32 room = ALIGN_DOWN(div_u64(size, FLIGHT_SEGMENTS), 8);
	unsigned int i;
	struct flight *f;
	int err;

	err = hwpmc_limit_charge(o, LIMIT_RING_BYTES,
				 (u64)room * FLIGHT_SEGMENTS);
	if (err)
		return err;
	f = kzalloc(sizeof(*f), HWPMC_GFP);
	if (!f) {
		hwpmc_limit_release(o, LIMIT_RING_BYTES,
				    (u64)room * FLIGHT_SEGMENTS);
		return -ENOMEM;
	}
	f->room = room;
	f->n = 1;
	INIT_LIST_HEAD(&f->base);
	for (i = 0; i < FLIGHT_SEGMENTS; i++)
		INIT_LIST_HEAD(&f->seg[i].base);
	set_limit(f);
	log->flight = f;
	err = alloc_segments(o);
	if (err) {
		hwpmc_flight_free(o);
		return err;
	}
	/* nothing that needs a log runs: the account does not change */
	hwpmc_flight_account(o, &f->seg[0].start);
	f->seg[0].start.made = 0;
	log->sink = &sink_flight;
	/* the end of a segment with no room for a full buffer stays unused */
	log->out.size = clamp_t(u32, room / 8, FLIGHT_BUFFER,
			    hwpmc_param_buffer_bytes());
	return 0;
}
