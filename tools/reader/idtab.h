/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash table from a key to a small number.  The keys live in the caller's
 * array, under that number; the table only holds their hashes.
 */
#ifndef READER_IDTAB_H
#define READER_IDTAB_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define IDTAB_NONE	UINT32_MAX

struct idtab_slot {
	uint64_t hash;
	uint32_t id1;		/* id + 1, 0 for an empty slot */
};

struct idtab {
	struct idtab_slot *slots;
	uint32_t n, mask;
};

/* Is element @id of @ctx the one with key @key? */
typedef bool (*idtab_eq)(const void *ctx, uint32_t id, const void *key);

uint32_t idtab_find(const struct idtab *t, uint64_t hash, idtab_eq eq,
		    const void *ctx, const void *key);
void idtab_add(struct idtab *t, uint64_t hash, uint32_t id);
void idtab_free(struct idtab *t);

/* Folded multiplication: the best mixing one instruction can buy. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	wide m = (wide)(a ^ 0x9E3779B97F4A7C15ULL) *
		 (b ^ 0xE7037ED1A0B428DBULL);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
#else
	uint64_t h = (a ^ 0x9E3779B97F4A7C15ULL) * 0xBF58476D1CE4E5B9ULL;

	h = (h ^ (h >> 32) ^ b) * 0x94D049BB133111EBULL;
	return h ^ (h >> 31);
#endif
}

static inline uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *c = p;
	uint64_t h = hash_mix(seed, n), w[2];

	for (; n >= 16; n -= 16, c += 16) {
		memcpy(w, c, 16);
		h = hash_mix(w[0] ^ h, w[1]);
	}
	if (n) {
		w[0] = w[1] = 0;
		memcpy(w, c, n);
		h = hash_mix(w[0] ^ h, w[1]);
	}
	return h;
}

#endif /* READER_IDTAB_H */
