// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "elf/segs.h"

void segs_add(struct segs *t, uint64_t start, uint64_t end, uint32_t owner)
{
	if (start >= end)
		return;
	APPEND(t->seg, t->n, t->cap) = (struct seg){
		.start = start, .end = end, .owner = owner,
	};
}

DEFINE_ORDER(by_start, struct seg, ORDER(a->start, b->start) ?: ORDER(a->owner, b->owner))

/* heap of the open ranges: the highest owner first */
struct heap {
	const struct seg **seg;
	size_t n;
};

static void push(struct heap *h, const struct seg *s)
{
	size_t i = h->n++, up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (h->seg[up]->owner >= s->owner)
			break;
		h->seg[i] = h->seg[up];
	}
	h->seg[i] = s;
}

static void pop(struct heap *h)
{
	const struct seg *last = h->seg[--h->n];
	size_t i = 0, kid;

	while ((kid = 2 * i + 1) < h->n) {
		if (kid + 1 < h->n &&
		    h->seg[kid + 1]->owner > h->seg[kid]->owner)
			kid++;
		if (h->seg[kid]->owner <= last->owner)
			break;
		h->seg[i] = h->seg[kid];
		i = kid;
	}
	h->seg[i] = last;
}

static void emit(struct segs *out, uint64_t start, uint64_t end,
		 uint32_t owner)
{
	struct seg *last = out->n ? &out->seg[out->n - 1] : NULL;

	if (last && last->end == start && last->owner == owner)
		last->end = end;
	else
		segs_add(out, start, end, owner);
}

void segs_sort(struct segs *t)
{
	if (t->n)
		qsort(t->seg, t->n, sizeof(*t->seg), by_start);
}

void segs_flatten(struct segs *t)
{
	struct heap h = { xcalloc(t->n + 1, sizeof(*h.seg)), 0 };
	struct segs out = { 0 };
	uint64_t at = 0, to;
	size_t i = 0;

	segs_sort(t);
	while (h.n || i < t->n) {
		if (!h.n)
			at = t->seg[i].start;
		while (i < t->n && t->seg[i].start <= at)
			push(&h, &t->seg[i++]);
		while (h.n && h.seg[0]->end <= at)
			pop(&h);
		if (!h.n)
			continue;
		to = h.seg[0]->end;
		if (i < t->n && t->seg[i].start < to)
			to = t->seg[i].start;
		emit(&out, at, to, h.seg[0]->owner);
		at = to;
	}
	free(h.seg);
	free(t->seg);
	*t = out;
}

uint32_t segs_find(const struct segs *t, uint64_t addr)
{
	size_t n = SEARCH(t->n, i, t->seg[i].start <= addr);

	return n && addr < t->seg[n - 1].end ? t->seg[n - 1].owner : SEGS_NONE;
}

void segs_free(struct segs *t)
{
	free(t->seg);
	memset(t, 0, sizeof(*t));
}
