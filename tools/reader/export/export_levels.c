// SPDX-License-Identifier: BSD-2-Clause
/* Functions inlined at a frame, and their source lines. */
#include <unistd.h>

#include "elf/inlines.h"
#include "export/export.h"

#define CODES	64U		/* of jitdumps, whose lines are kept */

/* lines of a piece of code, by its place in the jitdump of the object */
struct code_lines {
	uint32_t obj;
	uint64_t off;
	struct jitlines lines;
	bool used;
};

/* the debug information of an object; @ok: it has some */
struct source_object {
	struct inlines x;
	bool tried, ok;
};

/**
 * struct sources - source positions of frames
 * @obj:   by object
 * @level: the levels of all frames
 * @of:    by frame: its levels; @n 0: not looked up yet
 * @code:  by hash of the code: the last one
 */
struct sources {
	struct source_object *obj;
	uint32_t nobj;
	struct level *level;
	uint32_t nlevels, caplevels;
	struct { uint32_t first, n; } *of;
	uint32_t nof;
	struct code_lines code[CODES];
};

/* Kernel modules have debug files of their own. */
static bool open_object(struct export *e, struct inlines *x, uint32_t obj)
{
	struct profile *p = &e->a.p;
	struct objfile f;
	bool ok;

	if (p->objs.obj[obj].kind == OBJ_KERNEL)
		return e->r.k.elf && inlines_open(x, e->r.k.root,
						  e->r.k.source);
	if (p->objs.obj[obj].kind != OBJ_FILE)
		return false;
	ok = objsyms_file(&f, p, obj) && inlines_open(x, &f.root, f.path);
	free(f.path);
	return ok;
}

static struct inlines *source_of(struct export *e, struct sources *t,
				 uint32_t obj)
{
	struct source_object *o;

	t->obj = xgrow_zero(t->obj, &t->nobj, obj, 64, sizeof(*t->obj));
	o = &t->obj[obj];
	if (!o->tried) {
		o->tried = true;
		o->ok = open_object(e, &o->x, obj);
	}
	return o->ok ? &o->x : NULL;
}

static void set_place(struct export *e, struct level *l,
		      const struct src_frame *at)
{
	struct func f = e->a.p.funcs.func[l->func];

	if (!at->file || !at->line)
		return;
	l->file = strtab_id(&e->a.p.str, at->file);
	l->line = (uint32_t)at->line;
	if (!e->a.p.by_line)
		return;
	f.shown = 0;
	f.file = l->file;
	f.line = l->line;
	l->func = func_number(&e->a.p.funcs, &f);
}

static void add_level(struct export *e, struct sources *t, uint32_t func,
		      const struct src_frame *at)
{
	struct level l = { .func = func };

	if (at)
		set_place(e, &l, at);
	APPEND(t->level, t->nlevels, t->caplevels) = l;
}

static uint32_t inlined(struct export *e, uint32_t obj,
			const struct src_frame *at)
{
	struct func f = { .obj = obj, .inlined = true };

	f.name = strtab_id(&e->a.p.str, at->func ? at->func : "??");
	return func_number(&e->a.p.funcs, &f);
}

static struct jitlines *lines_of(struct export *e, struct sources *t, uint32_t obj,
				 struct jit *j, const struct jitcode *code)
{
	struct code_lines *c = &t->code[hash_mix(code->off, obj) % CODES];
	const char *why;
	int fd;

	if (c->used && c->obj == obj && c->off == code->off)
		return &c->lines;
	fd = jits_open(&e->a.p, j, &why);
	if (fd < 0)
		return NULL;
	jitlines_free(&c->lines);
	*c = (struct code_lines){ .obj = obj, .off = code->off, .used = true };
	jitlines_read(&c->lines, &j->dump, code, fd);
	close(fd);
	return &c->lines;
}

static void look_in_jit(struct export *e, struct sources *t, uint32_t frame, struct jit *j)
{
	const struct frame *f = &e->a.p.frames.frame[frame];
	const struct jitcode *code = e->lines ? jitdump_code(&j->dump, f->addr) : NULL;
	struct jitlines *lines = code ? lines_of(e, t, f->obj, j, code) : NULL;
	const struct jitline *line = lines ? jitlines_find(lines, code->addr + (f->addr - code->off)) :
					     NULL;
	struct src_frame at = { 0 };

	if (line) {
		at.file = line->file;
		at.line = (int)line->line;
	}
	add_level(e, t, f->func, line ? &at : NULL);
}

static void look(struct export *e, struct sources *t, uint32_t frame)
{
	struct profile *p = &e->a.p;
	uint32_t func = p->frames.frame[frame].func;
	uint32_t obj = p->funcs.func[func].obj, n = 0, i;
	struct jit *j = jits_of(p, &p->objs.obj[obj]);
	struct src_frame at[INLINES_MAX];
	struct place place;
	struct inlines *x;

	if (j) {
		look_in_jit(e, t, frame, j);
		return;
	}
	x = source_of(e, t, obj);
	if (x) {
		resolver_place(&e->r, p, frame, &place);
		n = inlines_find(x, place.addr, at);
	}
	if (n && !e->inlines) {
		at[0].func = NULL;
		n = 1;
	}
	for (i = 0; i + 1 < n; i++)
		add_level(e, t, inlined(e, obj, &at[i]), &at[i]);
	/* the outermost is the function itself, and has its symbol */
	add_level(e, t, func, n ? &at[n - 1] : NULL);
}

uint32_t export_levels(struct export *e, uint32_t frame,
		       struct level level[LEVELS_MAX])
{
	struct sources *t = e->sources;
	uint32_t first;

	if (!e->inlines && !e->lines) {
		level[0] = (struct level){
			.func = e->a.p.frames.frame[frame].func,
		};
		return 1;
	}
	if (!t)
		t = e->sources = xcalloc(1, sizeof(*t));
	t->of = xgrow_zero(t->of, &t->nof, frame, 64, sizeof(*t->of));
	if (!t->of[frame].n) {
		first = t->nlevels;
		look(e, t, frame);
		t->of[frame].first = first;
		t->of[frame].n = t->nlevels - first;
	}
	memcpy(level, &t->level[t->of[frame].first],
	       t->of[frame].n * sizeof(*level));
	return t->of[frame].n;
}

void export_levels_free(struct export *e)
{
	struct sources *t = e->sources;
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i < t->nobj; i++)
		if (t->obj[i].ok)
			inlines_close(&t->obj[i].x);
	for (i = 0; i < CODES; i++)
		jitlines_free(&t->code[i].lines);
	free(t->obj);
	free(t->level);
	free(t->of);
	free(t);
}
