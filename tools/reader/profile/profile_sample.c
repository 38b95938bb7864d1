// SPDX-License-Identifier: BSD-2-Clause
/* Samples: whether they are wanted, their chains, and chains that come late. */
#include <stdlib.h>

#include <linux/hwpmc.h>

#include "log/record.h"
#include "profile/profile.h"

/* Flags of a PMC whose samples may have a record behind them */
#define HAS_MORE	(HWPMC_F_RAW | HWPMC_F_BRANCH | HWPMC_F_DATA)

void profile_clock(struct profile *p)
{
	struct log_facts *log = &p->log;

	double slice = p->groups.length * (double)log_freq(log) + 0.5;

	p->groups.origin = log->begin;
	p->groups.slice = slice < 1 ? 1 : slice < 1e18 ? (uint64_t)slice :
			  UINT64_MAX;
	if (p->filter)
		filter_clock(p->filter, log_freq(log), log->begin,
			     log->last ? log->last : log->begin);
}

/* The sample is complete. */
static void sample_done(struct profile *p, const struct sample *s)
{
	struct sample listed = *s;
	const struct chain *c;

	if (p->on_sample)
		p->on_sample(p->on_sample_ctx, s);
	if (!p->on_samples)
		return;
	c = &p->chains.chain[s->chain];
	listed.frames = chain_frames(&p->chains, c);
	listed.nframes = c->n;
	p->on_samples(p->on_sample_ctx, &listed, 1);
}

/* A sample that only needs its frames; its fields are valid only briefly. */
static void list_sample(struct profile *p, const struct aspace *as,
			const struct sample *s, const unsigned char *pc,
			uint32_t n)
{
	roll_wait(p, as, s, pc, n);
	if (s->more)
		roll_flush(p);
}

/* A sample waits no longer for its user chain: its chain stays as it is. */
static void late_given_up(void *ctx, const struct late_sample *s)
{
	struct sample cut = s->sample;

	cut.ends = ends_late(cut.ends);
	sample_done(ctx, &cut);
}

/* Queues a sample whose user chain comes later, without its user part. */
static bool wait_for_user(struct profile *p, const struct sample *s,
			  const unsigned char *pc, uint32_t n)
{
	struct late_sample late = { .sample = *s };

	p->late.asked++;
	while (s->kernel && late.npc < n &&
	       pmclog_get64(pc + (size_t)late.npc * 8) >> 63)
		late.npc++;
	if (late.npc == n)
		return false;
	late.user = pmclog_get64(pc + (size_t)late.npc * 8);
	p->late.given_up = late_given_up;
	p->late.ctx = p;
	late_add(&p->late, &late, pc);
	return true;
}

/* Corrects the count of a sample that was counted as unanswered. */
static void answer_ends(struct profile *p, struct sample *s, uint8_t answer)
{
	uint8_t before = ends_late(s->ends);

	s->ends = ends_answered(s->ends, answer);
	ends_move(&p->ends, s->event, s->comm, before, s->ends);
}

/* The user chain of all samples that wait for it. */
void profile_userchain(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t tid = REC32(r, ext_userchain, tid);
	uint64_t first = logclock_at(&p->log.clock, REC64(r, ext_userchain, first));
	uint8_t ends = record_ends(r);
	struct late_sample *s;
	unsigned char *pc;
	struct proc *proc;
	size_t at;
	uint32_t n;

	profile_settle(p);
	n = record_pcs(r, &at);
	if (!n)
		return;
	proc = procs_get(&p->procs, &p->str, REC32(r, ext_userchain, pid));
	p->ends.told |= ends & END_TELLS;
	while ((s = late_take(&p->late, tid, first,
			      pmclog_get64(r->data + at)))) {
		answer_ends(p, &s->sample, ends);
		p->late.answered++;
		if (p->innermost) {
			free(s);
			continue;
		}
		pc = xmalloc(((size_t)s->npc + n) * 8);
		memcpy(pc, s->pc, (size_t)s->npc * 8);
		memcpy(pc + (size_t)s->npc * 8, r->data + at, (size_t)n * 8);
		chains_uncount(&p->chains, s->sample.chain, s->sample.weight);
		profile_count(p, proc->as, &s->sample, pc, s->npc + n);
		sample_done(p, &s->sample);
		free(pc);
		free(s);
	}
}

