/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -F: a call tree for kcachegrind and callgrind_annotate, with a column of
 * costs for each event.
 *
 * The cost of a call is the number of samples below it; of events, if they are
 * sampled at a rate.  A sample counts once,
 * even if the call is in its chain several times, and not at all if a function
 * calls itself; otherwise a call could cost more than all samples.  The number of
 * calls is not known from samples; the format needs one, so it is the cost.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "analysis/shown.h"
#include "base/order.h"
#include "freebsd/log_view.h"

#define NO_CALLEE	UINT32_MAX

/**
 * struct cost - weight of the samples at a place, or below a call from there
 * @func:   label of the function that the place is in
 * @callee: label of the called function, NO_CALLEE: samples of the place itself
 * @frame, @callee_frame: any frame of each
 */
struct cost {
	uint32_t	func, callee;
	uint64_t	addr;
	uint32_t	event;
	uint32_t	frame, callee_frame;
	uint64_t	count;
};

/* @chain: number + 1 of the last chain it was counted for */
struct arc {
	uint32_t	func, callee;
	uint32_t	chain;
};

/**
 * struct function - a function that has a number, its index here + 1
 * @frame: the one that its file and line are taken from, wherever it is named
 * @named: its name was written
 */
struct function {
	uint32_t	label;
	uint32_t	frame;
	bool		named;
};

struct tree {
	struct log	*l;
	FILE		*f;
	struct cost	*cost;
	uint32_t	n, cap;
	struct idtab	tab;
	struct arc	*arc;
	uint32_t	narc, caparc;
	struct idtab	arctab;
	struct function	*function;
	uint32_t	nfunction, capfunction;
	struct idtab	functiontab;
	/* names that were written, for they are written once */
	struct strtab	ob, fl;
	char		*file;		/* that lines are of now */
};

/* ------------------------------------------------------------------------
 * Collecting
 */
static void add_cost(struct tree *t, const struct cost *what)
{
	uint64_t hash = hash_mix(hash_mix((uint64_t)what->func << 32 |
					  what->callee, what->addr),
				 what->event);
	uint32_t n = t->n;
	uint32_t id = IDTAB_ID(&t->tab, hash, t->cost, t->n, t->cap, what, e,
			       e->func == what->func && e->callee == what->callee &&
			       e->addr == what->addr && e->event == what->event);

	if (id < n)
		t->cost[id].count += what->count;
}

/* True if this chain had the arc before. */
static bool seen(struct tree *t, uint32_t func, uint32_t callee, uint32_t chain)
{
	struct arc key = { .func = func, .callee = callee };
	uint32_t id = IDTAB_ID(&t->arctab, hash_mix(func, callee), t->arc, t->narc, t->caparc,
			       &key, e, e->func == func && e->callee == callee);
	bool before = t->arc[id].chain == chain + 1;

	t->arc[id].chain = chain + 1;
	return before;
}

static void add_frame(struct tree *t, uint32_t chain, uint32_t i)
{
	const struct chain *c = &t->l->p.chains.chain[chain];
	const uint32_t *frames = chain_frames(&t->l->p.chains, c);
	struct cost what = {
		.func = log_function(t->l, frames[i]), .callee = NO_CALLEE,
		.event = c->event, .frame = frames[i],
		.count = chain_weight(&t->l->p.chains, c),
	};
	struct place at;

	if (i) {
		what.callee_frame = frames[i - 1];
		what.callee = log_function(t->l, what.callee_frame);
		if (what.callee == what.func ||
		    seen(t, what.func, what.callee, chain))
			return;
	}
	resolver_place(&t->l->r, &t->l->p, what.frame, &at);
	what.addr = at.addr;
	add_cost(t, &what);
}

static void collect(struct tree *t)
{
	const struct chains *chains = &t->l->p.chains;
	uint32_t i, j, n;

	for (i = 0; i < chains->n; i++) {
		n = log_depth(t->l, &chains->chain[i]);
		for (j = 0; j < n; j++)
			add_frame(t, i, j);
	}
}

/* Sorts samples of a function before its calls. */
DEFINE_ORDER(by_place, struct cost,
	     ORDER(a->func, b->func) ?: ORDER(a->callee + 1, b->callee + 1) ?:
	     ORDER(a->addr, b->addr) ?: ORDER(a->event, b->event))

/* ------------------------------------------------------------------------
 * Writing
 */
static void put_name(struct tree *t, const char *key, struct strtab *names,
		     const char *name)
{
	uint32_t known = names->n;
	uint32_t id = strtab_id(names, name);

	if (id < known)
		fprintf(t->f, "%s=(%u)\n", key, id);
	else
		fprintf(t->f, "%s=(%u) %s\n", key, id, name);
}

static uint32_t function_id(struct tree *t, uint32_t label, uint32_t frame)
{
	struct function key = { label, frame, false };

	return IDTAB_ID(&t->functiontab, hash_mix(label, 0), t->function, t->nfunction,
			t->capfunction, &key, e, e->label == label);
}

/* Finds the start of the function; with -A, places are the functions. */
static void entry_of(struct tree *t, uint32_t frame, struct place *at)
{
	resolver_place(&t->l->r, &t->l->p, frame, at);
	if (at->end && !t->l->o->no_symbols)
		at->addr = at->start;
}

static int line_of(struct tree *t, const struct place *at, char *file)
{
	const char *name = "???";
	int line = 0;

	log_line(t->l, at, &name, &line);
	shown_name(file, name, false);
	return line;
}

