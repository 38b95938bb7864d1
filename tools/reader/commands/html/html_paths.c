// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call paths, and the choice of those with most samples.  Samples of paths that
 * are left out get a node of their own below the caller; added to the caller's
 * own samples they would falsify these.
 */
#include <stdlib.h>

#include "analysis/resolve.h"
#include "base/order.h"
#include "commands/html/html.h"

/* The series has the command: all paths begin at one node. */
static uint32_t one_label(void *ctx, const struct chaintop *top)
{
	(void)ctx;
	(void)top;
	return 0;
}

void paths_build(struct paths *t, const struct profile *p, const bool *use)
{
	struct calllabels labels = { .top = one_label };
	uint32_t i;

	labels.func = t->same = funcs_same(p);
	calltree_init(&t->tree);
	t->leaf = calltree_chains(&t->tree, p, use, &labels);
	t->weight = xcalloc(t->tree.n, sizeof(*t->weight));
	for (i = 0; i < p->chains.n; i++) {
		const struct chain *c = &p->chains.chain[i];

		if (use[c->event])
			t->weight[t->leaf[i]] +=
				(double)chain_weight(&p->chains, c) /
				(double)event_weight(&p->events.event[c->event]);
	}
	for (i = t->tree.n; --i > CALLTREE_ROOT;)
		t->weight[t->tree.node[i].parent] += t->weight[i];
}

DEFINE_ORDER(by_weight, double, ORDER(*b, *a))

/* Parents of kept nodes are kept, too: a child is never heavier than its parent. */
static double limit_of(const struct paths *t, uint32_t max)
{
	double *sorted, limit;

	if (t->tree.n <= max)
		return 0;
	sorted = xreallocarray(NULL, t->tree.n, sizeof(*sorted));
	memcpy(sorted, t->weight, t->tree.n * sizeof(*sorted));
	qsort(sorted, t->tree.n, sizeof(*sorted), by_weight);
	limit = sorted[max];
	free(sorted);
	return limit;
}

static uint32_t new_node(struct choice *c, uint32_t parent, uint32_t func,
			 uint32_t of)
{
	c->parent[c->n] = parent;
	c->func[c->n] = func;
	c->of[c->n] = of;
	c->rest[c->n] = 0;
	return c->n++;
}

static uint32_t rest_of(struct choice *c, uint32_t node, uint32_t of)
{
	if (!c->rest[node])
		c->rest[node] = new_node(c, node, HTML_NONE, of);
	return c->rest[node];
}

static void number_left_out(const struct paths *t, struct choice *c,
			    const bool *kept)
{
	uint32_t i;

	for (i = 2; i < t->tree.n; i++) {
		uint32_t up = t->tree.node[i].parent;

		if (kept[i])
			continue;
		c->left_out++;
		c->number[i] = kept[up] ? rest_of(c, c->number[up], i) :
					  c->number[up];
	}
}

void paths_choose(const struct paths *t, struct choice *c, uint32_t max)
{
	bool *kept = xcalloc((size_t)t->tree.n + 2, sizeof(*kept));
	size_t room = (size_t)t->tree.n * 2 + 2;
	uint32_t i;

	choice_free(c);
	c->limit = limit_of(t, max);
	c->number = xcalloc((size_t)t->tree.n + 2, sizeof(*c->number));
	c->func = xreallocarray(NULL, room, sizeof(*c->func));
	c->parent = xreallocarray(NULL, room, sizeof(*c->parent));
	c->rest = xreallocarray(NULL, room, sizeof(*c->rest));
	c->of = xreallocarray(NULL, room, sizeof(*c->of));
	/* the root, and its only child, through which all paths go */
	c->number[0] = c->number[1] = new_node(c, 0, HTML_NONE, 0);
	kept[0] = kept[1] = true;
	for (i = 2; i < t->tree.n; i++) {
		const struct callnode *n = &t->tree.node[i];

		kept[i] = kept[n->parent] && t->weight[i] > c->limit;
		if (kept[i])
			c->number[i] = new_node(c, c->number[n->parent],
						n->label, i);
	}
	number_left_out(t, c, kept);
	free(kept);
}

uint32_t *choice_within(const struct choice *few, struct choice *many)
{
	uint32_t *to = xreallocarray(NULL, few->n, sizeof(*to)), i;

	to[0] = 0;
	for (i = 1; i < few->n; i++)
		to[i] = few->func[i] != HTML_NONE ? many->number[few->of[i]] :
			rest_of(many, to[few->parent[i]], few->of[i]);
	return to;
}

void choice_free(struct choice *c)
{
	free(c->number);
	free(c->func);
	free(c->parent);
	free(c->rest);
	free(c->of);
	memset(c, 0, sizeof(*c));
}

void paths_free(struct paths *t)
{
	calltree_free(&t->tree);
	free(t->same);
	free(t->leaf);
	free(t->weight);
}
