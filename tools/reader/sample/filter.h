/* SPDX-License-Identifier: BSD-2-Clause */
/* Which samples are wanted. */
#ifndef READER_FILTER_H
#define READER_FILTER_H

#include "base/strtab.h"
#include "sample/sample.h"

struct id_range {
	uint32_t from, to;
};

/* empty: all */
struct id_ranges {
	struct id_range *range;
	uint32_t n, cap;
};

/* a moment: time since the log's first record, or a fraction of the log */
struct moment {
	double value;		/* seconds, or a fraction of 1 */
	bool part;
};

/**
 * struct filter - conditions, all of which have to hold
 * @comm:        shell patterns, NULL at the end
 * @user, @kernel: only samples taken in that mode
 * @timed:       the window [@from, @to) was asked for
 * @begin, @end: the window in clock ticks, after filter_clock()
 * @not:         filters of one condition each, which must not hold
 * @negate:      the next condition is negated
 */
struct filter {
	struct id_ranges pid, tid, cpu;
	char **comm;
	uint32_t ncomm, capcomm;
	bool user, kernel;
	bool timed;
	struct moment from, to;
	uint64_t begin, end;
	struct filter *not;
	uint32_t nnot, capnot;
	bool negate;
};

/* for the tables of getopt_long(); greater than any character */
enum {
	FILTER_PID = 1000, FILTER_TID, FILTER_CPU, FILTER_COMM, FILTER_TIME,
	FILTER_USER, FILTER_KERNEL, FILTER_NOT,
};

#define FILTER_LONG						\
	{ "pid", required_argument, NULL, FILTER_PID },		\
	{ "tid", required_argument, NULL, FILTER_TID },		\
	{ "cpu", required_argument, NULL, FILTER_CPU },		\
	{ "comm", required_argument, NULL, FILTER_COMM },	\
	{ "time", required_argument, NULL, FILTER_TIME },	\
	{ "user", no_argument, NULL, FILTER_USER },		\
	{ "kernel-mode", no_argument, NULL, FILTER_KERNEL },	\
	{ "not", no_argument, NULL, FILTER_NOT }
#define FILTER_HELP							\
	"      --pid, --tid, --cpu N[-M][,...]\n"			\
	"                     only samples of these\n"			\
	"      --comm PATTERN only of commands of that name\n"		\
	"      --time A-B     only from A to B seconds after the log's\n" \
	"                     beginning (1.5-2, -10ms, 40%-50%)\n"	\
	"      --user, --kernel-mode\n"					\
	"                     only samples of that mode\n"		\
	"      --not          leave out what the next condition asks for\n"

/*
 * Takes an option: 1 if taken; 0 if it is not one of these; -1 after a message
 * if its argument is invalid.
 */
int filter_option(struct filter *f, int opt, const char *arg);
/* Is the next condition negated?  Resets the negation. */
bool filter_negated(struct filter *f);
/* False after a message: no condition follows the last --not. */
bool filter_complete(const struct filter *f);
/* Parses a duration such as 1.5 or 100ms; false if it is none. */
bool filter_seconds(const char *arg, double *seconds);
/* Does the filter have any condition? */
bool filter_any(const struct filter *f);
/* Is the window in fractions of the log?  Its end must be known first then. */
bool filter_needs_end(const struct filter *f);
/* Sets the clock at the log's beginning and at its end (any, if not needed). */
void filter_clock(struct filter *f, uint64_t freq, uint64_t begin,
		  uint64_t end);
/* Is @tsc in the window, or is there no window? */
static inline bool filter_time(const struct filter *f, uint64_t tsc)
{
	return !f->timed || (tsc >= f->begin && tsc < f->end);
}

/* Is the sample wanted?  @comm is the command's name. */
bool filter_sample(const struct filter *f, const struct sample *s,
		   const char *comm);
/* May a sample lost on a CPU between @first and @last be wanted? */
bool filter_loss(const struct filter *f, uint32_t cpu, uint64_t first,
		 uint64_t last);
void filter_free(struct filter *f);

#endif /* READER_FILTER_H */
