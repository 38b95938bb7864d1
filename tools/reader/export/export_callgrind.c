// SPDX-License-Identifier: BSD-2-Clause
/*
 * Callgrind's format.  It has calls instead of stacks.  Its readers take the cost of
 * all calls of a function for its total, so each function of a stack is called once
 * there, where it is first: by the caller of the outermost one.
 */
#include <ctype.h>

#include "base/order.h"
#include "export/export.h"

#define EVENT_CHARS	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" \
			"0123456789_"

/**
 * struct spot - the position of a cost
 * @func:   its function; commands follow the functions, see is_command()
 * @addr:   with instructions: its address
 * @callee: of a call, number of the function + 1; 0: samples of its own
 * @counts: number of the first of its counts
 */
struct spot {
	uint64_t addr;
	uint32_t func, line, callee;
	uint32_t counts;
};

/**
 * struct callgrind - a file that is being written
 * @count:   counts of all spots, one per column, and their samples
 * @column:  by event
 * @names:   by event: string number of its column's name
 * @same:    see funcs_same_by_path()
 * @written: names that were written already, by kind: of functions and commands by their
 *	     number, of others by string number
 * @entry:   by function: its start
 * @file:    by function: string number of its source file, 0: not known
 * @first:   by function: its outermost position in the current stack
 * @nfuncs:  number of functions
 * @nofile, @commands: string numbers of the names for an unknown file, and for the
 * 	     object of commands
 */
struct callgrind {
	struct export *e;
	struct spot *spot;
	uint32_t n, cap;
	struct idtab tab;
	uint64_t *count;
	uint32_t capcount;
	uint32_t *column, *names, ncolumns;
	uint32_t *same, *first, *file;
	uint64_t *entry;
	struct spot *stack;
	uint32_t nstack, capstack;
	bool *written[3];
	uint32_t nfuncs, nofile, commands;
};

enum { FUNCTIONS, FILES, OBJECTS };

/*
 * Commands are written as functions that call the outermost functions: some
 * readers use calls as the only totals.
 */
static bool is_command(const struct callgrind *x, uint32_t func)
{
	return func >= x->nfuncs;
}

static uint32_t command(const struct callgrind *x, uint32_t comm)
{
	return x->nfuncs + comm;
}

/* The counts of a spot. */
static uint64_t *counts(struct callgrind *x, const struct spot *key)
{
	uint64_t hash = hash_mix(hash_mix(key->addr, key->line),
				 (uint64_t)key->func << 32 | key->callee);
	uint32_t n = x->n, id = IDTAB_ID(&x->tab, hash, x->spot, x->n, x->cap, key, e,
					 e->addr == key->addr && e->func == key->func &&
					 e->line == key->line && e->callee == key->callee);

	if (id == n) {
		x->spot[n].counts = n * (x->ncolumns + 1);
		x->count = xgrow_zero(x->count, &x->capcount, x->n * (x->ncolumns + 1), 1024,
				      sizeof(*x->count));
	}
	return &x->count[x->spot[id].counts];
}

/* Makes the stack of a chain, outermost function first. */
static void unwind(struct callgrind *x, const struct chain *c)
{
	struct level level[LEVELS_MAX];
	struct place place = { 0 };
	const uint32_t *frames = chain_frames(&x->e->a.p.chains, c);
	uint32_t i, n;

	x->nstack = 0;
	APPEND(x->stack, x->nstack, x->capstack) = (struct spot){ .func = command(x, c->comm) };
	for (i = c->n; i--;) {
		n = export_levels(x->e, frames[i], level);
		if (x->e->instr)
			resolver_place(&x->e->r, &x->e->a.p, frames[i],
				       &place);
		while (n--) {
			APPEND(x->stack, x->nstack, x->capstack) = (struct spot){
				.func = x->same[level[n].func],
				.line = level[n].line, .addr = place.addr,
			};
			if (level[n].file)
				x->file[x->same[level[n].func]] =
					level[n].file;
		}
	}
}

static void add_chain(struct callgrind *x, const struct chain *c)
{
	uint64_t weight = export_weight(x->e, c), *count;
	uint32_t column = x->column[c->event], i, next;

	unwind(x, c);
	for (i = x->nstack; i--;)
		x->first[x->stack[i].func] = i;
	for (i = 0; i < x->nstack; i++) {
		struct spot *s = &x->stack[i];

		if (i + 1 < x->nstack) {
			next = x->stack[i + 1].func;
			if (x->first[next] != i + 1)
				continue;
			s->callee = next + 1;
		}
		count = counts(x, s);
		count[column] += weight;
		count[x->ncolumns] += c->count;
	}
}

DEFINE_ORDER(by_place, struct spot,
	     ORDER(a->func, b->func) ?: ORDER(a->addr, b->addr) ?: ORDER(a->line, b->line) ?:
	     ORDER(a->callee, b->callee))

