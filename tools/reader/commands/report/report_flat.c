// SPDX-License-Identifier: BSD-2-Clause
/* The flat profile: samples by function, whoever called it. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/order.h"
#include "commands/report/report_rows.h"

/* The properties of a function that rows are grouped by. */
struct look {
	uint32_t same, dso, file, line;
};

static struct look look_of(const struct report *r, uint32_t func)
{
	const struct profile *p = &r->a.p;
	const struct func *f = &p->funcs.func[func];
	bool line = r->sort & SORT_LINE;

	return (struct look){
		.same = r->sort & SORT_SYM ? r->same[func] : 0,
		.dso = r->sort & SORT_DSO ? p->objs.obj[f->obj].brief : 0,
		.file = line || r->sort & SORT_FILE ? f->file : 0,
		.line = line ? f->line : 0,
	};
}

/* By function: the first function of the same row. */
static uint32_t *func_keys(const struct report *r)
{
	uint32_t n = r->a.p.funcs.n, i;
	uint32_t *key = xcalloc((size_t)n + 1, sizeof(*key));
	struct look *look = xcalloc((size_t)n + 1, sizeof(*look));
	struct idtab tab = { 0 };

	for (i = 0; i < n; i++) {
		uint64_t hash;

		look[i] = look_of(r, i);
		hash = hash_bytes(&look[i], sizeof(*look), 0);
		key[i] = IDTAB_FIND(&tab, hash, look, e, !memcmp(e, &look[i], sizeof(*e)));
		if (key[i] == IDTAB_NONE)
			idtab_add(&tab, hash, key[i] = i);
	}
	idtab_free(&tab);
	free(look);
	return key;
}

/* By frame: the same.  It saves a lookup for each frame of each chain. */
static uint32_t *frame_keys(const struct report *r)
{
	const struct frames *t = &r->a.p.frames;
	uint32_t *func = func_keys(r), i;
	uint32_t *key = xcalloc(t->n, sizeof(*key));

	for (i = 0; i < t->n; i++)
		key[i] = func[t->frame[i].func];
	free(func);
	return key;
}

static const struct group *group_of(const struct report *r,
				    const struct row *row)
{
	return &r->a.p.groups.group[row->group];
}

static int by_hw_keys(const struct hw_keys *a, const struct hw_keys *b)
{
	return ORDER(a->mem, b->mem) ?: ORDER(a->latency, b->latency) ?:
	       ORDER(a->prediction, b->prediction) ?: ORDER(a->from, b->from) ?:
	       ORDER(a->to, b->to);
}

static int by_group(const struct group *a, const struct group *b)
{
	return ORDER(a->slice, b->slice) ?: ORDER(a->cpu, b->cpu) ?:
	       ORDER(a->pid, b->pid) ?: ORDER(a->tid, b->tid) ?:
	       ORDER(a->value, b->value) ?: by_hw_keys(&a->hw, &b->hw);
}

static int by_source(const struct report *r, const struct row *a,
		     const struct row *b)
{
	const struct func *fa = &r->a.p.funcs.func[a->func];
	const struct func *fb = &r->a.p.funcs.func[b->func];

	return strcmp(strtab_str(&r->a.p.str, fa->file),
		      strtab_str(&r->a.p.str, fb->file)) ?:
	       ORDER(fa->line, fb->line);
}

/*
 * By self, then by total, then by name, so that the order is reproducible.
 * Slices of time are in the order of time.
 */
static int by_weight(const void *pa, const void *pb, void *ctx)
{
	const struct row *a = pa, *b = pb;
	struct report *r = ctx;

	return ORDER(group_of(r, a)->slice, group_of(r, b)->slice) ?:
	       ORDER(b->self, a->self) ?: ORDER(b->total, a->total) ?:
	       strcmp(report_func(r, a->func), report_func(r, b->func)) ?:
	       strcmp(strtab_str(&r->a.p.str, a->comm),
		      strtab_str(&r->a.p.str, b->comm)) ?:
	       by_source(r, a, b) ?: by_group(group_of(r, a), group_of(r, b));
}

