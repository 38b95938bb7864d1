/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains merged from the outermost frame on.
 *
 * The user of the tree chooses the labels of the nodes.  Chains with equal
 * labels share a path.
 */
#ifndef READER_CALLTREE_H
#define READER_CALLTREE_H

#include "profile/profile.h"

#define CALLTREE_ROOT	0U	/* above the commands */

/**
 * struct callnode - a call path
 * @self, @total: sums of what is counted: of weights, in calltree_build()
 * @child, @next: numbers of nodes, 0 for none
 */
struct callnode {
	uint64_t self, total;
	uint32_t label;
	uint32_t parent, child, next;
};

/**
 * struct calltree
 * @tab:  nodes by a hash of all labels on the path to them; after
 *	  calltree_chains(), only nodes that have siblings
 * @hash: hashes of the path that is being added, up to each of its labels
 */
struct calltree {
	struct callnode *node;	/* parents before children */
	uint32_t n, cap;
	struct idtab tab;
	uint64_t *hash;
	uint32_t caphash;
};

/**
 * struct calllabels - labels of a tree
 * @func: label by function
 * @top:  label of a command (and group); NULL: a tree of callers
 */
struct calllabels {
	const uint32_t *func;
	uint32_t (*top)(void *ctx, const struct chaintop *top);
	void *ctx;
};

/* For @top: the command's name */
uint32_t calltree_comm(void *ctx, const struct chaintop *top);

void calltree_init(struct calltree *t);
/*
 * Adds @count samples with the labels @path from the root on; returns the last
 * node.  Not for a tree made by calltree_chains() with labels of tops.
 */
uint32_t calltree_add(struct calltree *t, const uint32_t *path, uint32_t n,
		      uint64_t count);
/* Computes the totals, after the last calltree_add(). */
void calltree_sum(struct calltree *t);

/*
 * Makes the nodes of all chains of the events in @use, without counting.
 * Returns the node by chain, or the root; the caller frees it.
 */
uint32_t *calltree_chains(struct calltree *t, const struct profile *p,
			  const bool *use, const struct calllabels *l);

/*
 * Builds a tree of the chains of the events in @use, with their weights:
 * command, outermost frame, ...; or a tree of callers: innermost frame, its
 * caller, ...
 */
void calltree_build(struct calltree *t, const struct profile *p,
		    const bool *use, const struct calllabels *l);
/*
 * Sets *@children to the sorted children of a node, which the caller frees;
 * returns their number.
 */
uint32_t calltree_children(const struct calltree *t, uint32_t node,
			   uint32_t **children,
			   int (*cmp)(const struct callnode *a,
				      const struct callnode *b, void *ctx),
			   void *ctx);
void calltree_free(struct calltree *t);

#endif /* READER_CALLTREE_H */
