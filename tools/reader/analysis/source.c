// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <unistd.h>

#include "analysis/objsyms.h"
#include "analysis/resolve.h"
#include "analysis/source.h"
#include "base/order.h"
#include "elf/inlines.h"

/* Files are not trusted: these limit the size of a profile. */
#define EXTRA_MAX	(16U << 20)	/* frames of inlined functions */
#define GROWTH		8		/* of all chains together */
#define LONGEST		16384U		/* frames: views are recursive */

/**
 * struct expanding - one run over the frames
 * @known: number of frames in the log; further ones are inlined functions
 * @first, @n: by frame: the frames inlined into it, the innermost first
 * @x:     inline information of the current object
 * @room:  frames that chains can grow by
 */
struct expanding {
	struct profile *p;
	const struct ksyms *k;
	bool inlines, lines;
	uint32_t known;
	uint32_t *first;
	uint8_t *n;
	struct inlines x;
	struct elfsegs segs;
	uint64_t room;
};

/* The function @like, at a source position. */
static uint32_t func_there(struct expanding *e, const struct func *like,
			   const struct src_frame *at)
{
	struct func f = *like;

	f.shown = 0;
	f.file = 0;
	f.line = 0;
	if (e->lines && at->file && at->line) {
		f.file = strtab_id(&e->p->str, at->file);
		f.line = (uint32_t)at->line;
	}
	return func_number(&e->p->funcs, &f);
}

static uint32_t inlined_there(struct expanding *e, uint32_t obj,
			      const struct src_frame *at)
{
	struct func f = { .obj = obj, .inlined = true };

	f.name = strtab_id(&e->p->str, at->func ? at->func : "??");
	return func_there(e, &f, at);
}

static void add_frame(struct expanding *e, const struct frame *like,
		      uint32_t func)
{
	struct frames *t = &e->p->frames;
	struct frame f = *like;

	f.func = func;
	APPEND(t->frame, t->n, t->cap) = f;
}

/* The function of the frame itself is the outermost; it has its symbol. */
static void expand_frame(struct expanding *e, uint32_t number, uint64_t addr)
{
	struct frame f = e->p->frames.frame[number];
	struct func own = e->p->funcs.func[f.func];
	struct src_frame at[INLINES_MAX];
	uint32_t n = inlines_find(&e->x, addr, at), i;

	if (!n)
		return;
	if (!e->inlines) {
		at[n - 1] = at[0];
	} else if (e->p->frames.n - e->known < EXTRA_MAX) {
		e->first[number] = e->p->frames.n;
		e->n[number] = (uint8_t)(n - 1);
		for (i = 0; i + 1 < n; i++)
			add_frame(e, &f, inlined_there(e, own.obj, &at[i]));
	}
	if (e->lines)
		e->p->frames.frame[number].func =
			func_there(e, &own, &at[n - 1]);
}

static bool open_kernel(struct expanding *e)
{
	return e->k->elf && inlines_open(&e->x, e->k->root, e->k->source);
}

static bool open_object(struct expanding *e, uint32_t obj)
{
	struct profile *p = e->p;
	struct image im;
	const char *why;
	struct objfile f;
	bool ok = false;

	if (obj_is_kernel(p->objs.obj[obj].kind))
		return open_kernel(e);
	if (objsyms_file(&f, p, obj) &&
	    image_open(&im, &f.root, f.path, &why)) {
		elfsyms_segments(&e->segs, im.elf);
		image_close(&im);
		ok = inlines_open(&e->x, &f.root, f.path);
	}
	free(f.path);
	return ok;
}

/* Kernel modules have files of their own. */
static bool address(const struct expanding *e, const struct frame *f,
		    uint64_t *addr)
{
	const struct profile *p = e->p;

	if (!obj_is_kernel(p->objs.obj[f->obj].kind))
		return elfsyms_vaddr(&e->segs, f->addr, addr);
	*addr = f->addr - e->k->slide;
	return func_kind(p, f->func) == OBJ_KERNEL;
}

