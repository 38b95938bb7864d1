/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples whose chains are looked up together.
 *
 * To find a chain (or, for who does not want chains, its frames) is to wait for
 * memory: some places, each known when the one before it was read.  So some
 * samples go that way side by side, and while one waits the others do as well.
 */
#ifndef READER_PROFILE_BATCH_H
#define READER_PROFILE_BATCH_H

#include "profile/callers.h"
#include "sample/sample.h"

#define BATCH_SAMPLES	32U
#define BATCH_PCS	2048U	/* of all of them together */
#define ROLL_PCS	512U	/* of all samples of struct roll */

struct profile;
struct aspace;

/**
 * struct pending - a sample on its way
 * @as:     of its process
 * @at, @kernel: the innermost address, and whether it is the kernel's
 * @where:  the same as a place
 * @hash:   of the callers; @node: theirs
 * @list:   the callers, if they are not known
 * @new:    how many of them have to be looked up
 * @way:    without a tree, what the node is found by
 * @n:      frames
 */
struct pending {
	const struct aspace *as;
	uint64_t at;
	bool kernel, known;
	struct place_id where;
	struct rawcallers raw;
	uint64_t hash;
	struct caller *list;
	uint64_t way;
	uint32_t frame, node, new, chain;
	uint32_t n;
};

/**
 * struct batch
 * @pcs:  of the callers of all that wait, as logged; @list: their places
 * @ids:  of one sample, frames
 * @used: of @pcs and @list; @cap: room in each
 */
struct batch {
	struct pending *wait;
	uint32_t n;
	unsigned char *pcs;
	struct caller *list;
	uint32_t *ids;
	uint32_t used, cap;
};

/*
 * A place that was looked up: an address of one generation of an
 * addrspace.  There are as many as fit into what a processor has near.
 */
struct known_place {
	uint64_t pc;
	uint32_t gen;
	uint32_t frame1;	/* its frame + 1, 0: nothing is known */
};

#define KNOWN_PLACES	65536U

/**
 * struct rolled - an address of a sample that waits for its frames
 * @at:  as logged; @pc, @gen: whose it is, as in struct known_place
 * @ret: it is a return address
 * @low: the kernel's, in the lower half: in no struct known_place
 */
struct rolled {
	const struct aspace *as;
	uint64_t at, pc;
	uint32_t gen;
	bool kernel, ret, low;
};

/**
 * struct roll - samples whose frames are wanted, and no chains
 * @wait: @n of them; @pc, @frame: their addresses and frames, @npc
 * @new:  which of the addresses have to be looked up; @where: what they are of
 */
struct roll {
	struct sample *wait;
	uint32_t n;
	struct rolled *pc;
	struct place_id *where;
	uint32_t *frame, *new;
	uint32_t npc, cap;
	struct known_place *known;
};

void roll_free(struct roll *t);
/* Tells of a sample of a process in its present state, now or a bit later. */
void roll_wait(struct profile *p, const struct aspace *as,
	       const struct sample *s, const unsigned char *pc, uint32_t n);
/* All that wait are told of; profile_flush() does it. */
void roll_flush(struct profile *p);

/* What a pc is in that itself tells whether it is the kernel's. */
void profile_look_up(const struct profile *p, const struct aspace *as,
		     uint64_t pc, uint32_t *obj, uint64_t *addr);
/* Of the address space that it is in: until it changes, so does no look-up. */
uint32_t profile_gen(const struct profile *p, const struct aspace *as,
		     uint64_t pc);

void batch_init(struct batch *b);
void batch_free(struct batch *b);

/* Counts a sample of a process in its present state, now or a bit later. */
void profile_wait(struct profile *p, const struct aspace *as,
		  const struct sample *s, const unsigned char *pc, uint32_t n);
/* All that wait are counted. */
void profile_flush(struct profile *p);
/* The same for one sample, at once: its chain is told. */
void profile_count(struct profile *p, const struct aspace *as,
		   struct sample *s, const unsigned char *pc, uint32_t n);

#endif /* READER_PROFILE_BATCH_H */
