// SPDX-License-Identifier: BSD-2-Clause
/* pmclog flame: a flame graph of a log. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/analysis.h"
#include "analysis/quality.h"
#include "base/numbers.h"
#include "base/outfile.h"
#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/flame/flame.h"

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

/* kinds of frames; html/util.js has the same colours in HUES */
enum hue {
	HUE_ALL, HUE_COMM, HUE_USER, HUE_KERNEL, HUE_MODULE, HUE_NAMELESS,
	NHUE
};

static const struct flame_hue hues[NHUE] = {
	[HUE_ALL]	= { NULL,		215, 0, 14, 0, 84, 0, false },
	[HUE_COMM]	= { "command",		258, 14, 46, 8, 82, 4, false },
	[HUE_USER]	= { "user",		22, 26, 92, 6, 66, 9, false },
	[HUE_KERNEL]	= { "kernel",		200, 18, 68, 12, 68, 8, false },
	[HUE_MODULE]	= { "kernel module",	138, 22, 48, 10, 62, 8, false },
	[HUE_NAMELESS]	= { "no name",		30, 10, 12, 4, 76, 6, false },
};

/* @events: it counts events, not samples */
struct flame {
	struct analysis a;
	bool events;
	struct calltree t;
};

static enum hue hue_of(const struct flame *f, uint32_t func)
{
	switch (func_kind(&f->a.p, func)) {
	case OBJ_KERNEL:
		return HUE_KERNEL;
	case OBJ_MODULE:
		return HUE_MODULE;
	default:
		return func_named(&f->a.p.funcs.func[func]) ? HUE_USER :
							      HUE_NAMELESS;
	}
}

static void look(void *ctx, uint32_t node, struct flame_look *l)
{
	struct flame *f = ctx;
	const struct callnode *n = &f->t.node[node];
	struct profile *p = &f->a.p;

	if (node == CALLTREE_ROOT) {
		l->name = "all";
		l->hue = HUE_ALL;
		return;
	}
	if (n->parent == CALLTREE_ROOT) {
		l->name = shown_str(l->buf, &p->str, n->label);
		l->hue = HUE_COMM;
		return;
	}
	l->name = strtab_str(&p->str, func_shown(p, n->label, f->a.demangle));
	l->hue = hue_of(f, n->label);
}

static const char inlined[] = ", inlined";

static void note(void *ctx, uint32_t node, struct flame_note *note)
{
	struct flame *f = ctx;
	const struct callnode *n = &f->t.node[node];
	struct profile *p = &f->a.p;
	uint32_t obj;

	if (node == CALLTREE_ROOT || n->parent == CALLTREE_ROOT)
		return;
	obj = p->funcs.func[n->label].obj;
	note->obj = shown_str(note->buf, &p->str, p->objs.obj[obj].brief);
	if (p->funcs.func[n->label].inlined &&
	    strlen(note->buf) + sizeof(inlined) <= sizeof(note->buf))
		strcat(note->buf, inlined);
}

/* The caller frees it. */
static char *subtitle(const struct flame *f)
{
	const struct log_facts *log = &f->a.p.log;
	uint64_t total = f->t.node[CALLTREE_ROOT].total;
	uint64_t n = f->events ? analysis_samples(&f->a) : total;
	struct losses l = losses_of(&f->a);
	char num[GROUPED_MAX], lost[64] = "", when[64] = "", of[64] = "";
	char *chains = chains_text(&f->a.p, f->a.use), *text;
	char *lacks = short_text(&f->a.p);
	uint64_t from, to;
	time_t t = log->ts_sec;
	struct tm tm;

	analysis_window(&f->a, &from, &to);
	if (t && gmtime_r(&t, &tm))
		strftime(when, sizeof(when), ", %Y-%m-%d %H:%M UTC", &tm);
	if (l.all)
		snprintf(lost, sizeof(lost), ", %s lost (%.2f %%),",
			 grouped(num, l.all), percent(l.all, l.all + l.kept));
	if (f->events)
		snprintf(of, sizeof(of), " of %s %s", grouped(num, total),
			 plural(total, "event", "events"));
	text = xasprintf("%s %s%s%s in %.2f s%s%s%s%s%s%s%s%s%s", grouped(num, n),
			 plural(n, "sample", "samples"), of, lost,
			 log_seconds(log, to) - log_seconds(log, from),
			 log->release ? " on " : "",
			 log->release ? log->host : "",
			 log->release ? ", Linux " : "",
			 log->release ? log->release : "", when,
			 chains ? "; " : "", chains ? chains : "",
			 lacks ? "; " : "", lacks ? lacks : "");
	free(chains);
	free(lacks);
	return text;
}

/* The caller frees it. */
static char *title(const struct flame *f)
{
	const struct events *t = &f->a.p.events;
	char *all = xstrdup("Flame graph");
	const char *sep = ": ";
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		if (!f->a.use[i] || !t->event[i].samples)
			continue;
		all = xappend(all, "%s%s", sep, strtab_str(&f->a.p.str, t->event[i].name));
		sep = ", ";
	}
	return all;
}

static int draw(struct flame *f)
{
	char *over = f->a.title ? xstrdup(f->a.title) : title(f);
	char *under = subtitle(f);
	struct flame_graph g = {
		.t = &f->t, .look = look, .note = note, .ctx = f,
		.hues = hues, .nhues = NHUE, .title = over,
		.subtitle = under, .events = f->events,
	};
	struct outfile file;
	int ret = outfile_open(&file, f->a.output, 0);

	if (ret == READER_OK) {
		flame_draw(&g, file.out);
		ret = outfile_close(&file, true);
	}
	free(over);
	free(under);
	return ret;
}

static int run(void *ctx)
{
	struct flame *f = ctx;
	struct calllabels labels = { .top = calltree_comm };
	int ret = analysis_run(&f->a);
	uint32_t *same;

	if (ret)
		return ret;
	analysis_one_event(&f->a);
	chains_tell(&f->a);
	f->events = analysis_mix(&f->a);
	labels.func = same = funcs_same(&f->a.p);
	calltree_build(&f->t, &f->a.p, f->a.use, &labels);
	ret = f->t.node[CALLTREE_ROOT].total ? draw(f) :
	      reader_fail("%s: no samples to draw", f->a.path);
	calltree_free(&f->t);
	free(same);
	return ret;
}

int cmd_flame(int argc, char **argv)
{
	static const struct cmdline line = {
		"flame", usage, ANALYSIS_SHORT "o:t:", options, NULL, NULL, run,
	};
	struct flame f = { 0 };

	analysis_init(&f.a);
	return cmdline_analysis(&line, &f.a, &f, argc, argv);
}
