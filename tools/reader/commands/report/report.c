// SPDX-License-Identifier: BSD-2-Clause
/* pmclog report: a flat profile and a call tree for each event. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/report/report.h"

static const char usage[] =
	"usage: pmclog report [OPTION]... FILE\n"
	"\n"
	"Shows where the samples of a log were taken: a flat profile and a\n"
	"call tree for each event.\n"
	"\n"
	ANALYSIS_HELP
	"  -s, --sort KEYS    rows of the profile by comm, dso or object, sym or\n"
	"                     symbol (these three), pid, tid, cpu, time, file,\n"
	"                     line, mem, weight, mispredict, symbol_from,\n"
	"                     symbol_to\n"
	"      --slice TIME   length of the slices of --sort time (1s)\n"
	"      --field NAME   rows by this field of a tracepoint, too\n"
	"  -l, --limit N      leave out what has less than N percent (0.5)\n"
	"  -n, --lines N      at most N rows in the profile\n"
	"      --flat         the profile\n"
	"      --self         the profile without totals, which is quicker\n"
	"      --tree         the call tree, from the commands on\n"
	"      --callers      the call tree from the innermost functions on,\n"
	"                     to who called them\n"
	"                     (the profile and the tree, if none is named)\n";

enum { OPT_FLAT = 2000, OPT_SELF, OPT_TREE, OPT_CALLERS, OPT_SLICE,
       OPT_FIELD };

static const struct option options[] = {
	ANALYSIS_LONG,
	{ "sort", required_argument, NULL, 's' },
	{ "limit", required_argument, NULL, 'l' },
	{ "lines", required_argument, NULL, 'n' },
	{ "flat", no_argument, NULL, OPT_FLAT },
	{ "self", no_argument, NULL, OPT_SELF },
	{ "tree", no_argument, NULL, OPT_TREE },
	{ "callers", no_argument, NULL, OPT_CALLERS },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "field", required_argument, NULL, OPT_FIELD },
	{ NULL, 0, NULL, 0 },
};

const char *report_func(struct report *r, uint32_t func)
{
	return strtab_str(&r->a.p.str,
			  func_shown(&r->a.p, func, r->a.demangle));
}

const char *report_mark(const struct report *r, uint32_t func)
{
	bool inlined = r->a.p.funcs.func[func].inlined;

	switch (func_kind(&r->a.p, func)) {
	case OBJ_KERNEL:
		return inlined ? " [k] [i]" : " [k]";
	case OBJ_MODULE:
		return inlined ? " [m] [i]" : " [m]";
	default:
		return inlined ? " [i]" : "";
	}
}

static const struct {
	const char *name;
	unsigned int bit;
} keys[] = {
	{ "comm", SORT_COMM }, { "dso", SORT_DSO },
	{ "object", SORT_DSO }, { "sym", SORT_SYM },
	{ "symbol", SORT_SYM }, { "pid", SORT_PID },
	{ "tid", SORT_TID }, { "cpu", SORT_CPU },
	{ "time", SORT_TIME }, { "file", SORT_FILE },
	{ "line", SORT_LINE }, { "mem", SORT_MEM },
	{ "weight", SORT_LATENCY }, { "mispredict", SORT_PREDICTION },
	{ "symbol_from", SORT_FROM }, { "symbol_to", SORT_TO },
};

static bool bad_key(const char *arg)
{
	char want[256] = "keys, with commas between them, are";
	size_t i, n;

	for (i = 0; i < nitems(keys); i++) {
		n = strlen(want);
		snprintf(want + n, sizeof(want) - n, "%s %s", i ? "," : "",
			 keys[i].name);
	}
	return reader_bad_value("report", "sort", arg, want);
}

static bool parse_sort(struct report *r, const char *arg)
{
	const char *s = arg;
	size_t i, len;

	for (r->sort = 0;; s += len + 1) {
		len = strcspn(s, ",");
		for (i = 0; i < nitems(keys); i++)
			if (strlen(keys[i].name) == len &&
			    !strncmp(keys[i].name, s, len))
				break;
		if (i == nitems(keys))
			return bad_key(arg);
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
	return (end != arg && !*end && r->limit >= 0 && r->limit <= 100) ||
	       reader_bad_value("report", "limit", arg, "a percentage is wanted");
}

static bool parse_lines(struct report *r, const char *arg)
{
	char *end;

	r->lines = strtoul(arg, &end, 10);
	return (end != arg && !*end && *arg != '-') ||
	       reader_bad_value("report", "lines", arg, "a number is wanted");
}

static bool parse_slice(struct report *r, const char *arg)
{
	if (!filter_seconds(arg, &r->a.slice) || r->a.slice < 1e-9)
		return reader_bad_value("report", "slice", arg, "a time is wanted, as in 100ms, "
					"of a nanosecond or more");
	if (r->a.slice < 1e9)
		r->a.slice = (double)(uint64_t)(r->a.slice * 1e9 + 0.5) / 1e9;
	return true;
}

static int take(void *ctx, int opt, const char *arg)
{
	struct report *r = ctx;

	switch (opt) {
	case 's':
		r->of_profile = "sort";
		return parse_sort(r, arg);
	case 'l':
		return r->limited = parse_limit(r, arg);
	case 'n':
		r->of_profile = "lines";
		return parse_lines(r, arg);
	case OPT_FLAT:
		return r->flat = true;
	case OPT_SELF:
		return r->flat = r->a.innermost = true;
	case OPT_TREE:
		return r->tree = true;
	case OPT_CALLERS:
		return r->callers = true;
	case OPT_SLICE:
		r->sliced = true;
		return parse_slice(r, arg);
	case OPT_FIELD:
		r->of_profile = "field";
		r->a.field = arg;
		return true;
	default:
		return false;
	}
}

/* Groups must be known before the log is read. */
static void ask_groups(struct report *r)
{
	static const struct {
		unsigned int sort, by;
	} needs[] = {
		{ SORT_PID, BY_PID }, { SORT_TID, BY_TID },
		{ SORT_CPU, BY_CPU }, { SORT_TIME, BY_SLICE },
		{ SORT_FIELD, BY_FIELD }, { SORT_MEM, BY_MEM },
		{ SORT_LATENCY, BY_LATENCY }, { SORT_PREDICTION, BY_PREDICTION },
		{ SORT_FROM, BY_FROM }, { SORT_TO, BY_TO },
	};
	size_t i;

	for (i = 0; i < nitems(needs); i++)
		if (r->flat && r->sort & needs[i].sort)
			r->a.by |= needs[i].by;
}

