// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "calltree.h"

static bool same_node(const void *ctx, uint32_t id, const void *key)
{
	const struct callnode *a = &((const struct calltree *)ctx)->node[id];
	const struct callnode *b = key;

	return a->parent == b->parent && a->label == b->label;
}

static uint32_t step(struct calltree *t, uint32_t parent, uint32_t label)
{
	struct callnode key = { .label = label, .parent = parent };
	uint64_t hash = hash_mix(parent, label);
	uint32_t id = idtab_find(&t->tab, hash, same_node, t, &key);

	if (id != IDTAB_NONE)
		return id;
	GROW(t->node, t->n, t->cap);
	key.next = t->node[parent].child;
	t->node[parent].child = t->n;
	t->node[t->n] = key;
	idtab_add(&t->tab, hash, t->n);
	return t->n++;
}

void calltree_build(struct calltree *t, const struct profile *p,
		    const bool *use, const struct calllabels *l)
{
	uint32_t i, j, at;

	memset(t, 0, sizeof(*t));
	GROW(t->node, t->n, t->cap);
	memset(&t->node[t->n++], 0, sizeof(*t->node));
	for (i = 0; i < p->chains.n; i++) {
		const struct chain *c = &p->chains.chain[i];

		if (!use[c->event])
			continue;
		at = step(t, CALLTREE_ROOT, l->comm(l->ctx, c->comm));
		for (j = c->n; j--;) {
			const struct frame *f = &p->frames.frame[c->frames[j]];

			at = step(t, at, l->func[f->func]);
		}
		t->node[at].self += c->count;
	}
	for (i = t->n; i--;) {
		t->node[i].total += t->node[i].self;
		if (i)
			t->node[t->node[i].parent].total += t->node[i].total;
	}
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
	idtab_free(&t->tab);
}
