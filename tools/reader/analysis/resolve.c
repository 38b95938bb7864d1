// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include "analysis/objsyms.h"
#include "analysis/resolve.h"
#include "analysis/shown.h"

uint32_t func_number(struct funcs *t, const struct func *key)
{
	uint64_t hash = hash_mix((uint64_t)key->obj << 32 | key->name,
				 key->entry);

	if (key->line || key->inlined)
		hash = hash_mix(hash, ((uint64_t)key->file << 32 | key->line) +
				      key->inlined);
	return IDTAB_ID(&t->tab, hash, t->func, t->n, t->cap, key, e,
			e->name == key->name && e->obj == key->obj && e->entry == key->entry &&
			e->file == key->file && e->line == key->line &&
			e->inlined == key->inlined);
}

static uint32_t func_id(struct funcs *t, uint32_t obj, uint32_t name,
			uint64_t entry)
{
	struct func key = { .obj = obj, .name = name, .entry = entry };

	return func_number(t, &key);
}

static uint32_t file_func(struct profile *p, const struct sym *sym,
			  const struct frame *f)
{
	if (!sym)
		return func_id(&p->funcs, f->obj, 0, 0);
	if (!sym->name)
		return func_id(&p->funcs, f->obj, 0, sym->start);
	return func_id(&p->funcs, f->obj, strtab_id(&p->str, sym->name), 0);
}

/* The table may have modules that are not in the log. */
static uint32_t kernel_func(struct profile *p, const struct sym *sym,
			    const struct frame *f)
{
	const struct object *o = &p->objs.obj[f->obj];
	uint32_t obj = f->obj;

	if (sym && o->kind == OBJ_MODULE && sym->mod != o->path)
		sym = NULL;
	/* the table is not trusted: a name may be missing */
	if (!sym || !sym->name)
		return func_id(&p->funcs, obj, 0, 0);
	if (sym->mod && o->kind == OBJ_KERNEL) {
		struct object mod = { .kind = OBJ_MODULE, .path = sym->mod };

		obj = objects_id(&p->objs, &p->str, &mod);
	}
	return func_id(&p->funcs, obj, strtab_id(&p->str, sym->name), 0);
}

static bool is_kernel(const struct profile *p, uint32_t obj)
{
	return obj_is_kernel(p->objs.obj[obj].kind);
}

/* The symbol of a frame; @s: its object's symbols, if it is not the kernel's. */
static const struct sym *find(const struct profile *p, const struct ksyms *k,
			      const struct objsyms *s, const struct frame *f)
{
	if (is_kernel(p, f->obj))
		return symtab_find(&k->tab, f->addr);
	return s ? objsyms_find(s, f->addr) : NULL;
}

static uint32_t func_of(struct profile *p, const struct sym *sym,
			const struct frame *f)
{
	return is_kernel(p, f->obj) ? kernel_func(p, sym, f) :
				      file_func(p, sym, f);
}

uint32_t resolve_frame(struct profile *p, const struct ksyms *k,
		       const struct objsyms *s, const struct frame *f)
{
	return func_of(p, find(p, k, s, f), f);
}

/* Frames [from, to) of the order, all in one object: each symbol is one function. */
struct resolving {
	struct profile *p;
	const struct ksyms *k;
};

static void resolve_object(void *ctx, const uint32_t *from, const uint32_t *to)
{
	const struct resolving *r = ctx;
	struct profile *p = r->p;
	const struct ksyms *k = r->k;
	uint32_t obj = p->frames.frame[*from].obj, *func1, *known;
	const struct symtab *t = &k->tab;
	struct objsyms syms = { 0 };

	if (!is_kernel(p, obj)) {
		p->objs.obj[obj].why = objsyms_open(&syms, p, obj);
		t = &syms.tab;
	}
	func1 = xcalloc(t->n + 1, sizeof(*func1));
	for (; from < to; from++) {
		struct frame *f = &p->frames.frame[*from];
		const struct sym *sym = find(p, k, &syms, f);

		known = &func1[sym ? (size_t)(sym - t->sym) : t->n];
		if (!*known)
			*known = func_of(p, sym, f) + 1;
		f->func = *known - 1;
	}
	free(func1);
	objsyms_close(&syms);
}

