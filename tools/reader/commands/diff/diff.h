/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two logs.
 *
 * Functions are matched by the names of object and symbol, so that address
 * layouts, other inodes and rebuilt files don't matter.
 */
#ifndef READER_DIFF_H
#define READER_DIFF_H

#include "analysis/analysis.h"
#include "base/out.h"
#include "profile/calltree.h"

#define BEFORE	0
#define AFTER	1

/**
 * struct difflabel - a command or a function, in either log
 * @name, @obj: string numbers in struct diff's @str; @obj 0: a command
 */
struct difflabel {
	uint32_t name, obj;
	enum obj_kind kind;
	bool named;
};

/**
 * struct diffnode - counts of a node of the tree, or of a label
 * @self, @total: weights of the samples of the two logs
 */
struct diffnode {
	uint64_t self[2], total[2];
};

/**
 * struct diff - two logs that are compared
 * @total: the table has totals, too
 * @func:  by function of each log: its label
 * @all:   weight of all samples of each log; @samples: their number
 * @events: whether the weights of each log are events
 * @count: by label, for the table
 * @t:     for the other views: the paths of both logs; nodes have these labels
 * @node:  by node of @t
 */
struct diff {
	struct analysis a[2];
	bool total;
	struct strtab str;
	struct difflabel *label;
	uint32_t n, cap;
	struct idtab tab;
	uint32_t *func[2];
	uint64_t all[2], samples[2];
	bool events[2];
	struct diffnode *count;
	struct calltree t;
	struct diffnode *node;
	struct out *out;
};

/*
 * Makes labels and counts of two analysed logs: diff_count() by label, if
 * callers were kept as lists; diff_join() by path.
 */
void diff_count(struct diff *d);
void diff_join(struct diff *d);
void diff_free(struct diff *d);
/* Share of the weight of one log, 0 to 1. */
double diff_share(const struct diff *d, int side, uint64_t weight);
/* The views. */
void diff_table(struct diff *d, double limit, unsigned long lines);
void diff_folded(struct diff *d);
/* The widths of frames are those in log @side. */
void diff_flame(struct diff *d, const char *title, int side);

#endif /* READER_DIFF_H */