static void set_file(struct tree *t, const char *file)
{
	free(t->file);
	t->file = xstrdup(file);
}

static void put_function_name(struct tree *t, const char *key, uint32_t id)
{
	struct function *f = &t->function[id];
	uint32_t func = t->l->p.frames.frame[f->frame].func;
	char text[NAME_MAX_SHOWN];
	const char *name = text;

	fprintf(t->f, "%s=(%u)", key, id + 1);
	if (!f->named) {
		if (t->l->o->no_symbols || !t->l->p.funcs.func[func].name)
			log_name(t->l, f->label, text);
		else
			name = strtab_str(&t->l->p.str,
					  func_shown(&t->l->p, func, true));
		fprintf(t->f, " %s", name);
	}
	putc('\n', t->f);
	f->named = true;
}

/*
 * Image, file and name of a function; the line and the place it begins at.  The number
 * of a function is that of its image and file, too: kcachegrind takes them from where
 * the number first is.
 */
static int put_function(struct tree *t, uint32_t label, uint32_t frame,
			int called, struct place *at)
{
	uint32_t id = function_id(t, label, frame);
	char file[NAME_MAX_SHOWN], text[NAME_MAX_SHOWN];
	int line;

	entry_of(t, t->function[id].frame, at);
	put_name(t, called ? "cob" : "ob", &t->ob, log_image(t->l, at->image, text));
	line = line_of(t, at, file);
	put_name(t, called ? "cfi" : "fl", &t->fl, file);
	if (!called)
		set_file(t, file);
	put_function_name(t, called ? "cfn" : "fn", id);
	return line;
}

/* Lines of inlined code are in another file. */
static int put_file(struct tree *t, const struct place *at)
{
	char file[NAME_MAX_SHOWN];
	int line = line_of(t, at, file);

	if (line && strcmp(file, t->file)) {
		put_name(t, "fi", &t->fl, file);
		set_file(t, file);
	}
	return line;
}

static void put_counts(struct tree *t, const struct cost *from,
		       const struct cost *to)
{
	uint32_t i;

	for (i = 0; i < t->l->p.events.n; i++) {
		bool has = from < to && from->event == i;

		fprintf(t->f, " %llu", has ?
			(unsigned long long)from->count : 0ULL);
		from += has;
	}
	putc('\n', t->f);
}

/* Writes all costs of a place, or of a call, as one line. */
static void put_cost(struct tree *t, const struct cost *from,
		     const struct cost *to)
{
	unsigned long long calls = 0;
	const struct cost *c;
	struct place at, callee;
	int line;

	resolver_place(&t->l->r, &t->l->p, from->frame, &at);
	if (from->callee != NO_CALLEE) {
		for (c = from; c < to; c++)
			calls += c->count;
		line = put_function(t, from->callee, from->callee_frame, 1,
				    &callee);
		fprintf(t->f, "calls=%llu %#llx %d\n", calls,
			(unsigned long long)callee.addr, line);
	}
	line = put_file(t, &at);
	fprintf(t->f, "%#llx %d", (unsigned long long)at.addr, line);
	put_counts(t, from, to);
}

/* Formulas of kcachegrind accept only such names. */
static void put_event(struct tree *t, uint32_t event)
{
	const char *s = strtab_str(&t->l->p.str,
				   t->l->p.events.event[event].name);

	putc(' ', t->f);
	for (; *s; s++)
		putc(isalnum((unsigned char)*s) ? *s : '_', t->f);
	fprintf(t->f, "_%u", event);
}

static void put_head(struct tree *t)
{
	const struct events *events = &t->l->p.events;
	uint32_t i;

	fputs("# callgrind format\nversion: 1\ncreator: pmcstat\n"
	      "desc: Samples: what was sampled below a call stands for how "
	      "often it was made\npositions: instr line\nevents:", t->f);
	for (i = 0; i < events->n; i++)
		put_event(t, i);
	fputs("\nsummary:", t->f);
	for (i = 0; i < events->n; i++)
		fprintf(t->f, " %llu",
			(unsigned long long)event_weight(&events->event[i]));
	putc('\n', t->f);
}

static void put_tree(struct tree *t)
{
	uint32_t func = NO_CALLEE, i, j;

	put_head(t);
	for (i = 0; i < t->n; i = j) {
		const struct cost *c = &t->cost[i];
		struct place at;

		if (c->func != func) {
			putc('\n', t->f);
			put_function(t, c->func, c->frame, 0, &at);
			func = c->func;
		}
		for (j = i + 1; j < t->n && t->cost[j].func == c->func &&
				t->cost[j].callee == c->callee &&
				t->cost[j].addr == c->addr; j++)
			;
		put_cost(t, c, &t->cost[j]);
	}
}

int read_calltree(struct log *l)
{
	struct tree t = { .l = l, .f = text_open(l->o->calltree) };

	if (!t.f)
		return EX_CANTCREAT;
	strtab_init(&t.ob);
	strtab_init(&t.fl);
	collect(&t);
	if (t.n)
		qsort(t.cost, t.n, sizeof(*t.cost), by_place);
	put_tree(&t);
	strtab_free(&t.ob);
	strtab_free(&t.fl);
	free(t.file);
	free(t.cost);
	free(t.arc);
	free(t.function);
	idtab_free(&t.functiontab);
	idtab_free(&t.tab);
	idtab_free(&t.arctab);
	return text_close(t.f, l->o->calltree);
}
