// SPDX-License-Identifier: BSD-2-Clause
/* pmclog flame: a flame graph as one SVG file that needs nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "analysis.h"
#include "calltree.h"
#include "flame.h"
#include "out.h"
#include "reader.h"
#include "shown.h"

#define MIN_WIDTH	0.1	/* px; narrower frames are not drawn */
#define TEXT_MARGIN	7.0
#define TEXT_MIN	3	/* characters worth printing */

static const char usage[] =
	"usage: pmclog flame [OPTION]... FILE\n"
	"\n"
	"Makes a flame graph: an SVG file for a browser, with zoom and\n"
	"search.\n"
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

/* what colours tell apart */
enum hue {
	HUE_ALL, HUE_COMM, HUE_USER, HUE_KERNEL, HUE_MODULE, HUE_NAMELESS,
	NHUE
};

/* HSL: hue, saturation and lightness with how far each varies */
static const struct {
	const char *what;
	int h, dh, s, ds, l, dl;
} hues[NHUE] = {
	[HUE_ALL]	= { NULL,		215, 0, 14, 0, 84, 0 },
	[HUE_COMM]	= { "command",		258, 14, 46, 8, 82, 4 },
	[HUE_USER]	= { "user",		22, 26, 92, 6, 66, 9 },
	[HUE_KERNEL]	= { "kernel",		200, 18, 68, 12, 68, 8 },
	[HUE_MODULE]	= { "kernel module",	138, 22, 48, 10, 62, 8 },
	[HUE_NAMELESS]	= { "no name",		30, 10, 12, 4, 76, 6 },
};

/**
 * struct flame - one graph on its way out
 * @min:   samples of the narrowest frame that is drawn
 * @small: frames left out
 * @has:   which hues occur
 */
struct flame {
	struct analysis a;
	struct calltree t;
	struct out *out;
	const char *output, *title;
	uint64_t min, small;
	uint32_t depth;
	int height;
	bool has[NHUE];
};

static enum hue hue_of(const struct flame *f, uint32_t node)
{
	const struct callnode *n = &f->t.node[node];

	if (node == CALLTREE_ROOT)
		return HUE_ALL;
	if (n->parent == CALLTREE_ROOT)
		return HUE_COMM;
	switch (func_kind(&f->a.p, n->label)) {
	case OBJ_KERNEL:
		return HUE_KERNEL;
	case OBJ_MODULE:
		return HUE_MODULE;
	default:
		return func_named(&f->a.p.funcs.func[n->label]) ? HUE_USER :
								  HUE_NAMELESS;
	}
}

/* Name and object of a node, safe to print but not yet quoted for XML. */
static const char *name_of(struct flame *f, uint32_t node, const char **obj,
			   char buf[SHOWN_MAX])
{
	const struct callnode *n = &f->t.node[node];
	struct profile *p = &f->a.p;
	uint32_t shown;

	*obj = NULL;
	if (node == CALLTREE_ROOT)
		return "all";
	if (n->parent == CALLTREE_ROOT) {
		shown_name(buf, strtab_str(&p->str, n->label), false);
		return buf;
	}
	shown = p->objs.obj[p->funcs.func[n->label].obj].brief;
	shown_name(buf, strtab_str(&p->str, shown), false);
	*obj = buf;
	shown = func_shown(p, n->label, f->a.demangle);
	return strtab_str(&p->str, shown);
}

static void xml_n(struct flame *f, const char *s, size_t n)
{
	for (; n && *s; n--, s++) {
		switch (*s) {
		case '&':
			out_str(f->out, "&amp;");
			break;
		case '<':
			out_str(f->out, "&lt;");
			break;
		case '>':
			out_str(f->out, "&gt;");
			break;
		case '"':
			out_str(f->out, "&quot;");
			break;
		default:
			out_char(f->out, *s);
		}
	}
}

static void xml(struct flame *f, const char *s)
{
	xml_n(f, s, strlen(s));
}

static int vary(int from, int by, uint64_t h)
{
	return by ? from + (int)(h % (unsigned int)by) : from;
}

/* A colour that is the same for a name in every graph. */
static void put_colour(struct flame *f, enum hue hue, const char *name)
{
	uint64_t h = hash_bytes(name, strlen(name), 7);

	out_printf(f->out, "hsl(%d,%d%%,%d%%)",
		   vary(hues[hue].h, hues[hue].dh, h),
		   vary(hues[hue].s, hues[hue].ds, h >> 8),
		   vary(hues[hue].l, hues[hue].dl, h >> 16));
}

/* As much of the name as there is room for; the script does it again. */
static void put_text(struct flame *f, const char *name, double x, double w,
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
	out_printf(f->out, "<text x=\"%.2f\" y=\"%.1f\">", x + 3, y + 12.5);
	xml_n(f, name, (size_t)(s - name));
	out_str(f->out, *s ? "…</text>" : "</text>");
}

