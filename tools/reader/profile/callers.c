// SPDX-License-Identifier: BSD-2-Clause
/*
 * The hash of a list is the sum of the hashes of its callers, each mixed with
 * its distance from the outermost one.  So the multiplications are independent,
 * and lists with the same outer callers share that part of the sum.
 */

#include "profile/callers.h"

void callers_init(struct callers *t)
{
	t->list = xcalloc_table(CALLERS_LISTS, sizeof(*t->list));
	t->way = xcalloc_table(CALLERS_WAYS, sizeof(*t->way));
}

void callers_free(struct callers *t)
{
	xfree_table(t->list, CALLERS_LISTS, sizeof(*t->list));
	xfree_table(t->way, CALLERS_WAYS, sizeof(*t->way));
	t->list = t->way = NULL;
}

/* Mixes in the distance; neighbours get very different values. */
static uint64_t apart(uint32_t from_outermost)
{
	return from_outermost * 0x9E3779B97F4A7C15ULL;
}

/*
 * Whether the innermost address is a return address depends on where its callee
 * is.
 */
uint64_t callers_hash(const struct rawcallers *raw)
{
	uint64_t seed = hash_mix((uint64_t)raw->gen << 32 | raw->kgen,
				 raw->top);
	uint64_t hash = raw->kernel, pc;
	uint32_t i;

	for (i = 0; i < raw->n; i++) {
		memcpy(&pc, raw->pc + (size_t)i * 8, 8);
		hash += hash_mix(pc, seed + apart(raw->n - 1 - i));
	}
	return hash;
}

uint64_t callers_way(const struct caller *c, uint32_t n, uint32_t top)
{
	uint64_t hash = hash_number(top);
	uint32_t i;

	for (i = 0; i < n; i++)
		hash += hash_mix(c[i].addr, ((uint64_t)c[i].obj << 32) +
					    apart(n - 1 - i));
	return hash;
}

/* callers_new() looks first at places this close to the innermost one. */
#define FIRST_LOOKS	7U

void callers_ways(const struct callers *t, struct caller *c, uint32_t n,
		  uint32_t top)
{
	uint64_t hash = hash_number(top);
	uint32_t i;

	for (i = n; i--;) {
		hash += hash_mix(c[i].addr, ((uint64_t)c[i].obj << 32) +
					    apart(n - 1 - i));
		c[i].way = hash;
		if (i <= FIRST_LOOKS && !(i & (i + 1)))
			__builtin_prefetch(&t->way[hash % CALLERS_WAYS]);
	}
}

static uint32_t look(const struct callers *t, const struct caller *c)
{
	return callerslot_node(&t->way[c->way % CALLERS_WAYS], c->way,
			       (uint32_t)c->addr);
}

/*
 * Usually only a few innermost callers are new, so the step doubles from there
 * on.  If a caller is cached, so are its own callers, unless they were evicted.
 */
uint32_t callers_new(const struct callers *t, const struct caller *c,
		     uint32_t n, uint32_t *node)
{
	uint32_t lo = 0, hi = n, at, step = 1, id;

	for (at = 0; at < hi; at += step, step *= 2) {
		id = look(t, &c[at]);
		if (id != CALLERS_NEW) {
			*node = id;
			hi = at;
			break;
		}
		lo = at + 1;
	}
	while (lo < hi) {
		at = lo + (hi - lo) / 2;
		id = look(t, &c[at]);
		if (id != CALLERS_NEW) {
			*node = id;
			hi = at;
		} else {
			lo = at + 1;
		}
	}
	return hi;
}
