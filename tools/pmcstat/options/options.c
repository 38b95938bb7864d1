/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line.  As in FreeBSD, modifiers (-C -E -N -U -W -c -d -n) hold
 * for the PMCs named after them.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"

static const char short_options[] =
	"+:ACD:EF:G:ILM:NO:P:R:S:TUWZa:c:def:ghi:k:l:m:n:o:p:qr:s:t:u:vw:z:";

static const struct option long_options[] = {
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "exclude-idle", no_argument, NULL, OPT_EXCLUDE_IDLE },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "branch", required_argument, NULL, OPT_BRANCH },
	{ "data", no_argument, NULL, OPT_DATA },
	{ "freq", required_argument, NULL, OPT_FREQ },
	{ "budget", required_argument, NULL, OPT_BUDGET },
	{ "writers", required_argument, NULL, OPT_WRITERS },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "not", required_argument, NULL, OPT_NOT },
	{ "include-self", no_argument, NULL, OPT_INCLUDE_SELF },
	{ "packed", no_argument, NULL, OPT_PACKED },
	{ "rotate", required_argument, NULL, OPT_ROTATE },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "flight", required_argument, NULL, OPT_FLIGHT },
	{ "trigger", required_argument, NULL, OPT_TRIGGER },
	{ "unwind", required_argument, NULL, OPT_UNWIND },
	{ "bpf", no_argument, NULL, OPT_BPF },
	{ "ring", required_argument, NULL, OPT_RING },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

int options_fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->msg, p->msglen, fmt, ap);
	va_end(ap);
	return -1;
}

const char *options_name(int option)
{
	static char name[32];
	const struct option *o = long_options;

	while (o->name && o->val != option)
		o++;
	if (o->name)
		snprintf(name, sizeof(name), "--%s", o->name);
	else
		snprintf(name, sizeof(name), "-%c", option);
	return name;
}

/* After pmc_event_parse() has failed, with the message @why; uses its errno */
static int no_event(struct parser *p, const char *option, const char *spec,
		    const char *why)
{
	p->status = event_status(errno);
	return options_fail(p, "%s %s: %s", option, spec, why);
}

static int is_clock(const struct pmc_event_desc *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK ||
		e->config == PERF_COUNT_SW_TASK_CLOCK);
}

/*
 * The period of @c, or how many samples a second.  A clock has the period of the rate,
 * but with a budget, which is applied after all options are parsed.
 * One period gives many samples on one machine and few on another: so a rate is the
 * default.
 */
static void set_period(const struct parser *p, struct counter *c)
{
	const struct pmc_event_desc *e = &c->event;
	bool freq = e->flags & PMC_EVENT_FREQ, asked = p->period || e->period;

	c->period = e->period;
	if (p->period && !(e->flags & (PMC_EVENT_RATE | PMC_EVENT_PERIOD))) {
		c->period = p->period;
		freq = p->freq;
	} else if (!c->period) {
		c->period = is_clock(e) ? DEFAULT_CLOCK_PERIOD : DEFAULT_RATE;
		freq = !is_clock(e);
	}
	c->fixed = asked && !freq;
	if (!freq)
		return;
	if (is_clock(e))
		c->period = c->period < 1000000000 ? 1000000000 / c->period : 1;
	else
		c->flags |= PMC_F_FREQ;
}

/* The flags in force that apply to this mode and event */
static uint32_t flags_of(const struct parser *p, enum pmc_mode mode,
			 const struct pmc_event_desc *e)
{
	uint32_t flags = 0;

	if (PMC_IS_SAMPLING_MODE(mode))
		flags |= PMC_F_CALLCHAIN | PMC_F_USERCALLCHAIN | PMC_F_UNWIND |
			 PMC_F_EXCLUDE_IDLE;
	if (PMC_IS_SAMPLING_MODE(mode) && (e->flags & PMC_EVENT_TRACEPOINT))
		flags |= PMC_F_RAW;
	if (PMC_IS_SAMPLING_MODE(mode))
		flags |= PMC_F_BRANCH | PMC_F_DATA;
	if (mode == PMC_MODE_SS)
		flags |= HWPMC_F_INCLUDE_OWNER;
	if (PMC_IS_VIRTUAL_MODE(mode))
		flags |= PMC_F_DESCENDANTS;
	if (mode == PMC_MODE_TC)
		flags |= PMC_F_LOG_PROCEXIT | PMC_F_LOG_PROCCSW;
	return p->flags & flags;
}

