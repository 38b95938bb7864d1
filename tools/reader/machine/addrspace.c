// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/addrspace.h"

/* Of these, a change moves at most so many. */
#define LEAF_MAX	256U
#define LEAF_MIN	8U

static uint32_t last_gen;

/* ------------------------------------------------------------------------
 * Leaves
 */
static struct aspace_leaf *leaf_new(const struct mapping *map, uint32_t n)
{
	uint32_t cap = n < LEAF_MIN ? LEAF_MIN : n;
	struct aspace_leaf *l = xmalloc(sizeof(*l) + cap * sizeof(*l->map));

	l->ref = 1;
	l->n = n;
	l->cap = cap;
	memcpy(l->map, map, n * sizeof(*map));
	return l;
}

static void leaf_put(struct aspace_leaf *l)
{
	if (!--l->ref)
		free(l);
}

/* Makes leaf @i, of an address space of our own, our own. */
static struct aspace_leaf *own_leaf(struct aspace *as, uint32_t i)
{
	struct aspace_leaf *l = as->leaf[i].leaf;

	if (l->ref == 1)
		return l;
	l->ref--;
	return as->leaf[i].leaf = leaf_new(l->map, l->n);
}

static void note_end(struct aspace *as, uint32_t i)
{
	const struct aspace_leaf *l = as->leaf[i].leaf;

	as->leaf[i].end = l->map[l->n - 1].end;
}

/* Makes room for a leaf before leaf @i. */
static void leaf_hole(struct aspace *as, uint32_t i)
{
	GROW(as->leaf, as->n, as->cap);
	memmove(&as->leaf[i + 1], &as->leaf[i], (as->n - i) * sizeof(*as->leaf));
	as->n++;
}

/* Moves the upper half of a full leaf into one of its own. */
static void leaf_split(struct aspace *as, uint32_t i)
{
	struct aspace_leaf *l = own_leaf(as, i);
	uint32_t half = l->n / 2;

	leaf_hole(as, i + 1);
	as->leaf[i + 1].leaf = leaf_new(&l->map[half], l->n - half);
	l->n = half;
	note_end(as, i);
	note_end(as, i + 1);
}

/* ------------------------------------------------------------------------
 * Address spaces
 */
struct aspace *aspace_get(struct aspace *as)
{
	if (as)
		as->ref++;
	return as;
}

void aspace_put(struct aspace *as)
{
	uint32_t i;

	if (!as || --as->ref)
		return;
	for (i = 0; i < as->n; i++)
		leaf_put(as->leaf[i].leaf);
	free(as->leaf);
	free(as);
}

/* An address space that is not shared, with a new generation. */
static struct aspace *own(struct aspace *as)
{
	struct aspace *copy = as;
	uint32_t i;

	if (!as || as->ref > 1) {
		copy = xcalloc(1, sizeof(*copy));
		copy->ref = 1;
		if (as) {
			copy->kept = as->kept;
			copy->turns = as->turns;
			copy->n = copy->cap = as->n;
			copy->leaf = xreallocarray(NULL, as->n,
						   sizeof(*as->leaf));
			memcpy(copy->leaf, as->leaf, as->n * sizeof(*as->leaf));
			for (i = 0; i < as->n; i++)
				as->leaf[i].leaf->ref++;
			aspace_put(as);
		}
	}
	copy->gen = ++last_gen;
	return copy;
}

void aspace_renew(struct aspace **as)
{
	if (*as)
		*as = own(*as);
}

void aspace_replace(struct aspace **asp, uint32_t (*to)(void *ctx, uint32_t obj),
		    void *ctx)
{
	struct aspace *as = *asp;
	bool changed = false;
	uint32_t i, j, obj;

	for (i = 0; as && i < as->n; i++)
		for (j = 0; j < as->leaf[i].leaf->n; j++) {
			obj = to(ctx, as->leaf[i].leaf->map[j].obj);
			if (obj == as->leaf[i].leaf->map[j].obj)
				continue;
			if (!changed)
				*asp = as = own(as);
			changed = true;
			own_leaf(as, i)->map[j].obj = obj;
		}
}

