// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include <linux/perf_event.h>

#include "log/events.h"

/* Numbers of samples may be added to it: a log has far fewer. */
#define WEIGHT_MAX	((uint64_t)1 << 62)

/* A period says what a sample is.  A rate does not: it may change. */
static uint64_t period_of(const struct event *e)
{
	return event_is_freq(e) ? 0 : e->rate;
}

bool event_same(const struct event *a, const struct event *b)
{
	return a->name == b->name && a->config == b->config &&
	       a->type == b->type && a->flags == b->flags &&
	       period_of(a) == period_of(b);
}

static uint64_t hash_event(const struct event *e, bool apart)
{
	uint64_t hash = hash_mix((uint64_t)e->name << 32 | e->type, e->config);

	hash = hash_mix(hash, period_of(e));
	return hash_mix(hash, (uint64_t)e->flags << 32 |
			      (apart ? e->pmcid : 0));
}

/* Several PMCs, such as one event on several CPUs, are one event here. */
static uint32_t event_id(struct events *t, uint32_t pmcid,
			 const struct event *want)
{
	struct event key = *want;

	key.pmcid = pmcid;
	return IDTAB_ID(&t->eventtab, hash_event(&key, t->apart), t->event, t->n, t->cap, &key,
			e, event_same(e, &key) && (!t->apart || e->pmcid == pmcid));
}

static void note_rate(struct event *e, uint64_t rate)
{
	if (!event_is_freq(e))
		return;
	if (!e->rate_least || rate < e->rate_least)
		e->rate_least = rate;
	if (rate > e->rate)
		e->rate = rate;
}

void events_announce(struct events *t, uint32_t pmcid,
		     const struct event *want)
{
	uint32_t event = event_id(t, pmcid, want);
	struct event_pmc key = { .pmcid = pmcid };
	uint32_t id = IDTAB_ID(&t->pmctab, hash_mix(pmcid, 1), t->pmc, t->npmc, t->cappmc,
			       &key, e, e->pmcid == pmcid);

	t->pmc[id].event = event;	/* PMC ids are reused */
	t->event[event].session = t->session;
	note_rate(&t->event[event], want->rate);
}

/* The number of a PMC, or IDTAB_NONE. */
static uint32_t find_pmc(const struct events *t, uint32_t pmcid)
{
	return IDTAB_FIND(&t->pmctab, hash_mix(pmcid, 1), t->pmc, e, e->pmcid == pmcid);
}

uint32_t events_look_up(struct events *t, struct strtab *str, uint32_t pmcid)
{
	uint32_t id = find_pmc(t, pmcid);

	if (id == IDTAB_NONE) {
		struct event unknown = { 0 };
		char name[32];

		snprintf(name, sizeof(name), "pmc-%#x", pmcid);
		unknown.name = strtab_id(str, name);
		events_announce(t, pmcid, &unknown);
		id = t->npmc - 1;
	}
	t->last = id;
	return t->pmc[id].event;
}

void events_untold(struct events *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (t->event[i].session == t->session)
			t->event[i].untold = true;
}

static struct event_rate *rate_of(struct events *t, const struct event_rate *r)
{
	uint64_t hash = hash_mix(hash_mix(r->pmcid, r->cpu),
				 (uint64_t)r->event << 32 | r->recording);
	uint32_t id = IDTAB_ID(&t->ratetab, hash, t->rate, t->nrate, t->caprate, r, e,
			       e->pmcid == r->pmcid && e->cpu == r->cpu &&
			       e->event == r->event && e->recording == r->recording);

	return &t->rate[id];
}

/* Numbers that become less are those of another recording. */
static bool grows(const struct event_rate *from, const struct event_rate *to)
{
	return to->achieved >= from->achieved && to->enabled >= from->enabled;
}

void events_rate(struct events *t, const struct event_rate *r)
{
	struct event_rate new = *r, *old;
	uint32_t id = find_pmc(t, r->pmcid);

	new.event = id == IDTAB_NONE ? UINT32_MAX : t->pmc[id].event;
	new.recording = t->recording;
	new.session = t->session;
	old = rate_of(t, &new);
	if (old->session != t->session && !grows(old, &new)) {
		new.recording = ++t->recording;
		old = rate_of(t, &new);
	}
	*old = new;
}

bool events_sum_rate(const struct events *t, uint32_t event,
		     struct event_rate *sum)
{
	bool any = false;
	uint32_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < t->nrate; i++) {
		const struct event_rate *r = &t->rate[i];

		if (r->event != event)
			continue;
		any = true;
		sum->expected += r->expected;
		sum->achieved += r->achieved;
		sum->throttled += r->throttled;
		sum->enabled += r->enabled;
		sum->running += r->running;
	}
	return any;
}

uint64_t event_lost(const struct event *e)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		sum += e->lost[i];
	return sum;
}

uint64_t event_weight(const struct event *e)
{
	return event_is_freq(e) ? e->weight : e->samples;
}

uint64_t events_weigh(struct events *t, uint32_t event, uint64_t period,
		      bool kernel)
{
	struct event *e = &t->event[event];

	if (t->weight >= WEIGHT_MAX || period > WEIGHT_MAX - t->weight)
		period = 1;
	t->weight += period;
	e->weight += period;
	if (kernel)
		e->kernel_weight += period;
	if (!e->least || period < e->least)
		e->least = period;
	if (period > e->most)
		e->most = period;
	return period;
}

void events_free(struct events *t)
{
	free(t->event);
	free(t->pmc);
	free(t->rate);
	idtab_free(&t->eventtab);
	idtab_free(&t->pmctab);
	idtab_free(&t->ratetab);
}

bool event_is_clock(const struct event *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK ||
		e->config == PERF_COUNT_SW_TASK_CLOCK);
}