static int add_counter(struct parser *p, const char *spec,
		       const struct pmc_event_desc *event, enum pmc_mode mode,
		       int cpu)
{
	struct options *o = p->o;
	struct counter *c;

	if (o->ncounters == HWPMC_NROW)
		return options_fail(p, "more than %d PMCs", HWPMC_NROW);
	c = realloc(o->counters, (o->ncounters + 1) * sizeof(*c));
	if (!c)
		return options_fail(p, "out of memory");
	o->counters = c;
	c += o->ncounters++;
	memset(c, 0, sizeof(*c));
	c->event = *event;
	c->spec = spec;
	c->mode = mode;
	c->cpu = cpu;
	c->cumulative = p->cumulative;
	c->flags = flags_of(p, mode, event);
	if (c->flags & PMC_F_BRANCH)
		c->branch = p->branch;
	if (PMC_IS_SAMPLING_MODE(mode))
		set_period(p, c);
	return filter_for(p, c);
}

static enum pmc_mode mode_of(int letter)
{
	switch (letter) {
	case 'P':
		return PMC_MODE_TS;
	case 'p':
		return PMC_MODE_TC;
	case 'S':
		return PMC_MODE_SS;
	default:
		return PMC_MODE_SC;
	}
}

static int check_mode(struct parser *p, int letter, const char *spec,
		      const struct pmc_event_desc *e)
{
	if ((e->flags & PMC_EVENT_RATE) && PMC_IS_COUNTING_MODE(mode_of(letter)))
		return options_fail(p, "-%c %s: it only samples: -S or -P",
				    letter, spec);
	if ((e->caps & PMC_CAP_PRECISE) && PMC_IS_COUNTING_MODE(mode_of(letter)))
		return options_fail(p, "-%c %s: only samples are precise: -S or -P",
				    letter, spec);
	if ((e->flags & PMC_EVENT_ONE_CPU) &&
	    PMC_IS_VIRTUAL_MODE(mode_of(letter)))
		return options_fail(p, "-%c %s: it is of one CPU, not of processes: -S",
				    letter, spec);
	return 0;
}

/* The CPUs of @p's CPU list on which the event exists */
static int find_cpus(struct parser *p, const char *spec,
		     const struct pmc_event_desc *e, struct cpulist *cpus)
{
	const bool some = e->flags & PMC_EVENT_SOME_CPUS;
	struct cpulist own = { .all = 1 };
	char list[4096];
	int n, cpu;

	*cpus = p->cpus;
	if (cpus->all == some)	/* the module finds the CPUs of some */
		return 0;
	n = pmc_event_cpus(e, list, sizeof(list));
	if (n < 0 || (n && cpulist_parse(&own, list)))
		return options_fail(p, "%s: cannot find out which CPUs it is "
				    "on: give them, -c CPUS", spec);
	if (cpus->all)
		*cpus = own;
	for (cpu = 0; cpu < CPU_LIMIT && !own.all; cpu++)
		cpus->set[cpu] &= own.set[cpu];
	return 0;
}

/* Adds the event on each CPU of a list, and returns how many that were, or -1 */
static int add_on_cpus(struct parser *p, const char *spec, const struct pmc_event_desc *event,
		       enum pmc_mode mode)
{
	struct cpulist cpus;
	int cpu, n = 0;

	if (find_cpus(p, spec, event, &cpus))
		return -1;
	if (cpus.all)
		return add_counter(p, spec, event, mode, PMC_CPU_ALL) ? -1 : 1;
	for (cpu = 0; cpu < CPU_LIMIT; cpu++) {
		if (!cpus.set[cpu])
			continue;
		if (add_counter(p, spec, event, mode, cpu))
			return -1;
		n++;
		if (event->flags & PMC_EVENT_ONE_CPU)
			break;
	}
	return n;
}

/* Marks the counters from @first on as those of one specification */
static void mark_split(struct options *o, size_t first)
{
	for (; first < o->ncounters; first++)
		o->counters[first].split = 1;
}

static int add_event(struct parser *p, int letter, const char *spec)
{
	struct pmc_event_desc event[PMC_EVENTS_MAX];
	enum pmc_mode mode = mode_of(letter);
	char option[] = { '-', (char)letter, '\0' }, why[512];
	size_t first = p->o->ncounters;
	int n, i;

	options_apply(p, mode);
	n = pmc_event_parse_all(spec, event, PMC_EVENTS_MAX, why, sizeof(why));
	if (n < 0)
		return no_event(p, option, spec, why);
	if (check_mode(p, letter, spec, &event[0]))
		return -1;
	for (i = 0; i < n; i++)
		if (PMC_IS_VIRTUAL_MODE(mode) ?
		    add_counter(p, spec, &event[i], mode, PMC_CPU_ANY) :
		    add_on_cpus(p, spec, &event[i], mode) < 0)
			return -1;
	if (first == p->o->ncounters)
		return options_fail(p, "%s %s: none of the CPUs of -c has it", option, spec);
	if (n > 1)
		mark_split(p->o, first);
	return 0;
}

