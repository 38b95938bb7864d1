// SPDX-License-Identifier: BSD-2-Clause
/* Puts the chains of two logs into one tree, or counts them by label. */
#include <stdlib.h>

#include "analysis/shown.h"
#include "commands/diff/diff.h"

static uint32_t label_id(struct diff *d, const struct difflabel *l)
{
	uint64_t hash = hash_mix((uint64_t)l->name << 32 | l->obj, l->kind);

	return IDTAB_ID(&d->tab, hash, d->label, d->n, d->cap, l, e,
			e->name == l->name && e->obj == l->obj && e->kind == l->kind);
}

static uint32_t func_label(struct diff *d, struct analysis *a, uint32_t func)
{
	struct profile *p = &a->p;
	const struct object *o = &p->objs.obj[p->funcs.func[func].obj];
	struct difflabel l = { .kind = o->kind };
	char buf[SHOWN_MAX];

	l.named = func_named(&p->funcs.func[func]);
	l.name = strtab_id(&d->str, strtab_str(&p->str,
				func_shown(p, func, a->demangle)));
	l.obj = strtab_id(&d->str, shown_str(buf, &p->str, o->brief));
	return label_id(d, &l);
}

/* one of the two logs */
struct joining {
	struct diff *d;
	const struct profile *p;
};

static uint32_t comm_label(void *ctx, const struct chaintop *top)
{
	struct joining *j = ctx;
	struct diff *d = j->d;
	struct difflabel l = { .named = true };
	char buf[SHOWN_MAX];

	l.name = strtab_id(&d->str, shown_str(buf, &j->p->str, top->comm));
	return label_id(d, &l);
}

static void make_labels(struct diff *d)
{
	uint32_t i;
	int side;

	strtab_init(&d->str);
	for (side = BEFORE; side <= AFTER; side++) {
		uint32_t n = d->a[side].p.funcs.n;

		d->events[side] = analysis_mix(&d->a[side]);
		d->func[side] = xcalloc((size_t)n + 1, sizeof(uint32_t));
		for (i = 0; i < n; i++)
			d->func[side][i] = func_label(d, &d->a[side], i);
	}
}

static bool in_use(const struct analysis *a, const struct chainnode *c)
{
	const struct chains *all = &a->p.chains;

	if (c->up != CHAIN_NONE)
		c = &all->node[c->up];
	return a->use[all->top[c->frame].event];
}

/* Adds a chain's weight to the total of each function in it, once per function. */
static void count_lists(struct diff *d, int side, const uint32_t *label)
{
	const struct analysis *a = &d->a[side];
	const struct chains *all = &a->p.chains;
	uint64_t *weight = chains_sums(all, true);
	uint32_t *seen = xcalloc((size_t)d->n + 1, sizeof(*seen)), i, j, l;

	for (i = 0; i < all->nnode; i++) {
		const struct chainnode *c = &all->node[i];

		if (c->up == CHAIN_NONE || !in_use(a, c))
			continue;
		for (j = 0; j < c->n; j++) {
			l = label[all->list[c->first + j]];
			if (seen[l] != i)
				d->count[l].total[side] += weight[i];
			seen[l] = i;
		}
	}
	free(seen);
	free(weight);
}

/* True if the innermost function is also in the list of its callers. */
static bool is_caller(const struct chains *all, const struct chain *c,
		      const uint32_t *label)
{
	uint32_t first = all->node[c->callers].first, i;

	for (i = 0; i + 1 < c->n; i++)
		if (label[all->list[first + i]] == label[c->frame])
			return true;
	return false;
}

static void count_side(struct diff *d, int side)
{
	const struct analysis *a = &d->a[side];
	const struct profile *p = &a->p;
	uint32_t *label = xcalloc((size_t)p->frames.n + 1, sizeof(*label)), i;

	for (i = 0; i < p->frames.n; i++)
		label[i] = d->func[side][p->frames.frame[i].func];
	count_lists(d, side, label);
	for (i = 0; i < p->chains.n; i++) {
		const struct chain *c = &p->chains.chain[i];
		struct diffnode *of = &d->count[label[c->frame]];
		uint64_t weight = chain_weight(&p->chains, c);

		if (!a->use[c->event])
			continue;
		of->self[side] += weight;
		if (!is_caller(&p->chains, c, label))
			of->total[side] += weight;
		d->all[side] += weight;
		d->samples[side] += c->count;
	}
	free(label);
}

void diff_count(struct diff *d)
{
	make_labels(d);
	d->count = xcalloc((size_t)d->n + 1, sizeof(*d->count));
	count_side(d, BEFORE);
	count_side(d, AFTER);
}

static void count(struct diff *d, uint32_t node, int side, uint64_t weight, uint32_t *cap)
{
	d->node = xgrow_zero(d->node, cap, d->t.n, 1024, sizeof(*d->node));
	d->node[node].self[side] += weight;
}

static void add_chains(struct diff *d, int side, uint32_t *cap)
{
	const struct analysis *a = &d->a[side];
	struct joining j = { d, &a->p };
	struct calllabels labels = { d->func[side], comm_label, &j };
	uint32_t *at = calltree_chains(&d->t, &a->p, a->use, &labels), i;

	for (i = 0; i < a->p.chains.n; i++) {
		const struct chain *c = &a->p.chains.chain[i];
		uint64_t weight = chain_weight(&a->p.chains, c);

		if (!a->use[c->event])
			continue;
		d->t.node[at[i]].self += weight;
		count(d, at[i], side, weight, cap);
		d->all[side] += weight;
		d->samples[side] += c->count;
	}
	free(at);
}

/* Parents come before their children. */
static void sum(struct diff *d)
{
	uint32_t i;
	int side;

	for (i = 0; i < d->t.n; i++)
		memcpy(d->node[i].total, d->node[i].self,
		       sizeof(d->node[i].total));
	for (i = d->t.n; --i > CALLTREE_ROOT;)
		for (side = BEFORE; side <= AFTER; side++)
			d->node[d->t.node[i].parent].total[side] +=
				d->node[i].total[side];
	calltree_sum(&d->t);
}

void diff_join(struct diff *d)
{
	uint32_t cap = 0;

	make_labels(d);
	calltree_init(&d->t);
	count(d, CALLTREE_ROOT, BEFORE, 0, &cap);
	add_chains(d, BEFORE, &cap);
	add_chains(d, AFTER, &cap);
	sum(d);
}

double diff_share(const struct diff *d, int side, uint64_t weight)
{
	return d->all[side] ? (double)weight / (double)d->all[side] : 0;
}

void diff_free(struct diff *d)
{
	free(d->func[BEFORE]);
	free(d->func[AFTER]);
	free(d->label);
	idtab_free(&d->tab);
	free(d->count);
	free(d->node);
	calltree_free(&d->t);
	strtab_free(&d->str);
}
