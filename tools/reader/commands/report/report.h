/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of pmclog report. */
#ifndef READER_REPORT_H
#define READER_REPORT_H

#include "analysis/analysis.h"
#include "base/out.h"

/* columns that the rows of the flat profile are grouped by */
#define SORT_TIME	1U
#define SORT_CPU	2U
#define SORT_PID	4U
#define SORT_TID	8U
#define SORT_COMM	16U
#define SORT_DSO	32U
#define SORT_SYM	64U
#define SORT_FILE	128U
#define SORT_LINE	256U
#define SORT_FIELD	512U
#define SORT_MEM	1024U
#define SORT_LATENCY	2048U
#define SORT_PREDICTION	4096U
#define SORT_FROM	8192U
#define SORT_TO		16384U

/**
 * struct report - one run of the command
 * @same:  by function: the first that is shown the same
 * @same_group: by group: the first with the same row; see report_groups()
 * @limit: minimum share of a row, percent
 * @limited: by the user
 * @lines: maximum number of rows in the flat profile, 0: no limit
 * @of_profile: an option that only the profile uses; NULL: none was given
 * @sliced: --slice was given
 * @flat, @tree, @callers: which tables are wanted
 */
struct report {
	struct analysis a;
	struct out *out;
	uint32_t *same;
	uint32_t *same_group;
	unsigned int sort;
	double limit;
	unsigned long lines;
	const char *of_profile;
	bool sliced, limited;
	bool utf8;
	bool flat, tree, callers;
};

void report_log(struct report *r);
void report_event(struct report *r, uint32_t event);
void report_nameless(struct report *r);
void report_flat(struct report *r, uint32_t event);
void report_tree(struct report *r, uint32_t event);
/* Prints the tree from the innermost functions to their callers. */
void report_callers(struct report *r, uint32_t event);

/* Sets same_group: branches are in one row if their functions are the same. */
void report_groups(struct report *r);

/* Text for a function: name and, for the kernel, a mark. */
const char *report_func(struct report *r, uint32_t func);
const char *report_mark(const struct report *r, uint32_t func);

#endif /* READER_REPORT_H */
