// SPDX-License-Identifier: BSD-2-Clause
/* pmclog html: a report for a browser, in one file without references to others. */
#include <stdlib.h>

#include "base/order.h"
#include "base/outfile.h"
#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/html/html.h"

/* limits of what is kept in memory while a log is read */
#define CHAIN_CELLS	(1U << 20)
#define LEAST_SLICES	64U
/* limits of the page */
#define PAGE_CELLS	600000U
#define PAGE_HEAT	80000U
#define PAGE_WHOLE	100000U
#define PAGE_MOST	50000U	/* nodes of the tree for the whole time */
#define PAGE_NODES	20000U	/* nodes of the tree for parts of it */
#define FEW_NODES	3000U	/* with fewer nodes, slices become longer */
#define PAGE_SERIES	2000U
#define PAGE_EVENTS	64U

static const char usage[] =
	"usage: pmclog html [OPTION]... FILE\n"
	"\n"
	"Makes a report for a browser, in one file: flame graph, functions\n"
	"and processes, for any part of the time.\n"
	"\n"
	"  -o, --output FILE  where to write it (standard output)\n"
	"  -t, --title TEXT   what is written above it\n"
	ANALYSIS_HELP;

static const struct option options[] = {
	ANALYSIS_LONG,
	{ "output", required_argument, NULL, 'o' },
	{ "title", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

/* Clamps times of a wrong clock: their samples are still shown. */
static uint64_t units(double seconds)
{
	double v = seconds * HTML_UNITS;

	return v < 1 ? 0 : v < 0x1p62 ? (uint64_t)v : (uint64_t)1 << 62;
}

static void on_sample(void *ctx, const struct sample *s)
{
	struct html *h = ctx;
	double at = log_seconds(&h->a.p.log, s->tsc);
	struct series key = {
		.event = s->event, .comm = s->comm, .pid = s->pid,
		.tid = s->tid, .first = at, .last = at,
	};
	struct cell c = { .series = series_of(&h->series, &key),
			  .count = s->weight };
	struct series *series = &h->series.series[c.series];

	if (at < series->first)
		series->first = at;
	if (at > series->last)
		series->last = at;
	series->count++;
	cells_add(&h->heat, units(at), &c);
	c.what = s->chain;
	if (s->chain >= h->nchain)
		h->nchain = s->chain + 1;
	cells_add(&h->chains, units(at), &c);
}

/*
 * By chain number at the time of counting: its number now.  Numbers have
 * changed because chains without samples were removed.
 */
static uint32_t *chain_numbers(const struct html *h)
{
	uint32_t *number = xcalloc((size_t)h->nchain + 1, sizeof(*number));
	uint32_t i, n = 0;

	for (i = 0; i < h->chains.n; i++)
		number[h->chains.cell[i].what] = 1;
	for (i = 0; i < h->nchain; i++)
		if (number[i])
			number[i] = n++;
	return number;
}

/* Adds the cells of @from to @to; @series and @what map numbers to new ones. */
static void recount(struct cells *to, const struct cells *from,
		    const uint32_t *series, const uint32_t *what)
{
	uint32_t i;

	to->shift = from->shift;
	for (i = 0; i < from->n; i++) {
		struct cell c = from->cell[i];
		uint64_t unit = (uint64_t)c.slice << from->shift;

		if (series)
			c.series = series[c.series];
		if (c.series == HTML_NONE)
			continue;
		if (what)
			c.what = what[c.what];
		cells_add(to, unit, &c);
	}
}

/* Counts by node instead of by chain. */
static void count_chains(struct html *h, const uint32_t *series, uint32_t max)
{
	uint32_t *node = chain_numbers(h), i;

	paths_choose(&h->paths, &h->some, max);
	for (i = 0; i < h->nchain; i++)
		node[i] = h->some.number[h->paths.leaf[node[i]]];
	h->cells = (struct cells){ .max = PAGE_CELLS, .least = LEAST_SLICES };
	recount(&h->cells, &h->chains, series, node);
	free(node);
}

/* Reduces the number of nodes; if that is not enough, slices become longer. */
static void count_fewer(struct html *h, uint32_t max)
{
	struct cells from = h->cells;
	struct choice *c = &h->some;
	uint32_t n = c->n, i;
	uint32_t *node = xreallocarray(NULL, n, sizeof(*node));

	memcpy(node, c->of, n * sizeof(*node));
	paths_choose(&h->paths, c, max);
	for (i = 0; i < n; i++)
		node[i] = c->number[node[i]];
	h->cells = (struct cells){ .max = PAGE_CELLS,
				   .least = max < FEW_NODES ?
					LEAST_SLICES / 2 : LEAST_SLICES };
	recount(&h->cells, &from, NULL, node);
	cells_free(&from);
	free(node);
}

static void count_paths(struct html *h, const uint32_t *series, uint32_t max)
{
	if (max > PAGE_NODES)
		max = PAGE_NODES;
	count_chains(h, series, max);
	while (max /= 2, max && h->cells.n > PAGE_CELLS)
		count_fewer(h, max);
	while (h->cells.n > PAGE_CELLS && h->cells.slices > 1)
		cells_coarsen(&h->cells);
}

/* By series: the first one of its event and command. */
static uint32_t *by_command(const struct html *h)
{
	const struct series *s = h->named.series;
	uint32_t *first = xcalloc((size_t)h->named.n + 1, sizeof(*first)), i, j;

	for (i = 0; i < h->named.n; i++) {
		for (j = 0; s[j].event != s[i].event ||
			    s[j].comm != s[i].comm; j++)
			;
		first[i] = j;
	}
	return first;
}

/*
 * Counts for the view of the whole time and all processes, which has room for
 * more paths.  Returns about how many were kept.
 */
static uint32_t count_whole(struct html *h, const uint32_t *series)
{
	uint32_t *command = by_command(h), *chain = chain_numbers(h), max, i;

	for (max = PAGE_MOST;; max /= 2) {
		paths_choose(&h->paths, &h->most, max);
		cells_free(&h->whole);
		h->whole = (struct cells){ .max = UINT32_MAX };
		for (i = 0; i < h->chains.n; i++) {
			struct cell c = h->chains.cell[i];

			c.series = series[c.series];
			if (c.series == HTML_NONE)
				continue;
			c.series = command[c.series];
			c.what = h->most.number[h->paths.leaf[chain[c.what]]];
			cells_add(&h->whole, 0, &c);
		}
		if (h->whole.n <= PAGE_WHOLE || !max)
			break;
	}
	cells_sort(&h->whole);
	free(command);
	free(chain);
	return max;
}

/* Weighs samples taken in each function, and with it anywhere in the chain. */
static void count_functions(struct html *h)
{
	const struct profile *p = &h->a.p;
	uint32_t *seen = xcalloc((size_t)p->funcs.n + 1, sizeof(*seen)), i, j;

	h->self = h->total = (struct cells){ .max = UINT32_MAX };
	for (i = 0; i < p->chains.n; i++) {
		const struct chain *chain = &p->chains.chain[i];
		struct cell c = { .series = chain->event,
				  .count = chain_weight(&p->chains, chain) };
		const uint32_t *frames = chain_frames(&p->chains, chain);

		for (j = 0; h->a.use[chain->event] && j < chain->n; j++) {
			c.what = h->paths.same[
				p->frames.frame[frames[j]].func];
			if (!j)
				cells_add(&h->self, 0, &c);
			if (seen[c.what] != i + 1)
				cells_add(&h->total, 0, &c);
			seen[c.what] = i + 1;
		}
	}
	free(seen);
}

/* Replaces the numbers of nodes in @some by those in @most. */
static void join_nodes(struct html *h)
{
	uint32_t *node = choice_within(&h->some, &h->most), i;

	for (i = 0; i < h->cells.n; i++)
		h->cells.cell[i].what = node[h->cells.cell[i].what];
	free(node);
}

static void count(struct html *h)
{
	uint32_t *series = series_fewer(&h->series, h->a.use, &h->named,
					PAGE_SERIES);

	paths_build(&h->paths, &h->a.p, h->a.use);
	count_functions(h);
	count_paths(h, series, count_whole(h, series));
	h->map = (struct cells){ .max = PAGE_HEAT, .least = 1 };
	recount(&h->map, &h->heat, series, NULL);
	free(series);
	/* slices of the cells must be multiples of the map's */
	while (h->cells.shift < h->map.shift)
		cells_coarsen(&h->cells);
	join_nodes(h);
	cells_sort(&h->cells);
	cells_sort(&h->map);
}

DEFINE_ID_ORDER(by_samples, struct event, ORDER(b->samples, a->samples) ?: ORDER(a, b))

/* Limits the number of events; only a damaged log has more. */
static void limit_events(struct html *h)
{
	struct analysis *a = &h->a;
	const struct events *t = &a->p.events;
	uint32_t *order = xreallocarray(NULL, (size_t)t->n + 1,
					sizeof(*order)), i, n = 0;

	for (i = 0; i < t->n; i++)
		order[i] = i;
	qsort_r(order, t->n, sizeof(*order), by_samples, t->event);
	for (i = 0; i < t->n; i++)
		if (a->use[order[i]] && n++ >= PAGE_EVENTS)
			a->use[order[i]] = false;
	if (n > PAGE_EVENTS) {
		h->events_left_out = n - PAGE_EVENTS;
		warn_line("%s: only %u of %u events are in the page", a->path, PAGE_EVENTS, n);
	}
	free(order);
}

static int write_page(struct html *h)
{
	struct outfile file;
	int ret = outfile_open(&file, h->a.output, 0);

	if (ret != READER_OK)
		return ret;
	h->out = file.out;
	out_str(h->out, html_before);
	html_data(h);
	out_str(h->out, html_after);
	return outfile_close(&file, true);
}

static void html_free(struct html *h)
{
	series_free(&h->series);
	series_free(&h->named);
	cells_free(&h->chains);
	cells_free(&h->heat);
	cells_free(&h->cells);
	cells_free(&h->map);
	cells_free(&h->whole);
	cells_free(&h->self);
	cells_free(&h->total);
	paths_free(&h->paths);
	choice_free(&h->most);
	choice_free(&h->some);
}

static int make_page(struct html *h)
{
	int ret = analysis_run(&h->a);

	if (ret)
		return ret;
	limit_events(h);
	if (!analysis_samples(&h->a))
		return reader_fail("%s: no samples to show", h->a.path);
	count(h);
	return write_page(h);
}

static int run(void *ctx)
{
	struct html *h = ctx;
	int ret;

	h->a.on_sample = on_sample;
	h->a.on_sample_ctx = h;
	ret = make_page(h);
	html_free(h);
	return ret;
}

int cmd_html(int argc, char **argv)
{
	static const struct cmdline line = {
		"html", usage, ANALYSIS_SHORT "o:t:", options, NULL, NULL, run,
	};
	struct html h = {
		.chains = { .max = CHAIN_CELLS, .least = LEAST_SLICES },
		.heat = { .max = PAGE_HEAT, .least = LEAST_SLICES },
	};

	analysis_init(&h.a);
	return cmdline_analysis(&line, &h.a, &h, argc, argv);
}
