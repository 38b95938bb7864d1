// SPDX-License-Identifier: BSD-2-Clause
/* pmclog diff: what has changed between two logs. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/quality.h"
#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/outfile.h"
#include "base/say.h"
#include "commands/cmdline.h"
#include "commands/commands.h"
#include "commands/diff/diff.h"

static const char usage[] =
	"usage: pmclog diff [OPTION]... BEFORE AFTER\n"
	"\n"
	"Compares where the samples of two logs were taken, in shares of each\n"
	"log's samples: functions by how much they changed.\n"
	"\n"
	"      --total        with the change of what they and all that they call\n"
	"                     have together, which takes longer\n"
	"      --folded       stacks with the samples of either log, or with its\n"
	"                     events if they are sampled at a rate\n"
	"      --flame        a flame graph of the second log, coloured by the\n"
	"                     difference to the first\n"
	"      --before       ... of the first, with what is gone in the second\n"
	"  -o, --output FILE  where to write (standard output)\n"
	"  -t, --title TEXT   what is written above the flame graph\n"
	"  -l, --limit N      leave out what changed less than N percent of all\n"
	"                     samples (0.1)\n"
	"  -n, --lines N      at most N rows\n"
	"      --kernel-before FILE\n"
	"                     kernel symbols of the first log, if not the same\n"
	ANALYSIS_HELP;

enum { OPT_FOLDED = 2000, OPT_FLAME, OPT_BEFORE, OPT_KERNEL_BEFORE,
       OPT_TOTAL };

static const struct option options[] = {
	ANALYSIS_LONG,
	{ "total", no_argument, NULL, OPT_TOTAL },
	{ "folded", no_argument, NULL, OPT_FOLDED },
	{ "flame", no_argument, NULL, OPT_FLAME },
	{ "before", no_argument, NULL, OPT_BEFORE },
	{ "kernel-before", required_argument, NULL, OPT_KERNEL_BEFORE },
	{ "output", required_argument, NULL, 'o' },
	{ "title", required_argument, NULL, 't' },
	{ "limit", required_argument, NULL, 'l' },
	{ "lines", required_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 },
};

struct command {
	struct diff d;
	bool folded, flame;
	int side;
	double limit;
	unsigned long lines;
	bool of_table;	/* --limit or --lines was given */
};

static bool parse_number(const char *option, const char *arg, double most,
			 double *value)
{
	char *end;

	*value = strtod(arg, &end);
	return (end != arg && !*end && *value >= 0 && *value <= most) ||
	       reader_bad_value("diff", option, arg, "a number is wanted");
}

static bool own_option(struct command *c, int opt, const char *arg)
{
	double lines;

	switch (opt) {
	case OPT_TOTAL:
		return c->d.total = true;
	case OPT_FOLDED:
		return c->folded = true;
	case OPT_BEFORE:
		c->side = BEFORE;
		return c->flame = true;
	case OPT_FLAME:
		return c->flame = true;
	case OPT_KERNEL_BEFORE:
		c->d.a[BEFORE].kernel = arg;
		return true;
	case 'l':
		c->of_table = true;
		return parse_number("limit", arg, 100, &c->limit);
	case 'n':
		c->of_table = true;
		if (!parse_number("lines", arg, 1e9, &lines))
			return false;
		c->lines = (unsigned long)lines;
		return true;
	default:
		return false;
	}
}

/* Each option is parsed once for each log: every log owns its copy. */
static int take(void *ctx, int opt, const char *arg)
{
	struct command *c = ctx;
	const char *kernel = c->d.a[BEFORE].kernel;
	int taken = analysis_option(&c->d.a[AFTER], opt, arg);

	if (taken > 0)
		taken = analysis_option(&c->d.a[BEFORE], opt, arg);
	if (opt == 'k' && kernel)
		c->d.a[BEFORE].kernel = kernel;
	return taken > 0 || (!taken && own_option(c, opt, arg));
}

