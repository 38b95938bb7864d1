// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "profile/chains.h"

static bool same_top(const struct chaintop *a, const struct chaintop *b)
{
	return a->event == b->event && a->comm == b->comm &&
	       a->group == b->group;
}

static uint32_t add_node(struct chains *t, uint32_t up, uint32_t frame)
{
	GROW(t->node, t->nnode, t->capnode);
	t->node[t->nnode] = (struct chainnode){
		.up = up, .frame = frame,
	};
	return t->nnode++;
}

uint32_t chains_top(struct chains *t, uint32_t event, uint32_t comm,
		    uint32_t group)
{
	struct chaintop key = { event, comm, group, 0 };
	uint64_t hash;
	uint32_t id;

	if (t->ntop && same_top(&t->top[t->lasttop], &key))
		return t->top[t->lasttop].node;
	hash = hash_mix((uint64_t)event << 32 | comm, group);
	id = IDTAB_FIND(&t->toptab, hash, t->top, e, same_top(e, &key));
	if (id == IDTAB_NONE) {
		GROW(t->top, t->ntop, t->captop);
		key.node = add_node(t, CHAIN_NONE, t->ntop);
		t->top[t->ntop] = key;
		idtab_add(&t->toptab, hash, t->ntop);
		id = t->ntop++;
	}
	t->lasttop = id;
	return t->top[id].node;
}

/* A unique hash for each node and frame. */
static uint64_t hash_below(uint32_t node, uint32_t frame)
{
	return hash_number((uint64_t)node << 32 | frame);
}

uint32_t chains_step(struct chains *t, uint32_t callers, uint32_t frame)
{
	uint32_t first = t->node[callers].down, id;
	uint64_t hash;

	if (!first) {
		id = add_node(t, callers, frame);
		return t->node[callers].down = id;
	}
	if (t->node[first].frame == frame)
		return first;
	hash = hash_below(callers, frame);
	id = idtab_find_exact(&t->nodetab, hash, 0);
	if (id == IDTAB_NONE) {
		id = add_node(t, callers, frame);
		t->node[id].next = t->node[first].next;
		t->node[first].next = id;
		idtab_add_exact(&t->nodetab, hash, 0, id);
	}
	return id;
}

uint32_t chains_find_list(const struct chains *t, uint64_t hash, uint32_t more)
{
	return idtab_find_exact(&t->nodetab, hash, more);
}

void chains_prefetch_list(const struct chains *t, uint64_t hash)
{
	idtab_prefetch(&t->nodetab, hash);
}

/* Indices beyond 32 bits fail the allocation, as without memory. */
static void list_room(struct chains *t, uint32_t n)
{
	if (n <= t->caplist - t->nlist)
		return;
	t->caplist = 2 * (t->nlist + n);
	if (t->caplist > UINT32_MAX)
		t->caplist = SIZE_MAX;
	t->list = xreallocarray(t->list, t->caplist, sizeof(*t->list));
}

uint32_t chains_add_list(struct chains *t, uint32_t top, const uint32_t *frame,
			 uint32_t n, uint64_t hash, uint32_t more)
{
	uint32_t id = add_node(t, top, (uint32_t)t->nlist);

	list_room(t, n);
	memcpy(t->list + t->nlist, frame, n * sizeof(*frame));
	t->nlist += n;
	t->node[id].n = n;
	t->node[id].next = t->node[top].down;
	t->node[top].down = id;
	idtab_add_exact(&t->nodetab, hash, more, id);
	return id;
}

void chains_prefetch_node(const struct chains *t, uint32_t callers)
{
	__builtin_prefetch(&t->node[callers]);
}

void chains_prefetch(const struct chains *t, uint32_t callers, uint32_t frame)
{
	const struct chainnode *c = &t->node[callers];

	if (c->chain && c->leaf == frame)
		__builtin_prefetch(&t->chain[c->chain - 1]);
	else if (c->chain)
		idtab_prefetch(&t->chaintab, hash_below(callers, frame));
}

static void make_view(struct chains *t, uint32_t n)
{
	if (n <= t->longest)
		return;
	t->longest = n + 64;
	t->view = xreallocarray(t->view, (size_t)t->longest + 1,
				sizeof(uint32_t));
	t->view->callers = CHAIN_NONE;
}

static uint32_t add_chain(struct chains *t, uint32_t top, uint32_t callers,
			  uint32_t frame, uint32_t n)
{
	const struct chaintop *of = &t->top[t->node[top].frame];

	make_view(t, n);
	GROW(t->chain, t->n, t->cap);
	t->chain[t->n] = (struct chain){
		.callers = callers, .frame = frame, .n = n,
		.event = of->event, .comm = of->comm, .group = of->group,
	};
	return t->n++;
}

