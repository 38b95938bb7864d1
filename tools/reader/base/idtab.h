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

#include "base/mem.h"

#define IDTAB_NONE	UINT32_MAX

struct idtab_slot {
	uint64_t hash;
	uint32_t more;
	uint32_t id1;		/* id + 1, 0 for an empty slot */
};

struct idtab {
	struct idtab_slot *slots;
	uint32_t n, mask;
};

void idtab_add(struct idtab *t, uint64_t hash, uint32_t id);
/*
 * For keys that need not be compared: equality of 96 bits is enough.  Saves the
 * access to the key, which would be a cache miss.
 */
uint32_t idtab_find_exact(const struct idtab *t, uint64_t hash, uint32_t more);
void idtab_add_exact(struct idtab *t, uint64_t hash, uint32_t more,
		     uint32_t id);
void idtab_free(struct idtab *t);

/* The next id with that hash, from slot *@at on; IDTAB_NONE: there is none. */
static inline uint32_t idtab_next(const struct idtab *t, uint64_t hash, uint32_t *at)
{
	const struct idtab_slot *s;

	if (!t->slots)
		return IDTAB_NONE;
	do {
		s = &t->slots[(*at)++ & t->mask];
	} while (s->id1 && s->hash != hash);
	return s->id1 ? s->id1 - 1 : IDTAB_NONE;
}

/*
 * The number of the element of @array that is @same, a condition on element @e.
 * Those that fulfil it have the hash.  IDTAB_NONE: there is none.
 */
#define IDTAB_FIND(tab, hash, array, e, same)				\
	__extension__ ({						\
		const __typeof__(*(array)) *e;				\
		uint64_t of_ = (hash);					\
		uint32_t at_ = (uint32_t)of_, found_;			\
									\
		while ((found_ = idtab_next(tab, of_, &at_)) != IDTAB_NONE) { \
			e = &(array)[found_];				\
			if (same)					\
				break;					\
		}							\
		found_;							\
	})

/*
 * The same, of an array with @n of @cap elements.  If there is none, a copy of
 * *@key is appended.
 */
#define IDTAB_ID(tab, hash, array, n, cap, key, e, same)		\
	__extension__ ({						\
		uint64_t hash_ = (hash);				\
		uint32_t id_ = IDTAB_FIND(tab, hash_, array, e, same);	\
									\
		if (id_ == IDTAB_NONE) {				\
			APPEND(array, n, cap) = *(key);			\
			idtab_add(tab, hash_, id_ = (n) - 1);		\
		}							\
		id_;							\
	})

/* Prefetches the slot of a hash that will be looked up. */
static inline void idtab_prefetch(const struct idtab *t, uint64_t hash)
{
	if (t->slots)
		__builtin_prefetch(&t->slots[(uint32_t)hash & t->mask]);
}

/*
 * A secret mixed into all hashes, so that the author of a hostile log can't
 * choose colliding keys.  Constant until hash_be_secret(), which must be called
 * before the first table is used.
 */
extern uint64_t hash_secret[2];
void hash_be_secret(void);

/* Folded multiplication: the best mixing for one instruction. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	wide m = (wide)(a ^ hash_secret[0]) * (b ^ hash_secret[1]);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
#else
	uint64_t h = (a ^ hash_secret[0]) * 0xBF58476D1CE4E5B9ULL;

	h = (h ^ (h >> 32) ^ b ^ hash_secret[1]) * 0x94D049BB133111EBULL;
	return h ^ (h >> 31);
#endif
}

/* A bijection: different numbers have different hashes. */
static inline uint64_t hash_number(uint64_t n)
{
	n ^= hash_secret[0];
	n = (n ^ n >> 32) * 0xD6E8FEB86659FD93ULL;
	n = (n ^ n >> 32) * 0xD6E8FEB86659FD93ULL;
	return n ^ n >> 32;
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
