// SPDX-License-Identifier: BSD-2-Clause
/* pmclog filter: a part of a log, as a log. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/ahead.h"
#include "analysis/analysis.h"
#include "analysis/quality.h"
#include "analysis/shown.h"
#include "base/privout.h"
#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/filter/filter_log.h"

static const char usage[] =
"usage: pmclog filter [OPTION]... -o OUT FILE\n"
"Writes a log that has only the samples asked for, and all that is needed to\n"
"know what they mean.\n"
"  -o, --output OUT   the log to write; - for standard output\n"
"  -Z                 compress it; also done if OUT ends in .zst\n"
"  -e, --event NAME   only PMCs of this event\n"
"  -k, --kernel FILE  names of kernel functions: kallsyms, System.map, vmlinux\n"
"  -r, --root DIR     where the files of the recorded machine are\n"
"      --debuginfod   fetch symbols from the servers in DEBUGINFOD_URLS\n"
SELECT_HELP
FILTER_HELP
"  FILE   a log, a directory of logs, or - for standard input\n";

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "output", required_argument, NULL, 'o' },
	{ "event", required_argument, NULL, 'e' },
	{ "kernel", required_argument, NULL, 'k' },
	{ "root", required_argument, NULL, 'r' },
	{ "debuginfod", no_argument, NULL, ANALYSIS_DEBUGINFOD },
	SELECT_LONG,
	FILTER_LONG,
	{ NULL, 0, NULL, 0 },
};

/**
 * struct filtering - a run
 * @conditions: as they were asked for, for whoever reads @out
 * @open: the log that is written has no note yet
 * @ids_last: functions were named before the build-ids were known
 */
struct filtering {
	struct analysis a;
	const char *out_path;
	bool not_event;
	struct select select;
	char *conditions;
	bool open, ids_last;
	int compress;
	struct privout out;
	struct part part;
};

/* ------------------------------------------------------------------------
 * What is written
 */
static void put(void *ctx, const void *p, uint32_t len)
{
	struct filtering *f = ctx;

	privout_bytes(&f->out, p, len);
}

static void put_note(struct filtering *f)
{
	const unsigned char *p;
	uint32_t len;

	part_settle(&f->part);
	p = part_note(&f->part, f->conditions, &len);
	put(f, p, len);
}

/* ------------------------------------------------------------------------
 * What is read
 */
static void put_record(struct filtering *f, const struct pmclog_rec *r)
{
	bool begins = r->type == PMCLOG_T_INITIALIZE;

	/* each log has a note, also one that was not closed */
	if (r->type == PMCLOG_T_CLOSELOG || (begins && f->open))
		put_note(f);
	f->open = r->type != PMCLOG_T_CLOSELOG;
	/* the next log has tracepoints of its own */
	if (begins)
		select_see_fields(&f->select, &f->part.p.tps);
	part_record(&f->part, r);
}

static int check_fields(struct filtering *f)
{
	char buf[SHOWN_MAX];
	const char *name;

	select_see_fields(&f->select, &f->part.p.tps);
	name = select_no_field(&f->select);
	if (!name)
		return READER_OK;
	return reader_fail("%s: no event has a field \"%s\"", f->a.path,
			   shown_name(buf, name, false));
}

static int check_event(struct filtering *f)
{
	const struct events *t = &f->part.p.events;
	uint32_t i;

	for (i = 0; f->part.event && i < t->n; i++)
		if (!strcmp(strtab_str(&f->part.p.str, t->event[i].name),
			    f->part.event))
			return check_fields(f);
	if (!f->part.event)
		return check_fields(f);
	return reader_fail("%s: no event \"%s\"", f->a.path, f->a.event);
}

/* Is the input not a file, so that a program may wait for the output? */
static bool is_stream(const struct input *in)
{
	struct stat st;

	return !in->merge && (fstat(in->fd, &st) || !S_ISREG(st.st_mode));
}

/* An invalid log, or one without the event, keeps an existing output file. */
static int filter_all(struct filtering *f, struct input *in)
{
	enum pmclog_iter_status status;
	struct pmclog_rec r;
	int ret, bad;

	status = input_next(in, &r);
	if (status == PMCLOG_ITER_EOF)
		warn_line("%s: is empty", f->a.path);
	if (status != PMCLOG_ITER_RECORD ||
	    privout_open(&f->out, f->out_path, f->compress, in->fd))
		return READER_FAIL;
	f->part.hurry = is_stream(in);
	while (status == PMCLOG_ITER_RECORD && !f->out.error &&
	       !f->select.failed) {
		put_record(f, &r);
		status = input_next(in, &r);
	}
	if (f->open)
		put_note(f);
	bad = f->select.failed ? READER_FAIL : check_event(f);
	ret = privout_close(&f->out, !bad) ? READER_FAIL : bad;
	f->part.p.log.cut = status == PMCLOG_ITER_ERROR && input_stopped(in);
	f->part.p.log.repeated = input_repeated(in);
	/* the rest of the log was not read if the output failed */
	if (status != PMCLOG_ITER_RECORD)
		log_tell(&f->part.p, f->a.path);
	if (f->ids_last && !ahead_names_hold(&f->select.r, &f->part.p,
					     f->a.path))
		ret = READER_FAIL;
	return status == PMCLOG_ITER_ERROR ? READER_FAIL : ret;
}

