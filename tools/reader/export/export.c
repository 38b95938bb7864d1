// SPDX-License-Identifier: BSD-2-Clause
/* pmclog export: writes the formats of other programs. */
#include <stdio.h>

#include "analysis/ahead.h"
#include "analysis/quality.h"
#include "base/exit.h"
#include "base/numbers.h"
#include "base/say.h"
#include "export/export.h"

static const struct export_format *const formats[] = {
	&export_folded, &export_pprof, &export_speedscope, &export_firefox,
	&export_callgrind, &export_perf_script, &export_csv, &export_jsonl,
	&export_clickhouse, &export_bolt,
};

static const char usage_head[] =
	"usage: pmclog export --to FORMAT [OPTION]... FILE\n"
	"Writes the samples of a log for other programs.  Formats:\n";

static const char usage_options[] =
	"  -o, --output FILE  where to; compressed if it ends in .gz\n"
	"      --weight WHAT  count \"samples\", or \"period\": how often the\n"
	"                     event happened, as is done without the option if\n"
	"                     it is sampled at a rate (folded, speedscope,\n"
	"                     callgrind)\n"
	"      --by WHAT      tell apart by process or pid, thread or tid, cpu,\n"
	"                     or none (folded, pprof, speedscope)\n"
	"      --instr        with addresses (callgrind)\n"
	"      --object NAME  a file name or path: of this program (bolt)\n"
	"      --log-id TEXT  what to call this log (clickhouse)\n"
	"      --schema       only print what makes the table (clickhouse)\n"
	ANALYSIS_HELP;

enum { OPT_TO = 256, OPT_WEIGHT, OPT_BY, OPT_LOG_ID, OPT_SCHEMA, OPT_INSTR,
       OPT_OBJECT };

static const struct option options[] = {
	{ "to", required_argument, NULL, OPT_TO },
	{ "output", required_argument, NULL, 'o' },
	{ "weight", required_argument, NULL, OPT_WEIGHT },
	{ "by", required_argument, NULL, OPT_BY },
	{ "log-id", required_argument, NULL, OPT_LOG_ID },
	{ "schema", no_argument, NULL, OPT_SCHEMA },
	{ "instr", no_argument, NULL, OPT_INSTR },
	{ "object", required_argument, NULL, OPT_OBJECT },
	ANALYSIS_LONG,
	{ NULL, 0, NULL, 0 },
};

static void help(void)
{
	size_t i;

	fputs(usage_head, stdout);
	for (i = 0; i < nitems(formats); i++)
		printf("  %-12s %s\n", formats[i]->name, formats[i]->help);
	fputs("Options:\n", stdout);
	fputs(usage_options, stdout);
}

static bool take_format(struct export *e, const char *name)
{
	size_t i;

	for (i = 0; i < nitems(formats); i++)
		if (!strcmp(name, formats[i]->name))
			e->format = formats[i];
	return e->format || !reader_usage("pmclog export: no format \"%s\"; see pmclog "
					  "export --help\n", name);
}

static bool take_weight(struct export *e, const char *what)
{
	e->unit = strcmp(what, "period") ? UNIT_SAMPLES : UNIT_PERIOD;
	return e->unit == UNIT_PERIOD || !strcmp(what, "samples") ||
	       reader_bad_value("export", "weight", what, "\"samples\" or \"period\"");
}

static bool take_by(struct export *e, const char *what)
{
	static const struct {
		const char *name;
		unsigned int by;
	} keys[] = {
		{ "none", 0 }, { "process", BY_PID }, { "pid", BY_PID },
		{ "thread", BY_PID | BY_TID }, { "tid", BY_PID | BY_TID },
		{ "cpu", BY_CPU },
	};
	size_t n, i;

	for (e->by = 0;; what += n + 1) {
		n = strcspn(what, ",");
		for (i = 0; i < nitems(keys); i++)
			if (strlen(keys[i].name) == n &&
			    !strncmp(what, keys[i].name, n))
				break;
		if (i == nitems(keys))
			return !reader_usage("pmclog export: --by %.*s: \"process\", "
					     "\"thread\", \"cpu\" or \"none\"\n",
					     (int)n, what);
		e->by |= keys[i].by;
		if (!what[n])
			return true;
	}
}