static void put_frame(struct flame *f, uint32_t node, uint64_t at,
		      uint32_t depth)
{
	const struct callnode *n = &f->t.node[node];
	uint64_t all = f->t.node[CALLTREE_ROOT].total;
	double scale = (double)(FLAME_WIDTH - 2 * FLAME_PAD) / (double)all;
	double x = FLAME_PAD + (double)at * scale, w = (double)n->total * scale;
	int y = f->height - FLAME_PAD - (int)(depth + 1) * FLAME_ROW;
	char buf[SHOWN_MAX], num[GROUPED_MAX];
	const char *obj, *name = name_of(f, node, &obj, buf);

	out_printf(f->out, "<g data-x=\"%llu\" data-n=\"%llu\" data-d=\"%u\">"
		   "<title>", (unsigned long long)at,
		   (unsigned long long)n->total, depth);
	xml(f, name);
	out_char(f->out, '\n');
	if (obj) {
		xml(f, obj);
		out_str(f->out, ", ");
	}
	out_printf(f->out, "%s samples, %.2f %%", grouped(num, n->total),
		   percent(n->total, all));
	if (n->self && n->self != n->total)
		out_printf(f->out, ", %s itself", grouped(num, n->self));
	out_printf(f->out, "</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
		   "height=\"%d\" rx=\"1.5\" fill=\"", x, y,
		   w > 2 ? w - 0.7 : w, FLAME_ROW - 1);
	put_colour(f, hue_of(f, node), name);
	out_str(f->out, "\"/>");
	put_text(f, name, x, w, y);
	out_str(f->out, "</g>\n");
}

static int by_name(const struct callnode *a, const struct callnode *b,
		   void *ctx)
{
	struct flame *f = ctx;
	char ba[SHOWN_MAX], bb[SHOWN_MAX];
	const char *obj;
	int cmp;

	/* what is not drawn needs no name */
	if (a->total < f->min || b->total < f->min)
		return (a->total < f->min) - (b->total < f->min);
	cmp = strcmp(name_of(f, (uint32_t)(a - f->t.node), &obj, ba),
		     name_of(f, (uint32_t)(b - f->t.node), &obj, bb));
	if (cmp || a->label == b->label)
		return cmp;
	return a->label < b->label ? -1 : 1;
}

/* What will be drawn: how deep, of what hues, and how much will not. */
static void survey(struct flame *f)
{
	uint32_t *depth = xcalloc(f->t.n, sizeof(*depth)), i;
	double px = (double)(FLAME_WIDTH - 2 * FLAME_PAD) /
		    (double)f->t.node[CALLTREE_ROOT].total;

	f->min = (uint64_t)(MIN_WIDTH / px);
	f->min += (double)f->min * px < MIN_WIDTH;
	for (i = 0; i < f->t.n; i++) {
		const struct callnode *n = &f->t.node[i];

		if (i)
			depth[i] = depth[n->parent] + 1;
		if (n->total < f->min) {
			f->small++;
			continue;
		}
		if (depth[i] > f->depth)
			f->depth = depth[i];
		f->has[hue_of(f, i)] = true;
	}
	f->height = FLAME_HEAD + FLAME_PAD +
		    (int)(f->depth + 1) * FLAME_ROW;
	free(depth);
}

static void put_frames(struct flame *f, uint32_t node, uint64_t at,
		       uint32_t depth)
{
	uint32_t *child, n, i;

	put_frame(f, node, at, depth);
	n = calltree_children(&f->t, node, &child, by_name, f);
	for (i = 0; i < n; i++) {
		const struct callnode *c = &f->t.node[child[i]];

		if (c->total < f->min)
			break;
		put_frames(f, child[i], at, depth + 1);
		at += c->total;
	}
	free(child);
}

static uint32_t comm_label(void *ctx, uint32_t name)
{
	(void)ctx;
	return name;
}

static void put_subtitle(struct flame *f)
{
	const struct log_facts *log = &f->a.p.log;
	uint64_t all = f->t.node[CALLTREE_ROOT].total;
	char buf[SHOWN_MAX], num[GROUPED_MAX];
	time_t t = log->ts_sec;
	struct tm tm;

	out_printf(f->out, "<text class=\"soft\" x=\"%d\" y=\"44\">%s samples "
		   "in %.2f s", FLAME_PAD, grouped(num, all),
		   (double)(log->end - log->begin) / 1e9);
	if (log->release) {
		shown_name(buf, log->host, false);
		out_str(f->out, " on ");
		xml(f, buf);
		shown_name(buf, log->release, false);
		out_str(f->out, ", Linux ");
		xml(f, buf);
	}
	if (t && gmtime_r(&t, &tm) &&
	    strftime(buf, sizeof(buf), ", %Y-%m-%d %H:%M UTC", &tm))
		out_str(f->out, buf);
	if (f->small)
		out_printf(f->out, "; %s frames too narrow to be drawn",
			   grouped(num, f->small));
	out_str(f->out, "</text>\n");
}

