// SPDX-License-Identifier: BSD-2-Clause
/* Counts by time.  The number of cells is bounded by making slices longer. */
#include <stdlib.h>

#include "base/order.h"
#include "commands/html/html.h"

static void count(struct cells *t, const struct cell *c)
{
	uint64_t hash = hash_mix((uint64_t)c->slice << 32 | c->series, c->what);
	uint32_t n = t->n;
	uint32_t id = IDTAB_ID(&t->tab, hash, t->cell, t->n, t->cap, c, e,
			       e->slice == c->slice && e->series == c->series &&
			       e->what == c->what);

	if (id < n)
		t->cell[id].count += c->count;
	else if (c->slice >= t->slices)
		t->slices = c->slice + 1;
}

void cells_coarsen(struct cells *t)
{
	uint32_t i, n = t->n;

	idtab_free(&t->tab);
	t->shift++;
	t->n = t->slices = 0;
	/* in place: at most as many cells are written as were read */
	for (i = 0; i < n; i++) {
		struct cell c = t->cell[i];

		c.slice >>= 1;
		count(t, &c);
	}
}

void cells_add(struct cells *t, uint64_t unit, const struct cell *c)
{
	struct cell at = *c;

	while (unit >> t->shift >= HTML_SLICES)
		cells_coarsen(t);
	at.slice = (uint32_t)(unit >> t->shift);
	count(t, &at);
	while (t->n > t->max && t->slices > t->least)
		cells_coarsen(t);
}

DEFINE_ORDER(by_place, struct cell,
	     ORDER(a->slice, b->slice) ?: ORDER(a->series, b->series) ?: ORDER(a->what, b->what))

void cells_sort(struct cells *t)
{
	idtab_free(&t->tab);
	if (t->n)
		qsort(t->cell, t->n, sizeof(*t->cell), by_place);
}

void cells_free(struct cells *t)
{
	free(t->cell);
	idtab_free(&t->tab);
	t->cell = NULL;
	t->n = t->cap = 0;
}
