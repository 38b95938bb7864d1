/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is mapped where, in one process (or in the kernel), at the moment the
 * log has been read up to.
 *
 * A fork shares its parent's address space until one of them changes, so a
 * fork costs a reference.  Every content has a generation number of its own:
 * two chains with the same generation and the same pcs are the same chain.
 */
#ifndef READER_ADDRSPACE_H
#define READER_ADDRSPACE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct mapping - [start, end) shows an object from byte @offset on
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

/* Maps @m; what was there before is gone. */
void aspace_insert(struct aspace **as, const struct mapping *m);
/* Nothing is in [start, end) any more. */
void aspace_cut(struct aspace **as, uint64_t start, uint64_t end);
const struct mapping *aspace_find(const struct aspace *as, uint64_t pc);
/* The first mapping that ends above @pc, NULL if there is none. */
const struct mapping *aspace_next(const struct aspace *as, uint64_t pc);

static inline uint32_t aspace_gen(const struct aspace *as)
{
	return as ? as->gen : 0;
}

#endif /* READER_ADDRSPACE_H */
