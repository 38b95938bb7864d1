/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line.  As in FreeBSD, modifiers (-C -N -U -c -n) hold for the
 * PMCs named after them.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pmcstat.h"

enum { OPT_KALLSYMS = 256, OPT_EXCLUDE_IDLE, OPT_HELP, OPT_VERSION };

static const char short_options[] =
	"+:CLNO:S:Uc:hl:n:o:qs:vw:" "AD:EF:G:IM:P:R:TWa:df:gi:k:m:p:r:t:u:z:";

static const struct option long_options[] = {
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "exclude-idle", no_argument, NULL, OPT_EXCLUDE_IDLE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* FreeBSD's letters that are not ours: say where to go. */
static const struct elsewhere {
	const char	*letters;
	const char	*what;
} elsewhere[] = {
	{ "PEWdpt", "process-mode PMCs are not supported; "
	  "-S and -s watch the whole system" },
	{ "ADFGIMRTafgikmruz", "logs are analysed by pmclog(1)" },
};

/**
 * struct parser - the options so far, and the modifiers in force
 * @period: 0: the event's default
 * @dangling: the last modifier that no event has followed yet; 0: none
 */
struct parser {
	struct options	*o;
	struct cpulist	cpus;
	uint32_t	flags;
	uint64_t	period;
	int		cumulative;
	int		dangling;
	char		*msg;
	size_t		msglen;
};

static int __attribute__((format(printf, 2, 3)))
fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->msg, p->msglen, fmt, ap);
	va_end(ap);
	return -1;
}

static int is_clock(const struct pmc_event_desc *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK ||
		e->config == PERF_COUNT_SW_TASK_CLOCK);
}

static uint64_t period_of(const struct parser *p,
			  const struct pmc_event_desc *e)
{
	if (p->period)
		return p->period;
	return is_clock(e) ? DEFAULT_CLOCK_PERIOD : DEFAULT_PERIOD;
}

static int add_counter(struct parser *p, const struct pmc_event_desc *event,
		       enum pmc_mode mode, int cpu)
{
	struct options *o = p->o;
	struct counter *c;

	if (o->ncounters == HWPMC_NROW)
		return fail(p, "more than %d PMCs", HWPMC_NROW);
	c = realloc(o->counters, (o->ncounters + 1) * sizeof(*c));
	if (!c)
		return fail(p, "out of memory");
	o->counters = c;
	c += o->ncounters++;
	memset(c, 0, sizeof(*c));
	c->event = *event;
	c->mode = mode;
	c->cpu = cpu;
	c->cumulative = p->cumulative;
	c->flags = p->flags & PMC_F_EXCLUDE_IDLE;
	if (mode == PMC_MODE_SS) {
		c->flags = p->flags;
		c->period = period_of(p, event);
	}
	return 0;
}

static int add_event(struct parser *p, int letter, const char *spec)
{
	enum pmc_mode mode = letter == 'S' ? PMC_MODE_SS : PMC_MODE_SC;
	struct pmc_event_desc event;
	char why[256];
	int cpu;

	p->dangling = 0;
	if (pmc_event_parse(spec, &event, why, sizeof(why)))
		return fail(p, "-%c %s: %s", letter, spec, why);
	if (p->cpus.all)
		return add_counter(p, &event, mode, PMC_CPU_ALL);
	for (cpu = 0; cpu < CPU_LIMIT; cpu++)
		if (p->cpus.set[cpu] && add_counter(p, &event, mode, cpu))
			return -1;
	return 0;
}

/* User chains come with kernel chains: -U alone asks for both. */
static void toggle_user_chain(struct parser *p)
{
	p->flags ^= PMC_F_USERCALLCHAIN;
	if (p->flags & PMC_F_USERCALLCHAIN)
		p->flags |= PMC_F_CALLCHAIN;
}

static void toggle_chain(struct parser *p)
{
	p->flags ^= PMC_F_CALLCHAIN;
	if (!(p->flags & PMC_F_CALLCHAIN))
		p->flags &= ~(uint32_t)PMC_F_USERCALLCHAIN;
}

static int parse_period(struct parser *p, const char *text)
{
	char *end;

	errno = 0;
	p->period = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno || *end || !p->period ||
	    p->period > INT64_MAX)
		return fail(p, "-n %s: not a number of events", text);
	return 0;
}

static int parse_seconds(struct parser *p, int letter, const char *text,
			 double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(*seconds) || *seconds < 0.001 ||
	    *seconds > 1e9)
		return fail(p, "-%c %s: not a number of seconds", letter, text);
	return 0;
}

static int set_path(struct parser *p, const char *option, const char *value,
		    const char **path)
{
	if (*path)
		return fail(p, "%s is given twice", option);
	if (!*value)
		return fail(p, "%s needs a file name", option);
	*path = value;
	return 0;
}

static int not_ours(struct parser *p, int letter)
{
	size_t i;

	for (i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strchr(elsewhere[i].letters, letter))
			return fail(p, "-%c: %s", letter, elsewhere[i].what);
	return fail(p, "unknown option -%c", letter);
}

static int unknown_option(struct parser *p, char **argv)
{
	if (optopt >= OPT_KALLSYMS)
		return fail(p, "%s takes no argument", argv[optind - 1]);
	if (optopt)
		return fail(p, "unknown option -%c", optopt);
	return fail(p, "unknown option %s", argv[optind - 1]);
}