/* Writes "(12) name" the first time, "(12)" later; @id: see @written. */
static void put_name_of(struct callgrind *x, const char *what, int kind,
			uint32_t id, uint32_t str)
{
	struct out *o = x->e->out;
	char *s;

	out_str(o, what);
	out_char(o, '(');
	out_u64(o, (uint64_t)id + 1);
	out_char(o, ')');
	if (!x->written[kind][id]) {
		s = shown_whole(strtab_str(&x->e->a.p.str, str));
		out_char(o, ' ');
		out_str(o, s);
		free(s);
		x->written[kind][id] = true;
	}
	out_char(o, '\n');
}

static void put_name(struct callgrind *x, const char *what, int kind,
		     uint32_t str)
{
	put_name_of(x, what, kind, str, str);
}

static uint32_t func_name(struct callgrind *x, uint32_t func)
{
	if (is_command(x, func))
		return func - x->nfuncs;
	return func_shown(&x->e->a.p, func, x->e->a.demangle);
}

/*
 * By the function's number, not its name's: to kcachegrind a number is that of an object
 * and a file, too, those where it first is.
 */
static void put_func(struct callgrind *x, const char *what, uint32_t func)
{
	put_name_of(x, what, FUNCTIONS, func, func_name(x, func));
}

static uint32_t func_object(struct callgrind *x, uint32_t func)
{
	return is_command(x, func) ? x->commands : export_object(x->e, func);
}

/* One file per function: callgrind does not accept two. */
static uint32_t func_file(const struct callgrind *x, uint32_t func)
{
	return !is_command(x, func) && x->file[func] ? x->file[func] :
						       x->nofile;
}

static void put_position(struct callgrind *x, uint64_t addr, uint32_t line)
{
	if (x->e->instr) {
		out_hex(x->e->out, addr);
		out_char(x->e->out, ' ');
	}
	out_u64(x->e->out, line);
}

static void put_counts(struct callgrind *x, const uint64_t *count)
{
	uint32_t i;

	for (i = 0; i < x->ncolumns; i++) {
		out_char(x->e->out, ' ');
		out_u64(x->e->out, count[i]);
	}
	out_char(x->e->out, '\n');
}

/* The number of calls is not known: the number of samples is used. */
static void put_call(struct callgrind *x, const struct spot *s)
{
	uint32_t callee = s->callee - 1;

	put_name(x, "cob=", OBJECTS, func_object(x, callee));
	put_name(x, "cfi=", FILES, func_file(x, callee));
	put_func(x, "cfn=", callee);
	out_str(x->e->out, "calls=");
	out_u64(x->e->out, x->count[s->counts + x->ncolumns]);
	out_char(x->e->out, ' ');
	put_position(x, x->entry[callee], 0);
	out_char(x->e->out, '\n');
}

static void put_body(struct callgrind *x)
{
	const struct spot *s;
	uint32_t i;

	if (x->n)
		qsort(x->spot, x->n, sizeof(*x->spot), by_place);
	for (i = 0; i < x->n; i++) {
		s = &x->spot[i];
		if (!i || s->func != s[-1].func) {
			out_char(x->e->out, '\n');
			put_name(x, "ob=", OBJECTS, func_object(x, s->func));
			put_name(x, "fl=", FILES, func_file(x, s->func));
			put_func(x, "fn=", s->func);
		}
		if (s->callee)
			put_call(x, s);
		put_position(x, s->addr, s->line);
		put_counts(x, &x->count[s->counts]);
	}
}

/*
 * An event's name with the characters that readers accept.  To kcachegrind a name
 * does not begin with a digit, as that of 9p's tracepoints does.
 */
static uint32_t event_name(struct callgrind *x, uint32_t name)
{
	char buf[1 + SHOWN_MAX] = "_", *c;

	export_shown(x->e, buf + 1, name);
	for (c = buf + 1; *c; c++)
		if (!strchr(EVENT_CHARS, *c))
			*c = '_';
	return strtab_id(&x->e->a.p.str, buf + !isdigit((unsigned char)buf[1]));
}

/* The sum of export_weight() over all chains of an event. */
static uint64_t event_total(const struct callgrind *x, const struct event *e)
{
	if (x->e->unit == UNIT_SAMPLES)
		return e->samples;
	if (x->e->unit == UNIT_PERIOD && !event_is_freq(e))
		return e->samples * e->rate;
	return event_weight(e);
}

/* Are the costs of an event numbers of events, rather than of samples? */
static bool counts_event(const struct callgrind *x, const struct event *e)
{
	return x->e->unit == UNIT_PERIOD || (x->e->unit == UNIT_WEIGHT && event_is_freq(e));
}