/* Flushes the output, so that its reader can follow a log being recorded. */
static void flush(void *arg)
{
	struct filtering *f = arg;

	privout_flush(&f->out);
}

static void begin(struct filtering *f)
{
	struct analysis *a = &f->a;

	part_init(&f->part, &a->filter, &f->select, &a->root);
	f->part.event = a->event && strcmp(a->event, "all") ? a->event : NULL;
	f->part.not_event = f->not_event;
	f->part.held.put = put;
	f->part.held.ctx = f;
	f->select.r.kernel = a->kernel;
	f->select.r.log_path = strcmp(a->path, "-") ? a->path : NULL;
}

static int run(struct filtering *f)
{
	struct analysis *a = &f->a;
	struct input in;
	int ret = READER_FAIL;

	analysis_enter(a);
	if (!analysis_root_is_own(a))
		return ret;
	begin(f);
	if (f->select.n)
		f->ids_last = !ahead_ids(&f->part.p, a->path);
	if ((!filter_needs_end(&a->filter) ||
	     analysis_find_end(a->path, &f->part.p.log.last)) &&
	    !input_open_passing(&in, a->path, flush, f)) {
		ret = filter_all(f, &in);
		input_close(&in);
	}
	part_free(&f->part);
	return ret;
}

/* ------------------------------------------------------------------------
 * The command line
 */
static const char *name_of(int opt)
{
	const struct option *o;

	for (o = options; o->name; o++)
		if (o->val == opt)
			return o->name;
	return "";
}

static void note_condition(struct filtering *f, int opt, const char *arg)
{
	f->conditions = xappend(f->conditions, "%s--%s%s%s", *f->conditions ? " " : "",
				name_of(opt), arg ? " " : "", arg ? arg : "");
}

static bool take_condition(struct filtering *f, int opt, const char *arg)
{
	int taken = select_option(&f->select, &f->a.filter, opt, arg);

	if (!taken)
		taken = filter_option(&f->a.filter, opt, arg);
	if (taken > 0)
		note_condition(f, opt, arg);
	return taken > 0;
}

static int take(void *ctx, int opt, const char *arg)
{
	struct filtering *f = ctx;

	switch (opt) {
	case 'Z':
		return f->compress = 1;
	case 'o':
		f->out_path = arg;
		return 1;
	case 'e':
		if (!analysis_event(&f->a, arg))
			return 0;
		f->not_event = filter_negated(&f->a.filter);
		note_condition(f, opt, arg);
		return 1;
	case 'k': case 'r': case ANALYSIS_DEBUGINFOD:
		return analysis_option(&f->a, opt, arg) > 0;
	default:
		return take_condition(f, opt, arg);
	}
}

static int parse(struct filtering *f, int argc, char **argv)
{
	static const struct cmdline line = {
		.name = "filter", .usage = usage, .letters = "ho:e:k:r:Z", .options = options,
		.take = take,
	};
	int ret = cmdline_options(&line, f, argc, argv);

	if (ret >= 0)
		return ret;
	if (!filter_complete(&f->a.filter))
		return READER_USAGE;
	if (f->not_event && !strcmp(f->a.event, "all"))
		return reader_usage("pmclog filter: --not --event all leaves no sample\n");
	if (optind != argc - 1 || !f->out_path)
		return reader_usage("pmclog filter: name a log, and with -o the one to write; "
				    "see pmclog filter --help\n");
	if (!strcmp(f->out_path, "-") && isatty(STDOUT_FILENO))
		return reader_usage("pmclog filter: -o -: standard output is "
				    "a terminal\n");
	f->a.path = argv[optind];
	return -1;
}

int cmd_filter(int argc, char **argv)
{
	struct filtering *f = xcalloc(1, sizeof(*f));
	int ret;

	analysis_init(&f->a);
	f->conditions = xstrdup("");
	ret = parse(f, argc, argv);
	if (ret < 0)
		ret = run(f);
	select_free(&f->select);
	analysis_forget(&f->a);
	free(f->conditions);
	free(f);
	return ret;
}
