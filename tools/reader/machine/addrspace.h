/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mappings of one process (or of the kernel) at the current position in
 * the log.
 *
 * A fork shares its parent's address space until one of them changes, and the leaves
 * that neither changes after that; so a fork costs a reference, and a change one leaf.
 * Every state of an address space has a generation number of its own: chains with equal
 * generations and pcs are equal.
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

/* Some neighbours, at least one */
struct aspace_leaf {
	uint32_t ref;
	uint32_t n, cap;
	struct mapping map[];	/* sorted, disjoint */
};

/* @end: of its last mapping */
struct aspace_ref {
	uint64_t end;
	struct aspace_leaf *leaf;
};

/**
 * struct aspace - what a process has mapped
 * @kept:  number + 1 of a jitdump; code of it is that after @turns ranges, since the
 *         process was forked then
 */
struct aspace {
	uint32_t ref;
	uint32_t gen;
	uint32_t kept, turns;
	uint32_t n, cap;
	struct aspace_ref *leaf;	/* sorted */
};

/* NULL is the empty address space, of generation 0. */
struct aspace *aspace_get(struct aspace *as);
void aspace_put(struct aspace *as);

/* Maps @m; it replaces older mappings of the range. */
void aspace_insert(struct aspace **as, const struct mapping *m);
/* Starts a new generation: contents changed, but the mappings did not. */
void aspace_renew(struct aspace **as);
/* Makes each mapping of an object one of the object that @to returns. */
void aspace_replace(struct aspace **as, uint32_t (*to)(void *ctx, uint32_t obj),
		    void *ctx);
/* Unmaps [start, end). */
void aspace_cut(struct aspace **as, uint64_t start, uint64_t end);
/* Is some part of the object mapped? */
bool aspace_has(const struct aspace *as, uint32_t obj);

/*
 * Index of the first leaf, or mapping, that ends above @pc.  The search has no
 * branches, because a processor would mispredict them.
 */
#define ASPACE_UPPER(array, count, pc)					\
	({								\
		uint32_t at_ = 0, n_ = (count), half_;			\
									\
		for (; n_ > 1; n_ -= half_) {				\
			half_ = n_ / 2;					\
			at_ += half_ & -(uint32_t)			\
			       ((array)[at_ + half_ - 1].end <= (pc));	\
		}							\
		at_ + (n_ && (array)[at_].end <= (pc));			\
	})

/* The first mapping that ends above @pc, NULL if there is none. */
static inline const struct mapping *aspace_next(const struct aspace *as,
						uint64_t pc)
{
	uint32_t i = as ? ASPACE_UPPER(as->leaf, as->n, pc) : 0;
	const struct aspace_leaf *l;

	if (!as || i == as->n)
		return NULL;
	l = as->leaf[i].leaf;
	return &l->map[ASPACE_UPPER(l->map, l->n, pc)];
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
