// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "idtab.h"
#include "mem.h"

#define IDTAB_MIN	64U

uint32_t idtab_find(const struct idtab *t, uint64_t hash, idtab_eq eq,
		    const void *ctx, const void *key)
{
	uint32_t i;

	if (!t->slots)
		return IDTAB_NONE;
	for (i = (uint32_t)hash & t->mask; t->slots[i].id1;
	     i = (i + 1) & t->mask) {
		const struct idtab_slot *s = &t->slots[i];

		if (s->hash == hash && eq(ctx, s->id1 - 1, key))
			return s->id1 - 1;
	}
	return IDTAB_NONE;
}

static void put(struct idtab *t, struct idtab_slot s)
{
	uint32_t i = (uint32_t)s.hash & t->mask;

	while (t->slots[i].id1)
		i = (i + 1) & t->mask;
	t->slots[i] = s;
}

static void grow(struct idtab *t)
{
	struct idtab old = *t;
	uint32_t i, size = old.slots ? (old.mask + 1) * 2 : IDTAB_MIN;

	t->slots = xcalloc(size, sizeof(*t->slots));
	t->mask = size - 1;
	for (i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].id1)
			put(t, old.slots[i]);
	free(old.slots);
}

void idtab_add(struct idtab *t, uint64_t hash, uint32_t id)
{
	/* at most 5/8 full: linear probing stays short */
	if (!t->slots || t->n >= (t->mask + 1) / 8 * 5)
		grow(t);
	put(t, (struct idtab_slot){ .hash = hash, .id1 = id + 1 });
	t->n++;
}

void idtab_free(struct idtab *t)
{
	free(t->slots);
	memset(t, 0, sizeof(*t));
}
