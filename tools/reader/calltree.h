/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains merged from the outermost frame on.
 *
 * What a node is labelled with is the caller's choice: chains whose labels
 * agree share a path.
 */
#ifndef READER_CALLTREE_H
#define READER_CALLTREE_H

#include "profile.h"

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

struct calltree {
	struct callnode *node;	/* parents before children */
	uint32_t n, cap;
	struct idtab tab;
};

/**
 * struct calllabels - labels of what chains are made of
 * @func: by function
 * @comm: of a command, given its name's string number
 */
struct calllabels {
	const uint32_t *func;
	uint32_t (*comm)(void *ctx, uint32_t name);
	void *ctx;
};

/* From the chains of the events in @use: command, outermost frame, ... */
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