bool aspace_has(const struct aspace *as, uint32_t obj)
{
	uint32_t i, j;

	for (i = 0; as && i < as->n; i++)
		for (j = 0; j < as->leaf[i].leaf->n; j++)
			if (as->leaf[i].leaf->map[j].obj == obj)
				return true;
	return false;
}

/* Adds @m, of which nothing is mapped. */
static void add(struct aspace *as, const struct mapping *m)
{
	uint32_t i = ASPACE_UPPER(as->leaf, as->n, m->start), at;
	struct aspace_leaf *l;

	if (i && i == as->n)
		i--;
	if (!as->n) {
		leaf_hole(as, 0);
		as->leaf[0].leaf = leaf_new(m, 1);
		note_end(as, 0);
		return;
	}
	if (as->leaf[i].leaf->n == LEAF_MAX) {
		leaf_split(as, i);
		i += as->leaf[i].end <= m->start;
	}
	l = own_leaf(as, i);
	if (l->n == l->cap) {
		l->cap *= 2;
		l = xreallocarray(l, 1, sizeof(*l) + l->cap * sizeof(*l->map));
		as->leaf[i].leaf = l;
	}
	at = ASPACE_UPPER(l->map, l->n, m->start);
	memmove(&l->map[at + 1], &l->map[at], (l->n - at) * sizeof(*l->map));
	l->map[at] = *m;
	l->n++;
	note_end(as, i);
}

static void trim_start(struct mapping *m, uint64_t start)
{
	m->offset += start - m->start;
	m->start = start;
}

/* Cuts [start, end) out of the mapping that begins before it, if there is one. */
static void cut_before(struct aspace *as, uint64_t start, uint64_t end)
{
	uint32_t i = ASPACE_UPPER(as->leaf, as->n, start), at;
	const struct mapping *m = aspace_find(as, start);
	struct aspace_leaf *l;
	struct mapping rest;

	if (!m || m->start == start)
		return;
	rest = *m;
	l = own_leaf(as, i);
	at = ASPACE_UPPER(l->map, l->n, start);
	l->map[at].end = start;
	note_end(as, i);
	if (rest.end > end) {	/* the middle of one */
		trim_start(&rest, end);
		add(as, &rest);
	}
}

/* Removes from leaf @i what begins in [start, end); true if nothing is left. */
static bool cut_leaf(struct aspace *as, uint32_t i, uint64_t start, uint64_t end)
{
	struct aspace_leaf *l = as->leaf[i].leaf;
	uint32_t from = ASPACE_UPPER(l->map, l->n, start);
	uint32_t to = ASPACE_UPPER(l->map, l->n, end);

	if (from == 0 && to == l->n)
		return true;
	l = own_leaf(as, i);
	if (to < l->n && l->map[to].start < end)
		trim_start(&l->map[to], end);
	memmove(&l->map[from], &l->map[to], (l->n - to) * sizeof(*l->map));
	l->n -= to - from;
	note_end(as, i);
	return false;
}

void aspace_cut(struct aspace **asp, uint64_t start, uint64_t end)
{
	const struct mapping *next = aspace_next(*asp, start);
	struct aspace *as;
	uint32_t from, i, n;

	if (start >= end || !next || next->start >= end)
		return;
	*asp = as = own(*asp);
	cut_before(as, start, end);
	from = n = ASPACE_UPPER(as->leaf, as->n, start);
	for (i = from; i < as->n; i++) {
		if (as->leaf[i].leaf->map[0].start >= end)
			break;
		if (cut_leaf(as, i, start, end))
			leaf_put(as->leaf[i].leaf);
		else
			as->leaf[n++] = as->leaf[i];
	}
	memmove(&as->leaf[n], &as->leaf[i], (as->n - i) * sizeof(*as->leaf));
	as->n -= i - n;
}

static bool same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && a->obj == b->obj;
}

void aspace_insert(struct aspace **asp, const struct mapping *m)
{
	const struct mapping *old = aspace_find(*asp, m->start);

	if (m->start >= m->end || (old && same(old, m)))
		return;
	aspace_cut(asp, m->start, m->end);
	*asp = own(*asp);
	add(*asp, m);
}
