// SPDX-License-Identifier: BSD-2-Clause
/* A flame graph of one log, coloured by the difference from the other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/quality.h"
#include "base/digits.h"
#include "base/numbers.h"
#include "commands/diff/diff.h"
#include "commands/flame/flame.h"

/* a change by this share of all samples or more has full colour */
#define FULL_COLOUR	0.05

/* hues of a comparison; those of one log are in flame.c */
enum hue { HUE_ALL, HUE_SAME, HUE_MORE, HUE_LESS, HUE_NEW, NHUE };

struct drawing {
	struct diff *d;
	int side;
	double full;
};

static const struct flame_hue more_less[2][NHUE] = {
	[AFTER] = {
		[HUE_ALL]  = { NULL, 215, 0, 14, 0, 84, 0, false },
		[HUE_SAME] = { "as before", 215, 0, 10, 0, 86, 0, false },
		[HUE_MORE] = { "more than before", 8, 0, 88, 0, 58, 30, true },
		[HUE_LESS] = { "less", 214, 0, 80, 0, 60, 28, true },
		[HUE_NEW]  = { "not there before", 300, 0, 60, 0, 66, 0,
			       false },
	},
	[BEFORE] = {
		[HUE_ALL]  = { NULL, 215, 0, 14, 0, 84, 0, false },
		[HUE_SAME] = { "as after", 215, 0, 10, 0, 86, 0, false },
		[HUE_MORE] = { "becomes more", 8, 0, 88, 0, 58, 30, true },
		[HUE_LESS] = { "becomes less", 214, 0, 80, 0, 60, 28, true },
		[HUE_NEW]  = { "gone after", 300, 0, 60, 0, 66, 0, false },
	},
};

static double self_change(const struct drawing *g, const struct diffnode *n)
{
	return diff_share(g->d, AFTER, n->self[AFTER]) -
	       diff_share(g->d, BEFORE, n->self[BEFORE]);
}

/*
 * The colour shows the frame's own samples.  Otherwise all callers of a change
 * would have its colour, too.
 */
static void colour(const struct drawing *g, const struct diffnode *n,
		   struct flame_look *l)
{
	double change = self_change(g, n);

	if (!n->total[!g->side]) {
		l->hue = HUE_NEW;
		return;
	}
	l->strength = fmin(1, fabs(change) / g->full);
	l->hue = l->strength < 0.02 ? HUE_SAME : change > 0 ? HUE_MORE :
		 HUE_LESS;
}

static void look(void *ctx, uint32_t node, struct flame_look *l)
{
	const struct drawing *g = ctx;
	const struct diff *d = g->d;

	if (node == CALLTREE_ROOT) {
		l->name = "all";
		l->hue = HUE_ALL;
		return;
	}
	l->name = strtab_str(&d->str, d->label[d->t.node[node].label].name);
	colour(g, &d->node[node], l);
}

static char *put_share(char *to, const char *before, double share)
{
	return put_hundredths(stpcpy(to, before), 100 * share);
}

static void note(void *ctx, uint32_t node, struct flame_note *note)
{
	const struct drawing *g = ctx;
	const struct diff *d = g->d;
	const struct diffnode *n = &d->node[node];
	uint32_t obj;
	char *to;

	if (node == CALLTREE_ROOT)
		return;
	obj = d->label[d->t.node[node].label].obj;
	note->obj = obj ? strtab_str(&d->str, obj) : NULL;
	to = put_share(note->text, "\nbefore ",
		       diff_share(d, BEFORE, n->total[BEFORE]));
	to = put_share(to, " %, after ", diff_share(d, AFTER, n->total[AFTER]));
	to = put_share(to, " %; itself ",
		       diff_share(d, BEFORE, n->self[BEFORE]));
	to = put_share(to, " %, ", diff_share(d, AFTER, n->self[AFTER]));
	strcpy(to, " %");
}

/* If no change reaches FULL_COLOUR, the greatest one has full colour. */
static double full_colour(const struct drawing *g)
{
	double most = 0;
	uint32_t i;

	for (i = 1; i < g->d->t.n; i++)
		if (g->d->node[i].total[!g->side])
			most = fmax(most, fabs(self_change(g,
							   &g->d->node[i])));
	return most > 0 && most < FULL_COLOUR ? most : FULL_COLOUR;
}

/* The weight of the drawn log in stacks that the other log does not have. */
static uint64_t only_here(const struct drawing *g)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 1; i < g->d->t.n; i++)
		if (!g->d->node[i].total[!g->side])
			n += g->d->node[i].self[g->side];
	return n;
}

/* The same for the other log: this graph cannot show them. */
static uint64_t only_there(const struct drawing *g)
{
	struct drawing other = { .d = g->d, .side = !g->side };

	return only_here(&other);
}

/* "8,029 samples (12 lost; log has no end)"; the caller frees it. */
static char *count(const struct diff *d, int side)
{
	uint64_t n = d->samples[side], lost = losses_of(&d->a[side]).all;
	char num[GROUPED_MAX], more[GROUPED_MAX + 8] = "", *text;
	char *short_of = short_text(&d->a[side].p);

	if (lost)
		snprintf(more, sizeof(more), "%s lost", grouped(num, lost));
	text = xasprintf("%s %s%s%s%s%s%s", grouped(num, n),
			 plural(n, "sample", "samples"),
			 lost || short_of ? " (" : "", more,
			 lost && short_of ? "; " : "", short_of ? short_of : "",
			 lost || short_of ? ")" : "");
	free(short_of);
	return text;
}

void diff_flame(struct diff *d, const char *title, int side)
{
	struct drawing g = { .d = d, .side = side };
	struct flame_graph graph = {
		.t = &d->t, .look = look, .note = note, .ctx = &g,
		.hues = more_less[side], .nhues = NHUE,
		.events = d->events[side],
	};
	char *over, *under, *samples[2];
	uint32_t i;

	g.full = full_colour(&g);
	for (i = 0; i < d->t.n; i++) {
		d->t.node[i].self = d->node[i].self[side];
		d->t.node[i].total = d->node[i].total[side];
	}
	over = title ? xstrdup(title) :
	       xasprintf("%s, compared with %s", d->a[side].path,
			 d->a[!side].path);
	samples[BEFORE] = count(d, BEFORE);
	samples[AFTER] = count(d, AFTER);
	under = xasprintf("%s before, %s after; widths are those of "
			  "the log %s; %.1f %% is only there, %.1f %% of the "
			  "other is not", samples[BEFORE], samples[AFTER],
			  side == AFTER ? "after" : "before",
			  100 * diff_share(d, side, only_here(&g)),
			  100 * diff_share(d, !side, only_there(&g)));
	graph.title = over;
	graph.subtitle = under;
	flame_draw(&graph, d->out);
	free(over);
	free(under);
	free(samples[BEFORE]);
	free(samples[AFTER]);
}
