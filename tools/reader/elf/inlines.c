// SPDX-License-Identifier: BSD-2-Clause
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/inlines.h"
#include "elf/symtab.h"

#define DEPTH_MAX	64	/* of nested DIEs */
#define ORIGINS_MAX	16	/* from an inlined copy to its name */
#define RANGES_MAX	(8U << 20)
#define WORK_MAX	(64U << 20)	/* DIEs of a file */
#define SKIP		(UINT32_MAX - 1)

/**
 * struct walk - over the DIEs below one
 * @visit: gets a DIE and what was returned for its parent; SKIP: the DIEs
 *         below are not wanted
 * @last:  the furthest DIE so far.  The file sets the position of siblings, but
 *         a walk that only moves forward terminates.  Each function has its own
 *         walk, and may claim the whole file as its children.  So the total
 *         work of all walks is bounded, too.
 */
struct walk {
	struct inlines *x;
	void *into;
	uint32_t (*visit)(struct walk *w, Dwarf_Die *die, uint32_t parent);
	const void *last;
};

static bool goes_on(struct walk *w, const Dwarf_Die *die)
{
	if (die->addr <= w->last || w->x->work++ >= WORK_MAX)
		return false;
	w->last = die->addr;
	return true;
}

static void walk(struct walk *w, Dwarf_Die *top, uint32_t own)
{
	struct {
		Dwarf_Die die;
		uint32_t parent;
	} level[DEPTH_MAX];
	int depth = 0;

	w->last = top->addr;
	if (dwarf_child(top, &level[0].die))
		return;
	level[0].parent = own;
	while (goes_on(w, &level[depth].die)) {
		Dwarf_Die *die = &level[depth].die;

		own = w->visit(w, die, level[depth].parent);
		if (own != SKIP && depth + 1 < DEPTH_MAX &&
		    !dwarf_child(die, &level[depth + 1].die)) {
			level[++depth].parent = own;
			continue;
		}
		while (dwarf_siblingof(&level[depth].die, &level[depth].die))
			if (!depth--)
				return;
	}
}

/* Many DIEs can share a list of ranges, so the ranges are counted. */
static bool add_ranges(struct inlines *x, struct segs *segs, Dwarf_Die *die,
		       uint32_t owner)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	size_t n = segs->n;

	while (x->ranges < RANGES_MAX &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		segs_add(segs, start, end, owner);
		x->ranges++;
	}
	return segs->n > n;
}

static void note_func(struct walk *w, Dwarf_Die *die)
{
	struct inline_unit *u = w->into;

	if (!add_ranges(w->x, &u->segs, die, u->n))
		return;
	APPEND(u->func, u->n, u->cap) = (struct inline_func){ .die = dwarf_dieoffset(die) };
}

/* Types and variables have no code of their own. */
static uint32_t visit_unit(struct walk *w, Dwarf_Die *die, uint32_t parent)
{
	(void)parent;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		note_func(w, die);
		return SKIP;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return 0;
	default:
		return SKIP;
	}
}

static uint32_t visit_unit_deep(struct walk *w, Dwarf_Die *die,
				uint32_t parent)
{
	(void)parent;
	if (dwarf_tag(die) == DW_TAG_subprogram)
		note_func(w, die);
	return 0;
}

static uint32_t visit_func(struct walk *w, Dwarf_Die *die, uint32_t parent)
{
	struct inline_func *f = w->into;

	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		if (!add_ranges(w->x, &f->segs, die, f->n))
			return parent;
		GROW(f->scope, f->n, f->cap);
		f->scope[f->n] = (struct inline_scope){
			.die = dwarf_dieoffset(die), .parent = parent,
		};
		return f->n++;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return parent;
	default:
		return SKIP;
	}
}

static void free_funcs(struct inline_unit *u)
{
	uint32_t i;

	for (i = 0; i < u->n; i++) {
		free(u->func[i].scope);
		segs_free(&u->func[i].segs);
	}
	free(u->func);
	segs_free(&u->segs);
	memset(u, 0, sizeof(*u));
}

static void load_unit(struct inlines *x, uint32_t unit, bool deep)
{
	struct inline_unit *u = &x->unit[unit];
	struct walk w = {
		.x = x, .into = u,
		.visit = deep ? visit_unit_deep : visit_unit,
	};
	Dwarf_Die die;

	free_funcs(u);
	u->loaded = true;
	u->deep = deep;
	if (dwarf_offdie(x->l.dw, x->l.unit[unit].die, &die))
		walk(&w, &die, 0);
	segs_flatten(&u->segs);
}