static void put_name(struct report *r, const char *s, int width)
{
	char buf[SHOWN_MAX];

	out_str(r->out, shown_name(buf, s, false));
	for (width -= shown_columns(buf); width > 0; width--)
		out_char(r->out, ' ');
}

/* Decimals that show where each slice begins: these are whole nanoseconds. */
static int slice_digits(double slice)
{
	uint64_t ns = (uint64_t)(slice * 1e9 + 0.5);
	int digits = slice < 0.01 ? 6 : 2, i;

	for (i = 9; i > digits && !(ns % 10); i--)
		ns /= 10;
	return i;
}

static void put_time(struct report *r, const struct row *row, int width)
{
	out_printf(r->out, "%-*.*f", width, slice_digits(r->a.slice),
		   group_of(r, row)->slice * r->a.slice);
}

static void put_cpu(struct report *r, const struct row *row, int width)
{
	out_printf(r->out, "%-*u", width, group_of(r, row)->cpu);
}

/* -1: a kernel thread's id is not known */
static void put_id(struct report *r, uint32_t id, int width)
{
	out_printf(r->out, "%-*d", width, (int32_t)id);
}

static void put_pid(struct report *r, const struct row *row, int width)
{
	put_id(r, group_of(r, row)->pid, width);
}

static void put_tid(struct report *r, const struct row *row, int width)
{
	put_id(r, group_of(r, row)->tid, width);
}

/* Samples without the field get a '-'. */
static void put_field(struct report *r, const struct row *row, int width)
{
	uint32_t value = group_of(r, row)->value;

	put_name(r, value ? strtab_str(&r->a.p.str, value) : "-", width);
}

/* What is not known gets a '-'. */
static void put_mem(struct report *r, const struct row *row, int width)
{
	uint32_t mem = group_of(r, row)->hw.mem;

	put_name(r, mem ? strtab_str(&r->a.p.str, mem) : "-", width);
}

static void put_latency(struct report *r, const struct row *row, int width)
{
	uint32_t latency = group_of(r, row)->hw.latency;

	if (latency)
		out_printf(r->out, "%-*u", width, latency - 1);
	else
		put_name(r, "-", width);
}

static void put_prediction(struct report *r, const struct row *row, int width)
{
	const char *text = detail_prediction(group_of(r, row)->hw.prediction);

	put_name(r, *text ? text : "-", width);
}

static void put_func(struct report *r, uint32_t func, int width)
{
	const struct func *f = &r->a.p.funcs.func[func];
	char buf[SHOWN_MAX + 16];

	snprintf(buf, sizeof(buf), "%s%s", func_named(f) ?
		 report_func(r, func) : "[unknown]", report_mark(r, func));
	put_name(r, buf, width);
}

/* @frame: as in struct hw_keys */
static void put_end(struct report *r, uint32_t frame, int width)
{
	if (frame)
		put_func(r, r->a.p.frames.frame[frame - 1].func, width);
	else
		put_name(r, "-", width);
}

static void put_from(struct report *r, const struct row *row, int width)
{
	put_end(r, group_of(r, row)->hw.from, width);
}

static void put_to(struct report *r, const struct row *row, int width)
{
	put_end(r, group_of(r, row)->hw.to, width);
}

static void put_comm(struct report *r, const struct row *row, int width)
{
	put_name(r, strtab_str(&r->a.p.str, row->comm), width);
}

static void put_dso(struct report *r, const struct row *row, int width)
{
	const struct profile *p = &r->a.p;
	uint32_t obj = p->funcs.func[row->func].obj;

	put_name(r, strtab_str(&p->str, p->objs.obj[obj].brief), width);
}

static void put_symbol(struct report *r, const struct row *row, int width)
{
	put_func(r, row->func, width);
}

