// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "profile/profile.h"

static void begin(struct selfs *t)
{
	t->known = xcalloc_table(SELF_PLACES, sizeof(*t->known));
	t->wait = xcalloc(SELF_SAMPLES, sizeof(*t->wait));
	t->top = xcalloc(SELF_TOPS, sizeof(*t->top));
}

void self_free(struct selfs *t)
{
	xfree_table(t->known, SELF_PLACES, sizeof(*t->known));
	free(t->wait);
	free(t->top);
	memset(t, 0, sizeof(*t));
}

static uint32_t top_of(struct profile *p, const struct sample *s)
{
	uint32_t hash = s->comm * 31 + s->group * 7 + s->event;
	struct self_top *t = &p->self.top[hash % SELF_TOPS];

	if (!t->node1 || t->comm != s->comm || t->event != s->event ||
	    t->group != s->group)
		*t = (struct self_top){
			.event = s->event, .comm = s->comm, .group = s->group,
			.node1 = chains_top(&p->chains, s->event, s->comm,
					    s->group) + 1,
		};
	return t->node1 - 1;
}

static bool is_known(const struct self_pending *w)
{
	const struct self_place *k = w->known;

	return k->chain1 && k->pc == w->pc && k->gen == w->gen &&
	       k->top == w->top;
}

static void tell(struct profile *p, struct self_place *k)
{
	if (k->count)
		chains_count(&p->chains, k->chain1 - 1, k->count);
	k->count = 0;
}

static void count_known(struct profile *p, const struct self_pending *w)
{
	w->known->count++;
	if (w->more)
		chains_weigh(&p->chains, w->known->chain1 - 1, w->more);
}

/* The first of several equal new samples fills the slot for the others. */
static void learn(struct profile *p, const struct self_pending *w)
{
	if (is_known(w)) {
		count_known(p, w);
		return;
	}
	tell(p, w->known);
	*w->known = (struct self_place){
		.pc = w->pc, .gen = w->gen, .top = w->top,
		.chain1 = w->chain + 1,
	};
	count_known(p, w);
}

void self_flush(struct profile *p)
{
	struct selfs *t = &p->self;
	struct self_pending *w;
	uint32_t i, new = 0;

	for (i = 0; i < t->n; i++) {
		w = &t->wait[i];
		if (is_known(w)) {
			count_known(p, w);
			continue;
		}
		if (w->known->count)
			chains_prefetch_count(&p->chains,
					      w->known->chain1 - 1);
		profile_look_up(p, w->as, w->pc, &w->obj, &w->addr);
		frames_prefetch(&p->frames, w->obj, w->addr);
		t->wait[new++] = *w;
	}
	for (i = 0; i < new; i++) {
		w = &t->wait[i];
		w->frame = frames_id(&p->frames, w->obj, w->addr);
		chains_prefetch(&p->chains, w->top, w->frame);
	}
	for (i = 0; i < new; i++) {
		w = &t->wait[i];
		w->chain = chains_id(&p->chains, w->top, w->top, w->frame, 1);
	}
	for (i = 0; i < new; i++)
		learn(p, &t->wait[i]);
	t->n = 0;
}

void self_tell(struct profile *p)
{
	uint32_t i;

	self_flush(p);
	for (i = 0; p->self.known && i < SELF_PLACES; i++)
		tell(p, &p->self.known[i]);
}

void self_wait(struct profile *p, const struct aspace *as,
	       const struct sample *s, uint64_t pc)
{
	struct selfs *t = &p->self;
	struct self_pending *w;

	if (!t->known)
		begin(t);
	if (p->batch.n)
		profile_flush(p);
	w = &t->wait[t->n];
	w->as = as;
	w->pc = pc;
	w->more = s->weight - 1;
	w->gen = profile_gen(p, as, pc);
	w->top = top_of(p, s);
	w->known = &t->known[hash_mix(pc, (uint64_t)w->top << 32 | w->gen) %
			     SELF_PLACES];
	__builtin_prefetch(w->known, 1);
	if (++t->n == SELF_SAMPLES)
		self_flush(p);
}
