// SPDX-License-Identifier: BSD-2-Clause
/* The views of pmclog diff: functions by how much they changed, folded stacks. */
#include <math.h>
#include <stdlib.h>

#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/order.h"
#include "commands/diff/diff.h"

#define OBJ_WIDTH	22

/* a function */
struct row {
	const uint64_t *self, *total;
	double change, total_change;	/* of shares */
	uint32_t label;
};

static double change(const struct diff *d, const uint64_t count[2])
{
	return diff_share(d, AFTER, count[AFTER]) -
	       diff_share(d, BEFORE, count[BEFORE]);
}

static struct row *make_rows(const struct diff *d)
{
	struct row *row = xcalloc((size_t)d->n + 1, sizeof(*row));
	uint32_t i;

	for (i = 0; i < d->n; i++)
		row[i] = (struct row){
			.self = d->count[i].self, .total = d->count[i].total,
			.change = change(d, d->count[i].self),
			.total_change = change(d, d->count[i].total),
			.label = i,
		};
	return row;
}

static const char *name_of(const struct diff *d, uint32_t label)
{
	return strtab_str(&d->str, d->label[label].name);
}

/* The greatest change first, in either direction; ties are broken by name. */
static int by_change(const void *pa, const void *pb, void *ctx)
{
	const struct row *a = pa, *b = pb;

	return ORDER(fabs(b->change), fabs(a->change)) ?:
	       ORDER(fabs(b->total_change), fabs(a->total_change)) ?:
	       strcmp(name_of(ctx, a->label), name_of(ctx, b->label)) ?:
	       ORDER(a->label, b->label);
}

static const char *mark_of(const struct difflabel *l)
{
	return l->kind == OBJ_KERNEL ? " [k]" : l->kind == OBJ_MODULE ?
	       " [m]" : "";
}

/* Marks a function that is in one log only. */
static const char *fate(const struct row *r)
{
	if (!r->total[BEFORE])
		return "  new";
	return r->total[AFTER] ? "" : "  gone";
}

static void put_row(struct diff *d, const struct row *r)
{
	const struct difflabel *l = &d->label[r->label];
	const char *obj = strtab_str(&d->str, l->obj);
	int pad = OBJ_WIDTH - shown_columns(obj);

	out_printf(d->out, "%8.2f %8.2f %+8.2f  ",
		   100 * diff_share(d, BEFORE, r->self[BEFORE]),
		   100 * diff_share(d, AFTER, r->self[AFTER]),
		   100 * r->change);
	if (d->total)
		out_printf(d->out, "%+8.2f  ", 100 * r->total_change);
	out_printf(d->out, "%s%*s  ", obj, pad > 0 ? pad : 0, "");
	out_str(d->out, l->named ? name_of(d, r->label) : "[unknown]");
	out_str(d->out, mark_of(l));
	out_str(d->out, fate(r));
	out_char(d->out, '\n');
}

static bool is_shown(const struct diff *d, const struct row *r, double limit)
{
	return 100 * fabs(r->change) >= limit ||
	       (d->total && 100 * fabs(r->total_change) >= limit);
}

/* Without totals, a function without samples of its own has no row. */
static bool is_row(const struct diff *d, const struct row *r)
{
	return d->label[r->label].obj &&
	       (d->total || r->self[BEFORE] || r->self[AFTER]);
}

static void put_heads(struct diff *d)
{
	out_printf(d->out, "\n Self %%  before, after, %s; by how much changed\n"
		   " Before    After   Change  %s%-*s  Symbol\n",
		   d->total ? "change, and change of total" : "and change",
		   d->total ? "   Total  " : "", OBJ_WIDTH, "Object");
}

void diff_table(struct diff *d, double limit, unsigned long lines)
{
	struct row *row = make_rows(d);
	unsigned long shown = 0;
	uint32_t i, hidden = 0;

	qsort_r(row, d->n, sizeof(*row), by_change, d);
	put_heads(d);
	for (i = 0; i < d->n; i++) {
		if (!is_row(d, &row[i]))
			continue;
		if (!is_shown(d, &row[i], limit) || (lines && shown == lines)) {
			hidden++;
			continue;
		}
		shown++;
		put_row(d, &row[i]);
	}
	if (hidden)
		out_printf(d->out, "  %u %s%s changed less than %g "
			   "%% of all samples%s\n", hidden, shown ? "more " : "",
			   plural(hidden, "function", "functions"), limit,
			   lines && shown == lines ? ", or are too many" : "");
	free(row);
}

static void put_name(struct diff *d, const struct difflabel *l)
{
	const char *s = strtab_str(&d->str, l->name);

	for (; *s; s++)
		out_char(d->out, *s == ';' ? ':' :
			 *s == ' ' && !l->obj ? '_' : *s);
	if (obj_is_kernel(l->kind))
		out_str(d->out, "_[k]");
	else if (l->kind == OBJ_JIT && l->named)
		out_str(d->out, "_[j]");
}

/* Prints the path to a node, outermost first. */
static void put_path(struct diff *d, uint32_t at)
{
	uint32_t parent = d->t.node[at].parent;

	if (parent != CALLTREE_ROOT) {
		put_path(d, parent);
		out_char(d->out, ';');
	}
	put_name(d, &d->label[d->t.node[at].label]);
}

void diff_folded(struct diff *d)
{
	uint32_t i;

	for (i = 1; i < d->t.n; i++) {
		const struct diffnode *n = &d->node[i];

		if (!n->self[BEFORE] && !n->self[AFTER])
			continue;
		put_path(d, i);
		out_printf(d->out, " %llu %llu\n",
			   (unsigned long long)n->self[BEFORE],
			   (unsigned long long)n->self[AFTER]);
	}
}