static int missing_argument(struct parser *p, char **argv)
{
	if (optopt >= OPT_KALLSYMS)
		return fail(p, "%s needs an argument", argv[optind - 1]);
	return fail(p, "-%c needs an argument", optopt);
}

static int parse_modifier(struct parser *p, int letter)
{
	p->dangling = letter;
	switch (letter) {
	case 'C':
		p->cumulative = !p->cumulative;
		return 0;
	case 'N':
		toggle_chain(p);
		return 0;
	case 'U':
		toggle_user_chain(p);
		return 0;
	case OPT_EXCLUDE_IDLE:
		p->flags ^= PMC_F_EXCLUDE_IDLE;
		return 0;
	case 'n':
		return parse_period(p, optarg);
	default:
		if (cpulist_parse(&p->cpus, optarg))
			return fail(p, "-c %s: not a list of CPUs", optarg);
		return 0;
	}
}

static int parse_option(struct parser *p, int letter, char **argv)
{
	struct options *o = p->o;

	switch (letter) {
	case 'C': case 'N': case 'U': case 'c': case 'n': case OPT_EXCLUDE_IDLE:
		return parse_modifier(p, letter);
	case 'S': case 's':
		return add_event(p, letter, optarg);
	case 'L':
		o->action = ACTION_LIST;
		return 0;
	case 'h': case OPT_HELP:
		o->action = ACTION_HELP;
		return 0;
	case OPT_VERSION:
		o->action = ACTION_VERSION;
		return 0;
	case 'O':
		return set_path(p, "-O", optarg, &o->log_path);
	case 'o':
		return set_path(p, "-o", optarg, &o->text_path);
	case OPT_KALLSYMS:
		return set_path(p, "--kallsyms", optarg, &o->kallsyms_path);
	case 'l':
		return parse_seconds(p, letter, optarg, &o->limit);
	case 'w':
		return parse_seconds(p, letter, optarg, &o->interval);
	case 'q':
		o->quiet = 1;
		return 0;
	case 'v':
		o->verbose = 1;
		return 0;
	case '?':
		return unknown_option(p, argv);
	case ':':
		return missing_argument(p, argv);
	default:
		return not_ours(p, letter);
	}
}

int options_sampling(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (o->counters[i].mode == PMC_MODE_SS)
			return 1;
	return 0;
}

static int modifies_nothing(struct parser *p)
{
	char option[] = { '-', (char)p->dangling, '\0' };

	return fail(p, "%s holds for events named after it only: put it before "
		    "-S or -s", p->dangling == OPT_EXCLUDE_IDLE ?
		    "--exclude-idle" : option);
}

static int check(struct parser *p)
{
	const struct options *o = p->o;

	if (o->action != ACTION_RUN)
		return 0;
	if (!o->ncounters)
		return fail(p, "no event: -S EVENT samples, -s EVENT counts, "
			    "-L lists events");
	if (p->dangling)
		return modifies_nothing(p);
	if (options_sampling(o) && !o->log_path)
		return fail(p, "-S needs a file for the log: -O FILE");
	if (o->kallsyms_path && !o->log_path)
		return fail(p, "--kallsyms goes with -O");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv,
		  char *msg, size_t msglen)
{
	struct parser p = {
		.o = o, .msg = msg, .msglen = msglen,
		.cpus = { .all = 1 }, .flags = PMC_F_CALLCHAIN,
	};
	int letter;

	memset(o, 0, sizeof(*o));
	o->interval = DEFAULT_INTERVAL;
	optind = 0;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, short_options, long_options,
				     NULL)) != -1)
		if (parse_option(&p, letter, argv))
			return -1;
	if (optind < argc)
		o->command = argv + optind;
	return check(&p);
}

void options_free(struct options *o)
{
	free(o->counters);
	memset(o, 0, sizeof(*o));
}

void usage(FILE *f)
{
	fputs("usage: pmcstat [-CLNUqv] [-c cpus] [-n period] [-S event] "
	      "[-s event]\n"
	      "               [-O logfile] [-o file] [-l seconds] "
	      "[-w seconds]\n"
	      "               [--exclude-idle] [--kallsyms file] "
	      "[command [argument ...]]\n"
	      "\n"
	      "  -S event    sample the event in the whole system, into -O's "
	      "file\n"
	      "  -s event    count the event in the whole system\n"
	      "  -O logfile  where samples go, - for standard output\n"
	      "  -o file     where counts go, instead of standard output\n"
	      "  -l seconds  end after this time\n"
	      "  -w seconds  print counts this often (5)\n"
	      "  -q, -v      say less, say more\n"
	      "  -L          list the events\n"
	      "  --kallsyms file  copy the kernel's symbols, to read the log "
	      "elsewhere\n"
	      "for the events named after them:\n"
	      "  -n period   events between samples (65536; of clocks 1000000 "
	      "ns)\n"
	      "  -c cpus     0,2-3 or * (all)\n"
	      "  -N, -U      call chains off or on, user call chains on or off\n"
	      "  -C          counts since the start, not since the last line\n"
	      "  --exclude-idle   not while the CPU idles\n", f);
}
