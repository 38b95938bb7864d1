/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains, each stored once.
 *
 * Chains with the same callers share them.  The callers form a tree, from the
 * outermost frame to the innermost but one; a chain is a frame below a node of
 * the tree.  So the size of a chain is independent of its length.
 *
 * A command that only needs counts in and below functions needs no tree.  Then
 * each distinct list of callers is one node with a list of frames, directly
 * below the command.  It is found with one look-up, not one for each caller.
 */
#ifndef READER_CHAINS_H
#define READER_CHAINS_H

#include "base/idtab.h"
#include "base/mem.h"

#define CHAIN_NONE	UINT32_MAX

/**
 * struct chain - samples that agree in everything that is shown
 * @callers: node of the callers
 * @frame: the innermost frame's number
 * @n:     number of frames
 * @comm:  string number of the command's name
 * @group: of struct groups
 */
struct chain {
	uint64_t count;
	uint32_t callers, frame;
	uint32_t n;
	uint32_t event, comm, group;
};

/**
 * struct chainnode - a caller, by its path from the outermost frame
 * @up:    the node of its caller, a lower number; CHAIN_NONE above the outermost
 * @frame: its frame; in a node without a caller, index in chains.top
 * @down:  the first node below it, 0: none
 * @next:  the next node below @up, 0: none
 * @chain: number + 1 of the first chain with these callers; its innermost frame
 *	   is @leaf; 0: none
 * Most nodes have at most one child and one chain, and need no hash table.
 *
 * Without a tree, in a node below a command:
 * @first: index of its innermost frame in struct chains.list
 * @n:     number of its frames
 */
struct chainnode {
	uint32_t up;
	union {
		uint32_t frame, first;
	};
	union {
		uint32_t down, n;
	};
	uint32_t next;
	uint32_t chain, leaf;
};

/* an event, command and group, with a tree of their own */
struct chaintop {
	uint32_t event, comm, group;
	uint32_t node;
};

/* the frames of the chain that was looked up last */
struct chainview {
	uint32_t callers;
	uint32_t frame[];
};

/**
 * struct chains
 * @lists: keep lists instead of a tree; set before the first sample
 * @list:  frames of the nodes that are lists
 * @more:  by chain, for the first @nmore: by how much its weight exceeds its
 *	   count.  There is none without events that are sampled at a rate
 */
struct chains {
	bool lists;
	uint32_t *list;
	size_t nlist, caplist;
	struct chain *chain;
	uint32_t n, cap;
	uint64_t *more;
	uint32_t nmore;
	struct chainnode *node;
	uint32_t nnode, capnode;
	struct chaintop *top;
	uint32_t ntop, captop, lasttop;
	struct idtab chaintab, nodetab;	/* all but first chains and nodes */
	struct idtab toptab;
	struct chainview *view;
	uint32_t longest;		/* number of frames that fit @view */
	bool finished;
};

/* The node above all chains of an event, command and group. */
uint32_t chains_top(struct chains *t, uint32_t event, uint32_t comm,
		    uint32_t group);
/* The node of a frame called from node @callers. */
uint32_t chains_step(struct chains *t, uint32_t callers, uint32_t frame);
/*
 * Without a tree: the node of a list of callers, by its hash and 32 more bits
 * of the key.  CHAIN_NONE if there is none; chains_add_list() adds it then.
 */
uint32_t chains_find_list(const struct chains *t, uint64_t hash, uint32_t more);
void chains_prefetch_list(const struct chains *t, uint64_t hash);
uint32_t chains_add_list(struct chains *t, uint32_t top, const uint32_t *frame,
			 uint32_t n, uint64_t hash, uint32_t more);
/* The chain of a frame called from node @callers; it is not counted. */
uint32_t chains_id(struct chains *t, uint32_t top, uint32_t callers,
		   uint32_t frame, uint32_t n);
/* Prefetch the memory of a later look-up. */
void chains_prefetch_node(const struct chains *t, uint32_t callers);
void chains_prefetch(const struct chains *t, uint32_t callers, uint32_t frame);
static inline void chains_prefetch_count(const struct chains *t, uint32_t chain)
{
	__builtin_prefetch(&t->chain[chain], 1);
}

static inline void chains_count(struct chains *t, uint32_t chain, uint32_t n)
{
	t->chain[chain].count += n;
}

/* Adds to the weight of a chain what the weights of samples exceed 1 by. */
void chains_weigh(struct chains *t, uint32_t chain, uint64_t more);
/* All weights are counts from now on, of which no more come. */
void chains_unweigh(struct chains *t);
/*
 * What shares are computed from: the sum of the periods of a chain's samples if
 * its event is sampled at a rate, else their number.
 */
static inline uint64_t chain_weight(const struct chains *t,
				    const struct chain *c)
{
	size_t i = (size_t)(c - t->chain);

	return c->count + (i < t->nmore ? t->more[i] : 0);
}

/* Takes one sample away from a chain, which may be left with none. */
void chains_uncount(struct chains *t, uint32_t chain, uint64_t weight);
/* Drops chains without samples; nothing can be counted after it. */
void chains_finish(struct chains *t);
/* Replaces the frames of a chain; the first is the innermost. */
void chains_replace(struct chains *t, struct chain *c, const uint32_t *frames,
		    uint32_t n);
void chains_free(struct chains *t);

/* Frames of a chain, innermost first; valid until the next call. */
const uint32_t *chain_frames(const struct chains *t, const struct chain *c);

/* By node: the weight of all chains below it, or their samples; the caller frees it. */
uint64_t *chains_sums(const struct chains *t, bool weights);

#endif /* READER_CHAINS_H */