static void put_legend(struct flame *f)
{
	int x = FLAME_PAD, hue;

	for (hue = HUE_COMM; hue < NHUE; hue++) {
		if (!f->has[hue])
			continue;
		out_printf(f->out, "<rect x=\"%d\" y=\"55\" width=\"11\" "
			   "height=\"11\" rx=\"2\" fill=\"hsl(%d,%d%%,%d%%)\"/>"
			   "<text class=\"soft\" x=\"%d\" y=\"65\">%s</text>\n",
			   x, hues[hue].h + hues[hue].dh / 2,
			   hues[hue].s + hues[hue].ds / 2,
			   hues[hue].l + hues[hue].dl / 2, x + 16,
			   hues[hue].what);
		x += 42 + 7 * (int)strlen(hues[hue].what);
	}
}

static void put_title(struct flame *f)
{
	const struct events *t = &f->a.p.events;
	char buf[SHOWN_MAX];
	const char *sep = "Flame graph: ";
	uint32_t i;

	if (f->title) {
		shown_name(buf, f->title, false);
		xml(f, buf);
		return;
	}
	for (i = 0; i < t->n; i++) {
		if (!f->a.use[i] || !t->event[i].samples)
			continue;
		out_str(f->out, sep);
		shown_name(buf, strtab_str(&f->a.p.str, t->event[i].name),
			   false);
		xml(f, buf);
		sep = ", ";
	}
}

/* At the right edge, where the script moves them; nothing without it. */
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

static void put_head(struct flame *f)
{
	out_printf(f->out, "<g id=\"head\">\n<rect id=\"back\" width=\"100%%\" "
		   "height=\"%d\"/>\n<text class=\"title\" x=\"%d\" y=\"24\">",
		   FLAME_HEAD - 4, FLAME_PAD);
	put_title(f);
	out_str(f->out, "</text>\n");
	put_subtitle(f);
	put_legend(f);
	out_printf(f->out, "<text id=\"info\" x=\"%d\" y=\"83\"></text>\n",
		   FLAME_PAD);
	out_str(f->out, controls);
}

static void put_svg(struct flame *f)
{
	out_printf(f->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
		   "width=\"%d\" height=\"%d\">\n<style><![CDATA[\n",
		   FLAME_WIDTH, f->height);
	out_str(f->out, flame_style);
	out_str(f->out, "]]></style>\n<g id=\"frames\">\n");
	put_frames(f, CALLTREE_ROOT, 0, 0);
	out_str(f->out, "</g>\n");
	put_head(f);
	out_str(f->out, "<script><![CDATA[\n");
	out_str(f->out, flame_script);
	out_str(f->out, "]]></script>\n</svg>\n");
}

static int draw(struct flame *f)
{
	uint32_t *same = funcs_same(&f->a.p);
	struct calllabels labels = { .func = same, .comm = comm_label };
	int ret = READER_FAIL;

	calltree_build(&f->t, &f->a.p, f->a.use, &labels);
	if (f->t.node[CALLTREE_ROOT].total) {
		survey(f);
		put_svg(f);
		ret = out_finish(f->out);
	} else {
		fprintf(stderr, "pmclog: %s: no samples to draw\n", f->a.path);
	}
	calltree_free(&f->t);
	free(same);
	return ret;
}

static int open_output(struct flame *f)
{
	int fd;

	f->out = out_stdout();
	if (!f->output || !strcmp(f->output, "-"))
		return READER_OK;
	fd = open(f->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		fprintf(stderr, "pmclog: %s: %s\n", f->output,
			strerror(errno));
		return READER_FAIL;
	}
	f->out->fd = fd;
	return READER_OK;
}

static int parse(struct flame *f, int argc, char **argv)
{
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, ANALYSIS_SHORT "o:t:", options,
				  NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return READER_OK;
		}
		if (opt == 'o')
			f->output = optarg;
		else if (opt == 't')
			f->title = optarg;
		else if (!analysis_option(&f->a, opt, optarg))
			return reader_usage("try: pmclog flame --help\n");
	}
	if (!analysis_argument(&f->a, "flame", argc, argv))
		return READER_USAGE;
	return -1;
}

int cmd_flame(int argc, char **argv)
{
	struct flame f = { 0 };
	int ret, bad;

	analysis_init(&f.a);
	ret = parse(&f, argc, argv);
	if (ret >= 0)
		return ret;
	ret = analysis_run(&f.a);
	if (ret == READER_OK) {
		analysis_one_event(&f.a);
		ret = open_output(&f);
	}
	if (ret == READER_OK)
		ret = draw(&f);
	bad = analysis_close(&f.a);
	return ret ? ret : bad;
}
