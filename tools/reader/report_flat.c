// SPDX-License-Identifier: BSD-2-Clause
/* The flat profile: where the samples were, whoever called it. */
#include <stdlib.h>

#include "report.h"
#include "shown.h"

#define COMM_WIDTH	15
#define DSO_WIDTH	22

/**
 * struct row - of the table
 * @comm:  string number, 0 if commands are not told apart
 * @func:  stands for all that are not told apart from it
 * @seen:  last chain that counted for @total, so that recursion counts once
 */
struct row {
	uint64_t self, total;
	uint32_t comm, func;
	uint32_t seen;
};

struct table {
	struct row *row;
	uint32_t n, cap;
	struct idtab tab;
	const uint32_t *key;	/* by function: the one that stands for it */
	uint64_t samples;
};

static bool same_row(const void *ctx, uint32_t id, const void *key)
{
	const struct row *a = &((const struct table *)ctx)->row[id];
	const struct row *b = key;

	return a->comm == b->comm && a->func == b->func;
}

static struct row *row_of(struct table *t, uint32_t comm, uint32_t func)
{
	struct row key = { .comm = comm, .func = func, .seen = UINT32_MAX };
	uint64_t hash = hash_mix(comm, func);
	uint32_t id = idtab_find(&t->tab, hash, same_row, t, &key);

	if (id == IDTAB_NONE) {
		GROW(t->row, t->n, t->cap);
		t->row[t->n] = key;
		idtab_add(&t->tab, hash, t->n);
		id = t->n++;
	}
	return &t->row[id];
}

static void count_chain(struct table *t, const struct report *r, uint32_t i)
{
	const struct profile *p = &r->a.p;
	const struct chain *c = &p->chains.chain[i];
	uint32_t comm = r->sort & SORT_COMM ? c->comm : 0, j;

	for (j = 0; j < c->n; j++) {
		uint32_t func = p->frames.frame[c->frames[j]].func;
		struct row *row = row_of(t, comm, t->key[func]);

		if (!j)
			row->self += c->count;
		if (row->seen != i)
			row->total += c->count;
		row->seen = i;
	}
	t->samples += c->count;
}

/* One function for each object, or for all, when symbols don't matter. */
static uint32_t *row_keys(const struct report *r)
{
	const struct profile *p = &r->a.p;
	uint32_t *key = xcalloc((size_t)p->funcs.n + 1, sizeof(*key)), i;
	uint32_t *first = xcalloc((size_t)p->str.n + 1, sizeof(*first));

	for (i = 0; i < p->funcs.n; i++) {
		uint32_t dso = p->objs.obj[p->funcs.func[i].obj].brief;

		if (!first[dso])
			first[dso] = i + 1;
		if (r->sort & SORT_SYM)
			key[i] = r->same[i];
		else if (r->sort & SORT_DSO)
			key[i] = first[dso] - 1;
	}
	free(first);
	return key;
}

/* By self, then by total; names last, for an order that repeats. */
static int by_weight(const void *pa, const void *pb, void *ctx)
{
	const struct row *a = pa, *b = pb;
	struct report *r = ctx;
	int cmp;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	cmp = strcmp(report_func(r, a->func), report_func(r, b->func));
	if (cmp)
		return cmp;
	return strcmp(strtab_str(&r->a.p.str, a->comm),
		      strtab_str(&r->a.p.str, b->comm));
}

static void padded(struct report *r, const char *s, int width, bool last)
{
	char buf[SHOWN_MAX];
	int len = 0;
	const char *c;

	shown_name(buf, s, false);
	out_str(r->out, buf);
	if (last)
		return;
	for (c = buf; *c; c++)
		len += ((unsigned char)*c & 0xc0) != 0x80;
	do {
		out_char(r->out, ' ');
	} while (++len < width + 2);
}

static void print_names(struct report *r, const struct row *row)
{
	const struct profile *p = &r->a.p;
	const struct func *f = &p->funcs.func[row->func];

	if (r->sort & SORT_COMM)
		padded(r, strtab_str(&p->str, row->comm), COMM_WIDTH,
		       r->sort == SORT_COMM);
	if (r->sort & SORT_DSO)
		padded(r, strtab_str(&p->str, p->objs.obj[f->obj].brief),
		       DSO_WIDTH, !(r->sort & SORT_SYM));
	if (!(r->sort & SORT_SYM))
		return;
	out_str(r->out, func_named(f) ? report_func(r, row->func) :
					"[unknown]");
	out_str(r->out, report_mark(r, row->func));
}

static void print_head(struct report *r)
{
	out_str(r->out, "\n Self %  Total %     Samples  ");
	if (r->sort & SORT_COMM)
		padded(r, "Command", COMM_WIDTH, r->sort == SORT_COMM);
	if (r->sort & SORT_DSO)
		padded(r, "Object", DSO_WIDTH, !(r->sort & SORT_SYM));
	if (r->sort & SORT_SYM)
		out_str(r->out, "Symbol");
	out_char(r->out, '\n');
}

static void print_table(struct report *r, const struct table *t)
{
	uint64_t rest = 0;
	uint32_t i, shown = 0, hidden = 0;
	char buf[GROUPED_MAX];

	print_head(r);
	for (i = 0; i < t->n; i++) {
		const struct row *row = &t->row[i];

		if (!row->self)
			break;
		if (percent(row->self, t->samples) < r->limit ||
		    (r->lines && shown == r->lines)) {
			rest += row->self;
			hidden++;
			continue;
		}
		shown++;
		out_printf(r->out, "%7.2f %8.2f %11s  ",
			   percent(row->self, t->samples),
			   percent(row->total, t->samples),
			   grouped(buf, row->self));
		print_names(r, row);
		out_char(r->out, '\n');
	}
	if (hidden)
		out_printf(r->out, "%7.2f          %11s  in %u more rows\n",
			   percent(rest, t->samples), grouped(buf, rest),
			   hidden);
}

void report_flat(struct report *r, uint32_t event)
{
	const struct profile *p = &r->a.p;
	uint32_t *key = row_keys(r), i;
	struct table t = { .key = key };

	for (i = 0; i < p->chains.n; i++)
		if (p->chains.chain[i].event == event)
			count_chain(&t, r, i);
	qsort_r(t.row, t.n, sizeof(*t.row), by_weight, r);
	print_table(r, &t);
	free(t.row);
	idtab_free(&t.tab);
	free(key);
}
