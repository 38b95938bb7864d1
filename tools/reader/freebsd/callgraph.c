/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -G: call graphs as text, from the place of the sample up to its callers.
 *
 * Converters to flame graphs read this, so not a blank may change:
 *
 *	@ event [100 samples]
 *
 *	60.00%  [60]       inner @ /path/of/image
 *	 100.0%  [60]        caller
 *
 * The counts of an event that is sampled at a rate are events, not samples.
 *
 * A line begins with as many blanks as it is deep; the count has 12 columns and
 * as many more as it is deep; the image is named where it is not that of the
 * line before.
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "analysis/shown.h"
#include "base/order.h"
#include "freebsd/log_view.h"
#include "profile/calltree.h"

#define COUNT_WIDTH	12

/**
 * struct graph - the graph of one event
 * @image: of the last line, -1 at the start of a block
 */
struct graph {
	struct log	*l;
	struct calltree	t;
	FILE		*f;
	int64_t		image;
};

static void build(struct graph *g, uint32_t event)
{
	const struct chains *chains = &g->l->p.chains;
	uint32_t *path = NULL, cap = 0, i, j;

	calltree_init(&g->t);
	for (i = 0; i < chains->n; i++) {
		const struct chain *c = &chains->chain[i];
		uint32_t n = log_depth(g->l, c);

		if (c->event != event)
			continue;
		if (n > cap)
			path = xreallocarray(path, cap = n, sizeof(*path));
		for (j = 0; j < n; j++)
			path[j] = log_label(g->l, c, j);
		calltree_add(&g->t, path, n, chain_weight(chains, c));
	}
	free(path);
	calltree_sum(&g->t);
}

/* Most samples first, then by name, so that the order is reproducible. */
static int by_samples(const struct callnode *a, const struct callnode *b,
		      void *ctx)
{
	char na[NAME_MAX_SHOWN], nb[NAME_MAX_SHOWN];
	struct log *l = ctx;

	return ORDER(b->total, a->total) ?:
	       strcmp(log_name(l, a->label, na), log_name(l, b->label, nb)) ?:
	       strcmp(log_image(l, log_label_image(l, a->label), na),
		      log_image(l, log_label_image(l, b->label), nb)) ?:
	       ORDER(a->label, b->label);
}

static void print_line(struct graph *g, const struct callnode *node,
		       unsigned int depth, uint64_t of)
{
	uint32_t image = log_label_image(g->l, node->label);
	char name[NAME_MAX_SHOWN];
	int width;

	fprintf(g->f, "%*s", (int)depth, "");
	if (node->total == of)
		fputs("100.0% ", g->f);
	else
		fprintf(g->f, "%05.2f%% ",
			100.0 * (double)node->total / (double)of);
	width = fprintf(g->f, " [%llu] ", (unsigned long long)node->total);
	if (width < COUNT_WIDTH)
		fprintf(g->f, "%*s", COUNT_WIDTH - width, "");
	fprintf(g->f, "%*s%s", (int)depth, "", log_name(g->l, node->label, name));
	if (g->image != image) {
		fprintf(g->f, " @ %s", log_image(g->l, image, name));
		g->image = image;
	}
	putc('\n', g->f);
}

static void print_callers(struct graph *g, uint32_t node, unsigned int depth)
{
	uint64_t of = g->t.node[node].total;
	uint32_t *child, n, i;

	n = calltree_children(&g->t, node, &child, by_samples, g->l);
	for (i = 0; i < n; i++) {
		if (!depth)
			g->image = -1;
		print_line(g, &g->t.node[child[i]], depth, of);
		print_callers(g, child[i], depth + 1);
		if (!depth)
			putc('\n', g->f);
	}
	free(child);
}

static void print_event(struct graph *g, uint32_t event)
{
	const struct event *e = &g->l->p.events.event[event];
	char name[NAME_MAX_SHOWN];

	build(g, event);
	if (g->t.node[CALLTREE_ROOT].total) {
		fprintf(g->f, "@ %s [%llu %s]\n\n", shown_str(name, &g->l->p.str, e->name),
			(unsigned long long)g->t.node[CALLTREE_ROOT].total,
			event_is_freq(e) ? "events" : "samples");
		print_callers(g, CALLTREE_ROOT, 0);
	}
	calltree_free(&g->t);
}

int read_graph(struct log *l)
{
	struct graph g = { .l = l, .f = text_open(l->o->graph) };
	uint32_t i;

	if (!g.f)
		return EX_CANTCREAT;
	for (i = 0; i < l->p.events.n; i++)
		print_event(&g, i);
	return text_close(g.f, l->o->graph);
}
