// SPDX-License-Identifier: BSD-2-Clause
/*
 * All records other than samples stay: the meaning of a sample depends on the
 * earlier mappings of its process and its ancestors, and on the last PERIOD of
 * its PMC and CPU.  All records of unwanted
 * PMCs are dropped.
 */
#include <stdlib.h>

#include <pmclog_wire.h>

#include "commands/filter/filter_log.h"
#include "log/record.h"

void part_free(struct part *t)
{
	t->p.late.given_up = NULL;
	heldrecs_free(&t->held);
	free(t->lone.buf);
	idtab_free(&t->latetab);
	free(t->late);
	profile_free(&t->p);
}

/* ------------------------------------------------------------------------
 * Samples
 */
static bool wanted_pmc(struct part *t, uint32_t pmcid)
{
	uint32_t event;

	if (!t->event)
		return true;
	event = events_of(&t->p.events, &t->p.str, pmcid);
	return !strcmp(strtab_str(&t->p.str, t->p.events.event[event].name),
		       t->event) != t->not_event;
}

/* Converts to the clock of the first log, which the conditions use. */
static uint64_t moment(const struct part *t, uint64_t tsc)
{
	return logclock_at(&t->p.log.clock, tsc);
}

static void expect_chain(struct part *t, uint32_t tid, uint64_t tsc)
{
	struct late_kept key = { .tid = tid };
	uint32_t id = IDTAB_ID(&t->latetab, hash_mix(tid, 0), t->late, t->nlate, t->caplate,
			       &key, e, e->tid == tid);

	t->late_kept++;
	if (tsc > t->late[id].tsc)
		t->late[id].tsc = tsc;
}

/* Counts a sample as left out (@n is 1), or takes that back (@n is -1). */
static void count_cut(struct part *t, uint8_t ends, int n)
{
	int i;

	if (ends <= (END_WHOLE | END_TABLES))
		return;
	t->cut += (uint64_t)n;
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		if (ends & END_CUT(i))
			t->cut_by[i] += (uint64_t)n;
}

static enum fate stays(struct part *t, const struct sample *s, bool late)
{
	t->kept++;
	count_cut(t, s->ends, -1);
	if (late)
		expect_chain(t, s->tid, s->tsc);
	return FATE_STAYS;
}

/* Decides on a waiting sample: its chain came, or will not come. */
static void decide(struct part *t, const struct late_sample *late,
		   uint64_t met)
{
	uint32_t number = late->sample.chain;
	bool wanted = select_wanted(t->select,
				    met | heldrecs_met(&t->held, number));

	if (wanted)
		stays(t, &late->sample, true);
	heldrecs_decide(&t->held, number, wanted);
}

static void given_up(void *ctx, const struct late_sample *late)
{
	decide(ctx, late, 0);
}

void part_init(struct part *t, struct filter *filter, struct select *select,
	       const struct image_root *root)
{
	memset(t, 0, sizeof(*t));
	profile_init(&t->p, root);
	t->filter = t->p.filter = filter;
	t->select = select;
	t->p.late.given_up = given_up;
	t->p.late.ctx = t;
}

/* Queues a sample for its user chain; later records wait behind it. */
static enum fate wait_for_chain(struct part *t, const struct pmclog_rec *r,
				const struct sample *s, uint64_t met,
				uint64_t user)
{
	struct late_sample late = { .sample = *s, .user = user };

	late.sample.chain = heldrecs_wait(&t->held, r->data, r->len, met);
	late_add(&t->p.late, &late, r->data);
	return FATE_OPEN;
}

