// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "analysis/resolver.h"

static void make_room(struct resolver *r, uint32_t n)
{
	if (n <= r->n)
		return;
	n = n < 64 ? 64 : 2 * n;
	r->syms = xreallocarray(r->syms, n, sizeof(*r->syms));
	r->open = xreallocarray(r->open, n, sizeof(*r->open));
	r->reads = xreallocarray(r->reads, n, sizeof(*r->reads));
	memset(r->open + r->n, 0, (n - r->n) * sizeof(*r->open));
	r->n = n;
}

static struct objsyms *syms_of(struct resolver *r, struct profile *p,
			       uint32_t obj)
{
	const struct jit *j = jits_of(p, &p->objs.obj[obj]);

	make_room(r, p->objs.n);
	/* reopen a jitdump that has grown, for its new names */
	if (r->open[obj] && j && r->reads[obj] != j->reads) {
		objsyms_close(&r->syms[obj]);
		r->open[obj] = false;
	}
	if (!r->open[obj]) {
		r->reads[obj] = j ? j->reads : 0;
		p->objs.obj[obj].why = objsyms_open(&r->syms[obj], p, obj);
		r->open[obj] = true;
	}
	return &r->syms[obj];
}

static bool is_kernel_frame(const struct profile *p, const struct frame *f)
{
	return obj_is_kernel(p->objs.obj[f->obj].kind);
}

bool resolver_update(struct resolver *r, struct profile *p)
{
	for (; r->done < p->frames.n; r->done++) {
		struct frame *f = &p->frames.frame[r->done];
		struct objsyms *s = NULL;

		if (!is_kernel_frame(p, f)) {
			s = syms_of(r, p, f->obj);
		} else if (!r->ready) {
			if (!ksyms_open(&r->k, p, r->kernel, r->log_path)) {
				ksyms_close(&r->k);
				return false;
			}
			r->ready = true;
		}
		f->func = resolve_frame(p, &r->k, s, f);
	}
	return true;
}

static void kernel_place(const struct resolver *r, const struct frame *f,
			 struct place *place)
{
	const struct sym *sym = symtab_find(&r->k.tab, f->addr);
	uint64_t slide = sym && !sym->mod ? r->k.slide : 0;

	place->addr = f->addr - slide;
	if (!sym)
		return;
	place->start = sym->start - slide;
	place->end = sym->end - slide;
}

void resolver_place(struct resolver *r, const struct profile *p,
		    uint32_t frame, struct place *place)
{
	const struct frame *f = &p->frames.frame[frame];
	const struct func *func = &p->funcs.func[f->func];
	const struct objsyms *s;
	const struct sym *sym;

	*place = (struct place){ .addr = f->addr, .image = func->obj };
	place->name = func->name ? strtab_str(&p->str, func->name) : NULL;
	if (is_kernel_frame(p, f)) {
		kernel_place(r, f, place);
		return;
	}
	s = &r->syms[f->obj];
	/* without a segment it stays the offset in the file */
	elfsyms_vaddr(&s->segs, f->addr, &place->addr);
	sym = objsyms_find(s, f->addr);
	if (sym) {
		place->start = sym->start;
		place->end = sym->end;
	}
}

bool resolver_vaddr(struct resolver *r, struct profile *p, uint32_t obj,
		    uint64_t offset, uint64_t *vaddr)
{
	return elfsyms_vaddr(&syms_of(r, p, obj)->segs, offset, vaddr);
}

void resolver_close(struct resolver *r)
{
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (r->open[i])
			objsyms_close(&r->syms[i]);
	free(r->syms);
	free(r->open);
	free(r->reads);
	if (r->ready)
		ksyms_close(&r->k);
	memset(r, 0, sizeof(*r));
}