/* As filter_option(); adds to @takes what the format must support. */
static int take_option(struct export *e, int opt, const char *arg,
		       unsigned int *takes)
{
	switch (opt) {
	case OPT_TO:
		return take_format(e, arg) ? 1 : -1;
	case OPT_WEIGHT:
		*takes |= TAKES_WEIGHT;
		return take_weight(e, arg) ? 1 : -1;
	case OPT_BY:
		*takes |= TAKES_BY;
		return take_by(e, arg) ? 1 : -1;
	case OPT_INSTR:
		*takes |= TAKES_INSTR;
		e->instr = true;
		return 1;
	case OPT_OBJECT:
		*takes |= TAKES_OBJECT;
		e->object = arg;
		return 1;
	case OPT_LOG_ID:
		*takes |= TAKES_LOG_ID;
		e->log_id = arg;
		return 1;
	case OPT_SCHEMA:
		*takes |= TAKES_SCHEMA;
		e->schema = true;
		return 1;
	default:
		return analysis_option(&e->a, opt, arg);
	}
}

static bool takes_all(const struct export_format *format, unsigned int takes)
{
	static const struct {
		unsigned int what;
		const char *option;
	} names[] = {
		{ TAKES_WEIGHT, "weight" }, { TAKES_BY, "by" },
		{ TAKES_INSTR, "instr" }, { TAKES_LOG_ID, "log-id" },
		{ TAKES_SCHEMA, "schema" }, { TAKES_OBJECT, "object" },
	};
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (takes & ~format->takes & names[i].what)
			return !reader_usage("pmclog export: %s has no use for --%s\n",
					     format->name, names[i].option);
	return true;
}

static int write_schema(struct export *e)
{
	int ret = outfile_open(&e->file, e->a.output, 0);

	if (ret)
		return ret;
	clickhouse_schema(e->file.out);
	return outfile_close(&e->file, true);
}

static int parse(struct export *e, int argc, char **argv)
{
	unsigned int takes = 0;
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, ANALYSIS_SHORT "o:", options,
				  NULL)) != -1) {
		if (opt == 'h') {
			help();
			return READER_OK;
		}
		if (take_option(e, opt, optarg, &takes) <= 0)
			return reader_usage("try: pmclog export --help\n");
	}
	if (!e->format)
		return reader_usage("pmclog export: --to what? try: pmclog "
				    "export --help\n");
	if (!takes_all(e->format, takes))
		return READER_USAGE;
	if (e->schema)
		return write_schema(e);
	if (!(takes & TAKES_BY))
		e->by = e->format->by;
	if (!analysis_argument(&e->a, "export", argc, argv))
		return READER_USAGE;
	return outfile_is_log(e->a.output, e->a.path) ? READER_FAIL : -1;
}

/* True for a sample of the wanted event; gives a new event its number and name. */
static bool is_wanted(const struct export *e, const struct sample *s)
{
	return !e->event || e->a.p.events.event[s->event].name == e->event;
}

/* Finds the functions of new frames.  A live log is not read on when its output has failed. */
static bool can_write(struct export *e)
{
	e->a.p.enough = e->out->error;
	e->bad = e->bad || !resolver_update(&e->r, &e->a.p);
	return !e->bad;
}

static void on_sample(void *ctx, const struct sample *s)
{
	struct export *e = ctx;

	if (is_wanted(e, s) && can_write(e))
		e->format->sample(e, s);
}

/* Makes the frames of all samples first, so that cache misses overlap. */
static void write_them(struct export *e, const struct sample *s, uint32_t n)
{
	uint32_t i;

	for (i = 0; e->format->frame && i < n; i++)
		if (is_wanted(e, &s[i]))
			texts_prepare(e, &s[i]);
	for (i = 0; i < n; i++)
		if (is_wanted(e, &s[i]))
			e->format->sample(e, &s[i]);
}

static void write_one(void *ctx, const struct sample *s)
{
	write_them(ctx, s, 1);
}

static void on_samples(void *ctx, const struct sample *s, uint32_t n)
{
	struct export *e = ctx;
	uint32_t i;

	if (!can_write(e))
		return;
	if (inorder_are_next(&e->order, s, n)) {
		e->order.next += n;
		write_them(e, s, n);
		return;
	}
	for (i = 0; i < n; i++)
		inorder_add(&e->order, &s[i]);
}

/* A program may wait for the samples of a stream. */
static void order_begin(struct export *e)
{
	e->order.write = write_one;
	e->order.ctx = e;
	if (analysis_is_stream(e->a.path))
		e->order.within = log_freq(&e->a.p.log);
}

