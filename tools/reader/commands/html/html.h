/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of pmclog html.
 *
 * A page holds counts, not samples: by slice of time, by series (event,
 * command, thread) and by call path.  All three are bounded, so that a browser
 * can handle the page.  The page says what was merged for that.
 */
#ifndef READER_HTML_H
#define READER_HTML_H

#include "analysis/analysis.h"
#include "base/out.h"
#include "profile/calltree.h"

#define HTML_NONE	UINT32_MAX	/* instead of a number: merged */

/* A slice of time is a power of two of these long. */
#define HTML_UNITS	1048576.0	/* a second */
#define HTML_SLICES	2048U

/**
 * struct series - samples that agree in all but time and path
 * @comm: string number
 * @count: number of samples
 * @merged: the series is of several processes
 * @first, @last: seconds since the log's beginning
 */
struct series {
	uint32_t event, comm, pid, tid;
	bool merged;
	uint64_t count;
	double first, last;
};

struct series_tab {
	struct series *series;
	uint32_t n, cap;
	uint32_t last;		/* the series looked up last */
	struct idtab tab;
};

/* The series of @key; a new series has no samples. */
uint32_t series_of(struct series_tab *t, const struct series *key);
/*
 * Copies the series of the events in @use to @to, at most about @max: small
 * ones are merged by command.  Returns the number in @to by series, or
 * HTML_NONE.
 */
uint32_t *series_fewer(const struct series_tab *t, const bool *use,
		       struct series_tab *to, uint32_t max);
void series_free(struct series_tab *t);

/* weight of a series in a slice of time; @what: defined by the owner */
struct cell {
	uint32_t slice, series, what;
	uint64_t count;
};

/**
 * struct cells - counts; slices become longer as cells become more
 * @shift: a slice is 2^@shift units
 * @max:   limit of cells, unless there are only @least slices or fewer
 */
struct cells {
	struct cell *cell;
	uint32_t n, cap;
	unsigned int shift;
	uint32_t slices;
	uint32_t max, least;
	struct idtab tab;
};

void cells_add(struct cells *t, uint64_t unit, const struct cell *c);
/* Doubles the length of slices. */
void cells_coarsen(struct cells *t);
/* Sorts by slice, series and @what; nothing can be added after it. */
void cells_sort(struct cells *t);
void cells_free(struct cells *t);

/**
 * struct paths - all call paths
 * @same:   by function: the function that represents it
 * @leaf:   by chain: node of @tree
 * @weight: by node of @tree: its fraction of its event's weight
 */
struct paths {
	struct calltree tree;
	uint32_t *same, *leaf;
	double *weight;
};

/**
 * struct choice - the call paths with the most samples
 * @number: by node of the tree: its number here, of @n; the children of a node
 *          that are left out are one node here
 * @func:   by number here, as @parent, @rest and @of; HTML_NONE: left out
 * @rest:   number of the node for those left out below it, or 0
 * @of:     the node of the tree; for those left out, one of them
 * @left_out: number of nodes that were too small
 * @limit:  they have at most this fraction of their event's samples
 */
struct choice {
	uint32_t *number;
	uint32_t *func, *parent, *rest, *of;
	uint32_t n, left_out;
	double limit;
};

void paths_build(struct paths *t, const struct profile *p, const bool *use);
/* Keeps about @max paths; a larger @max keeps the same ones and more. */
void paths_choose(const struct paths *t, struct choice *c, uint32_t max);
/*
 * By node of @few, which has fewer paths: the node in @many.  Nodes for what
 * only @few leaves out are added to @many.  The caller frees it.
 */
uint32_t *choice_within(const struct choice *few, struct choice *many);
void choice_free(struct choice *c);
void paths_free(struct paths *t);

/**
 * struct html - a page that is being made
 * @chains: counts by chain, while the log is read; @heat: by series alone
 * @cells, @map: the same as in the page, with the nodes of @some
 * @whole: by event and command, not by time, with the nodes of @most
 * @self, @total: by event and function, of all samples
 * @nchain: upper limit of the chain numbers
 * @events_left_out: events with samples that are not in the page
 * @named: series as they are in the page
 */
struct html {
	struct analysis a;
	struct out *out;
	struct series_tab series, named;
	struct cells chains, heat, cells, map, whole, self, total;
	uint32_t nchain, events_left_out;
	struct paths paths;
	struct choice most, some;
};

/* Writes the data block: one JSON object, safe inside a script element. */
void html_data(struct html *h);

/* The page before and after the data; made from html/ during the build. */
extern const char html_before[], html_after[];

#endif /* READER_HTML_H */