/* An event of one CPU triggers there, any other on each CPU: -c is not for triggers. */
static int trigger_cpu(struct parser *p, const char *text, const struct pmc_event_desc *e)
{
	struct cpulist own = { .all = 0 };
	char list[4096];
	int cpu;

	if (!(e->flags & PMC_EVENT_ONE_CPU))
		return PMC_CPU_ALL;
	if (pmc_event_cpus(e, list, sizeof(list)) > 0 && !cpulist_parse(&own, list))
		for (cpu = 0; cpu < CPU_LIMIT; cpu++)
			if (own.set[cpu])
				return cpu;
	return options_fail(p, "--trigger %s: cannot find out which CPUs it is on", text);
}

/*
 * A trigger is never slowed down by a budget.  Its samples are not read, so they have no
 * chains.  A condition is for what happens, and not for a timer.
 */
static int make_trigger(struct parser *p, const char *text, struct counter *c, uint64_t count)
{
	c->flags = HWPMC_F_TRIGGER;
	c->branch = 0;
	c->fixed = 1;
	c->period = count;
	if (!(c->event.flags & PMC_EVENT_RATE))
		return 0;
	memset(&c->filter, 0, sizeof(c->filter));
	if (__builtin_mul_overflow(count, c->event.period, &c->period) || c->period > INT64_MAX)
		return options_fail(p, "--trigger %s: that many times take centuries", text);
	return 0;
}

/*
 * The PMC is system-wide at first; check_flight() may change that.  No modifier is for a
 * trigger but --only and --not.
 */
static int add_trigger(struct parser *p, char *text)
{
	struct pmc_event_desc event[PMC_EVENTS_MAX];
	size_t len, first = p->o->ncounters;
	char why[256];
	uint64_t count;
	int is_event = parse_trigger(p, text, &len, &count), n, i, cpu;

	if (is_event <= 0)
		return is_event;
	text[len] = '\0';	/* the probe is made from @text, too */
	n = pmc_event_parse_all(text, event, PMC_EVENTS_MAX, why, sizeof(why));
	if (n < 0)
		return no_event(p, "--trigger", text, why);
	for (i = 0; i < n; i++) {
		cpu = trigger_cpu(p, text, &event[i]);
		if (cpu == -1 || add_counter(p, text, &event[i], PMC_MODE_SS, cpu) ||
		    make_trigger(p, text, &p->o->counters[first + (size_t)i], count))
			return -1;
	}
	if (!(event[0].flags & PMC_EVENT_RATE))
		p->dangling[OPT_ONLY] = p->dangling[OPT_NOT] = 0;
	if (n > 1)
		mark_split(p->o, first);
	return 0;
}

/* Appends a word to a list of arguments */
static int add_word(struct parser *p, const char ***words, size_t *n,
		    const char *word)
{
	const char **w = realloc(*words, (*n + 1) * sizeof(*w));

	if (!w)
		return options_fail(p, "out of memory");
	w[(*n)++] = word;
	*words = w;
	return 0;
}

/* User chains need kernel chains: -U alone asks for both. */
static void toggle_user_chain(struct parser *p)
{
	p->flags ^= PMC_F_USERCALLCHAIN;
	if (p->flags & PMC_F_USERCALLCHAIN)
		p->flags |= PMC_F_CALLCHAIN | PMC_F_UNWIND;
}

static void toggle_chain(struct parser *p)
{
	p->flags ^= PMC_F_CALLCHAIN;
	if (!(p->flags & PMC_F_CALLCHAIN))
		p->flags &= ~(uint32_t)(PMC_F_USERCALLCHAIN | PMC_F_UNWIND);
	else
		p->flags |= PMC_F_UNWIND;
}

static int parse_period(struct parser *p, int option, const char *text)
{
	char *end;

	errno = 0;
	p->period = strtoull(text, &end, 10);
	p->freq = option == OPT_FREQ;
	if (!isdigit((unsigned char)text[0]) || errno || *end || !p->period ||
	    p->period > INT64_MAX)
		return options_fail(p, "%s %s: not a number of %s",
				    options_name(option), text,
				    p->freq ? "samples a second" : "events");
	return 0;
}

static int parse_seconds(struct parser *p, int letter, const char *text,
			 double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(*seconds) || *seconds < 0.001 ||
	    *seconds > 1e9)
		return options_fail(p, "-%c %s: not a number of seconds", letter, text);
	return 0;
}

