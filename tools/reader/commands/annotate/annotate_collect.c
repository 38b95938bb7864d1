// SPDX-License-Identifier: BSD-2-Clause
/* Collects the sampled functions, and the samples at each address in them. */
#include <stdlib.h>

#include "analysis/objsyms.h"
#include "analysis/shown.h"
#include "base/order.h"
#include "base/say.h"
#include "commands/annotate/annotate.h"

/**
 * struct collecting - one run over the samples
 * @wanted: by function
 * @body:   by frame: number + 1 of the function that samples were taken in
 * @addr:   by frame: address in the file
 * @alike:  weights of different events can be added up
 */
struct collecting {
	struct annotate *n;
	bool *wanted;
	uint32_t *body;
	uint64_t *addr;
	bool alike;
};

/*
 * Matches the raw symbol, or the demangled name with or without parameters; or what is
 * shown for a function without a name, the file and where it begins.
 */
static bool is_named(struct annotate *n, uint32_t func, const char *name)
{
	struct profile *p = &n->a.p;
	const struct func *f = &p->funcs.func[func];
	const char *raw = strtab_str(&p->str, p->funcs.func[func].name);
	char shown[SHOWN_MAX];
	size_t len = strlen(name);

	if (!f->name)
		return f->entry && !strcmp(strtab_str(&p->str, func_shown(p, func, false)), name);
	if (!strcmp(raw, name))
		return true;
	shown_name(shown, raw, true);
	return !strncmp(shown, name, len) &&
	       (!shown[len] || shown[len] == '(' || shown[len] == '[');
}

static void want_named(struct annotate *n, bool *wanted)
{
	uint32_t i, k;

	for (i = 0; i < n->a.p.funcs.n; i++)
		for (k = 0; k < n->nsymbols && !wanted[i]; k++)
			wanted[i] = is_named(n, i, n->symbol[k]);
}

static void want_all(struct annotate *n, bool *wanted)
{
	uint32_t i;

	for (i = 0; i < n->a.p.funcs.n; i++)
		wanted[i] = func_named(&n->a.p.funcs.func[i]);
}

static int column_of(const struct annotate *n, uint32_t event)
{
	uint32_t i;

	for (i = 0; i < n->nevents; i++)
		if (n->event[i] == event)
			return (int)i;
	return -1;
}

static uint32_t body_id(struct bodies *t, const struct body *key)
{
	return IDTAB_ID(&t->tab, hash_mix(key->obj, key->start), t->body, t->n, t->cap, key, e,
			e->obj == key->obj && e->start == key->start);
}

static void place_frame(struct collecting *c, const struct objsyms *s,
			uint32_t number)
{
	struct profile *p = &c->n->a.p;
	const struct frame *f = &p->frames.frame[number];
	bool kernel = obj_is_kernel(p->objs.obj[f->obj].kind);
	uint64_t slide = kernel ? c->n->a.k.slide : 0;
	const struct sym *sym = kernel ?
		symtab_find(&c->n->a.k.tab, f->addr) : objsyms_find(s, f->addr);
	struct body key = { .func = f->func };

	if (!sym)
		return;
	/* a kernel frame's module is known by the function only */
	key.obj = p->funcs.func[f->func].obj;
	key.start = sym->start - slide;
	key.end = sym->end - slide;
	c->addr[number] = f->addr - slide;
	if (!kernel && !elfsyms_vaddr(&s->segs, f->addr, &c->addr[number]))
		return;
	c->body[number] = body_id(&c->n->t, &key) + 1;
}

/* Frames [from, to) of the order, all in one object. */
static void place_object(void *ctx, const uint32_t *from, const uint32_t *to)
{
	struct collecting *c = ctx;
	struct profile *p = &c->n->a.p;
	uint32_t obj = p->frames.frame[*from].obj;
	bool kernel = obj_is_kernel(p->objs.obj[obj].kind), open = false;
	struct objsyms syms = { 0 };

	for (; from < to; from++) {
		if (!c->wanted[p->frames.frame[*from].func])
			continue;
		if (!open && !kernel)
			objsyms_open(&syms, p, obj);
		open = true;
		place_frame(c, &syms, *from);
	}
	objsyms_close(&syms);
}

static void count_chain(struct collecting *c, const struct chain *chain)
{
	uint32_t frame = chain->frame, number = c->body[frame];
	uint64_t weight = chain_weight(&c->n->a.p.chains, chain);
	int column = column_of(c->n, chain->event);
	struct body *b;
	struct spot *s;

	if (column < 0)
		return;
	c->n->all[column] += weight;
	if (!number)
		return;
	b = &c->n->t.body[number - 1];
	s = &APPEND(b->spot, b->n, b->cap);
	memset(s, 0, sizeof(*s));
	s->addr = c->addr[frame];
	s->n.count[column] = chain->count;
	s->n.weight[column] = weight;
	b->sum.count[column] += chain->count;
	b->sum.weight[column] += weight;
	b->total += c->alike ? weight : chain->count;
}

DEFINE_ORDER(by_addr, struct spot, ORDER(a->addr, b->addr))

DEFINE_ORDER(by_total, struct body,
	     ORDER(b->total, a->total) ?: ORDER(a->obj, b->obj) ?: ORDER(a->start, b->start))

/* Names the functions of the command line that were not sampled, if others were. */
static void tell_missing(struct annotate *n)
{
	uint32_t i, k;

	for (k = 0; k < n->nsymbols; k++) {
		for (i = 0; i < n->t.n && n->t.body[i].total; i++)
			if (is_named(n, n->t.body[i].func, n->symbol[k]))
				break;
		if (i && (i == n->t.n || !n->t.body[i].total))
			warn_line("%s: no samples in %s", n->a.path, n->symbol[k]);
	}
}

void annotate_collect(struct annotate *n)
{
	struct profile *p = &n->a.p;
	struct collecting c = {
		.n = n, .alike = analysis_weighs(&n->a),
		.wanted = xcalloc((size_t)p->funcs.n + 1, sizeof(*c.wanted)),
		.body = xcalloc((size_t)p->frames.n + 1, sizeof(*c.body)),
		.addr = xcalloc((size_t)p->frames.n + 1, sizeof(*c.addr)),
	};
	uint32_t i;

	if (n->hottest)
		want_all(n, c.wanted);
	else
		want_named(n, c.wanted);
	frames_by_object(&n->a.p, place_object, &c);
	for (i = 0; i < p->chains.n; i++)
		count_chain(&c, &p->chains.chain[i]);
	for (i = 0; i < n->t.n; i++)
		if (n->t.body[i].n)
			qsort(n->t.body[i].spot, n->t.body[i].n,
			      sizeof(struct spot), by_addr);
	if (n->t.n)
		qsort(n->t.body, n->t.n, sizeof(*n->t.body), by_total);
	tell_missing(n);
	free(c.wanted);
	free(c.body);
	free(c.addr);
}

void annotate_free(struct annotate *n)
{
	uint32_t i;

	for (i = 0; i < n->t.n; i++)
		free(n->t.body[i].spot);
	free(n->t.body);
	idtab_free(&n->t.tab);
}
