/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_OPTIONS_H
#define PMCSTAT_OPTIONS_H

#include <stdbool.h>

#include "pmcstat.h"

/* options without a letter */
enum {
	OPT_KALLSYMS = 256, OPT_EXCLUDE_IDLE, OPT_PACKED, OPT_HELP, OPT_VERSION,
	OPT_RAW, OPT_ROTATE, OPT_KEEP, OPT_ONLY, OPT_NOT, OPT_INCLUDE_SELF,
	OPT_FLIGHT, OPT_TRIGGER, OPT_UNWIND, OPT_BPF, OPT_RING, OPT_FREQ, OPT_BUDGET,
	OPT_WRITERS, OPT_BRANCH, OPT_DATA, OPT_END
};

#define DANGLING	1	/* no event has followed */
#define DANGLING_STILL	2	/* only events of modes that it is not for */

/**
 * struct parser - the options so far, and the modifiers in force
 * @period:   0: the event's default
 * @freq:     @period is a number of samples a second
 * @branch:   PERF_SAMPLE_BRANCH_*; 0: no branches
 * @dangling: by letter or OPT_*: DANGLING*, a modifier has not held for an event yet
 * @given:    by letter or OPT_*: the option was on the command line
 */
struct parser {
	struct options	*o;
	struct cpulist	cpus;
	uint32_t	flags;
	uint64_t	period;
	bool		freq;
	uint64_t	branch;
	struct wanted	filter;
	int		cumulative;
	unsigned char	dangling[OPT_END];
	int		status;		/* exit status after a failure */
	unsigned char	given[OPT_END];
	char		*msg;
	size_t		msglen;
};

/* Formats @p->msg and sets EX_USAGE; returns -1 */
int options_fail(struct parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "-n" or "--only", for a letter or OPT_* */
const char *options_name(int option);
/* Parses a number from 1 to INT32_MAX; false: the text is not one */
bool options_number(const char *text, uint32_t *number);

/* options_log.c: 0, or -1 */
int parse_rotate(struct parser *p, const char *text);
int parse_keep(struct parser *p, const char *text);
int parse_flight(struct parser *p, const char *text);
int parse_writers(struct parser *p, const char *text);
int parse_ring(struct parser *p, const char *text);
/*
 * Parses "exit", "exit=N" (0), or an event (1): the event's name ends at *@len,
 * *@count is its count.  -1 after a failure.
 */
int parse_trigger(struct parser *p, const char *text, size_t *len,
		  uint64_t *count);
/* Checks -O FILE against -O DIR, and the options that need one of them */
int options_check_files(struct parser *p);
/* --budget PERCENT */
int parse_budget(struct parser *p, const char *text);

/* options_filter.c: 0, or -1 */
int parse_filter(struct parser *p, int only, const char *text);
/* Copies the filter in force to @c; 0, or -1 */
int filter_for(struct parser *p, struct counter *c);

/* options_branch.c: 0, or -1 */
int parse_branch(struct parser *p, const char *text);

/* An event of this mode follows the modifiers. */
void options_apply(struct parser *p, enum pmc_mode mode);
/* Checks the combination of options and sets the action; 0, or -1 */
int options_check(struct parser *p);

#endif /* PMCSTAT_OPTIONS_H */