static enum fate by_frames(struct part *t, const struct pmclog_rec *r,
			   const struct sample *s, const struct aspace *as)
{
	const unsigned char *pc = r->data + sizeof(struct pmclog_callchain);
	uint32_t n = (r->len - sizeof(struct pmclog_callchain)) / 8, i = 0;
	bool late = REC32(r, callchain, cpuflags) & PMCLOG_CC_USERLATE;
	uint64_t met;

	if (!t->select->n)
		return stays(t, s, late);
	jits_pass(&t->p, s->tsc);
	met = select_frames(t->select, &t->p, as, s->kernel, pc, n);
	while (s->kernel && i < n && pmclog_get64(pc + (size_t)i * 8) >> 63)
		i++;
	if (late && i < n && !select_is_known(t->select, met))
		return wait_for_chain(t, r, s, met,
				      pmclog_get64(pc + (size_t)i * 8));
	return select_wanted(t->select, met) ? stays(t, s, late) : FATE_OUT;
}

/* @raw: fields of the sample; no data: it has none, or they are not needed. */
static enum fate fate_of(struct part *t, const struct pmclog_rec *r,
			 struct tp_raw raw)
{
	uint32_t flags = REC32(r, callchain, cpuflags);
	struct sample s = {
		.tsc = moment(t, r->tsc), .pid = REC32(r, callchain, pid),
		.tid = REC32(r, callchain, tid), .cpu = PMCLOG_CC_CPU(flags),
		.kernel = !(flags & PMCLOG_CC_USERSPACE),
		.ends = ends_of(flags),
	};
	uint32_t pmcid = REC32(r, callchain, pmcid);
	struct proc *proc = procs_get(&t->p.procs, &t->p.str, s.pid);
	uint32_t comm = procs_shown_name(proc, &t->p.str);

	t->seen++;
	count_cut(t, s.ends, 1);
	if (!wanted_pmc(t, pmcid) ||
	    !filter_sample(t->filter, &s, strtab_str(&t->p.str, comm)))
		return FATE_OUT;
	s.event = events_of(&t->p.events, &t->p.str, pmcid);
	if (!select_fields(t->select, profile_format(&t->p, s.event), &raw))
		return FATE_OUT;
	/* later user chains have timestamps of their own log */
	s.tsc = r->tsc;
	profile_settle(&t->p);
	return by_frames(t, r, &s, proc->as);
}

/* Copies the record: it is only valid until the next one is read. */
static void keep_lone(struct part *t, const struct pmclog_rec *r)
{
	struct lone_sample *l = &t->lone;

	if (r->len > l->cap)
		l->buf = xreallocarray(l->buf, l->cap = 2 * r->len, 1);
	memcpy(l->buf, r->data, r->len);
	l->rec = *r;
	l->rec.data = l->buf;
	l->valid = true;
}

static void put_sample(struct part *t, const struct pmclog_rec *r,
		       struct tp_raw raw)
{
	t->fate = fate_of(t, r, raw);
	if (t->fate == FATE_STAYS)
		heldrecs_add(&t->held, r->data, r->len);
}

/* @r: the record after the sample that waits for its fields; NULL: none. */
static void put_lone(struct part *t, const struct pmclog_rec *r)
{
	struct tp_raw raw = { .data = NULL };

	if (!t->lone.valid)
		return;
	t->lone.valid = false;
	if (r && pmclog_iter_ext_subtype(r) == PMCLOG_EXT_RAW)
		raw = tp_raw(r);
	put_sample(t, &t->lone.rec, raw);
}

static void callchain(struct part *t, const struct pmclog_rec *r)
{
	const struct tp_raw none = { .data = NULL };

	if (t->select->nfield)
		keep_lone(t, r);
	else
		put_sample(t, r, none);
}

/* Records that directly follow their sample */
static bool goes_with_sample(uint32_t ext)
{
	return ext == PMCLOG_EXT_RAW || ext == PMCLOG_EXT_DETAIL;
}

static void more_of_sample(struct part *t, const struct pmclog_rec *r)
{
	if (t->fate == FATE_STAYS)
		heldrecs_add(&t->held, r->data, r->len);
	else if (t->fate == FATE_OPEN)
		heldrecs_tie(&t->held, r->data, r->len);
	t->fate = FATE_OUT;
}

