// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "chains.h"

/* What the table of raw chains may take at least, and per byte of chains. */
#define RAW_MIN		((size_t)64 << 20)
#define RAW_PER_CHAIN	4

static uint64_t raw_hash(const struct rawchain *r)
{
	uint64_t seed = hash_mix((uint64_t)r->gen << 32 | r->kgen,
				 (uint64_t)r->event << 32 | r->comm);

	return hash_bytes(r->pc, (size_t)r->n * 8, seed);
}

static bool same_raw(const void *ctx, uint32_t id, const void *key)
{
	const struct rawchain *a = &((const struct chains *)ctx)->raw[id];
	const struct rawchain *b = key;

	return a->n == b->n && a->gen == b->gen && a->kgen == b->kgen &&
	       a->event == b->event && a->comm == b->comm &&
	       !memcmp(a->pc, b->pc, (size_t)a->n * 8);
}

bool chains_count(struct chains *t, const struct rawchain *key)
{
	uint32_t id = idtab_find(&t->rawtab, raw_hash(key), same_raw, t, key);

	if (id == IDTAB_NONE)
		return false;
	t->raw[id].count++;
	return true;
}

static bool same_chain(const void *ctx, uint32_t id, const void *key)
{
	const struct chain *a = &((const struct chains *)ctx)->chain[id];
	const struct chain *b = key;

	return a->n == b->n && a->event == b->event && a->comm == b->comm &&
	       !memcmp(a->frames, b->frames, a->n * sizeof(*a->frames));
}

static uint32_t chain_id(struct chains *t, const struct chain *want)
{
	size_t size = want->n * sizeof(*want->frames);
	uint64_t hash = hash_bytes(want->frames, size,
				   (uint64_t)want->event << 32 | want->comm);
	uint32_t id = idtab_find(&t->tab, hash, same_chain, t, want);
	uint32_t *copy;

	if (id != IDTAB_NONE)
		return id;
	copy = arena_alloc(&t->mem, size);
	memcpy(copy, want->frames, size);
	GROW(t->chain, t->n, t->cap);
	t->chain[t->n] = *want;
	t->chain[t->n].frames = copy;
	idtab_add(&t->tab, hash, t->n);
	return t->n++;
}

void chains_finish(struct chains *t)
{
	uint32_t i;

	for (i = 0; i < t->nraw; i++)
		t->chain[t->raw[i].chain].count += t->raw[i].count;
	t->nraw = 0;
	idtab_free(&t->rawtab);
	arena_free(&t->rawmem);
}

void chains_add(struct chains *t, const struct rawchain *key,
		const uint32_t *frames, uint32_t n)
{
	struct chain want = {
		.frames = frames, .n = n, .event = key->event,
		.comm = key->comm,
	};
	size_t size = (size_t)key->n * 8;
	struct rawchain *r;
	unsigned char *pc;

	if (t->rawmem.total > RAW_MIN + RAW_PER_CHAIN * t->mem.total)
		chains_finish(t);
	pc = arena_alloc(&t->rawmem, size);
	memcpy(pc, key->pc, size);
	GROW(t->raw, t->nraw, t->capraw);
	r = &t->raw[t->nraw];
	*r = *key;
	r->pc = pc;
	r->count = 1;
	r->chain = chain_id(t, &want);
	idtab_add(&t->rawtab, raw_hash(key), t->nraw++);
}

void chains_free(struct chains *t)
{
	chains_finish(t);
	free(t->raw);
	free(t->chain);
	idtab_free(&t->tab);
	arena_free(&t->mem);
}
