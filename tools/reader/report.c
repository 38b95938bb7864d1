// SPDX-License-Identifier: BSD-2-Clause
/* pmclog report: a flat profile and a call tree for each event. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "reader.h"
#include "report.h"

static const char usage[] =
	"usage: pmclog report [OPTION]... FILE\n"
	"\n"
	"Shows where the samples of a log were taken: a flat profile and a\n"
	"call tree for each event.\n"
	"\n"
	ANALYSIS_HELP
	"  -s, --sort KEYS    rows of the profile by comm, dso, sym (all)\n"
	"  -l, --limit N      leave out what has less than N percent (0.5)\n"
	"  -n, --lines N      at most N rows in the profile\n"
	"      --flat         only the profile\n"
	"      --tree         only the call tree\n";

static const struct option options[] = {
	ANALYSIS_LONG,
	{ "sort", required_argument, NULL, 's' },
	{ "limit", required_argument, NULL, 'l' },
	{ "lines", required_argument, NULL, 'n' },
	{ "flat", no_argument, NULL, 'F' },
	{ "tree", no_argument, NULL, 'T' },
	{ NULL, 0, NULL, 0 },
};

const char *report_func(struct report *r, uint32_t func)
{
	return strtab_str(&r->a.p.str,
			  func_shown(&r->a.p, func, r->a.demangle));
}

const char *report_mark(const struct report *r, uint32_t func)
{
	switch (func_kind(&r->a.p, func)) {
	case OBJ_KERNEL:
		return " [k]";
	case OBJ_MODULE:
		return " [m]";
	default:
		return "";
	}
}

static bool bad_value(const char *option, const char *arg, const char *want)
{
	fprintf(stderr, "pmclog report: --%s %s: %s\n", option, arg, want);
	return false;
}

static bool parse_sort(struct report *r, const char *arg)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} keys[] = {
		{ "comm", SORT_COMM }, { "dso", SORT_DSO },
		{ "object", SORT_DSO }, { "sym", SORT_SYM },
		{ "symbol", SORT_SYM },
	};
	const char *s = arg;
	size_t i, len;

	for (r->sort = 0;; s += len + 1) {
		len = strcspn(s, ",");
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (strlen(keys[i].name) == len &&
			    !strncmp(keys[i].name, s, len))
				break;
		if (i == sizeof(keys) / sizeof(keys[0]))
			return bad_value("sort", arg, "keys are comm, dso and "
					 "sym, with commas between them");
		r->sort |= keys[i].bit;
		if (!s[len])
			return true;
	}
}

static bool parse_limit(struct report *r, const char *arg)
{
	char *end;

	r->limit = strtod(arg, &end);
	while (*end == ' ' || *end == '%')
		end++;
	if (end == arg || *end || !(r->limit >= 0 && r->limit <= 100))
		return bad_value("limit", arg, "a percentage is wanted");
	return true;
}

static bool parse_lines(struct report *r, const char *arg)
{
	char *end;

	r->lines = strtoul(arg, &end, 10);
	if (end == arg || *end || *arg == '-')
		return bad_value("lines", arg, "a number is wanted");
	return true;
}

static bool own_option(struct report *r, int opt, const char *arg)
{
	switch (opt) {
	case 's':
		return parse_sort(r, arg);
	case 'l':
		return parse_limit(r, arg);
	case 'n':
		return parse_lines(r, arg);
	case 'F':
		r->tree = false;
		r->flat = true;
		return true;
	case 'T':
		r->flat = false;
		r->tree = true;
		return true;
	default:
		return false;
	}
}

/* Options that can't go on give an exit code, others -1. */
static int parse(struct report *r, int argc, char **argv)
{
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, ANALYSIS_SHORT "s:l:n:", options,
				  NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return READER_OK;
		}
		if (opt == '?')
			return reader_usage("try: pmclog report --help\n");
		if (!analysis_option(&r->a, opt, optarg) &&
		    !own_option(r, opt, optarg))
			return READER_USAGE;
	}
	if (!analysis_argument(&r->a, "report", argc, argv))
		return READER_USAGE;
	return -1;
}

static void print(struct report *r)
{
	uint32_t i, samples = 0;

	report_log(r);
	for (i = 0; i < r->a.p.events.n; i++) {
		if (!r->a.use[i])
			continue;
		report_event(r, i);
		if (!r->a.p.events.event[i].samples)
			continue;
		samples = 1;
		if (r->flat)
			report_flat(r, i);
		if (r->tree)
			report_tree(r, i);
	}
	if (samples)
		report_nameless(r);
	else
		out_str(r->out, "\nNo samples.\n");
}

int cmd_report(int argc, char **argv)
{
	struct report r = {
		.sort = SORT_COMM | SORT_DSO | SORT_SYM, .limit = 0.5,
		.flat = true, .tree = true, .out = out_stdout(),
	};
	int ret, bad;

	analysis_init(&r.a);
	ret = parse(&r, argc, argv);
	if (ret >= 0)
		return ret;
	setlocale(LC_CTYPE, "");
	r.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	ret = analysis_run(&r.a);
	if (ret == READER_OK) {
		r.same = funcs_same(&r.a.p);
		print(&r);
		free(r.same);
		ret = out_finish(r.out);
	}
	bad = analysis_close(&r.a);
	return ret ? ret : bad;
}
