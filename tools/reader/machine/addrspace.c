// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/addrspace.h"

/*
 * Linux allows 65,530 mappings by default; a log that claims far more for one
 * process is not worth quadratic time.
 */
#define ASPACE_MAX	131072U

static uint32_t last_gen;

struct aspace *aspace_get(struct aspace *as)
{
	if (as)
		as->ref++;
	return as;
}

void aspace_put(struct aspace *as)
{
	if (!as || --as->ref)
		return;
	free(as->map);
	free(as);
}

/* An address space that is not shared, with a new generation. */
static struct aspace *own(struct aspace *as)
{
	struct aspace *copy = as;

	if (!as || as->ref > 1) {
		copy = xcalloc(1, sizeof(*copy));
		copy->ref = 1;
		if (as) {
			copy->n = copy->cap = as->n;
			copy->map = xreallocarray(NULL, as->n,
						  sizeof(*as->map));
			memcpy(copy->map, as->map, as->n * sizeof(*as->map));
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

void aspace_replace(struct aspace **as, uint32_t from, uint32_t to)
{
	uint32_t i;

	aspace_renew(as);
	for (i = 0; *as && i < (*as)->n; i++)
		if ((*as)->map[i].obj == from)
			(*as)->map[i].obj = to;
}

static void make_hole(struct aspace *as, uint32_t at)
{
	GROW(as->map, as->n, as->cap);
	memmove(&as->map[at + 1], &as->map[at],
		(as->n - at) * sizeof(*as->map));
	as->n++;
}

static void trim_start(struct mapping *m, uint64_t start)
{
	m->offset += start - m->start;
	m->start = start;
}

void aspace_cut(struct aspace **asp, uint64_t start, uint64_t end)
{
	struct aspace *as = *asp;
	uint32_t i, j;

	if (!as || start >= end)
		return;
	i = aspace_upper(as, start);
	if (i == as->n || as->map[i].start >= end)
		return;
	*asp = as = own(as);
	if (as->map[i].start < start) {
		if (as->map[i].end > end) {	/* the middle of one */
			make_hole(as, i);
			as->map[i].end = start;
			trim_start(&as->map[i + 1], end);
			return;
		}
		as->map[i++].end = start;
	}
	for (j = i; j < as->n && as->map[j].end <= end; j++)
		;
	if (j < as->n && as->map[j].start < end)
		trim_start(&as->map[j], end);
	memmove(&as->map[i], &as->map[j], (as->n - j) * sizeof(*as->map));
	as->n -= j - i;
}

static bool same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && a->obj == b->obj;
}

void aspace_insert(struct aspace **asp, const struct mapping *m)
{
	const struct mapping *old = aspace_find(*asp, m->start);
	struct aspace *as;
	uint32_t i;

	if (m->start >= m->end || (old && same(old, m)))
		return;
	aspace_cut(asp, m->start, m->end);
	if (*asp && (*asp)->n >= ASPACE_MAX)
		return;
	*asp = as = own(*asp);
	i = aspace_upper(as, m->start);
	make_hole(as, i);
	as->map[i] = *m;
}