bool options_number(const char *text, uint32_t *number)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno || *end || !n ||
	    n > INT32_MAX)
		return false;
	*number = (uint32_t)n;
	return true;
}

static int parse_number(struct parser *p, int letter, const char *text,
			uint32_t *number)
{
	return options_number(text, number) ? 0 :
	       options_fail(p, "-%c %s: not a number", letter, text);
}

static int set_path(struct parser *p, const char *option, const char *value,
		    const char **path)
{
	if (*path)
		return options_fail(p, "%s is given twice", option);
	if (!*value)
		return options_fail(p, "%s needs a file name", option);
	*path = value;
	return 0;
}

/* The variable for the file name that follows this letter */
static const char **path_of(struct options *o, int letter)
{
	const struct { int letter; const char **path; } paths[] = {
		{ 'D', &o->read.gprof_dir }, { 'F', &o->read.calltree },
		{ 'G', &o->read.graph }, { 'M', &o->read.gprof_map },
		{ 'O', &o->log_path }, { 'R', &o->read.path },
		{ 'a', &o->read.annotate_graph }, { 'k', &o->read.kernel_dir },
		{ 'm', &o->read.annotate }, { 'o', &o->text_path },
		{ 'r', &o->read.root },
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (paths[i].letter == letter)
			return paths[i].path;
	return NULL;
}

/* What an option without an argument sets to 1 */
static int *switch_of(struct options *o, int option)
{
	const struct { int option; int *value; } switches[] = {
		{ 'A', &o->read.no_symbols }, { 'I', &o->read.offsets },
		{ 'T', &o->read.top }, { 'Z', &o->compress },
		{ 'e', &o->read.gprof_wide }, { 'g', &o->read.gprof },
		{ 'q', &o->quiet }, { OPT_BPF, &o->by_bpf },
		{ OPT_PACKED, &o->packed },
	};
	size_t i;

	for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (switches[i].option == option)
			return switches[i].value;
	return NULL;
}

static int unknown_option(struct parser *p, char **argv)
{
	if (optopt >= OPT_KALLSYMS)
		return options_fail(p, "%s takes no argument", argv[optind - 1]);
	if (optopt)
		return options_fail(p, "unknown option -%c", optopt);
	return options_fail(p, "unknown option %s", argv[optind - 1]);
}

static int missing_argument(struct parser *p, char **argv)
{
	if (optopt >= OPT_KALLSYMS)
		return options_fail(p, "%s needs an argument", argv[optind - 1]);
	return options_fail(p, "-%c needs an argument", optopt);
}

/* getopt knows the option, and no function here does. */
static int unhandled_option(struct parser *p, int option)
{
	return options_fail(p, "unknown option %s", options_name(option));
}

/* Flags that each use of their option turns over */
static const struct { int letter; uint32_t flag; } toggles[] = {
	{ 'E', PMC_F_LOG_PROCEXIT }, { 'W', PMC_F_LOG_PROCCSW },
	{ 'd', PMC_F_DESCENDANTS }, { OPT_EXCLUDE_IDLE, PMC_F_EXCLUDE_IDLE },
	{ OPT_RAW, PMC_F_RAW }, { OPT_DATA, PMC_F_DATA },
	{ OPT_INCLUDE_SELF, HWPMC_F_INCLUDE_OWNER },
};

/* Options for the PMCs that are named after them */
static int parse_modifier(struct parser *p, int letter)
{
	size_t i;

	p->dangling[letter] = DANGLING;
	for (i = 0; i < sizeof(toggles) / sizeof(toggles[0]); i++)
		if (toggles[i].letter == letter) {
			p->flags ^= toggles[i].flag;
			return 0;
		}
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
	case OPT_BRANCH:
		if (parse_branch(p, optarg))
			return -1;
		p->flags = p->branch ? p->flags | PMC_F_BRANCH :
				       p->flags & ~(uint32_t)PMC_F_BRANCH;
		return 0;
	case OPT_ONLY: case OPT_NOT:
		return parse_filter(p, letter == OPT_ONLY, optarg);
	case 'n': case OPT_FREQ:
		return parse_period(p, letter, optarg);
	case 'c':
		if (cpulist_parse(&p->cpus, optarg))
			return options_fail(p, "-c %s: not a list of CPUs",
					    optarg);
		return 0;
	default:
		return unhandled_option(p, letter);
	}
}

static int parse_target(struct parser *p, const char *text)
{
	uint32_t pid;

	if (!*text)
		return options_fail(p, "-t needs a process");
	if (strspn(text, "0123456789") == strlen(text) &&
	    parse_number(p, 't', text, &pid))
		return options_fail(p, "-t %s: not a process number", text);
	return add_word(p, &p->o->targets, &p->o->ntargets, text);
}