uint32_t chains_id(struct chains *t, uint32_t top, uint32_t callers,
		   uint32_t frame, uint32_t n)
{
	struct chainnode *c = &t->node[callers];
	uint64_t hash;
	uint32_t id;

	if (!c->chain) {
		c->chain = add_chain(t, top, callers, frame, n) + 1;
		c->leaf = frame;
		return c->chain - 1;
	}
	if (c->leaf == frame)
		return c->chain - 1;
	hash = hash_below(callers, frame);
	id = idtab_find_exact(&t->chaintab, hash, 0);
	if (id == IDTAB_NONE) {
		id = add_chain(t, top, callers, frame, n);
		idtab_add_exact(&t->chaintab, hash, 0, id);
	}
	return id;
}

void chains_weigh(struct chains *t, uint32_t chain, uint64_t more)
{
	t->more = xgrow_zero(t->more, &t->nmore, chain, 1024, sizeof(*t->more));
	t->more[chain] += more;
}

void chains_unweigh(struct chains *t)
{
	free(t->more);
	t->more = NULL;
	t->nmore = 0;
}

void chains_uncount(struct chains *t, uint32_t chain, uint64_t weight)
{
	t->chain[chain].count--;
	if (chain < t->nmore)
		t->more[chain] -= weight - 1;
}

void chains_finish(struct chains *t)
{
	uint32_t i, n = 0;

	t->finished = true;
	idtab_free(&t->chaintab);
	idtab_free(&t->nodetab);
	for (i = 0; i < t->n; i++) {
		if (!t->chain[i].count)
			continue;
		if (n < t->nmore)
			t->more[n] = i < t->nmore ? t->more[i] : 0;
		t->chain[n++] = t->chain[i];
	}
	t->n = n;
}

/* Rebuilds the table of nodes; lists are no longer shared. */
static void reopen(struct chains *t)
{
	uint32_t i;

	t->finished = false;
	for (i = 0; !t->lists && i < t->nnode; i++) {
		const struct chainnode *c = &t->node[i];

		if (c->up != CHAIN_NONE && t->node[c->up].down != i)
			idtab_add_exact(&t->nodetab,
					hash_below(c->up, c->frame), 0, i);
	}
}

/* A node for a list of frames; lists added with other hashes are not found. */
static uint32_t list_id(struct chains *t, uint32_t top, const uint32_t *frame,
			uint32_t n)
{
	uint64_t hash = hash_bytes(frame, n * sizeof(*frame), top);
	uint32_t id = n ? chains_find_list(t, hash, *frame) : top;

	return id == CHAIN_NONE ?
	       chains_add_list(t, top, frame, n, hash, *frame) : id;
}

void chains_replace(struct chains *t, struct chain *c, const uint32_t *frames,
		    uint32_t n)
{
	uint32_t at = chains_top(t, c->event, c->comm, c->group), i;

	if (t->finished)
		reopen(t);
	make_view(t, n);
	if (t->lists)
		at = list_id(t, at, frames + 1, n - 1);
	for (i = t->lists ? 1 : n; --i;)
		at = chains_step(t, at, frames[i]);
	c->callers = at;
	c->frame = frames[0];
	c->n = n;
}

void chains_free(struct chains *t)
{
	idtab_free(&t->chaintab);
	idtab_free(&t->nodetab);
	idtab_free(&t->toptab);
	free(t->chain);
	free(t->more);
	free(t->node);
	free(t->list);
	free(t->top);
	free(t->view);
}

const uint32_t *chain_frames(const struct chains *t, const struct chain *c)
{
	struct chainview *v = t->view;
	uint32_t i, at = c->callers;

	v->frame[0] = c->frame;
	if (v->callers == c->callers)
		return v->frame;
	v->callers = c->callers;
	if (t->lists) {
		if (c->n > 1)
			memcpy(v->frame + 1, t->list + t->node[at].first,
			       (c->n - 1) * sizeof(*v->frame));
		return v->frame;
	}
	for (i = 1; i < c->n; i++) {
		v->frame[i] = t->node[at].frame;
		at = t->node[at].up;
	}
	return v->frame;
}

uint64_t *chains_sums(const struct chains *t, bool weights)
{
	uint64_t *w = xcalloc((size_t)t->nnode + 1, sizeof(*w));
	const struct chain *c;
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		c = &t->chain[i];
		w[c->callers] += weights ? chain_weight(t, c) : c->count;
	}
	/* a node is behind its callers */
	for (i = t->nnode; i--;)
		if (t->node[i].up != CHAIN_NONE)
			w[t->node[i].up] += w[i];
	return w;
}
