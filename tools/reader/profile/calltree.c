// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "profile/calltree.h"

/* The hash is of the whole path; the label is compared in addition. */
static uint32_t find(const struct calltree *t, const uint32_t *path, uint32_t n)
{
	return n ? idtab_find_exact(&t->tab, t->hash[n], path[n - 1]) :
		   CALLTREE_ROOT;
}

/*
 * Length of the part of @path that is in the tree, and its last node.  If a
 * node is there, so are its parents; so a binary search needs few look-ups.
 */
static uint32_t known_part(const struct calltree *t, const uint32_t *path,
			   uint32_t n, uint32_t *at)
{
	uint32_t lo = 0, hi = n, mid = n, id;

	*at = CALLTREE_ROOT;
	while (lo < hi) {
		id = find(t, path, mid);
		if (id != IDTAB_NONE) {
			lo = mid;
			*at = id;
		} else {
			hi = mid - 1;
		}
		mid = hi - (hi - lo) / 2;
	}
	return lo;
}

static uint32_t add_node(struct calltree *t, uint32_t parent, uint32_t label)
{
	GROW(t->node, t->n, t->cap);
	t->node[t->n] = (struct callnode){
		.label = label, .parent = parent,
		.next = t->node[parent].child,
	};
	t->node[parent].child = t->n;
	return t->n++;
}

static void hash_path(struct calltree *t, const uint32_t *path, uint32_t n)
{
	uint32_t i;

	if (n >= t->caphash) {
		t->caphash = n + 64;
		t->hash = xreallocarray(t->hash, t->caphash, sizeof(*t->hash));
	}
	t->hash[0] = 0;
	for (i = 0; i < n; i++)
		t->hash[i + 1] = hash_mix(t->hash[i], path[i]);
}

uint32_t calltree_comm(void *ctx, const struct chaintop *top)
{
	(void)ctx;
	return top->comm;
}

void calltree_init(struct calltree *t)
{
	memset(t, 0, sizeof(*t));
	GROW(t->node, t->n, t->cap);
	memset(&t->node[t->n++], 0, sizeof(*t->node));
}

uint32_t calltree_add(struct calltree *t, const uint32_t *path, uint32_t n,
		      uint64_t count)
{
	uint32_t at, i;

	hash_path(t, path, n);
	for (i = known_part(t, path, n, &at); i < n; i++) {
		at = add_node(t, at, path[i]);
		idtab_add_exact(&t->tab, t->hash[i + 1], path[i], at);
	}
	t->node[at].self += count;
	return at;
}

void calltree_sum(struct calltree *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		t->node[i].total = t->node[i].self;
	for (i = t->n; --i > CALLTREE_ROOT;)
		t->node[t->node[i].parent].total += t->node[i].total;
}

/* By frame, the label of its function. */
static uint32_t *frame_labels(const struct profile *p,
			      const struct calllabels *l)
{
	uint32_t *label = xreallocarray(NULL, p->frames.n, sizeof(*label)), i;

	for (i = 0; i < p->frames.n; i++)
		label[i] = l->func[p->frames.frame[i].func];
	return label;
}

/* position in the tree of a node of chains; @hash: hash of its path */
struct spot {
	uint64_t hash;
	uint32_t node;
};

/* Adds a node; a node without siblings is found without the table. */
static struct spot add_spot(struct calltree *t, struct spot from,
			    uint32_t label, uint64_t hash)
{
	uint32_t other = t->node[from.node].child;
	uint32_t node = add_node(t, from.node, label);

	if (other && !t->node[other].next)
		idtab_add_exact(&t->tab,
				hash_mix(from.hash, t->node[other].label),
				t->node[other].label, other);
	if (other)
		idtab_add_exact(&t->tab, hash, label, node);
	return (struct spot){ .hash = hash, .node = node };
}

/* Steps to the child with label @label. */
static struct spot step(struct calltree *t, struct spot from, uint32_t label)
{
	struct spot to = { .hash = hash_mix(from.hash, label) };
	const struct callnode *first;