static int parse(struct command *c, int argc, char **argv)
{
	static const struct cmdline line = {
		.name = "diff", .usage = usage, .take = take, .options = options,
		.letters = ANALYSIS_SHORT "o:t:l:n:",
	};
	int ret = cmdline_options(&line, c, argc, argv);
	const char *output;

	if (ret >= 0)
		return ret;
	if (!filter_complete(&c->d.a[AFTER].filter))
		return READER_USAGE;
	if (optind != argc - 2)
		return reader_usage("pmclog diff: name two logs, the earlier one first; see "
				    "pmclog diff --help\n");
	if (!strcmp(argv[optind], "-") && !strcmp(argv[optind + 1], "-"))
		return reader_usage("pmclog diff: standard input is one log only\n");
	c->d.a[BEFORE].path = argv[optind];
	c->d.a[AFTER].path = argv[optind + 1];
	if (c->folded && c->flame)
		return reader_usage("pmclog diff: --folded or --flame?\n");
	if (c->d.total && (c->folded || c->flame))
		return reader_usage("pmclog diff: --total is of the table\n");
	if (c->of_table && (c->folded || c->flame))
		return reader_usage("pmclog diff: --limit and --lines are of "
				    "the table\n");
	if (c->d.a[AFTER].title && !c->flame)
		return reader_usage("pmclog diff: --title is of a flame "
				    "graph\n");
	/* the log in an unpacked archive must not be overwritten by the output */
	analysis_enter(&c->d.a[BEFORE]);
	analysis_enter(&c->d.a[AFTER]);
	output = c->d.a[AFTER].output;
	return outfile_is_log(output, c->d.a[BEFORE].path) ||
	       outfile_is_log(output, c->d.a[AFTER].path) ? READER_FAIL : -1;
}

/*
 * Selects one event for both logs.  Without --event it is the first log's first
 * event with samples, and the other log's event of that name.
 */
static bool same_event(struct diff *d)
{
	const struct events *t = &d->a[BEFORE].p.events;
	struct analysis *after = &d->a[AFTER];
	char buf[SHOWN_MAX];
	const char *name;
	uint32_t found = UINT32_MAX, i, j;

	analysis_one_event(&d->a[BEFORE]);
	for (i = 0; i < t->n && !d->a[BEFORE].use[i]; i++)
		;
	if (d->a[BEFORE].event || i == t->n)
		return true;
	name = strtab_str(&d->a[BEFORE].p.str, t->event[i].name);
	for (j = 0; j < after->p.events.n; j++) {
		const struct event *e = &after->p.events.event[j];

		after->use[j] = false;
		if (!strcmp(strtab_str(&after->p.str, e->name), name) &&
		    (found == UINT32_MAX ||
		     !after->p.events.event[found].samples))
			found = j;
	}
	if (found != UINT32_MAX) {
		/* the second log may have the event with two periods, or others */
		analysis_tell_others(after, found);
		return after->use[found] = true;
	}
	warn_line("%s has no event \"%s\"", after->path, shown_name(buf, name, false));
	return false;
}

/* Frees @text, which may be NULL. */
static void put_part(struct diff *d, const char *before, char *text)
{
	if (text)
		out_printf(d->out, ", %s%s", before, text);
	free(text);
}

static void put_head(struct diff *d)
{
	static const char *const what[] = { "Before", "After" };
	char buf[SHOWN_MAX], num[GROUPED_MAX];
	int side;

	for (side = BEFORE; side <= AFTER; side++) {
		const struct analysis *a = &d->a[side];

		out_printf(d->out, "%-8s%s: %s %s", what[side],
			   shown_name(buf, a->path, false), grouped(num, d->samples[side]),
			   plural(d->samples[side], "sample", "samples"));
		if (d->events[side])
			out_printf(d->out, " of %s %s",
				   grouped(num, d->all[side]),
				   plural(d->all[side], "event", "events"));
		out_printf(d->out, ", %s lost", grouped(num, losses_of(a).all));
		/* their quality matters only for totals, which are shares of callers */
		put_part(d, "", d->total ? chains_text(&a->p, a->use) : NULL);
		if (a->p.log.error)
			out_printf(d->out, ", %s%s", a->p.log.cut ? "CUT: " :
				   "", a->p.log.error);
		put_part(d, "NOT CLOSED: ", no_end_text(&a->p.log));
		put_part(d, "", unknown_text(&a->p.log));
		put_part(d, "", repeated_text(&a->p.log));
		put_part(d, "", procs_lost_text(&a->p));
		out_char(d->out, '\n');
	}
}