/* Counting sort keeps it linear. */
void frames_by_object(const struct profile *p,
		      void (*f)(void *ctx, const uint32_t *from, const uint32_t *to), void *ctx)
{
	const struct frames *t = &p->frames;
	uint32_t *at = xcalloc((size_t)p->objs.n + 1, sizeof(*at));
	uint32_t *order = xreallocarray(NULL, t->n, sizeof(*order)), i;
	uint32_t n = t->n, from = 0;

	for (i = 0; i < t->n; i++)
		at[t->frame[i].obj + 1]++;
	for (i = 1; i < p->objs.n; i++)
		at[i] += at[i - 1];
	for (i = 0; i < t->n; i++)
		order[at[t->frame[i].obj]++] = i;
	free(at);
	for (i = 1; i <= n; i++) {
		if (i < n && t->frame[order[i]].obj == t->frame[order[from]].obj)
			continue;
		f(ctx, order + from, order + i);
		from = i;
	}
	free(order);
}

/* Counts the samples without a name by object. */
static void count_lost(struct profile *p, const bool *use)
{
	uint32_t i;

	for (i = 0; i < p->chains.n; i++) {
		const struct chain *c = &p->chains.chain[i];
		const struct frame *f = &p->frames.frame[c->frame];

		if (use[c->event] && !p->funcs.func[f->func].name)
			p->objs.obj[f->obj].lost += c->count;
	}
}

void resolve_frames(struct profile *p, const struct ksyms *k, const bool *use)
{
	frames_by_object(p, resolve_object, &(struct resolving){ p, k });
	count_lost(p, use);
}

/* Appends the line, if functions are grouped by line. */
static void add_line(const struct profile *p, const struct func *f,
		     char buf[SHOWN_MAX])
{
	size_t len = strlen(buf);
	char file[SHOWN_MAX], tail[SHOWN_MAX + 16];

	if (!p->by_line || !f->line)
		return;
	shown_name(file, basename(strtab_str(&p->str, f->file)), false);
	snprintf(tail, sizeof(tail), " (%s:%u)", file, f->line);
	if (len + strlen(tail) < SHOWN_MAX)
		strcpy(buf + len, tail);
}

uint32_t func_shown(struct profile *p, uint32_t func, bool demangle)
{
	struct func *f = &p->funcs.func[func];
	char buf[SHOWN_MAX], *raw;
	const char *obj;

	if (f->shown)
		return f->shown;
	if (f->name) {
		shown_name(buf, strtab_str(&p->str, f->name), demangle);
	} else {
		obj = strtab_str(&p->str, p->objs.obj[f->obj].brief);
		if (f->entry)
			raw = xasprintf("%s+%#llx", obj,
					(unsigned long long)f->entry);
		else
			raw = xasprintf(*obj == '[' ? "%s" : "[%s]", obj);
		shown_name(buf, raw, false);
		free(raw);
	}
	add_line(p, f, buf);
	return f->shown = strtab_id(&p->str, buf);
}

/* @by_path: images are shown by path, not in brief */
struct looks {
	const struct profile *p;
	bool by_path;
};

static uint32_t image_shown(const struct looks *l, const struct func *f)
{
	const struct object *o = &l->p->objs.obj[f->obj];

	return l->by_path ? o->path : o->brief;
}

static bool same_looks(const struct looks *l, const struct func *a, const struct func *b)
{
	const struct profile *p = l->p;
	const struct object *oa = &p->objs.obj[a->obj];
	const struct object *ob = &p->objs.obj[b->obj];

	if (p->by_line && (a->file != b->file || a->line != b->line))
		return false;
	return a->name == b->name && a->entry == b->entry &&
	       image_shown(l, a) == image_shown(l, b) && oa->kind == ob->kind &&
	       a->inlined == b->inlined;
}

static uint32_t *looking_the_same(const struct looks *l)
{
	const struct profile *p = l->p;
	uint32_t *same = xcalloc((size_t)p->funcs.n + 1, sizeof(*same)), i;
	struct idtab tab = { 0 };

	for (i = 0; i < p->funcs.n; i++) {
		const struct func *f = &p->funcs.func[i];
		uint64_t hash = hash_mix((uint64_t)f->name << 32 |
					 image_shown(l, f), f->entry +
					 (p->by_line ? f->line : 0));

		same[i] = IDTAB_FIND(&tab, hash, p->funcs.func, e, same_looks(l, e, f));
		if (same[i] == IDTAB_NONE)
			idtab_add(&tab, hash, same[i] = i);
	}
	idtab_free(&tab);
	return same;
}

uint32_t *funcs_same(const struct profile *p)
{
	return looking_the_same(&(struct looks){ p, false });
}

uint32_t *funcs_same_by_path(const struct profile *p)
{
	return looking_the_same(&(struct looks){ p, true });
}
