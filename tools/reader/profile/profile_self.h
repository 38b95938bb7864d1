/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples whose callers are of no interest.
 *
 * All there is to know of one is where it was and what it is told apart by.  So
 * the same is seen again and again, and what is known of it is one look away:
 * samples wait for that look side by side, those that are new for the others
 * that they need.
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
 * struct self_place - an address of one generation of an addrspace
 * @top:    node of the command (and of what else is told apart)
 * @chain1: its chain + 1, 0: nothing is known
 * @count:  samples that were not counted in @chain1 yet
 */
struct self_place {
	uint64_t pc;
	uint32_t gen, top;
	uint32_t chain1, count;
};

/* a sample on its way; what it is in, and its frame, if it is new */
struct self_pending {
	const struct aspace *as;
	struct self_place *known;
	uint64_t pc, addr;
	uint32_t gen, top;
	uint32_t obj, frame, chain;
};

/* a node of struct chains, @node1 is 0 if there is none */
struct self_top {
	uint32_t event, comm, group, node1;
};

/* @known is NULL until there is a sample */
struct selfs {
	struct self_place *known;
	struct self_pending *wait;
	struct self_top *top;
	uint32_t n;		/* that wait */
};

/* Counts a sample of a process in its present state, now or a bit later. */
void self_wait(struct profile *p, const struct aspace *as,
	       const struct sample *s, uint64_t pc);
/* All that wait are counted; but chains are not told before self_tell(). */
void self_flush(struct profile *p);
void self_tell(struct profile *p);
void self_free(struct selfs *t);

#endif /* READER_PROFILE_SELF_H */