/* The event of a log that is compared; NULL: there are several, or none. */
static const struct event *event_of(const struct analysis *a)
{
	const struct events *t = &a->p.events;
	const struct event *found = NULL;
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		if (!a->use[i] || !t->event[i].samples)
			continue;
		if (found)
			return NULL;
		found = &t->event[i];
	}
	return found;
}

/* Shares can be compared whatever a sample is, the numbers of --folded cannot. */
static void tell_units(const struct diff *d)
{
	static const char *const units[] = { "samples", "events" };
	const struct event *before = event_of(&d->a[BEFORE]);
	const struct event *after = event_of(&d->a[AFTER]);
	char num[GROUPED_MAX], more[GROUPED_MAX];

	if (d->events[BEFORE] != d->events[AFTER])
		warn_line("the numbers are %s before, and %s after: only shares can be compared",
			  units[d->events[BEFORE]], units[d->events[AFTER]]);
	else if (!d->events[AFTER] && before && after &&
		 before->rate != after->rate)
		warn_line("the numbers are samples, one every %s before, and every %s after: "
			  "only shares can be compared",
			  grouped(num, before->rate), grouped(more, after->rate));
}

static int show(struct command *c)
{
	struct diff *d = &c->d;
	struct outfile file;
	int side;

	if (c->flame || c->folded)
		diff_join(d);
	else
		diff_count(d);
	for (side = BEFORE; side <= AFTER; side++)
		if (!d->samples[side])
			return reader_fail("%s: no samples to compare", d->a[side].path);
	side = outfile_open(&file, c->d.a[AFTER].output, 0);
	if (side != READER_OK)
		return side;
	d->out = file.out;
	if (c->flame || c->folded) {
		chains_tell(&d->a[BEFORE]);
		chains_tell(&d->a[AFTER]);
	}
	if (c->flame) {
		diff_flame(d, c->d.a[AFTER].title, c->side);
	} else if (c->folded) {
		tell_units(d);
		diff_folded(d);
	} else {
		put_head(d);
		diff_table(d, c->limit, c->lines);
	}
	return outfile_close(&file, true);
}

/* The table needs the callers only for totals. */
static void ask_callers(struct command *c)
{
	bool table = !c->folded && !c->flame;
	int side;

	for (side = BEFORE; side <= AFTER; side++) {
		c->d.a[side].innermost = table && !c->d.total;
		c->d.a[side].lists = table;
	}
}

int cmd_diff(int argc, char **argv)
{
	struct command c = { .limit = 0.1, .side = AFTER };
	int ret, bad, side;

	for (side = BEFORE; side <= AFTER; side++)
		analysis_init(&c.d.a[side]);
	ret = parse(&c, argc, argv);
	if (ret >= 0) {
		analysis_forget(&c.d.a[BEFORE]);
		analysis_forget(&c.d.a[AFTER]);
		return ret;
	}
	ask_callers(&c);
	ret = analysis_run(&c.d.a[BEFORE]);
	if (ret == READER_OK)
		ret = analysis_run(&c.d.a[AFTER]);
	if (ret == READER_OK)
		ret = same_event(&c.d) ? show(&c) : READER_FAIL;
	diff_free(&c.d);
	for (side = BEFORE; side <= AFTER; side++) {
		bad = analysis_close(&c.d.a[side]);
		ret = ret ? ret : bad;
	}
	return ret;
}
