/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mappings of one process (or of the kernel) at the current position in
 * the log.
 *
 * A fork shares its parent's address space until one of them changes, so a
 * fork costs a reference.  Every state of an address space has a generation
 * number of its own: chains with equal generations and pcs are equal.
 */
#ifndef READER_ADDRSPACE_H
#define READER_ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct mapping - [start, end) maps an object from byte @offset on
 * @exact: the extent was logged, not guessed
 */
struct mapping {
	uint64_t start, end;
	uint64_t offset;
	uint32_t obj;
	bool exact;
};

struct aspace {
	uint32_t ref;
	uint32_t gen;
	uint32_t n, cap;
	struct mapping *map;	/* sorted, disjoint */
};

/* NULL is the empty address space, of generation 0. */
struct aspace *aspace_get(struct aspace *as);
void aspace_put(struct aspace *as);

/* Maps @m; it replaces older mappings of the range. */
void aspace_insert(struct aspace **as, const struct mapping *m);
/* Starts a new generation: contents changed, but the mappings did not. */
void aspace_renew(struct aspace **as);
/* Makes all mappings of object @from mappings of object @to. */
void aspace_replace(struct aspace **as, uint32_t from, uint32_t to);
/* Unmaps [start, end). */
void aspace_cut(struct aspace **as, uint64_t start, uint64_t end);

/*
 * Index of the first mapping that ends above @pc.  The search has no branches,
 * because a processor would mispredict them.
 */
static inline uint32_t aspace_upper(const struct aspace *as, uint64_t pc)
{
	uint32_t at = 0, n = as->n, half;

	for (; n > 1; n -= half) {
		half = n / 2;
		at += half & -(uint32_t)(as->map[at + half - 1].end <= pc);
	}
	return at + (n && as->map[at].end <= pc);
}

/* The first mapping that ends above @pc, NULL if there is none. */
static inline const struct mapping *aspace_next(const struct aspace *as,
						uint64_t pc)
{
	uint32_t i = as ? aspace_upper(as, pc) : 0;

	return as && i < as->n ? &as->map[i] : NULL;
}

static inline const struct mapping *aspace_find(const struct aspace *as,
						uint64_t pc)
{
	const struct mapping *m = aspace_next(as, pc);

	return m && m->start <= pc ? m : NULL;
}

static inline uint32_t aspace_gen(const struct aspace *as)
{
	return as ? as->gen : 0;
}

#endif /* READER_ADDRSPACE_H */