/* Is a sample wanted?  Counts it for its event in either case. */
static bool is_wanted(struct profile *p, const struct sample *s)
{
	struct event *e = &p->events.event[s->event];

	if (p->filter &&
	    !filter_sample(p->filter, s, strtab_str(&p->str, s->comm))) {
		e->left_out++;
		return false;
	}
	/* FreeBSD's logs are only in order for each CPU */
	if (!e->samples++)
		e->first = e->last = s->tsc;
	if (s->tsc < e->first)
		e->first = s->tsc;
	if (s->tsc > e->last)
		e->last = s->tsc;
	e->kernel += s->kernel;
	return true;
}

/* The weight of a wanted sample of an event that is sampled at a rate. */
static uint64_t weigh(struct profile *p, const struct sample *s, uint32_t pmcid)
{
	uint64_t period = periods_of(&p->periods, pmcid, s->cpu);

	if (!period) {
		period = periods_guess(&p->periods, pmcid);
		p->events.event[s->event].guessed++;
	}
	return events_weigh(&p->events, s->event, period, s->kernel);
}

const struct tp_format *profile_format(const struct profile *p, uint32_t event)
{
	const struct event *e = &p->events.event[event];

	return tp_lookup(&p->tps, e->type, e->config);
}

/* Does the innermost address alone determine whether it is in the kernel? */
static bool is_plain(const struct sample *s, const unsigned char *pc,
		     uint32_t n)
{
	return n && (!s->kernel || pmclog_get64(pc) >> 63);
}

/*
 * Does the sample need, or have, only its innermost address?  Other queued
 * samples must keep their order before it.
 */
static bool is_self(const struct profile *p, uint32_t flags, uint32_t n)
{
	if (p->on_sample || p->on_samples)
		return false;
	return p->innermost || (n == 1 && !p->batch.n &&
				!(flags & PMCLOG_CC_USERLATE));
}

/* Counts the ends of chains, for a PMC with call chains. */
static inline void count_ends(struct profile *p, const struct sample *s,
			      uint32_t flags, const unsigned char *pc,
			      uint32_t n)
{
	uint8_t ends = s->ends;

	if (flags & PMCLOG_CC_USERLATE) {
		ends = ends_late(ends);
		/* the later chain begins with the user pc that is known */
		if (p->innermost)
			wait_for_user(p, s, pc, n);
	}
	if (ends_has_user(flags, pc, n))
		ends_put(&p->ends, s->event, s->comm, ends);
}

static uint32_t find_group(struct profile *p, const struct aspace *as,
			   const struct sample *s)
{
	struct group g = { 0 };

	if (p->groups.by & BY_FIELD)
		g.value = byfield_value(&p->field, &p->str,
					profile_format(p, s->event),
					&sample_more(s)->raw);
	if (p->groups.by & BY_HW)
		g.hw = profile_hw_keys(p, as, &sample_more(s)->detail);
	return groups_find(&p->groups, s, &g);
}

/* Number 0 is that of all samples, if they are not grouped. */
static inline uint32_t group_of(struct profile *p, const struct aspace *as,
				const struct sample *s)
{
	return p->groups.n && !p->groups.by ? 0 : find_group(p, as, s);
}

