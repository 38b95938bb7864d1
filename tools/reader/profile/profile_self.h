/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples whose callers are of no interest.
 *
 * Such a sample is identified by its address and group alone, so most are
 * repeats and are found with one look-up in a table.  Samples wait in a batch,
 * so that the cache misses of look-ups overlap, as do those of new samples.
 */
#ifndef READER_PROFILE_SELF_H
#define READER_PROFILE_SELF_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct aspace;
struct sample;

#define SELF_PLACES	131072U	/* a power of 2 */
#define SELF_SAMPLES	64U
#define SELF_TOPS	256U	/* a power of 2 */

/**
 * struct self_place - a cached address in one generation of an address space
 * @top:    node of the command (and group)
 * @chain1: its chain + 1, 0: empty slot
 * @count:  samples that were not counted in @chain1 yet
 */
struct self_place {
	uint64_t pc;
	uint32_t gen, top;
	uint32_t chain1, count;
};

/*
 * a queued sample; if it is new, with its object, frame and chain
 * @more: what its weight exceeds 1 by; it is not kept in @known, so that the
 *	  cache is not larger for events that have none
 */
struct self_pending {
	const struct aspace *as;
	struct self_place *known;
	uint64_t pc, addr, more;
	uint32_t gen, top;
	uint32_t obj, frame, chain;
};

/* a cached node of struct chains; @node1: node + 1, 0 for an empty slot */
struct self_top {
	uint32_t event, comm, group, node1;
};

/* @known is NULL until there is a sample */
struct selfs {
	struct self_place *known;
	struct self_pending *wait;
	struct self_top *top;
	uint32_t n;		/* samples in @wait */
};

/* Queues a sample of a process to be counted, with its current state. */
void self_wait(struct profile *p, const struct aspace *as,
	       const struct sample *s, uint64_t pc);
/* Counts all queued samples; self_tell() adds the counts to the chains. */
void self_flush(struct profile *p);
void self_tell(struct profile *p);
void self_free(struct selfs *t);

#endif /* READER_PROFILE_SELF_H */
