/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of pmclog annotate. */
#ifndef READER_ANNOTATE_H
#define READER_ANNOTATE_H

#include "analysis/analysis.h"
#include "base/out.h"
#include "elf/srctext.h"

#define ANNOTATE_EVENTS	4	/* columns */

/* by column: samples, and the sum of their weights */
struct figures {
	uint64_t count[ANNOTATE_EVENTS], weight[ANNOTATE_EVENTS];
};

/* the samples at an address */
struct spot {
	uint64_t addr;
	struct figures n;
};

/**
 * struct body - a function that was sampled
 * @start, @end: addresses in its file
 * @sum:         of its spots
 * @total:       weight in all columns, or samples if weights are not alike
 * @spot:        sorted by address after the last one was added
 */
struct body {
	uint64_t start, end;
	uint32_t obj, func;
	struct figures sum;
	uint64_t total;
	struct spot *spot;
	uint32_t n, cap;
};

struct bodies {
	struct body *body;
	uint32_t n, cap;
	struct idtab tab;
};

/**
 * struct annotate - one run of the command
 * @event:   the events that have columns
 * @all:     weight of each of these events
 */
struct annotate {
	struct analysis a;
	struct out *out;
	char **symbol;		/* of the command line */
	uint32_t nsymbols;
	bool hottest;		/* -a */
	unsigned long limit;	/* functions */
	bool source, bytes, intel, colour;
	struct srctext text;
	uint32_t event[ANNOTATE_EVENTS], nevents;
	uint64_t all[ANNOTATE_EVENTS];
	struct bodies t;
};

/* Collects the functions that the user asked for, the hottest first. */
void annotate_collect(struct annotate *n);
void annotate_free(struct annotate *n);
/* Prints their instructions and lines. */
void annotate_print(struct annotate *n);

#endif /* READER_ANNOTATE_H */
