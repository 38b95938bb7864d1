// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "log/pmcmap.h"

/* The bits of an id that say what the PMC is: its mode and its class. */
#define KEPT		0x000FFF00U
#define ROWS		256U
#define CHOICES		(ROWS * 4096)

static bool same_from(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct pmcmap *)ctx)->id[i].from ==
	       *(const uint32_t *)key;
}

static bool same_to(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct pmcmap *)ctx)->id[i].to ==
	       *(const uint32_t *)key;
}

static bool is_used(const struct pmcmap *all, uint32_t to)
{
	for (; all; all = all->next)
		if (idtab_find(&all->to, hash_number(to), same_to, all, &to) !=
		    IDTAB_NONE)
			return true;
	return false;
}

/* Other rows, and CPUs from the last one down, which few machines have. */
static uint32_t choose(const struct pmcmap *all, uint32_t from,
		       uint32_t *chosen)
{
	uint32_t to = from, i, n;

	for (n = 0; is_used(all, to) && n < CHOICES; n++) {
		i = ++*chosen % CHOICES;
		to = (from & KEPT) | i % ROWS | (0xFFFU - i / ROWS) << 20;
	}
	return to;
}

uint32_t pmcmap_id(struct pmcmap *m, const struct pmcmap *all, uint32_t from,
		   uint32_t *chosen)
{
	uint64_t hash;
	uint32_t i, to;

	if (m->n && m->id[m->last].from == from)
		return m->id[m->last].to;
	hash = hash_number(from);
	i = idtab_find(&m->from, hash, same_from, m, &from);
	if (i != IDTAB_NONE) {
		m->last = i;
		return m->id[i].to;
	}
	if (m->n == PMCMAP_MAX)
		return from;
	to = choose(all, from, chosen);
	GROW(m->id, m->n, m->cap);
	m->id[m->n] = (struct pmcmap_id){ .from = from, .to = to };
	idtab_add(&m->from, hash, m->n);
	idtab_add(&m->to, hash_number(to), m->n);
	m->last = m->n++;
	return to;
}

void pmcmap_free(struct pmcmap *m)
{
	free(m->id);
	idtab_free(&m->from);
	idtab_free(&m->to);
	*m = (struct pmcmap){ .next = m->next };
}
