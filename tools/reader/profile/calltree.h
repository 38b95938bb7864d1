/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains merged from the outermost frame on.
 *
 * What a node is labelled with is the caller's choice: chains whose labels
 * agree share a path.
 */
#ifndef READER_CALLTREE_H
#define READER_CALLTREE_H

#include "profile/profile.h"

#define CALLTREE_ROOT	0U	/* above the commands */

/**
 * struct callnode - a call path
 * @child, @next: numbers of nodes, 0 for none
 */
struct callnode {
	uint64_t self, total;
	uint32_t label;
	uint32_t parent, child, next;
};

/**
 * struct calltree
 * @tab:  nodes by a hash of all labels on the way there; if chains were stepped
 *	  through, only those that have siblings
 * @hash: of the path that is being added, up to each of its labels
 */
struct calltree {
	struct callnode *node;	/* parents before children */
	uint32_t n, cap;
	struct idtab tab;
	uint64_t *hash;
	uint32_t caphash;
};

/**
 * struct calllabels - labels of what chains are made of
 * @func: by function
 * @top:  of a command (and of what else is told apart); NULL: a tree of callers
 */
struct calllabels {
	const uint32_t *func;
	uint32_t (*top)(void *ctx, const struct chaintop *top);
	void *ctx;
};

void calltree_init(struct calltree *t);
/*
 * @count samples whose labels from the root on are @path; where it ends.  Not in
 * a tree that calltree_chains() has made with labels of tops.
 */
uint32_t calltree_add(struct calltree *t, const uint32_t *path, uint32_t n,
		      uint64_t count);
/* The totals, after the last calltree_add(). */
void calltree_sum(struct calltree *t);

/*
 * Makes the nodes of all chains of the events in @use; nothing is counted.  By
 * chain: its node, or the root; the caller frees it.
 */
uint32_t *calltree_chains(struct calltree *t, const struct profile *p,
			  const bool *use, const struct calllabels *l);

/*
 * From the chains of the events in @use: command, outermost frame, ...; or a
 * tree of callers: innermost frame, its caller, ...
 */
void calltree_build(struct calltree *t, const struct profile *p,
		    const bool *use, const struct calllabels *l);
/*
 * The children of a node in an array the caller frees; their number.
 * @cmp gets two struct callnode.
 */
uint32_t calltree_children(const struct calltree *t, uint32_t node,
			   uint32_t **children,
			   int (*cmp)(const struct callnode *a,
				      const struct callnode *b, void *ctx),
			   void *ctx);
void calltree_free(struct calltree *t);

#endif /* READER_CALLTREE_H */