/* Decides on the samples that waited for this user chain. */
static void answer(struct part *t, const struct pmclog_rec *r)
{
	uint32_t tid = REC32(r, ext_userchain, tid), n;
	struct late_sample *late;
	struct proc *proc;
	uint64_t met;
	size_t at;

	n = record_pcs(r, &at);
	if (!n || !t->p.late.bytes)
		return;
	profile_settle(&t->p);
	late_record(&t->p.late, r);
	proc = procs_get(&t->p.procs, &t->p.str,
			 REC32(r, ext_userchain, pid));
	met = select_frames(t->select, &t->p, proc->as, false, r->data + at, n);
	while ((late = late_take(&t->p.late, tid,
				 REC64(r, ext_userchain, first),
				 pmclog_get64(r->data + at)))) {
		decide(t, late, met);
		free(late);
	}
}

/* May the chain be for a kept sample?  A chain for none does no harm. */
static bool wanted_chain(struct part *t, const struct pmclog_rec *r)
{
	uint32_t tid = REC32(r, ext_userchain, tid), id;

	answer(t, r);
	id = IDTAB_FIND(&t->latetab, hash_mix(tid, 0), t->late, e, e->tid == tid);
	if (id == IDTAB_NONE ||
	    t->late[id].tsc < REC64(r, ext_userchain, first))
		return false;
	t->answers++;
	return true;
}

/* Losses have no process: a loss is kept unless it surely is unwanted. */
static bool wanted_drop(struct part *t, const struct pmclog_rec *r)
{
	uint32_t cause;

	if (r->len < sizeof(struct pmclog_dropnotify) ||
	    REC32(r, dropnotify, pmcid) == PMCLOG_PMCID_NONE)
		return true;
	if (!wanted_pmc(t, REC32(r, dropnotify, pmcid)) ||
	    !filter_loss(t->filter, REC32(r, dropnotify, cpu),
			 moment(t, REC64(r, dropnotify, first)),
			 moment(t, REC64(r, dropnotify, last))))
		return false;
	cause = REC32(r, dropnotify, cause);
	if (cause < PMCLOG_DROP_NCAUSE)
		t->dropped[cause] += REC64(r, dropnotify, count);
	return true;
}

/* ------------------------------------------------------------------------
 * Records that are changed in the part
 */
static void set32(unsigned char *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* An exec concerns all PMCs, whichever PMC it was logged for. */
static const unsigned char *exec_record(struct part *t,
					const struct pmclog_rec *r)
{
	uint32_t pmcid = REC32(r, procexec, pmcid);

	if (pmcid == PMCLOG_PMCID_NONE || wanted_pmc(t, pmcid))
		return r->data;
	memcpy(t->buf, r->data, r->len);
	set32(t->buf + offsetof(struct pmclog_procexec, pmcid),
	      PMCLOG_PMCID_NONE);
	return t->buf;
}

/* At least 0, if the account has less than the records. */
static uint64_t less(uint64_t all, uint64_t out)
{
	return all > out ? all - out : 0;
}

/* Adds the samples left out to the account, as unwanted. */
static void settle(const struct part *t, struct pmclog_account *a)
{
	uint64_t out = t->seen - t->kept;
	int i;

	a->written -= out;
	a->committed -= out;
	a->filtered += out;
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		a->filtered += a->dropped[i] - t->dropped[i];
		a->dropped[i] = t->dropped[i];
	}
	a->cut = less(a->cut, t->cut);
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		a->cut_by[i] = less(a->cut_by[i], t->cut_by[i]);
	a->late = t->late_kept;
	a->late_answered = t->answers;
}

static const unsigned char *close_record(struct part *t,
					 const struct pmclog_rec *r)
{
	const size_t at = offsetof(struct pmclog_closelog, account);
	struct pmclog_account a;
	size_t len = r->len - at;

	if (!record_account(r, &a))
		return r->data;
	settle(t, &a);
	memcpy(t->buf, r->data, r->len);
	memcpy(t->buf + at, &a, len < sizeof(a) ? len : sizeof(a));
	return t->buf;
}

