/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples whose chains are looked up together.
 *
 * Finding a chain (or only its frames) is a series of dependent cache misses.
 * So samples are looked up in batches, and their misses overlap.
 */
#ifndef READER_PROFILE_BATCH_H
#define READER_PROFILE_BATCH_H

#include "profile/callers.h"
#include "sample/sample.h"

#define BATCH_SAMPLES	32U
#define BATCH_PCS	2048U	/* of all samples of a batch */
#define ROLL_PCS	512U	/* of all samples of struct roll */

struct profile;
struct aspace;

/**
 * struct pending - a sample that is being looked up
 * @as:     address space of its process
 * @at, @kernel: the innermost address, and whether it is in the kernel
 * @where:  the place of @at
 * @hash:   hash of the callers; @node: their node
 * @list:   the callers, if they are not cached
 * @new:    number of callers that have to be looked up
 * @way:    without a tree, the hash to find the node by
 * @n:      number of frames
 * @weight: of the sample
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
	uint64_t weight;
};

/**
 * struct batch - samples that wait
 * @pcs:  callers of all samples, as logged; @list: their places
 * @ids:  frames of one sample
 * @used: elements used in @pcs and @list; @cap: allocated in each
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
 * A cached place: an address in one generation of an address space.  The table
 * is sized to fit the processor's cache.
 */
struct known_place {
	uint64_t pc;
	uint32_t gen;
	uint32_t frame1;	/* its frame + 1, 0: empty slot */
};

#define KNOWN_PLACES	65536U

/**
 * struct rolled - an address of a sample that waits for its frames
 * @at:  as logged; @pc, @gen: key in struct known_place
 * @ret: it is a return address
 * @low: a kernel address in the lower half: never in struct known_place
 */
struct rolled {
	const struct aspace *as;
	uint64_t at, pc;
	uint32_t gen;
	bool kernel, ret, low;
};

/**
 * struct roll - samples that need frames, but no chains
 * @wait: @n samples; @pc, @frame: their @npc addresses and frames
 * @new:  which of the addresses have to be looked up; @where: their places
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
/* Queues a sample of a process for on_samples(), with its current state. */
void roll_wait(struct profile *p, const struct aspace *as,
	       const struct sample *s, const unsigned char *pc, uint32_t n);
/* Passes all queued samples to on_samples(); profile_flush() calls it. */
void roll_flush(struct profile *p);

/* The place of a pc; whether it is in the kernel depends on the pc alone. */
void profile_look_up(const struct profile *p, const struct aspace *as,
		     uint64_t pc, uint32_t *obj, uint64_t *addr);
/* Generation of the pc's address space: look-ups are valid until it changes. */
uint32_t profile_gen(const struct profile *p, const struct aspace *as,
		     uint64_t pc);

void batch_init(struct batch *b);
void batch_free(struct batch *b);

/* Queues a sample of a process to be counted, with its current state. */
void profile_wait(struct profile *p, const struct aspace *as,
		  const struct sample *s, const unsigned char *pc, uint32_t n);
/* Counts all queued samples. */
void profile_flush(struct profile *p);
/* Counts one sample at once, and sets its chain. */
void profile_count(struct profile *p, const struct aspace *as,
		   struct sample *s, const unsigned char *pc, uint32_t n);

#endif /* READER_PROFILE_BATCH_H */
