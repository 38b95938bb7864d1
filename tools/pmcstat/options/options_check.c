/* SPDX-License-Identifier: BSD-2-Clause */
/* Which options can be combined.  FreeBSD's rules for the options it has. */
#include <stdlib.h>
#include <string.h>

#include "bpf/backend.h"
#include "options/options.h"

static const struct counter *find(const struct options *o, unsigned int modes)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (modes & 1U << o->counters[i].mode)
			return &o->counters[i];
	return NULL;
}

const struct counter *options_sampling(const struct options *o)
{
	return find(o, 1U << PMC_MODE_SS | 1U << PMC_MODE_TS);
}

const struct counter *options_counting(const struct options *o)
{
	return find(o, 1U << PMC_MODE_SC | 1U << PMC_MODE_TC);
}

const struct counter *options_process(const struct options *o)
{
	return find(o, 1U << PMC_MODE_TS | 1U << PMC_MODE_TC);
}

/* The first of @letters that is on the command line, or 0 */
static int given(const struct parser *p, const char *letters)
{
	for (; *letters; letters++)
		if (p->given[(unsigned char)*letters])
			return *letters;
	return 0;
}

/* Modifiers that are for some modes only, while they are in force */
static const struct only_for {
	int		letter;
	unsigned int	modes;
	uint32_t	flag;		/* 0: -c */
	const char	*events;
} only_for[] = {
	{ 'c', 1U << PMC_MODE_SS | 1U << PMC_MODE_SC, 0, "-S or -s" },
	{ 'd', 1U << PMC_MODE_TS | 1U << PMC_MODE_TC, PMC_F_DESCENDANTS, "-P or -p" },
	{ 'E', 1U << PMC_MODE_TC, PMC_F_LOG_PROCEXIT, "-p" },
	{ 'W', 1U << PMC_MODE_TC, PMC_F_LOG_PROCCSW, "-p" },
};

#define NONLY_FOR	(sizeof(only_for) / sizeof(only_for[0]))

void options_apply(struct parser *p, enum pmc_mode mode)
{
	unsigned char kept[NONLY_FOR];
	const struct only_for *m;
	size_t i;

	for (i = 0; i < NONLY_FOR; i++) {
		m = &only_for[i];
		kept[i] = p->dangling[m->letter] && !(m->modes & 1U << mode) &&
			  (m->flag ? p->flags & m->flag : !p->cpus.all);
	}
	memset(p->dangling, 0, sizeof(p->dangling));
	for (i = 0; i < NONLY_FOR; i++)
		p->dangling[only_for[i].letter] = kept[i] ? DANGLING_STILL : 0;
}

static int check_dangling(struct parser *p)
{
	int i;

	for (i = 0; i < OPT_END; i++)
		if (p->dangling[i] == DANGLING)
			return options_fail(p, "%s holds for events named after it only: "
					    "put it before -P, -p, -S or -s",
					    options_name(i));
	return 0;
}

static int check_kept(struct parser *p)
{
	size_t i;

	for (i = 0; i < NONLY_FOR; i++)
		if (p->dangling[only_for[i].letter])
			return options_fail(p, "-%c holds for events named after it only: "
					    "put it before %s", only_for[i].letter,
					    only_for[i].events);
	return 0;
}

static int check_reading(struct parser *p)
{
	int letter;

	if (given(p, "ma") && given(p, "gGF"))
		return options_fail(p, "-%c and -%c do not go together",
				    given(p, "ma"), given(p, "gGF"));
	if (given(p, "m") && given(p, "a"))
		return options_fail(p, "-m and -a do not go together");
	letter = given(p, "eDM");
	if (letter && !given(p, "g"))
		return options_fail(p, "-%c goes with -g", letter);
	letter = given(p, "fAIz");
	if (letter && !given(p, "gGFmaT"))
		return options_fail(p, "-%c goes with -g, -G, -F, -m, -a or -T",
				    letter);
	if (given(p, "T") && given(p, "gGFma"))
		return options_fail(p, "-T and -%c do not go together", given(p, "gGFma"));
	if (given(p, "o") && given(p, "GFgma"))
		return options_fail(p, "-o takes the text of a log or of -T: it goes "
				    "without -%c", given(p, "GFgma"));
	if (given(p, "T") && given(p, "l"))
		return options_fail(p, "-T and -l do not go together");
	return 0;
}

/*
 * Options of a recording, which -R would ignore.  -c is not one of them: -R
 * shows the samples of these CPUs only.
 */
static const int recording[] = {
	'C', 'E', 'N', 'U', 'W', 'd', 'l', 'n', 't', OPT_FREQ, OPT_EXCLUDE_IDLE, OPT_RAW,
	OPT_BRANCH, OPT_DATA,
	OPT_ONLY, OPT_NOT, OPT_INCLUDE_SELF, OPT_UNWIND, OPT_ROTATE, OPT_KEEP,
	OPT_FLIGHT, OPT_TRIGGER, OPT_PACKED, OPT_KALLSYMS, OPT_BPF, OPT_RING, OPT_BUDGET,
	OPT_WRITERS,
};

static int check_read(struct parser *p)
{
	const struct options *o = p->o;
	size_t i;

	if (o->log_path)
		return options_fail(p, "-O and -R do not go together");
	if (given(p, "PSps"))
		return options_fail(p, "-R reads a log: it goes without events "
				    "to measure");
	if (o->compress)
		return options_fail(p, "-R reads logs of both kinds: it goes "
				    "without -Z");
	if (o->command)
		return options_fail(p, "-R reads a log: it goes without a "
				    "command");
	for (i = 0; i < sizeof(recording) / sizeof(recording[0]); i++)
		if (p->given[recording[i]])
			return options_fail(p, "-R reads a log: it goes without "
					    "%s", options_name(recording[i]));
	p->o->action = ACTION_READ;
	return check_reading(p);
}

