/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of pmclog html.
 *
 * A page holds counts, not samples: by slice of time, by series (who) and by
 * call path.  All three are bounded, so that a page is no larger than a
 * browser likes; what is merged for that is told in it.
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
 * @merged: of several processes
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
	uint32_t last;		/* the one asked for last */
	struct idtab tab;
};

/* The series of @key; it has no samples if it is new. */
uint32_t series_of(struct series_tab *t, const struct series *key);
/*
 * Those of the events in @use in @to, at most about @max: the small ones are
 * merged by command.  By series: its number there, or HTML_NONE.
 */
uint32_t *series_fewer(const struct series_tab *t, const bool *use,
		       struct series_tab *to, uint32_t max);
void series_free(struct series_tab *t);

/* samples of a series in a slice of time; @what: of the owner's choice */
struct cell {
	uint32_t slice, series, what;
	uint64_t count;
};

/**
 * struct cells - counts, of longer slices the more there are
 * @shift: a slice is 2^@shift units
 * @max:   so many cells are too many, unless slices are @least or fewer
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
/* Slices twice as long. */
void cells_coarsen(struct cells *t);
/* By slice, series and what; nothing can be added after it. */
void cells_sort(struct cells *t);
void cells_free(struct cells *t);

/**
 * struct paths - all call paths
 * @same:   by function: the one that stands for it
 * @leaf:   by chain: node of @tree
 * @weight: by node of @tree: its part of its event's samples
 */
struct paths {
	struct calltree tree;
	uint32_t *same, *leaf;
	double *weight;
};

/**
 * struct choice - of paths, those that carry most
 * @number: by node of the tree: here, of @n; the children left out of a node
 *          are one node here
 * @func:   by node, as @parent, @rest and @of; HTML_NONE: what was left out
 * @rest:   what was left out below it, or 0
 * @of:     the node of the tree; of what was left out, one of those
 * @left_out: nodes that were too small
 * @limit:  they have at most this part of their event's samples
 */
struct choice {
	uint32_t *number;
	uint32_t *func, *parent, *rest, *of;
	uint32_t n, left_out;
	double limit;
};

void paths_build(struct paths *t, const struct profile *p, const bool *use);
/* Keeps about @max of them, which were also kept with a larger @max. */
void paths_choose(const struct paths *t, struct choice *c, uint32_t max);
/*
 * By node of @few, which is of fewer paths: the node in @many, where nodes for
 * what only @few leaves out are added.  The caller frees it.
 */
uint32_t *choice_within(const struct choice *few, struct choice *many);
void choice_free(struct choice *c);
void paths_free(struct paths *t);

/**
 * struct html - a page in the making
 * @chains: by chain, as the log is read; @heat: by series alone
 * @cells, @map: the same as they are in the page, with the nodes of @some
 * @whole: by event and command, not by time, with the nodes of @most
 * @self, @total: by event and function, of all samples
 * @nchain: chains had numbers below this
 * @named: series as they are in the page
 */
struct html {
	struct analysis a;
	struct out *out;
	const char *output, *title;
	struct series_tab series, named;
	struct cells chains, heat, cells, map, whole, self, total;
	uint32_t nchain;
	struct paths paths;
	struct choice most, some;
};

/* The data block: one JSON object, harmless within a script element. */
void html_data(struct html *h);

/* What is before and after the data: made of html/ when it is built. */
extern const char html_before[], html_after[];

#endif /* READER_HTML_H */