/* An option without an effect would make the answer look like another one. */
static bool goes_together(const struct report *r)
{
	bool slices = !r->sliced || (r->flat && r->sort & SORT_TIME);

	if (!r->flat && r->of_profile)
		reader_usage("pmclog report: --%s is of the profile: add --flat\n",
			     r->of_profile);
	else if (!slices)
		reader_usage("pmclog report: --slice is of --flat --sort time\n");
	return slices && (r->flat || !r->of_profile);
}

static int check(void *ctx, int argc, char **argv)
{
	struct report *r = ctx;

	if (!analysis_argument(&r->a, "report", argc, argv))
		return READER_USAGE;
	if (r->a.innermost && (r->tree || r->callers))
		return reader_usage("pmclog report: --self does not go with a tree\n");
	if (!r->flat && !r->tree && !r->callers)
		r->flat = r->tree = true;
	if (!goes_together(r))
		return READER_USAGE;
	if (r->a.field)
		r->sort |= SORT_FIELD;
	r->a.lists = !r->tree && !r->callers;
	ask_groups(r);
	r->a.lines |= r->flat && r->sort & (SORT_FILE | SORT_LINE);
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
		if (r->callers)
			report_callers(r, i);
	}
	if (samples)
		report_nameless(r);
	else
		out_str(r->out, "\nNo samples.\n");
}

static int run(void *ctx)
{
	struct report *r = ctx;
	int ret;

	setlocale(LC_CTYPE, "");
	r->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	ret = analysis_run(&r->a);
	if (ret)
		return ret;
	if (r->a.by & BY_FIELD && !r->a.p.field.n)
		return reader_fail("%s: no sample has a field \"%s\"", r->a.path, r->a.field);
	r->same = funcs_same(&r->a.p);
	report_groups(r);
	print(r);
	free(r->same_group);
	free(r->same);
	return out_finish(r->out);
}

int cmd_report(int argc, char **argv)
{
	static const struct cmdline line = {
		"report", usage, ANALYSIS_SHORT "s:l:n:", options, take, check,
		run,
	};
	struct report r = {
		.sort = SORT_COMM | SORT_DSO | SORT_SYM, .limit = 0.5,
		.out = out_stdout(),
	};

	analysis_init(&r.a);
	r.a.slice = 1;
	return cmdline_analysis(&line, &r.a, &r, argc, argv);
}