	to.node = t->node[from.node].child;
	if (!to.node)
		return add_spot(t, from, label, to.hash);
	first = &t->node[to.node];
	if (first->label == label)
		return to;
	to.node = first->next ? idtab_find_exact(&t->tab, to.hash, label) :
				IDTAB_NONE;
	return to.node != IDTAB_NONE ? to :
				       add_spot(t, from, label, to.hash);
}

/* Chains share the nodes of their callers, so each node is looked up once. */
static uint32_t *from_tops(struct calltree *t, const struct profile *p,
			   const bool *use, const uint32_t *label,
			   const struct calllabels *l)
{
	const struct chains *all = &p->chains;
	uint32_t *at = xcalloc((size_t)all->n + 1, sizeof(*at)), i;
	struct spot *spot = xcalloc((size_t)all->nnode + 1, sizeof(*spot));
	struct spot root = { .hash = 0, .node = CALLTREE_ROOT };
	uint64_t *count = chains_sums(all, false);

	for (i = 0; i < all->nnode; i++) {
		const struct chainnode *c = &all->node[i];

		if (!count[i])
			continue;
		if (c->up != CHAIN_NONE && spot[c->up].node)
			spot[i] = step(t, spot[c->up], label[c->frame]);
		else if (c->up == CHAIN_NONE && use[all->top[c->frame].event])
			spot[i] = step(t, root,
				       l->top(l->ctx, &all->top[c->frame]));
	}
	for (i = 0; i < all->n; i++) {
		const struct chain *c = &all->chain[i];

		if (c->count && use[c->event])
			at[i] = step(t, spot[c->callers], label[c->frame]).node;
	}
	free(count);
	free(spot);
	return at;
}

static uint32_t *from_leaves(struct calltree *t, const struct profile *p,
			     const bool *use, const uint32_t *label)
{
	const struct chains *all = &p->chains;
	uint32_t *at = xcalloc((size_t)all->n + 1, sizeof(*at)), i, j;
	uint32_t *path = xreallocarray(NULL, all->longest, sizeof(*path));

	for (i = 0; i < all->n; i++) {
		const struct chain *c = &all->chain[i];
		const uint32_t *frames = chain_frames(all, c);

		if (!use[c->event])
			continue;
		for (j = 0; j < c->n; j++)
			path[j] = label[frames[j]];
		at[i] = calltree_add(t, path, c->n, 0);
	}
	free(path);
	return at;
}

uint32_t *calltree_chains(struct calltree *t, const struct profile *p,
			  const bool *use, const struct calllabels *l)
{
	uint32_t *label = frame_labels(p, l), *at;

	at = l->top ? from_tops(t, p, use, label, l) :
		      from_leaves(t, p, use, label);
	free(label);
	return at;
}

void calltree_build(struct calltree *t, const struct profile *p,
		    const bool *use, const struct calllabels *l)
{
	uint32_t *at, i;

	calltree_init(t);
	at = calltree_chains(t, p, use, l);
	for (i = 0; i < p->chains.n; i++)
		if (use[p->chains.chain[i].event])
			t->node[at[i]].self +=
				chain_weight(&p->chains, &p->chains.chain[i]);
	free(at);
	calltree_sum(t);
}

struct sorting {
	const struct calltree *t;
	int (*cmp)(const struct callnode *a, const struct callnode *b,
		   void *ctx);
	void *ctx;
};

static int by_node(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;

	return s->cmp(&s->t->node[*(const uint32_t *)a],
		      &s->t->node[*(const uint32_t *)b], s->ctx);
}

uint32_t calltree_children(const struct calltree *t, uint32_t node,
			   uint32_t **children,
			   int (*cmp)(const struct callnode *a,
				      const struct callnode *b, void *ctx),
			   void *ctx)
{
	struct sorting s = { t, cmp, ctx };
	uint32_t n = 0, i;

	for (i = t->node[node].child; i; i = t->node[i].next)
		n++;
	*children = xreallocarray(NULL, n, sizeof(**children));
	n = 0;
	for (i = t->node[node].child; i; i = t->node[i].next)
		(*children)[n++] = i;
	qsort_r(*children, n, sizeof(**children), by_node, &s);
	return n;
}

void calltree_free(struct calltree *t)
{
	free(t->node);
	free(t->hash);
	idtab_free(&t->tab);
}