static void count_sample(struct profile *p, const struct pmclog_rec *r,
			 uint32_t event, const struct sample_more *more)
{
	const unsigned char *pc = r->data + sizeof(struct pmclog_callchain);
	uint32_t n = (r->len - sizeof(struct pmclog_callchain)) / 8;
	uint32_t flags = REC32(r, callchain, cpuflags);
	struct sample s = {
		.tsc = r->tsc, .pid = REC32(r, callchain, pid), .tid = REC32(r, callchain, tid),
		.cpu = PMCLOG_CC_CPU(flags),
		.kernel = !(flags & PMCLOG_CC_USERSPACE), .weight = 1,
		.ends = ends_of(flags), .event = event, .more = more,
	};
	struct proc *proc;

	p->ends.told |= s.ends & END_TELLS;
	profile_settle(p);
	proc = procs_get(&p->procs, &p->str, s.pid);
	s.comm = procs_shown_name(proc, &p->str);
	if (!is_wanted(p, &s))
		return;
	s.number = p->wanted++;
	if (event_is_freq(&p->events.event[event]))
		s.weight = weigh(p, &s, REC32(r, callchain, pmcid));
	s.group = group_of(p, proc->as, &s);
	if (p->events.event[event].flags & HWPMC_F_CALLCHAIN)
		count_ends(p, &s, flags, pc, n);
	if (is_self(p, flags, n) && is_plain(&s, pc, n)) {
		self_wait(p, proc->as, &s, pmclog_get64(pc));
		return;
	}
	/* samples are counted in their order */
	self_flush(p);
	if (p->innermost) {
		flags &= ~PMCLOG_CC_USERLATE;
		n = n > 0;
	}
	if (p->on_samples && n && !(flags & PMCLOG_CC_USERLATE)) {
		list_sample(p, proc->as, &s, pc, n);
		return;
	}
	/* callbacks are called at once, without a batch */
	if (!p->on_sample && !p->on_samples && !(flags & PMCLOG_CC_USERLATE)) {
		profile_wait(p, proc->as, &s, pc, n);
		return;
	}
	profile_count(p, proc->as, &s, pc, n);
	if (!(flags & PMCLOG_CC_USERLATE) || !wait_for_user(p, &s, pc, n))
		sample_done(p, &s);
}

/* Copies the record: it is only valid until the next one is read. */
static void hold(struct profile *p, const struct pmclog_rec *r, uint32_t event)
{
	struct held_sample *h = &p->held;

	if (r->len > h->cap)
		h->buf = xreallocarray(h->buf, h->cap = 2 * r->len, 1);
	memcpy(h->buf, r->data, r->len);
	h->rec = *r;
	h->rec.data = h->buf;
	h->event = event;
	h->valid = true;
}

static bool is_raw_of(const struct pmclog_rec *sample,
		      const struct pmclog_rec *r)
{
	return pmclog_iter_ext_subtype(r) == PMCLOG_EXT_RAW &&
	       r->tsc == sample->tsc &&
	       REC32(r, ext_raw, pmcid) == REC32(sample, callchain, pmcid) &&
	       REC32(r, ext_raw, tid) == REC32(sample, callchain, tid);
}

void profile_release(struct profile *p, const struct pmclog_rec *r)
{
	struct sample_more more = { .raw.data = NULL };
	bool raw = r && is_raw_of(&p->held.rec, r);
	bool detail = r && !raw && detail_follows(&p->held.rec, r);

	p->held.valid = false;
	if (raw)
		more.raw = tp_raw(r);
	if (detail)
		more.detail = detail_of(r);
	count_sample(p, &p->held.rec, p->held.event, raw || detail ? &more : NULL);
}

/* Notes samples outside of the filter's window. */
static void left_out(struct profile *p, uint32_t event, uint64_t n)
{
	profile_settle(p);
	p->events.event[event].left_out += n;
}

void profile_pass(struct profile *p, struct input *in)
{
	struct pmclog_passed passed;

	/* not with a held sample, nor with the clock of a later log */
	if (p->held.valid || p->log.clock.moved)
		return;
	while (input_pass(in, p->filter->begin, p->filter->end, &passed)) {
		left_out(p, events_of(&p->events, &p->str, passed.pmcid),
			 passed.n);
		p->log.records += passed.n;
		if (passed.latest > p->log.end)
			p->log.end = passed.latest;
	}
}

void profile_callchain(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t event = events_of(&p->events, &p->str, REC32(r, callchain, pmcid));

	if (p->filter && !filter_time(p->filter, r->tsc)) {
		left_out(p, event, 1);
		return;
	}
	if (p->events.event[event].flags & HAS_MORE)
		hold(p, r, event);
	else
		count_sample(p, r, event, NULL);
}
