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
#include <stddef.h>
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
/* The same is mapped, but what it shows has changed: a new generation. */
void aspace_renew(struct aspace **as);
/* What shows @from shows @to. */
void aspace_replace(struct aspace **as, uint32_t from, uint32_t to);
/* Nothing is in [start, end) any more. */
void aspace_cut(struct aspace **as, uint64_t start, uint64_t end);

/*
 * Index of the first mapping that ends above @pc.  Which half it is in is not
 * worth guessing, as a processor does at a branch.
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