/* Process modes need a target; -t and a command need a PMC of such a mode. */
static int check_targets(struct parser *p)
{
	const struct options *o = p->o;
	int letter = given(p, "dEWt");

	if (options_process(o)) {
		if (!o->command && !o->ntargets)
			return options_fail(p, "-P and -p need a process: "
					    "-t PROCESS, or a command");
	} else if (letter) {
		return options_fail(p, "-%c needs -P or -p: PMCs of processes",
				    letter);
	}
	letter = given(p, "EW");
	if (letter && !find(o, 1U << PMC_MODE_TC))
		return options_fail(p, "-%c needs -p: it logs counts", letter);
	if (letter && !o->log_path)
		return options_fail(p, "-%c needs a file for the log: -O FILE",
				    letter);
	if (given(p, "c") && !find(o, 1U << PMC_MODE_SS | 1U << PMC_MODE_SC))
		return options_fail(p, "-c needs -S or -s: PMCs of processes "
				    "follow them to all CPUs");
	return 0;
}

static int is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/* With -O - no other output may go to standard output. */
static int check_stdout(struct parser *p)
{
	const struct options *o = p->o;

	if (!is_stdout(o->log_path))
		return 0;
	if (is_stdout(o->text_path))
		return options_fail(p, "-O - and -o - do not go together");
	if (is_stdout(o->kallsyms_path))
		return options_fail(p, "-O - and --kallsyms - do not go "
				    "together");
	return 0;
}

static int check_log(struct parser *p)
{
	const struct options *o = p->o;
	const struct counter *c = options_sampling(o);
	int letter = given(p, "GFgT");

	if (letter) {
		if (o->log_path)
			return options_fail(p, "-O and -%c do not go together: "
					    "the log is read as it is written",
					    letter);
		if (options_counting(o))
			return options_fail(p, "counting and sampling together "
					    "need a file for the log: -O FILE");
		p->o->action = ACTION_LIVE;
	} else if (c && !o->log_path) {
		return options_fail(p, "-%c needs a file for the log: -O FILE",
				    c->mode == PMC_MODE_SS ? 'S' : 'P');
	}
	if (o->kallsyms_path && !o->log_path)
		return options_fail(p, "--kallsyms goes with -O");
	if (o->packed && !o->log_path)
		return options_fail(p, "--packed goes with -O");
	if (o->compress && !o->log_path)
		return options_fail(p, "-Z goes with -O");
	return check_stdout(p) ? -1 : options_check_files(p);
}

/* --ring is for the case, too, that there turns out to be no module. */
static int check_bpf(struct parser *p)
{
	struct options *o = p->o;

	if (o->ring_size && !o->log_path && o->action != ACTION_LIVE)
		return options_fail(p, "--ring goes with -O: it is where "
				    "samples wait");
	if (!o->ring_size)
		o->ring_size = BPF_RING_SIZE;
	return o->by_bpf ? bpf_check(o, p->msg, p->msglen) : 0;
}

int parse_budget(struct parser *p, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (strspn(text, "0123456789.") != strlen(text) || *end || !(percent >= 0.0001) ||
	    percent > 100)
		return options_fail(p, "--budget %s: not a percentage of each CPU's "
				    "time", text);
	p->o->budget_ppm = (uint32_t)(percent * 10000 + 0.5);
	return 0;
}

/* What has a fixed period costs what it costs. */
static int check_budget(struct parser *p)
{
	const struct options *o = p->o;
	size_t i;

	if (!o->budget_ppm)
		return 0;
	for (i = 0; i < o->ncounters; i++)
		if (o->counters[i].flags & PMC_F_FREQ)
			return 0;
	return options_fail(p, "--budget needs an event that is sampled at a rate: "
			    "-S or -P without -n, and no tracepoint");
}

/* Each writer has all PMCs, of its CPUs, and a file in the directory. */
static int check_writers(struct parser *p)
{
	static const int alone[] = {
		'c', 'Z', OPT_ROTATE, OPT_KEEP, OPT_FLIGHT, OPT_BPF,
	};
	const struct options *o = p->o;
	size_t i;

	if (!o->writers)
		return 0;
	if (find(o, ~(1U << PMC_MODE_SS)))
		return options_fail(p, "--writers goes with -S only: it is for samples "
				    "of the whole system");
	for (i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (p->given[alone[i]])
			return options_fail(p, "--writers and %s do not go together",
					    options_name(alone[i]));
	return 0;
}

int options_check(struct parser *p)
{
	const struct options *o = p->o;
	int letter;

	if (o->action != ACTION_RUN)
		return 0;
	if (o->read.path)
		return check_read(p);
	letter = given(p, "ma");
	if (letter)
		return options_fail(p, "-%c needs a log: -R FILE", letter);
	letter = given(p, "GFgT");
	if (letter && !options_sampling(o))
		return options_fail(p, "-%c needs samples: -R FILE, or -P or "
				    "-S", letter);
	if (!letter && given(p, "AIikrz"))
		return options_fail(p, "-%c is for reading a log: -R FILE",
				    given(p, "AIikrz"));
	if (!o->ncounters)
		return options_fail(p, "no event: -P EVENT and -S EVENT sample, "
				    "-p EVENT and -s EVENT count, -L lists "
				    "events");
	if (check_dangling(p))
		return -1;
	if (check_targets(p) || check_kept(p) || check_log(p) || check_writers(p) ||
	    check_bpf(p) || check_budget(p))
		return -1;
	return check_reading(p);
}
