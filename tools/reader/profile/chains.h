/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains, each once.
 *
 * Chains that agree in their callers share them: what calls what is a tree, from
 * the outermost frame to the innermost but one, and a chain is a frame below
 * one of its nodes.  So a chain takes the same room however long it is.
 *
 * Who wants no tree but what is counted in and below functions does without:
 * then callers that differ are a node with a list of frames, below none but
 * the command.  To find that takes one look, not one for each caller.
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
 * @n:     frames
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
 * struct chainnode - a place on the way to the innermost frame
 * @up:    the node of its caller, a lower number; CHAIN_NONE above the outermost
 * @frame: its frame; of a node that has no caller, which of chains.top it is
 * @down:  the first node below it, 0: there is none
 * @next:  the next one below @up, 0: there is none
 * @chain: number + 1 of the first chain that it has the callers of, which is
 *	   in frame @leaf; 0: there is none
 * Many have one of these at most, and need not be in a table for it.
 *
 * Without a tree, of a node below a command:
 * @first: of struct chains.list, its innermost frame
 * @n:     how many these are
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

/* what has a tree of its own */
struct chaintop {
	uint32_t event, comm, group;
	uint32_t node;
};

/* the frames of a chain, the one that was asked for last */
struct chainview {
	uint32_t callers;
	uint32_t frame[];
};

/**
 * struct chains
 * @lists: there is no tree; set before the first sample
 * @list:  frames of the nodes that are lists
 */
struct chains {
	bool lists;
	uint32_t *list;
	size_t nlist, caplist;
	struct chain *chain;
	uint32_t n, cap;
	struct chainnode *node;
	uint32_t nnode, capnode;
	struct chaintop *top;
	uint32_t ntop, captop, lasttop;
	struct idtab chaintab, nodetab;	/* of those that are no first ones */
	struct idtab toptab;
	struct chainview *view;
	uint32_t longest;		/* room in @view */
	bool finished;
};

/* The node that all chains with these in common are below. */
uint32_t chains_top(struct chains *t, uint32_t event, uint32_t comm,
		    uint32_t group);
/* The node of a frame that was called from a node. */
uint32_t chains_step(struct chains *t, uint32_t callers, uint32_t frame);
/*
 * Without a tree: the node of callers, by a hash of them that the caller has and
 * one more thing to agree in; CHAIN_NONE if there is none, which is then added.
 */
uint32_t chains_find_list(const struct chains *t, uint64_t hash, uint32_t more);
void chains_prefetch_list(const struct chains *t, uint64_t hash);
uint32_t chains_add_list(struct chains *t, uint32_t top, const uint32_t *frame,
			 uint32_t n, uint64_t hash, uint32_t more);
/* The chain of a frame that was called from a node; nothing is counted. */
uint32_t chains_id(struct chains *t, uint32_t top, uint32_t callers,
		   uint32_t frame, uint32_t n);
/* Of what will be asked for. */
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

/* One sample of a chain was another's; it may be left with none. */
void chains_uncount(struct chains *t, uint32_t chain);
/* Drops what is left with no samples; then nothing can be counted. */
void chains_finish(struct chains *t);
/* Another list of frames for a chain, the first is the innermost. */
void chains_replace(struct chains *t, struct chain *c, const uint32_t *frames,
		    uint32_t n);
void chains_free(struct chains *t);

/* Frames of a chain, innermost first; until the next call. */
const uint32_t *chain_frames(const struct chains *t, const struct chain *c);

/* By node: samples that came through it; the caller frees it. */
uint64_t *chains_weights(const struct chains *t);

#endif /* READER_CHAINS_H */
