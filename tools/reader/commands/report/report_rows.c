// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chains share the nodes of their callers, so totals take one walk over the
 * tree of nodes, not one per chain.
 */
#include <stdlib.h>

#include "commands/report/report_rows.h"

/**
 * struct cell - figures of a function; becomes a row
 * @open: how often it is on the current path: recursion counts once
 */
struct cell {
	uint64_t self, total, samples;
	uint32_t open;
	bool used;
};

/* an owner of rows; @top: number + 1 of the first of a list of chains.top */
struct whose {
	uint32_t comm, group;
	uint32_t top;
};

/**
 * struct counting
 * @key:    by frame: the function that stands for it
 * @cell:   by function
 * @used:   functions whose cells are in use
 * @weight: by node
 * @first:  by node: number + 1 of the first of a list of its chains
 * @next:   by chain, of the next one
 * @nexttop: by chains.top, of the next one of the same owner
 */
struct counting {
	const struct chains *all;
	const uint32_t *key;
	struct table *t;
	struct cell *cell;
	uint32_t *used, nused, capused;
	uint64_t *weight;
	uint32_t *first, *next;
	struct whose *whose;
	uint32_t nwhose, capwhose;
	struct idtab whosetab;
	uint32_t *nexttop;
};

static struct cell *cell_of(struct counting *c, uint32_t frame)
{
	uint32_t key = c->key[frame];
	struct cell *cell = &c->cell[key];

	if (!cell->used) {
		cell->used = true;
		APPEND(c->used, c->nused, c->capused) = key;
	}
	return cell;
}

/* Counts the chains whose callers are this node. */
static void count_leaves(struct counting *c, uint32_t node)
{
	uint32_t i;

	for (i = c->first[node]; i; i = c->next[i - 1]) {
		const struct chain *chain = &c->all->chain[i - 1];
		uint64_t weight = chain_weight(c->all, chain);
		struct cell *cell = cell_of(c, chain->frame);

		cell->samples += chain->count;
		cell->self += weight;
		if (!cell->open)
			cell->total += weight;
		c->t->weight += weight;
	}
}

static void enter(struct counting *c, uint32_t node)
{
	struct cell *cell = cell_of(c, c->all->node[node].frame);

	if (!cell->open++)
		cell->total += c->weight[node];
	count_leaves(c, node);
}

static void leave(struct counting *c, uint32_t node)
{
	c->cell[c->key[c->all->node[node].frame]].open--;
}

/* Counts everything below a node, without recursion: chains may be very long. */
static void count_tree(struct counting *c, uint32_t top)
{
	const struct chainnode *node = c->all->node;
	uint32_t at = top;

	count_leaves(c, top);
	for (;;) {
		if (node[at].down) {
			at = node[at].down;
			enter(c, at);
			continue;
		}
		while (at != top && !node[at].next) {
			leave(c, at);
			at = node[at].up;
		}
		if (at == top)
			return;
		leave(c, at);
		at = node[at].next;
		enter(c, at);
	}
}

/* The same if callers were kept as lists. */
static void count_lists(struct counting *c, uint32_t top)
{
	uint32_t at, i;

	count_leaves(c, top);
	for (at = c->all->node[top].down; at; at = c->all->node[at].next) {
		const struct chainnode *node = &c->all->node[at];
		const uint32_t *frame = c->all->list + node->first;

		for (i = 0; i < node->n; i++) {
			struct cell *cell = cell_of(c, frame[i]);

			if (!cell->open++)
				cell->total += c->weight[at];
		}
		count_leaves(c, at);
		for (i = 0; i < node->n; i++)
			c->cell[c->key[frame[i]]].open--;
	}
}

/* Makes rows of the cells, for the owner whose chains were counted. */
static void make_rows(struct counting *c, const struct whose *w)
{
	struct table *t = c->t;
	uint32_t i;

	for (i = 0; i < c->nused; i++) {
		struct cell *cell = &c->cell[c->used[i]];

		/* a function without samples of its own has no row */
		if (cell->samples) {
			APPEND(t->row, t->n, t->cap) = (struct row){
				.self = cell->self, .total = cell->total,
				.samples = cell->samples,
				.comm = w->comm, .group = w->group,
				.func = c->used[i],
			};
		}
		memset(cell, 0, sizeof(*cell));
	}
	c->nused = 0;
}

static struct whose *whose_of(struct counting *c, uint32_t comm,
			      uint32_t group)
{
	struct whose key = { .comm = comm, .group = group };
	uint32_t id = IDTAB_ID(&c->whosetab, hash_mix(comm, group), c->whose, c->nwhose,
			       c->capwhose, &key, e, e->comm == comm && e->group == group);

	return &c->whose[id];
}

/* Assigns the event's trees to their owners. */
static void find_owners(struct counting *c, const struct report *r,
			uint32_t event)
{
	uint32_t i;

	c->nexttop = xcalloc((size_t)c->all->ntop + 1, sizeof(*c->nexttop));
	for (i = 0; i < c->all->ntop; i++) {
		const struct chaintop *top = &c->all->top[i];
		struct whose *w;

		if (top->event != event)
			continue;
		w = whose_of(c, r->sort & SORT_COMM ? top->comm : 0,
			     r->same_group[top->group]);
		c->nexttop[i] = w->top;
		w->top = i + 1;
	}
}

static void find_leaves(struct counting *c)
{
	const struct chains *all = c->all;
	uint32_t i;

	c->first = xcalloc((size_t)all->nnode + 1, sizeof(*c->first));
	c->next = xcalloc((size_t)all->n + 1, sizeof(*c->next));
	for (i = all->n; i--;) {
		c->next[i] = c->first[all->chain[i].callers];
		c->first[all->chain[i].callers] = i + 1;
	}
}

void report_rows(struct table *t, const struct report *r, uint32_t event,
		 const uint32_t *key)
{
	const struct profile *p = &r->a.p;
	struct counting c = {
		.all = &p->chains, .key = key, .t = t,
		.cell = xcalloc((size_t)p->funcs.n + 1, sizeof(*c.cell)),
		.weight = chains_sums(&p->chains, true),
	};
	void (*count)(struct counting *c, uint32_t top) =
		p->chains.lists ? count_lists : count_tree;
	uint32_t i, top;

	memset(t, 0, sizeof(*t));
	find_leaves(&c);
	find_owners(&c, r, event);
	for (i = 0; i < c.nwhose; i++) {
		for (top = c.whose[i].top; top; top = c.nexttop[top - 1])
			count(&c, c.all->top[top - 1].node);
		make_rows(&c, &c.whose[i]);
	}
	free(c.cell);
	free(c.used);
	free(c.weight);
	free(c.first);
	free(c.next);
	free(c.whose);
	idtab_free(&c.whosetab);
	free(c.nexttop);
}