static void put_file(struct report *r, const struct row *row, int width)
{
	const struct func *f = &r->a.p.funcs.func[row->func];

	put_name(r, f->file ? strtab_str(&r->a.p.str, f->file) : "[unknown]",
		 width);
	if (f->line && r->sort & SORT_LINE)
		out_printf(r->out, ":%u", f->line);
}

static const struct column {
	unsigned int sort;
	const char *head;
	int width;
	void (*put)(struct report *r, const struct row *row, int width);
} columns[] = {
	{ SORT_TIME, "Second", 9, put_time },
	{ SORT_CPU, "CPU", 3, put_cpu },
	{ SORT_PID, "PID", 7, put_pid },
	{ SORT_TID, "TID", 7, put_tid },
	{ SORT_FIELD, "Field", 15, put_field },
	{ SORT_MEM, "Memory", 22, put_mem },
	{ SORT_LATENCY, "Weight", 7, put_latency },
	{ SORT_PREDICTION, "Prediction", 12, put_prediction },
	{ SORT_FROM, "From", 24, put_from },
	{ SORT_TO, "To", 24, put_to },
	{ SORT_COMM, "Command", 15, put_comm },
	{ SORT_DSO, "Object", 22, put_dso },
	{ SORT_SYM, "Symbol", 32, put_symbol },
	{ SORT_FILE | SORT_LINE, "Source", 0, put_file },
};

static const char *column_head(const struct report *r, const struct column *c)
{
	return c->sort == SORT_FIELD ? r->a.field : c->head;
}

/* Prints a row's names, with @row NULL the column heads; the last is not padded. */
static void print_names(struct report *r, const struct row *row)
{
	unsigned int left = r->sort;
	size_t i;

	for (i = 0; i < nitems(columns); i++) {
		const struct column *c = &columns[i];
		int width = (left &= ~c->sort) ? c->width : 0;

		if (!(r->sort & c->sort))
			continue;
		if (row)
			c->put(r, row, width);
		else
			out_printf(r->out, "%-*s", width, column_head(r, c));
		out_str(r->out, left ? "  " : "\n");
	}
}

/* Prints the figures of a row; @total < 0: the table has no totals. */
static void print_figures(struct report *r, double self, double total,
			  uint64_t samples)
{
	char buf[GROUPED_MAX];

	out_printf(r->out, "%7.2f ", self);
	if (!r->a.innermost && total < 0)
		out_printf(r->out, "%8s ", "");
	else if (!r->a.innermost)
		out_printf(r->out, "%8.2f ", total);
	out_printf(r->out, "%11s  ", grouped(buf, samples));
}

/* A series of time has all its rows, if nothing else is asked for. */
static double least_share(const struct report *r)
{
	return !r->limited && r->sort == SORT_TIME ? 0 : r->limit;
}

static void print_table(struct report *r, const struct table *t)
{
	double least = least_share(r);
	uint64_t rest = 0, rest_samples = 0;
	uint32_t i, shown = 0, hidden = 0;

	out_str(r->out, "\n Self %  ");
	if (!r->a.innermost)
		out_str(r->out, "Total %  ");
	out_str(r->out, "   Samples  ");
	print_names(r, NULL);
	for (i = 0; i < t->n; i++) {
		const struct row *row = &t->row[i];

		if (percent(row->self, t->weight) < least ||
		    (r->lines && shown == r->lines)) {
			rest += row->self;
			rest_samples += row->samples;
			hidden++;
			continue;
		}
		shown++;
		print_figures(r, percent(row->self, t->weight),
			      percent(row->total, t->weight), row->samples);
		print_names(r, row);
	}
	if (hidden) {
		print_figures(r, percent(rest, t->weight), -1, rest_samples);
		out_printf(r->out, "in %u more %s\n", hidden,
			   plural(hidden, "row", "rows"));
	}
}

void report_flat(struct report *r, uint32_t event)
{
	uint32_t *key = frame_keys(r);
	struct table t;

	report_rows(&t, r, event, key);
	qsort_r(t.row, t.n, sizeof(*t.row), by_weight, r);
	print_table(r, &t);
	free(t.row);
	free(key);
}
