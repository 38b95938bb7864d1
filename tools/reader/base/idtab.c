// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <sys/random.h>

#include "base/idtab.h"
#include "base/mem.h"

uint64_t hash_secret[2] = { 0x9E3779B97F4A7C15ULL, 0xE7037ED1A0B428DBULL };

void hash_be_secret(void)
{
	uint64_t random[2];

	/* just after boot there may be no entropy: the constants stay */
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		memcpy(hash_secret, random, sizeof(random));
}

#define IDTAB_MIN	64U

uint32_t idtab_find_exact(const struct idtab *t, uint64_t hash, uint32_t more)
{
	uint32_t at = (uint32_t)hash, id;

	do {
		id = idtab_next(t, hash, &at);
	} while (id != IDTAB_NONE && t->slots[(at - 1) & t->mask].more != more);
	return id;
}

static void free_slots(struct idtab *t)
{
	if (t->slots)
		xfree_table(t->slots, (size_t)t->mask + 1, sizeof(*t->slots));
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

	t->slots = xcalloc_table(size, sizeof(*t->slots));
	t->mask = size - 1;
	for (i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].id1)
			put(t, old.slots[i]);
	free_slots(&old);
}

void idtab_add(struct idtab *t, uint64_t hash, uint32_t id)
{
	idtab_add_exact(t, hash, 0, id);
}

void idtab_add_exact(struct idtab *t, uint64_t hash, uint32_t more, uint32_t id)
{
	/* at most 5/8 full, so that linear probing stays short */
	if (!t->slots || t->n >= (t->mask + 1) / 8 * 5)
		grow(t);
	put(t, (struct idtab_slot){ hash, more, id + 1 });
	t->n++;
}

void idtab_free(struct idtab *t)
{
	free_slots(t);
	memset(t, 0, sizeof(*t));
}
