// SPDX-License-Identifier: BSD-2-Clause
/* Draws a call tree as a flame graph: one SVG file without references to others. */
#include <stdlib.h>

#include "base/digits.h"
#include "base/numbers.h"
#include "base/order.h"
#include "commands/flame/flame.h"

#define MIN_WIDTH	0.1	/* px; narrower frames are not drawn */
#define TEXT_MARGIN	7.0
#define TEXT_MIN	3	/* characters worth printing */

/**
 * struct drawing - a graph that is being drawn
 * @min:   weight of the narrowest frame that is drawn
 * @small: number of frames left out
 * @has:   hues that occur
 */
struct drawing {
	const struct flame_graph *g;
	const struct callnode *node;
	struct out *out;
	uint64_t all, min, small;
	uint32_t depth;
	int height;
	bool has[FLAME_HUES];
};

static void look(const struct drawing *d, uint32_t node, struct flame_look *l)
{
	l->strength = 0;
	d->g->look(d->g->ctx, node, l);
}

static void xml_n(struct drawing *d, const char *s, size_t n)
{
	for (; n && *s; n--, s++) {
		switch (*s) {
		case '&':
			out_str(d->out, "&amp;");
			break;
		case '<':
			out_str(d->out, "&lt;");
			break;
		case '>':
			out_str(d->out, "&gt;");
			break;
		case '"':
			out_str(d->out, "&quot;");
			break;
		default:
			out_char(d->out, *s);
		}
	}
}

static void xml(struct drawing *d, const char *s)
{
	xml_n(d, s, strlen(s));
}

/* Writes text from the log or from the command line. */
static void xml_shown(struct drawing *d, const char *s)
{
	char buf[SHOWN_MAX];

	xml(d, shown_name(buf, s, false));
}

/* Much faster than printf(): there are many frames. */
static void put_count(struct drawing *d, const char *before, uint64_t n)
{
	out_str(d->out, before);
	out_u64(d->out, n);
}

static void put_fraction(struct drawing *d, const char *before, double v)
{
	char *to;

	out_str(d->out, before);
	to = out_room(d->out, 2 * DIGITS_MAX);
	d->out->n += (size_t)(put_hundredths(to, v) - to);
}

static int vary(int from, int by, uint64_t h)
{
	return by ? from + (int)(h % (unsigned int)by) : from;
}

/* FNV-1a without a seed: the same in every run. */
static uint64_t name_number(const char *s)
{
	uint64_t h = 0xCBF29CE484222325ULL;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001B3ULL;
	return h ^ h >> 32;
}

/* The colour depends on the name alone, so it is the same in every graph. */
static void put_colour(struct drawing *d, const struct flame_look *l)
{
	const struct flame_hue *hue = &d->g->hues[l->hue];
	uint64_t h = name_number(l->name);
	int light = hue->fades ?
		    hue->l + (int)((1 - l->strength) * hue->dl) :
		    vary(hue->l, hue->dl, h >> 16);

	put_count(d, "hsl(", (unsigned int)vary(hue->h, hue->dh, h));
	put_count(d, ",", (unsigned int)vary(hue->s, hue->ds, h >> 8));
	put_count(d, "%,", (unsigned int)light);
	out_str(d->out, "%)");
}

/* Writes as much of the name as fits; the script repeats this after a resize. */
static void put_text(struct drawing *d, const char *name, double x, double w,
		     int y)
{
	int room = (int)((w - TEXT_MARGIN) / FLAME_CHAR), cols = 0;
	const char *s = name;
	uint32_t c;
	size_t k;

	if (room < TEXT_MIN)
		return;
	while (*s && (k = utf8_next(s, strlen(s), &c))) {
		cols += c < 0x1100 ? 1 : 2;
		if (cols > room - (s[k] != '\0'))
			break;
		s += k;
	}
	put_fraction(d, "<text x=\"", x + 3);
	put_count(d, "\" y=\"", (unsigned int)y + 12);
	out_str(d->out, ".5\">");
	xml_n(d, name, (size_t)(s - name));
	out_str(d->out, *s ? "…</text>" : "</text>");
}

