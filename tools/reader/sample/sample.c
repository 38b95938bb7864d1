// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "sample/sample.h"

const struct sample_more sample_nothing;

static bool same_group(const struct group *a, const struct group *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu &&
	       a->slice == b->slice && a->value == b->value &&
	       !memcmp(&a->hw, &b->hw, sizeof(a->hw));
}

static uint32_t group_id(struct groups *t, const struct group *g)
{
	uint64_t hash = hash_mix((uint64_t)g->pid << 32 | g->tid,
				 (uint64_t)g->cpu << 32 | g->slice);

	if (t->by & BY_HW)
		hash = hash_bytes(&g->hw, sizeof(g->hw), hash);
	return IDTAB_ID(&t->tab, hash_mix(hash, g->value), t->group, t->n, t->cap, g, e,
			same_group(e, g));
}

/* FreeBSD's logs are not in order: some samples are before the first. */
static uint32_t slice_of(const struct groups *t, uint64_t tsc)
{
	uint64_t at = tsc > t->origin ? (tsc - t->origin) / t->slice : 0;

	return at < UINT32_MAX ? (uint32_t)at : UINT32_MAX;
}

uint32_t groups_find(struct groups *t, const struct sample *s, struct group *g)
{
	static const struct group all;

	if (!t->n)
		group_id(t, &all);
	if (t->by & BY_PID)
		g->pid = s->pid;
	if (t->by & BY_TID)
		g->tid = s->tid;
	if (t->by & BY_CPU)
		g->cpu = s->cpu;
	if (t->by & BY_SLICE)
		g->slice = slice_of(t, s->tsc);
	if (!same_group(&t->group[t->last], g))
		t->last = group_id(t, g);
	return t->last;
}

void groups_free(struct groups *t)
{
	free(t->group);
	idtab_free(&t->tab);
	t->group = NULL;
	t->n = t->cap = t->last = 0;
}
