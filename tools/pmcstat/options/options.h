/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_OPTIONS_H
#define PMCSTAT_OPTIONS_H

#include <stdbool.h>

#include "pmcstat.h"

/* options without a letter */
enum {
	OPT_KALLSYMS = 256, OPT_EXCLUDE_IDLE, OPT_PACKED, OPT_HELP, OPT_VERSION,
	OPT_RAW, OPT_ROTATE, OPT_KEEP, OPT_ONLY, OPT_NOT, OPT_INCLUDE_SELF,
	OPT_FLIGHT, OPT_TRIGGER, OPT_UNWIND
};

/**
 * struct parser - the options so far, and the modifiers in force
 * @period:   0: the event's default
 * @dangling: the last modifier that no event has followed yet; 0: none
 * @given:    by letter, those that were on the command line
 */
struct parser {
	struct options	*o;
	struct cpulist	cpus;
	uint32_t	flags;
	uint64_t	period;
	struct wanted	filter;
	int		cumulative;
	int		dangling;
	int		status;		/* of a failure */
	unsigned char	given[128];
	char		*msg;
	size_t		msglen;
};

/* -1, with the line that says why in @p->msg; EX_USAGE */
int options_fail(struct parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same when errno is that of pmc_event_parse() */
int options_no_event(struct parser *p, const char *option, const char *spec,
		     const char *why);
/* From 1 to INT32_MAX; false: it is none. */
bool options_number(const char *text, uint32_t *number);

/* options_log.c: 0, or -1 */
int parse_rotate(struct parser *p, const char *text);
int parse_keep(struct parser *p, const char *text);
int parse_flight(struct parser *p, const char *text);
/* "exit", "exit=N"; 1: it is an event, whose name ends at *len; *count */
int parse_trigger(struct parser *p, const char *text, size_t *len,
		  uint64_t *count);
/* Those of one log and those of many */
int options_check_files(struct parser *p);

/* options_filter.c: 0, or -1 */
int parse_filter(struct parser *p, int only, const char *text);
/* Gives @c what is in force. */
int filter_for(struct parser *p, struct counter *c);

/* options_check.c: sets the action, or -1: they do not go together */
int options_check(struct parser *p);

#endif /* PMCSTAT_OPTIONS_H */