static void put_tooltip(struct drawing *d, uint32_t node, const char *name)
{
	const struct callnode *n = &d->node[node];
	struct flame_note note;
	char num[GROUPED_MAX];

	note.obj = NULL;
	note.text[0] = '\0';
	d->g->note(d->g->ctx, node, &note);
	out_str(d->out, "<title>");
	xml(d, name);
	out_char(d->out, '\n');
	if (note.obj) {
		xml(d, note.obj);
		out_str(d->out, ", ");
	}
	out_str(d->out, grouped(num, n->total));
	put_fraction(d, d->g->events ?
			plural(n->total, " event, ", " events, ") :
			plural(n->total, " sample, ", " samples, "),
		     percent(n->total, d->all));
	out_str(d->out, " %");
	if (n->self && n->self != n->total) {
		out_str(d->out, ", ");
		out_str(d->out, grouped(num, n->self));
		out_str(d->out, " itself");
	}
	xml(d, note.text);
	out_str(d->out, "</title>");
}

static void put_frame(struct drawing *d, uint32_t node, uint64_t at,
		      uint32_t depth)
{
	const struct callnode *n = &d->node[node];
	double scale = (double)(FLAME_WIDTH - 2 * FLAME_PAD) / (double)d->all;
	double x = FLAME_PAD + (double)at * scale, w = (double)n->total * scale;
	int y = d->height - FLAME_PAD - (int)(depth + 1) * FLAME_ROW;
	struct flame_look l;

	look(d, node, &l);
	put_count(d, "<g data-x=\"", at);
	put_count(d, "\" data-n=\"", n->total);
	put_count(d, "\" data-d=\"", depth);
	out_str(d->out, "\">");
	put_tooltip(d, node, l.name);
	put_fraction(d, "<rect x=\"", x);
	put_count(d, "\" y=\"", (unsigned int)y);
	put_fraction(d, "\" width=\"", w > 2 ? w - 0.7 : w);
	put_count(d, "\" height=\"", FLAME_ROW - 1);
	out_str(d->out, "\" rx=\"1.5\" fill=\"");
	put_colour(d, &l);
	out_str(d->out, "\"/>");
	put_text(d, l.name, x, w, y);
	out_str(d->out, "</g>\n");
}

static int by_name(const struct callnode *a, const struct callnode *b,
		   void *ctx)
{
	struct drawing *d = ctx;
	struct flame_look la, lb;

	/* frames that are not drawn need no name */
	if (a->total < d->min || b->total < d->min)
		return ORDER(a->total < d->min, b->total < d->min);
	look(d, (uint32_t)(a - d->node), &la);
	look(d, (uint32_t)(b - d->node), &lb);
	return strcmp(la.name, lb.name) ?: ORDER(a->label, b->label);
}

/* Finds the depth and the hues of what is drawn, and counts what is not. */
static void survey(struct drawing *d)
{
	uint32_t *depth = xcalloc(d->g->t->n, sizeof(*depth)), i;
	double px = (double)(FLAME_WIDTH - 2 * FLAME_PAD) / (double)d->all;
	struct flame_look l;

	d->min = (uint64_t)(MIN_WIDTH / px);
	d->min += (double)d->min * px < MIN_WIDTH;
	for (i = 0; i < d->g->t->n; i++) {
		if (i)
			depth[i] = depth[d->node[i].parent] + 1;
		if (d->node[i].total < d->min) {
			d->small += d->node[i].total != 0;
			continue;
		}
		if (depth[i] > d->depth)
			d->depth = depth[i];
		look(d, i, &l);
		d->has[l.hue] = true;
	}
	d->height = FLAME_HEAD + FLAME_PAD + (int)(d->depth + 1) * FLAME_ROW;
	free(depth);
}

static void put_frames(struct drawing *d, uint32_t node, uint64_t at,
		       uint32_t depth)
{
	uint32_t *child, n, i;

	put_frame(d, node, at, depth);
	n = calltree_children(d->g->t, node, &child, by_name, d);
	for (i = 0; i < n; i++) {
		const struct callnode *c = &d->node[child[i]];

		if (!c->total || c->total < d->min)
			break;
		put_frames(d, child[i], at, depth + 1);
		at += c->total;
	}
	free(child);
}