/* --unwind holds for all PMCs: it is applied after all options are parsed. */
static int parse_unwind(struct parser *p, const char *text)
{
	p->o->by_frames = !strcmp(text, "fp");
	return p->o->by_frames || !strcmp(text, "tables") ? 0 :
	       options_fail(p, "--unwind %s: tables or fp", text);
}

static void unwind_by_frames(struct options *o)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		o->counters[i].flags &= ~(uint32_t)PMC_F_UNWIND;
}

static void give_clocks_rates(struct options *o)
{
	struct counter *c;

	for (c = o->counters; c < o->counters + o->ncounters; c++)
		if (PMC_IS_SAMPLING_MODE(c->mode) && is_clock(&c->event) &&
		    !c->fixed) {
			c->period = 1000000000 / c->period;
			c->flags |= PMC_F_FREQ;
		}
}

/* Other options that are for the whole run; if it is none, it is a modifier. */
static int parse_common(struct parser *p, int letter)
{
	struct options *o = p->o;

	switch (letter) {
	case 'L':
		o->action = ACTION_LIST;
		return 0;
	case 'u':
		o->action = ACTION_DESCRIBE;
		o->describe = optarg;
		return 0;
	case 'h': case OPT_HELP:
		o->action = ACTION_HELP;
		return 0;
	case OPT_VERSION:
		o->action = ACTION_VERSION;
		return 0;
	case OPT_KALLSYMS:
		return set_path(p, "--kallsyms", optarg, &o->kallsyms_path);
	case OPT_ROTATE:
		return parse_rotate(p, optarg);
	case OPT_KEEP:
		return parse_keep(p, optarg);
	case OPT_FLIGHT:
		return parse_flight(p, optarg);
	case OPT_UNWIND:
		return parse_unwind(p, optarg);
	case OPT_BUDGET:
		return parse_budget(p, optarg);
	case OPT_WRITERS:
		return parse_writers(p, optarg);
	case OPT_RING:
		return parse_ring(p, optarg);
	case OPT_TRIGGER:
		return add_trigger(p, optarg);
	case 'f':
		return add_word(p, &o->read.plugin, &o->read.nplugin, optarg);
	case 'i':
		o->read.one_lwp = 1;
		/* 0: the threads that run while a CPU has nothing to do */
		if (!strcmp(optarg, "0")) {
			o->read.lwp = 0;
			return 0;
		}
		return parse_number(p, letter, optarg, &o->read.lwp);
	case 'l':
		return parse_seconds(p, letter, optarg, &o->limit);
	case 'w':
		return parse_seconds(p, letter, optarg, &o->interval);
	case 'z':
		return parse_number(p, letter, optarg, &o->read.depth);
	case 'v':
		o->verbose++;
		return 0;
	default:
		return parse_modifier(p, letter);
	}
}

static int parse_option(struct parser *p, int letter, char **argv)
{
	char option[] = { '-', (char)letter, '\0' };
	const char **path = path_of(p->o, letter);
	int *value = switch_of(p->o, letter);

	if (path)
		return set_path(p, option, optarg, path);
	if (value) {
		*value = 1;
		return 0;
	}
	switch (letter) {
	case 'P': case 'S': case 'p': case 's':
		return add_event(p, letter, optarg);
	case 't':
		return parse_target(p, optarg);
	case '?':
		return unknown_option(p, argv);
	case ':':
		return missing_argument(p, argv);
	default:
		return parse_common(p, letter);
	}
}

int options_parse(struct options *o, int argc, char **argv,
		  char *msg, size_t msglen)
{
	struct parser p = {
		.o = o, .msg = msg, .msglen = msglen,
		.cpus = { .all = 1 }, .flags = PMC_F_CALLCHAIN | PMC_F_UNWIND,
		.status = EX_USAGE,
	};
	int letter;

	memset(o, 0, sizeof(*o));
	o->interval = DEFAULT_INTERVAL;
	optind = 0;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, short_options, long_options,
				     NULL)) != -1) {
		p.given[letter] = 1;
		if (parse_option(&p, letter, argv))
			return p.status;
	}
	if (optind < argc)
		o->command = argv + optind;
	if (o->by_frames)
		unwind_by_frames(o);
	if (o->budget_ppm)
		give_clocks_rates(o);
	o->read.cpus = p.cpus;
	return options_check(&p) ? p.status : 0;
}

void options_free(struct options *o)
{
	free(o->counters);
	free(o->targets);
	free(o->read.plugin);
	memset(o, 0, sizeof(*o));
}
