// SPDX-License-Identifier: BSD-2-Clause
/* The call tree, from the commands down to the innermost functions. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/order.h"
#include "commands/report/report.h"
#include "profile/calltree.h"

#define WIDTH_DEFAULT	110
#define WIDTH_MIN	60
#define COLUMNS		19	/* width of the figures on the left */
#define DEPTH_MAX	128	/* levels drawn; a collapsed path is one */

/* how the branches are drawn */
struct strokes {
	const char *bar, *blank, *tee, *corner, *arrow;
};

static const struct strokes utf8 = {
	"│ ", "  ", "├ ", "└ ", " → ",
};

static const struct strokes ascii = {
	"| ", "  ", "+-", "`-", " > ",
};

/**
 * struct drawing - a tree that is being printed
 * @commands: its first level are commands
 * @last:  by depth: no more siblings follow
 * @col:   column of the next character
 * @width: of a line
 */
struct drawing {
	struct report *r;
	struct calltree t;
	const struct strokes *s;
	bool commands;
	bool last[DEPTH_MAX];
	int depth, col, width;
};

static int line_width(void)
{
	struct winsize ws;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) &&
	    ws.ws_col)
		return ws.ws_col < WIDTH_MIN ? WIDTH_MIN : ws.ws_col;
	return WIDTH_DEFAULT;
}

static bool visible(const struct drawing *d, uint32_t node)
{
	return percent(d->t.node[node].total, d->t.node[0].total) >=
	       d->r->limit;
}

/* True if the tree begins with commands and the node is one of them. */
static bool is_comm(const struct drawing *d, uint32_t node)
{
	return d->commands && d->t.node[node].parent == CALLTREE_ROOT;
}

/* The name of a node's command or function, and its mark. */
static const char *node_name(struct drawing *d, uint32_t node,
			     const char **mark, char buf[SHOWN_MAX])
{
	const struct callnode *n = &d->t.node[node];

	*mark = "";
	if (is_comm(d, node))
		return shown_str(buf, &d->r->a.p.str, n->label);
	if (func_named(&d->r->a.p.funcs.func[n->label]))
		*mark = report_mark(d->r, n->label);
	return report_func(d->r, n->label);
}

static void put(struct drawing *d, const char *s)
{
	out_str(d->r->out, s);
	d->col += shown_columns(s);
}

/* Draws the branches left of a name; on later lines of a wrapped name, below it. */
static void put_branches(struct drawing *d, bool first, bool children)
{
	int i;

	for (i = 1; i < d->depth; i++)
		put(d, d->last[i] ? d->s->blank : d->s->bar);
	if (d->depth)
		put(d, first ? d->last[d->depth] ? d->s->corner : d->s->tee :
			       d->last[d->depth] ? d->s->blank : d->s->bar);
	if (!first)
		put(d, children ? d->s->bar : d->s->blank);
}

static int by_total(const struct callnode *a, const struct callnode *b,
		    void *ctx)
{
	struct drawing *d = ctx;
	char ba[SHOWN_MAX], bb[SHOWN_MAX];
	const char *mark;

	return ORDER(b->total, a->total) ?:
	       strcmp(node_name(d, (uint32_t)(a - d->t.node), &mark, ba),
		      node_name(d, (uint32_t)(b - d->t.node), &mark, bb));
}

/*
 * The only child of a node, if all other children are negligible.  Both are
 * drawn on one line.  0 if there is none.
 */
static uint32_t only_way(const struct drawing *d, uint32_t node)
{
	const struct callnode *n = &d->t.node[node];
	uint32_t i, way = 0;

	if (is_comm(d, node))
		return 0;
	for (i = n->child; i; i = d->t.node[i].next)
		if (visible(d, i)) {
			if (way)
				return 0;
			way = i;
		}
	if (way && percent(n->total - d->t.node[way].total,
			   d->t.node[0].total) >= 0.05)
		return 0;
	return way;
}

static bool has_visible_child(const struct drawing *d, uint32_t node)
{
	uint32_t i;

	for (i = d->t.node[node].child; i; i = d->t.node[i].next)
		if (visible(d, i))
			return true;
	return false;
}

static void put_figures(struct drawing *d, uint32_t node, uint32_t end)
{
	uint64_t all = d->t.node[0].total;
	double self = percent(d->t.node[end].self, all);

	out_printf(d->r->out, "%8.2f ", percent(d->t.node[node].total, all));
	/* a tree of callers does not show where chains end */
	if (self >= 0.005 && d->commands)
		out_printf(d->r->out, "%8.2f  ", self);
	else
		out_str(d->r->out, "          ");
	d->col = COLUMNS;
}

/* Prints a node and those collapsed into its line; returns the last of them. */
static uint32_t put_line(struct drawing *d, uint32_t node)
{
	uint32_t end = node, i;
	char buf[SHOWN_MAX];
	const char *name, *mark;
	bool children;

	while ((i = only_way(d, end)))
		end = i;
	children = has_visible_child(d, end);
	put_figures(d, node, end);
	put_branches(d, true, children);
	for (i = node;; i = only_way(d, i)) {
		name = node_name(d, i, &mark, buf);
		if (i != node && d->col + 3 + shown_columns(name) +
				 shown_columns(mark) > d->width) {
			out_printf(d->r->out, "\n%*s", COLUMNS, "");
			d->col = COLUMNS;
			put_branches(d, false, children);
		}
		if (i != node)
			put(d, d->s->arrow);
		put(d, name);
		put(d, mark);
		if (i == end)
			break;
	}
	out_char(d->r->out, '\n');
	return end;
}

/* What is below the last level that is drawn. */
static void put_too_deep(struct drawing *d, uint32_t node)
{
	const struct callnode *n = &d->t.node[node];

	if (!has_visible_child(d, node))
		return;
	out_printf(d->r->out, "%8.2f           deeper than %d levels: not "
		   "shown\n", percent(n->total - n->self, d->t.node[0].total),
		   DEPTH_MAX);
}

static void put_children(struct drawing *d, uint32_t node)
{
	uint32_t *child, n, i, end;

	n = calltree_children(&d->t, node, &child, by_total, d);
	while (n && !visible(d, child[n - 1]))
		n--;
	for (i = 0; i < n; i++) {
		d->last[d->depth] = i + 1 == n;
		end = put_line(d, child[i]);
		if (d->depth + 1 == DEPTH_MAX) {
			put_too_deep(d, end);
			continue;
		}
		d->depth++;
		put_children(d, end);
		d->depth--;
	}
	free(child);
}

static void draw(struct report *r, uint32_t event, bool commands)
{
	struct drawing d = {
		.r = r, .s = r->utf8 ? &utf8 : &ascii, .width = line_width(),
		.commands = commands,
	};
	struct calllabels labels = {
		.func = r->same, .top = commands ? calltree_comm : NULL,
	};
	bool *use = xcalloc((size_t)r->a.p.events.n + 1, sizeof(*use));

	use[event] = true;
	calltree_build(&d.t, &r->a.p, use, &labels);
	out_printf(r->out, "\n Total %%   Self %%  %s (what has %g %% or "
		   "more)\n", commands ? "Calls" : "Callers", r->limit);
	put_children(&d, CALLTREE_ROOT);
	calltree_free(&d.t);
	free(use);
}

void report_tree(struct report *r, uint32_t event)
{
	draw(r, event, true);
}

void report_callers(struct report *r, uint32_t event)
{
	draw(r, event, false);
}