static void put_legend(struct drawing *d)
{
	int x = FLAME_PAD;
	unsigned int i;

	for (i = 1; i < d->g->nhues; i++) {
		const struct flame_hue *h = &d->g->hues[i];

		if (!d->has[i] || !h->what)
			continue;
		out_printf(d->out, "<rect x=\"%d\" y=\"55\" width=\"11\" "
			   "height=\"11\" rx=\"2\" fill=\"hsl(%d,%d%%,%d%%)\"/>"
			   "<text class=\"soft\" x=\"%d\" y=\"65\">%s</text>\n",
			   x, h->h + h->dh / 2, h->s + h->ds / 2,
			   h->l + (h->fades ? 0 : h->dl / 2), x + 16, h->what);
		x += 42 + 7 * (int)strlen(h->what);
	}
}

/* Controls; the script moves them to the right edge, without it they do nothing. */
static const char controls[] =
	"<text id=\"probe\" style=\"visibility:hidden\">"
	"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm</text>\n"
	"<g id=\"reset\" class=\"button gone\"><rect x=\"0\" y=\"8\" "
	"width=\"96\" height=\"26\" rx=\"4\"/><text x=\"48\" y=\"25\" "
	"text-anchor=\"middle\">Reset zoom</text></g>\n"
	"<g id=\"find\" class=\"gone\"><foreignObject x=\"-270\" y=\"8\" "
	"width=\"260\" height=\"28\"><input "
	"xmlns=\"http://www.w3.org/1999/xhtml\" id=\"field\" type=\"text\" "
	"placeholder=\"Search (regular expression)\" spellcheck=\"false\" "
	"autocomplete=\"off\"/></foreignObject><text id=\"matched\" "
	"class=\"soft\" x=\"-10\" y=\"65\" text-anchor=\"end\"></text></g>\n"
	"</g>\n";

static void put_head(struct drawing *d)
{
	char num[GROUPED_MAX];

	out_printf(d->out, "<g id=\"head\">\n<rect id=\"back\" width=\"100%%\" "
		   "height=\"%d\"/>\n<text class=\"title\" x=\"%d\" y=\"24\">",
		   FLAME_HEAD - 4, FLAME_PAD);
	xml_shown(d, d->g->title);
	out_printf(d->out, "</text>\n<text class=\"soft\" x=\"%d\" y=\"44\">",
		   FLAME_PAD);
	xml_shown(d, d->g->subtitle);
	if (d->small)
		out_printf(d->out, "; %s %s too narrow to be drawn",
			   grouped(num, d->small),
			   plural(d->small, "frame", "frames"));
	out_str(d->out, "</text>\n");
	put_legend(d);
	out_printf(d->out, "<text id=\"info\" x=\"%d\" y=\"83\"></text>\n",
		   FLAME_PAD);
	out_str(d->out, controls);
}

/* The script has one word for what is counted. */
static void put_script(const struct flame_graph *g, struct out *out)
{
	static const char word[] = "' sample'";
	const char *at = strstr(flame_script, word);

	if (!g->events || !at) {
		out_str(out, flame_script);
		return;
	}
	out_bytes(out, flame_script, (size_t)(at - flame_script));
	out_str(out, "' event'");
	out_str(out, at + sizeof(word) - 1);
}

void flame_draw(const struct flame_graph *g, struct out *out)
{
	struct drawing d = {
		.g = g, .out = out, .node = g->t->node,
		.all = g->t->node[CALLTREE_ROOT].total,
	};

	survey(&d);
	out_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
		   "width=\"%d\" height=\"%d\">\n<style><![CDATA[\n",
		   FLAME_WIDTH, d.height);
	out_str(out, flame_style);
	out_str(out, "]]></style>\n<g id=\"frames\">\n");
	put_frames(&d, CALLTREE_ROOT, 0, 0);
	out_str(out, "</g>\n");
	put_head(&d);
	out_str(out, "<script><![CDATA[\n");
	put_script(g, out);
	out_str(out, "]]></script>\n</svg>\n");
}