/* One line if it is the same for all, as of most logs */
static void put_costs(struct callgrind *x)
{
	static const char *const what[] = { "samples", "how often events happened" };
	const struct events *t = &x->e->a.p.events;
	bool met[2] = { false, false };
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (export_has_event(x->e, i))
			met[counts_event(x, &t->event[i])] = true;
	if (!met[0] || !met[1]) {
		out_printf(x->e->out, "desc: Costs: %s\n",
			   what[met[1] || x->e->unit == UNIT_PERIOD]);
		return;
	}
	for (i = 0; i < t->n; i++)
		if (export_has_event(x->e, i))
			out_printf(x->e->out, "desc: Costs of %s: %s\n",
				   strtab_str(&x->e->a.p.str, x->names[i]),
				   what[counts_event(x, &t->event[i])]);
}

static void put_events(struct callgrind *x)
{
	const struct events *t = &x->e->a.p.events;
	uint64_t *total = xcalloc(x->ncolumns, sizeof(*total));
	uint32_t i;

	out_str(x->e->out, "events:");
	for (i = 0; i < t->n; i++)
		if (export_has_event(x->e, i)) {
			total[x->column[i]] = event_total(x, &t->event[i]);
			out_char(x->e->out, ' ');
			out_str(x->e->out, strtab_str(&x->e->a.p.str, x->names[i]));
		}
	if (!x->n)
		out_str(x->e->out, " samples");
	out_str(x->e->out, "\nsummary:");
	put_counts(x, total);
	free(total);
}

static void put_head(struct callgrind *x)
{
	struct out *o = x->e->out;
	char *path = shown_whole(x->e->a.path);

	out_str(o, "# callgrind format\nversion: 1\ncreator: pmclog "
		   TOOLS_VERSION "\ncmd: ");
	out_str(o, path);
	out_char(o, '\n');
	put_costs(x);
	out_str(o, "desc: Calls: the samples below them, for want of "
		   "numbers\npositions:");
	out_str(o, x->e->instr ? " instr line\n" : " line\n");
	put_events(x);
	free(path);
}

static void number_events(struct callgrind *x)
{
	const struct events *t = &x->e->a.p.events;
	uint32_t i;

	x->column = xcalloc((size_t)t->n + 1, sizeof(*x->column));
	x->names = xcalloc((size_t)t->n + 1, sizeof(*x->names));
	for (i = 0; i < t->n; i++)
		if (export_has_event(x->e, i)) {
			x->column[i] = x->ncolumns++;
			x->names[i] = event_name(x, t->event[i].name);
		}
	export_number_names(x->e, x->names);
	if (!x->ncolumns)
		x->ncolumns = 1;
}

static void find_entries(struct callgrind *x)
{
	const struct profile *p = &x->e->a.p;
	struct place place;
	uint64_t *entry;
	uint32_t i;

	x->entry = xcalloc((size_t)x->nfuncs + 1, sizeof(*x->entry));
	for (i = 0; x->e->instr && i < p->frames.n; i++) {
		resolver_place(&x->e->r, p, i, &place);
		entry = &x->entry[x->same[p->frames.frame[i].func]];
		if (!place.start)
			place.start = place.addr;
		if (!*entry || place.start < *entry)
			*entry = place.start;
	}
}

static void name_all(struct callgrind *x)
{
	struct profile *p = &x->e->a.p;
	uint32_t i;

	for (i = 0; i < x->nfuncs; i++)
		func_name(x, i);
	x->nofile = strtab_id(&p->str, "???");
	x->commands = strtab_id(&p->str, "[command]");
	for (i = 0; i < 3; i++)
		x->written[i] = xcalloc((size_t)x->nfuncs + p->str.n,
					sizeof(bool));
}

static void end(struct export *e)
{
	struct callgrind x = { .e = e };
	struct profile *p = &e->a.p;
	uint32_t i;

	x.same = funcs_same_by_path(p);
	x.nfuncs = p->funcs.n;
	x.first = xcalloc((size_t)x.nfuncs + p->str.n, sizeof(*x.first));
	x.file = xcalloc((size_t)x.nfuncs + 1, sizeof(*x.file));
	number_events(&x);
	find_entries(&x);
	for (i = 0; i < p->chains.n; i++)
		if (e->a.use[p->chains.chain[i].event])
			add_chain(&x, &p->chains.chain[i]);
	name_all(&x);
	put_head(&x);
	put_body(&x);
	for (i = 0; i < 3; i++)
		free(x.written[i]);
	free(x.spot);
	idtab_free(&x.tab);
	free(x.count);
	free(x.column);
	free(x.names);
	free(x.same);
	free(x.first);
	free(x.file);
	free(x.entry);
	free(x.stack);
}

const struct export_format export_callgrind = {
	.name = "callgrind",
	.help = "costs and calls: KCachegrind, callgrind_annotate",
	.takes = TAKES_WEIGHT | TAKES_INSTR,
	.places = true,
	.end = end,
};
