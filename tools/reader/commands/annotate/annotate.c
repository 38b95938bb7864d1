// SPDX-License-Identifier: BSD-2-Clause
/* pmclog annotate: the samples of each instruction of a function. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/quality.h"
#include "commands/annotate/annotate.h"
#include "commands/cmdline.h"
#include "commands/commands.h"

#define HOTTEST	10	/* functions, with -a */

static const char usage[] =
	"usage: pmclog annotate [OPTION]... SYMBOL... FILE\n"
	"       pmclog annotate [OPTION]... -a FILE\n"
	"\n"
	"Shows the instructions of functions, how many samples each has, and\n"
	"the source lines they were made of.\n"
	"\n"
	"  -a, --all          the hottest functions\n"
	"  -n, --functions N  at most so many (10 with -a)\n"
	"      --source-root DIR\n"
	"                     where the source files are\n"
	"      --no-source    only instructions\n"
	"      --bytes        the bytes of instructions, too\n"
	"      --intel        Intel's syntax for x86\n"
	ANALYSIS_HELP_WITH("");

enum { OPT_SOURCE_ROOT = 2000, OPT_NO_SOURCE, OPT_BYTES, OPT_INTEL };

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "functions", required_argument, NULL, 'n' },
	{ "source-root", required_argument, NULL, OPT_SOURCE_ROOT },
	{ "no-source", no_argument, NULL, OPT_NO_SOURCE },
	{ "bytes", no_argument, NULL, OPT_BYTES },
	{ "intel", no_argument, NULL, OPT_INTEL },
	ANALYSIS_LONG,
	{ NULL, 0, NULL, 0 },
};

static bool parse_limit(struct annotate *n, const char *arg)
{
	char *end;

	n->limit = strtoul(arg, &end, 10);
	return (end != arg && !*end && *arg != '-' && n->limit) ||
	       reader_bad_value("annotate", "functions", arg, "a number is wanted");
}

static int take(void *ctx, int opt, const char *arg)
{
	struct annotate *n = ctx;

	switch (opt) {
	case 'a':
		return n->hottest = true;
	case 'n':
		return parse_limit(n, arg);
	case OPT_SOURCE_ROOT:
		n->text.dir = arg;
		return true;
	case OPT_NO_SOURCE:
		n->source = false;
		return true;
	case OPT_BYTES:
		return n->bytes = true;
	case OPT_INTEL:
		return n->intel = true;
	default:
		return false;
	}
}

/* Splits the operands: symbols first, the log last. */
static int check(void *ctx, int argc, char **argv)
{
	struct annotate *n = ctx;

	n->symbol = argv + optind;
	n->nsymbols = optind < argc ? (uint32_t)(argc - optind - 1) : 0;
	if (!filter_complete(&n->a.filter))
		return READER_USAGE;
	if (n->a.inlines || n->a.by_line)
		return reader_usage("pmclog annotate: --%s is of views with frames: here the "
				    "source lines are beside the instructions\n",
				    n->a.inlines ? "inline" : "by-line");
	if (optind == argc) {
		analysis_argument(&n->a, "annotate", argc, argv);
		return READER_USAGE;
	}
	if (n->hottest == (n->nsymbols > 0))
		return reader_usage(n->hottest ?
			"pmclog annotate: either -a or names of functions\n" :
			"pmclog annotate: name a function before the log, or use -a; see "
			"pmclog annotate --help\n");
	n->a.path = argv[argc - 1];
	if (!n->limit)
		n->limit = n->hottest ? HOTTEST : UINT32_MAX;
	return -1;
}

/* Gives columns to the first events that have samples. */
static void choose_columns(struct annotate *n)
{
	const struct events *t = &n->a.p.events;
	uint32_t i;

	for (i = 0; i < t->n && n->nevents < ANNOTATE_EVENTS; i++)
		if (n->a.use[i] && t->event[i].samples)
			n->event[n->nevents++] = i;
	for (; i < t->n; i++) {
		if (!n->a.use[i] || !t->event[i].samples)
			continue;
		warn_line("%s: only %d events are shown (--event)", n->a.path, ANNOTATE_EVENTS);
		return;
	}
}

static int show(struct annotate *n)
{
	choose_columns(n);
	losses_tell(&n->a);
	annotate_collect(n);
	annotate_print(n);
	if (n->t.n && n->t.body[0].total)
		return out_finish(n->out);
	out_finish(n->out);
	return reader_fail("%s: no samples in %s", n->a.path,
			   n->hottest ? "any function that has a name" :
			   n->nsymbols > 1 ? "any of these functions" : n->symbol[0]);
}

static bool wants_colours(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(none && *none) && !(term && !strcmp(term, "dumb"));
}

static int run(void *ctx)
{
	struct annotate *n = ctx;
	int ret;

	srctext_init(&n->text, n->text.dir);
	n->colour = wants_colours();
	ret = analysis_run(&n->a);
	if (ret == READER_OK)
		ret = show(n);
	annotate_free(n);
	srctext_free(&n->text);
	return ret;
}

int cmd_annotate(int argc, char **argv)
{
	static const struct cmdline line = {
		"annotate", usage, ANALYSIS_SHORT "an:", options, take, check, run,
	};
	struct annotate n = { .source = true, .out = out_stdout() };

	analysis_init(&n.a);
	return cmdline_analysis(&line, &n.a, &n, argc, argv);
}