static void order_end(struct export *e)
{
	char num[GROUPED_MAX];

	inorder_end(&e->order);
	if (e->order.behind)
		warn_line("%s: %s %s late: %s user chain was recorded long after the sample",
			  e->a.path, grouped(num, e->order.behind),
			  plural(e->order.behind, "sample comes", "samples come"),
			  plural(e->order.behind, "its", "their"));
}

/* Opens the output now: an invalid or missing log leaves no file. */
static bool on_begin(void *ctx)
{
	struct export *e = ctx;
	const char *want = e->a.event;

	if (want && strcmp(want, "all"))
		e->event = strtab_id(&e->a.p.str, want);
	e->opened = outfile_open(&e->file, e->a.output, e->format->file);
	if (e->opened)
		return false;
	e->out = e->file.out;
	order_begin(e);
	if (e->format->begin)
		e->format->begin(e);
	return true;
}

/* Writes samples one by one, while the log is read. */
static int write_samples(struct export *e)
{
	int ret;

	e->a.resolves = true;
	e->a.on_begin = on_begin;
	if (e->format->chains)
		e->a.on_sample = on_sample;
	else
		e->a.on_samples = on_samples;
	e->a.on_sample_ctx = e;
	ret = analysis_run(&e->a);
	if (e->opened)
		return e->opened;
	if (!e->bad)
		order_end(e);
	if (ret == READER_OK)
		chains_tell(&e->a);
	if (ret == READER_OK && !e->bad && e->format->end)
		e->format->end(e);
	if (e->a.ids_last)
		e->misnamed = !ahead_names_hold(&e->r, &e->a.p, e->a.path);
	return e->bad ? READER_FAIL : ret;
}

static bool knows_periods(const struct export *e)
{
	const struct events *t = &e->a.p.events;
	char buf[SHOWN_MAX];
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		if (!e->a.use[i] || t->event[i].rate || !t->event[i].samples)
			continue;
		export_shown(e, buf, t->event[i].name);
		warn_line("%s: the log does not tell the period of %s", e->a.path, buf);
		return false;
	}
	return true;
}

/* Writes everything at the end, from the chains. */
static int write_profile(struct export *e)
{
	bool places = e->format->places || e->inlines || e->lines;
	struct level level[LEVELS_MAX];
	uint32_t i;
	int ret;

	e->a.by = e->by;
	e->a.resolves = places;
	ret = analysis_run(&e->a);
	if (ret)
		return ret;
	if (places && !resolver_update(&e->r, &e->a.p))
		return READER_FAIL;
	/* all functions must be known from here on */
	for (i = 0; i < e->a.p.frames.n; i++)
		export_levels(e, i, level);
	analysis_one_event(&e->a);
	chains_tell(&e->a);
	if (e->unit == UNIT_PERIOD && !knows_periods(e))
		return READER_FAIL;
	ret = outfile_open(&e->file, e->a.output, e->format->file);
	if (ret)
		return ret;
	e->out = e->file.out;
	e->format->end(e);
	return e->bad ? READER_FAIL : READER_OK;
}

/* Export looks up source lines by frame, except for folded stacks. */
static void take_source(struct export *e)
{
	if (e->format->folded)
		return;
	e->inlines = e->a.inlines;
	e->lines = e->a.lines;
	e->a.inlines = e->a.lines = false;
}

int cmd_export(int argc, char **argv)
{
	struct export e = { 0 };
	int ret, bad;

	analysis_init(&e.a);
	ret = parse(&e, argc, argv);
	if (ret >= 0) {
		analysis_forget(&e.a);
		return ret;
	}
	export_start(&e);
	e.r.kernel = e.a.kernel;
	e.r.log_path = strcmp(e.a.path, "-") ? e.a.path : NULL;
	take_source(&e);
	ret = e.format->sample ? write_samples(&e) : write_profile(&e);
	bad = outfile_close(&e.file, ret == READER_OK);
	/* what was written is kept, as that of a damaged log */
	ret = ret ? ret : bad ? bad : e.misnamed ? READER_FAIL : READER_OK;
	if (e.format->release && e.state)
		e.format->release(&e);
	inorder_free(&e.order);
	resolver_close(&e.r);
	export_free(&e);
	bad = analysis_close(&e.a);
	return ret ? ret : bad;
}
