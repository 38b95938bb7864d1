// SPDX-License-Identifier: BSD-2-Clause
/* Series: event, command, process and thread of samples. */
#include <stdlib.h>

#include "base/order.h"
#include "commands/html/html.h"

/* Of merged series, only this many commands are kept apart. */
#define MERGED_MAX	1000U

static bool same_series(const struct series *a, const struct series *b)
{
	return a->event == b->event && a->comm == b->comm &&
	       a->pid == b->pid && a->tid == b->tid &&
	       a->merged == b->merged;
}

uint32_t series_of(struct series_tab *t, const struct series *key)
{
	uint32_t id, n = t->n;
	uint64_t hash;

	if (n && same_series(&t->series[t->last], key))
		return t->last;
	hash = hash_mix((uint64_t)key->event << 32 | key->comm,
			(uint64_t)key->pid << 32 | key->tid);
	id = IDTAB_ID(&t->tab, hash, t->series, t->n, t->cap, key, e, same_series(e, key));
	if (id == n)
		t->series[id].count = 0;
	return t->last = id;
}

DEFINE_ID_ORDER(by_count, struct series, ORDER(b->count, a->count) ?: ORDER(a, b))

static uint32_t add_to(struct series_tab *to, const struct series *s,
		       const struct series *key)
{
	uint32_t id = series_of(to, key);
	struct series *sum = &to->series[id];

	if (!sum->count || s->first < sum->first)
		sum->first = s->first;
	if (!sum->count || s->last > sum->last)
		sum->last = s->last;
	sum->count += s->count;
	return id;
}

uint32_t *series_fewer(const struct series_tab *t, const bool *use,
		       struct series_tab *to, uint32_t max)
{
	uint32_t *order = xreallocarray(NULL, t->n + 1, sizeof(*order));
	uint32_t *map = xreallocarray(NULL, t->n + 1, sizeof(*map)), i;

	for (i = 0; i < t->n; i++)
		order[i] = i;
	qsort_r(order, t->n, sizeof(*order), by_count, t->series);
	for (i = 0; i < t->n; i++) {
		const struct series *s = &t->series[order[i]];
		struct series key = *s;

		if (!use[s->event]) {
			map[order[i]] = HTML_NONE;
			continue;
		}
		if (to->n >= max) {
			key.pid = key.tid = HTML_NONE;
			key.merged = true;
			if (to->n >= max + MERGED_MAX)
				key.comm = HTML_NONE;
		}
		map[order[i]] = add_to(to, s, &key);
	}
	free(order);
	return map;
}

void series_free(struct series_tab *t)
{
	free(t->series);
	idtab_free(&t->tab);
}