static void begin(struct part *t)
{
	t->tsc = 0;
	t->seen = t->kept = 0;
	t->late_kept = t->answers = 0;
	memset(t->dropped, 0, sizeof(t->dropped));
	t->cut = 0;
	memset(t->cut_by, 0, sizeof(t->cut_by));
	idtab_free(&t->latetab);
	t->nlate = 0;
}

/* ------------------------------------------------------------------------
 * All records
 */

/* A SNAPSHOT only tells which PMC was its cause. */
static bool of_wanted_pmc(struct part *t, const struct pmclog_rec *r)
{
	size_t at = pmclog_iter_ext_subtype(r) == PMCLOG_EXT_SNAPSHOT ? 0 : record_pmcid_at(r);

	return !at || wanted_pmc(t, pmclog_get32(r->data + at));
}

/*
 * Samples and their further records.  They are not added to the profile: it
 * would grow, and they have no information on processes.
 */
static bool of_sample(struct part *t, const struct pmclog_rec *r)
{
	uint32_t ext = pmclog_iter_ext_subtype(r);

	if (r->type != PMCLOG_T_CALLCHAIN && ext != PMCLOG_EXT_USERCHAIN &&
	    !goes_with_sample(ext))
		return false;
	profile_moment(&t->p, moment(t, r->tsc));
	if (r->type == PMCLOG_T_CALLCHAIN)
		callchain(t, r);
	else if (goes_with_sample(ext))
		more_of_sample(t, r);
	else if (wanted_chain(t, r))
		heldrecs_add(&t->held, r->data, r->len);
	return true;
}

static const unsigned char *other_record(struct part *t,
					 const struct pmclog_rec *r)
{
	profile_record(&t->p, r);
	switch (r->type) {
	case PMCLOG_T_DROPNOTIFY:
		return wanted_drop(t, r) ? r->data : NULL;
	case PMCLOG_T_PROCEXEC:
		return exec_record(t, r);
	case PMCLOG_T_CLOSELOG:
		return close_record(t, r);
	default:
		return of_wanted_pmc(t, r) ? r->data : NULL;
	}
}

/* The reader of the output should not wait for a thread that sleeps. */
static bool waits_too_long(const struct part *t, uint64_t tsc)
{
	const struct late_sample *oldest = t->p.late.oldest;

	if (t->held.bytes > HELDRECS_BYTES)
		return true;
	return t->hurry && tsc > oldest->sample.tsc &&
	       tsc - oldest->sample.tsc > log_freq(&t->p.log);
}

void part_record(struct part *t, const struct pmclog_rec *r)
{
	const unsigned char *p;

	put_lone(t, r);
	if (r->type == PMCLOG_T_INITIALIZE) {
		part_settle(t);
		begin(t);
	}
	if (r->tsc > t->tsc)
		t->tsc = r->tsc;
	if (!goes_with_sample(pmclog_iter_ext_subtype(r)))
		t->fate = FATE_OUT;
	if (!of_sample(t, r)) {
		p = other_record(t, r);
		if (p)
			heldrecs_add(&t->held, p, r->len);
	}
	/* the fields of a sample go with it */
	while (t->fate != FATE_OPEN && t->p.late.oldest &&
	       waits_too_long(t, r->tsc))
		late_give_up(&t->p.late);
}

void part_settle(struct part *t)
{
	put_lone(t, NULL);
	while (t->p.late.oldest)
		late_give_up(&t->p.late);
}

const unsigned char *part_note(struct part *t, const char *conditions,
			       uint32_t *len)
{
	struct pmclog_ext_filtered note = {
		.e.cookie = PMCLOG_EXT_COOKIE,
		.e.subtype = PMCLOG_EXT_FILTERED,
		.e.h.tsc = t->tsc, .samples = t->seen,
	};
	size_t n = strnlen(conditions, PMCLOG_PATH_MAX - 1);

	*len = (uint32_t)(sizeof(note) + n + 1 + 3) & ~3U;
	note.e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, *len);
	memset(t->buf, 0, *len);
	memcpy(t->buf, &note, sizeof(note));
	memcpy(t->buf + sizeof(note), conditions, n);
	return t->buf;
}