/* a frame in a jitdump */
struct jitframe {
	uint64_t off;
	uint32_t number;
};

DEFINE_ORDER(by_off, struct jitframe, ORDER(a->off, b->off))

/* The lines of each piece of code are read once. */
static void expand_jitframes(struct expanding *e, const struct jitdump *d,
			     const struct jitframe *f, size_t n, int fd)
{
	const struct jitcode *code = NULL, *c;
	struct jitlines lines = { 0 };
	const struct jitline *line;

	for (; n--; f++) {
		struct frame *frame = &e->p->frames.frame[f->number];
		struct func own = e->p->funcs.func[frame->func];
		struct src_frame at = { 0 };

		c = jitdump_code(d, f->off);
		if (c && c != code) {
			jitlines_free(&lines);
			jitlines_read(&lines, d, c, fd);
		}
		code = c;
		line = c ? jitlines_find(&lines, c->addr + (f->off - c->off)) :
			   NULL;
		if (!line)
			continue;
		at.file = line->file;
		at.line = (int)line->line;
		frame->func = func_there(e, &own, &at);
	}
	jitlines_free(&lines);
}

static void expand_jit(struct expanding *e, struct jit *j,
		       const uint32_t *from, const uint32_t *to)
{
	size_t n = (size_t)(to - from), i;
	struct jitframe *f;
	const char *why;
	int fd = e->lines ? jits_open(e->p, j, &why) : -1;

	if (fd < 0)
		return;
	f = xreallocarray(NULL, n, sizeof(*f));
	for (i = 0; i < n; i++)
		f[i] = (struct jitframe){
			e->p->frames.frame[from[i]].addr, from[i],
		};
	qsort(f, n, sizeof(*f), by_off);
	expand_jitframes(e, &j->dump, f, n, fd);
	free(f);
	close(fd);
}

static void expand_object(void *ctx, const uint32_t *from, const uint32_t *to)
{
	struct expanding *e = ctx;
	const struct object *o = &e->p->objs.obj[e->p->frames.frame[*from].obj];
	struct jit *j = jits_of(e->p, o);
	uint64_t addr;

	if (j) {
		expand_jit(e, j, from, to);
		return;
	}
	if (open_object(e, e->p->frames.frame[*from].obj))
		for (; from < to; from++)
			if (address(e, &e->p->frames.frame[*from], &addr))
				expand_frame(e, *from, addr);
	inlines_close(&e->x);
	free(e->segs.seg);
	memset(&e->segs, 0, sizeof(e->segs));
}

static void expand_chain(struct expanding *e, struct chain *c)
{
	const uint32_t *frames = chain_frames(&e->p->chains, c);
	uint32_t n = c->n, i, k, *to;

	for (i = 0; i < c->n; i++)
		n += e->n[frames[i]];
	if (n == c->n || n > LONGEST || n - c->n > e->room)
		return;
	e->room -= n - c->n;
	to = xreallocarray(NULL, n, sizeof(*to));
	for (i = 0, n = 0; i < c->n; i++) {
		uint32_t f = frames[i];

		for (k = 0; k < e->n[f]; k++)
			to[n++] = e->first[f] + k;
		to[n++] = f;
	}
	chains_replace(&e->p->chains, c, to, n);
	free(to);
}

void source_expand(struct profile *p, const struct ksyms *k, bool inlines,
		   bool lines)
{
	struct expanding e = {
		.p = p, .k = k, .inlines = inlines, .lines = lines,
		.known = p->frames.n,
		.first = xcalloc((size_t)p->frames.n + 1, sizeof(*e.first)),
		.n = xcalloc((size_t)p->frames.n + 1, sizeof(*e.n)),
	};
	uint32_t i;

	frames_by_object(p, expand_object, &e);
	e.room = EXTRA_MAX;
	for (i = 0; i < p->chains.n; i++)
		e.room += (uint64_t)GROWTH * p->chains.chain[i].n;
	for (i = 0; i < p->chains.n; i++)
		expand_chain(&e, &p->chains.chain[i]);
	free(e.first);
	free(e.n);
}