static void load_func(struct inlines *x, struct inline_func *f)
{
	struct walk w = { .x = x, .into = f, .visit = visit_func };
	Dwarf_Die die;

	f->loaded = true;
	if (!dwarf_offdie(x->l.dw, f->die, &die))
		return;
	APPEND(f->scope, f->n, f->cap) = (struct inline_scope){
		.die = f->die, .parent = SEGS_NONE,
	};
	add_ranges(x, &f->segs, &die, 0);
	walk(&w, &die, 0);
	segs_flatten(&f->segs);
}

/*
 * Functions are rarely nested, and the search for nested ones is expensive.  It
 * is only done in units with code outside of all other functions.
 */
static struct inline_func *func_at(struct inlines *x, uint32_t unit,
				   uint64_t addr)
{
	struct inline_unit *u = &x->unit[unit];
	uint32_t i;

	if (!u->loaded)
		load_unit(x, unit, false);
	i = segs_find(&u->segs, addr);
	if (i == SEGS_NONE && !u->deep) {
		load_unit(x, unit, true);
		i = segs_find(&u->segs, addr);
	}
	if (i == SEGS_NONE)
		return NULL;
	if (!u->func[i].loaded)
		load_func(x, &u->func[i]);
	return &u->func[i];
}

static bool follow(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Die to;

	if (!dwarf_attr(die, name, &attr) || !dwarf_formref_die(&attr, &to))
		return false;
	*die = to;
	return true;
}

/* The name is in the abstract function, not in its inlined copies. */
static const char *name_of(const struct die_strings *t, Dwarf_Die die)
{
	const char *name = NULL, *linkage;
	int i;

	for (i = 0; i < ORIGINS_MAX; i++) {
		linkage = die_string(t, &die, DW_AT_linkage_name);
		if (!linkage)
			linkage = die_string(t, &die, DW_AT_MIPS_linkage_name);
		if (linkage)
			return linkage;
		if (!name)
			name = die_string(t, &die, DW_AT_name);
		if (!follow(&die, DW_AT_abstract_origin) &&
		    !follow(&die, DW_AT_specification))
			break;
	}
	return name;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &v) ||
	    v > INT32_MAX)
		return 0;
	return (uint32_t)v;
}

static void learn(struct inlines *x, struct inline_scope *s)
{
	const char *name;
	Dwarf_Die die;

	s->known = true;
	if (!dwarf_offdie(x->l.dw, s->die, &die))
		return;
	name = name_of(&x->l.strings, die);
	s->name = name ? strtab_id_len(&x->l.str, name,
				       strnlen(name, SYM_NAME_MAX)) : 0;
	s->call_file = number_of(&die, DW_AT_call_file);
	s->call_line = number_of(&die, DW_AT_call_line);
}

/* Makes frames from the scope at an address outwards. */
static uint32_t unwind(struct inlines *x, uint32_t unit, struct inline_func *f,
		       uint32_t scope, struct src_frame *frame)
{
	uint32_t n = 0;

	while (scope != SEGS_NONE) {
		struct inline_scope *s = &f->scope[scope];

		if (!s->known)
			learn(x, s);
		if (s->name)
			frame[n].func = strtab_str(&x->l.str, s->name);
		if (++n == INLINES_MAX)
			break;
		scope = s->parent;
		if (scope == SEGS_NONE)
			break;
		frame[n] = (struct src_frame){
			.file = lines_path(&x->l, unit, s->call_file),
			.line = (int)s->call_line,
		};
	}
	return n;
}

uint32_t inlines_find(struct inlines *x, uint64_t addr,
		      struct src_frame frame[INLINES_MAX])
{
	uint32_t unit = x->l.dw ? segs_find(&x->l.units, addr) : SEGS_NONE;
	struct inline_func *f;
	uint32_t scope;

	if (unit == SEGS_NONE)
		return 0;
	frame[0].func = NULL;
	lines_in_unit(&x->l, unit, addr, &frame[0].file, &frame[0].line);
	f = func_at(x, unit, addr);
	scope = f ? segs_find(&f->segs, addr) : SEGS_NONE;
	if (scope == SEGS_NONE)
		return frame[0].file != NULL;
	return unwind(x, unit, f, scope, frame);
}

bool inlines_open(struct inlines *x, const struct image_root *root,
		  const char *path)
{
	memset(x, 0, sizeof(*x));
	if (!lines_open(&x->l, root, path))
		return false;
	x->unit = xcalloc(x->l.n, sizeof(*x->unit));
	return true;
}

void inlines_close(struct inlines *x)
{
	uint32_t i;

	for (i = 0; x->unit && i < x->l.n; i++)
		free_funcs(&x->unit[i]);
	free(x->unit);
	if (x->l.dw)
		lines_close(&x->l);
	memset(x, 0, sizeof(*x));
}
