// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "log/pmcmap.h"

/* The bits of an id that say what the PMC is: its mode and its class. */
#define KEPT		0x000FFF00U
#define ROWS		256U
#define CHOICES		(ROWS * 4096)

static bool is_used(const struct pmcmap *all, uint32_t to)
{
	for (; all; all = all->next)
		if (IDTAB_FIND(&all->to, hash_number(to), all->id, e, e->to == to) !=
		    IDTAB_NONE)
			return true;
	return false;
}

/* Other rows, and CPUs from the last one down, which few machines have. */
static uint32_t choose(const struct pmcmap *m, const struct pmcmap *all,
		       uint32_t from, struct pmcmaps *maps)
{
	uint32_t to = from, i;

	/* the PMC goes on from the log before, as after a rotation */
	for (i = 0; m->owner && i < maps->n; i++)
		if (maps->past[i].owner == m->owner &&
		    maps->past[i].from == from &&
		    !is_used(all, maps->past[i].to))
			return maps->past[i].to;
	while (is_used(all, to)) {
		i = ++maps->chosen % CHOICES;
		to = (from & KEPT) | i % ROWS | (0xFFFU - i / ROWS) << 20;
	}
	return to;
}

static void add(struct pmcmap *m, uint32_t from, uint32_t to)
{
	GROW(m->id, m->n, m->cap);
	m->id[m->n] = (struct pmcmap_id){ .from = from, .to = to };
	idtab_add(&m->from, hash_number(from), m->n);
	idtab_add(&m->to, hash_number(to), m->n);
	m->n++;
}

bool pmcmap_id(struct pmcmap *m, const struct pmcmap *all, uint32_t from,
	       struct pmcmaps *maps, uint32_t *to)
{
	uint32_t i = m->last;

	if (!m->n || m->id[i].from != from)
		i = IDTAB_FIND(&m->from, hash_number(from), m->id, e, e->from == from);
	if (i == IDTAB_NONE) {
		if (maps->n_ids == PMCMAP_MAX)
			return false;
		maps->n_ids++;
		i = m->n;
		add(m, from, choose(m, all, from, maps));
	}
	m->last = i;
	*to = m->id[i].to;
	return true;
}

static bool is_past(const struct pmcmaps *maps, const struct pmcmap_past *p)
{
	uint32_t i;

	for (i = 0; i < maps->n; i++)
		if (!memcmp(&maps->past[i], p, sizeof(*p)))
			return true;
	return false;
}

void pmcmap_leave(struct pmcmap *m, struct pmcmaps *maps)
{
	uint32_t i;

	for (i = 0; m->owner && i < m->n && maps->n < PMCMAP_PAST; i++) {
		struct pmcmap_past p = {
			m->owner, m->id[i].from, m->id[i].to,
		};

		if (is_past(maps, &p))
			continue;
		APPEND(maps->past, maps->n, maps->cap) = p;
	}
	pmcmap_clear(m, maps);
}

void pmcmap_clear(struct pmcmap *m, struct pmcmaps *maps)
{
	maps->n_ids -= m->n;
	free(m->id);
	idtab_free(&m->from);
	idtab_free(&m->to);
	*m = (struct pmcmap){ .next = m->next, .owner = m->owner };
}

void pmcmaps_free(struct pmcmaps *maps)
{
	free(maps->past);
	*maps = (struct pmcmaps){ .n_ids = maps->n_ids, .chosen = maps->chosen };
}
