/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failure at every point: an operation is done again and again, and each time
 * another one of its allocations fails, or of its copies.
 *
 * Each test begins with NEED_POINTS().
 */
#ifndef TEST_POINTS_H
#define TEST_POINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/hwpmc.h>

#include "inject.h"

/* What the operations work on. */
struct world {
	int		dev;
	int		file;		/* the log */
	int		other;		/* the next one */
	uint32_t	id;		/* the PMC that is worked on */
	uint64_t	value;
	struct hwpmc_allocate a;	/* PMCALLOCATE's */
	pid_t		pid;		/* the target */
};

/**
 * struct op - an operation whose every point is to fail
 * @run:  does it; 0 or a negative errno
 * @undo: after a success: back to the state before; NULL: nothing to undo
 * @same: whether all is as before; NULL: what run() finds next time tells
 * @part: a copy that fails behind others leaves it at those
 */
struct op {
	const char *name;
	int (*run)(struct world *w);
	int (*undo)(struct world *w);
	bool (*same)(struct world *w);
	bool part;
};

/* A run or undo of @w, and a same, that is one expression */
#define OP(name, ...)	int name(struct world *w) { return __VA_ARGS__; }
#define STATE(name, ...)	bool name(struct world *w) { return __VA_ARGS__; }

/* Whether this kernel can make something fail; once for all tests of a program. */
bool points_begin(void);
extern bool points_possible;

#define NEED_POINTS()							\
	do {								\
		if (!points_possible)					\
			SKIP(return, "this kernel has no fault injection"); \
	} while (0)

/*
 * Goes through all points of @kind; at the end the operation has been done once
 * without a failure, and stays done.  A failure is said, or done without: then
 * the operation has done all that it is to.  Prints what is wrong.
 */
bool fail_each(struct world *w, const struct op *op, enum inject_kind kind,
	       const struct code *from);
/* Allocations, then copies. */
bool fail_all(struct world *w, const struct op *op);

/* A file for a log; without what is in it. */
int new_file(void);
void empty(int file);
/*
 * After all tests: the module can be unloaded, and nothing holds a log that nobody
 * has open any more.  It is loaded again.  Memory is looked for with
 * HWPMC_FAULTS_LONG; whoever runs the tests looks too.
 */
bool nothing_stays(void);

/* Operations that others need to begin with, and what takes them back. */
int run_allocate(struct world *w);
int run_release(struct world *w);
int run_configure(struct world *w);
int undo_configure(struct world *w);
int run_start(struct world *w);
int run_stop(struct world *w);
int run_read(struct world *w);
/* ... and what was not done if they failed */
bool no_log_yet(struct world *w);
bool log_is_open(struct world *w);
bool never_started(struct world *w);

#endif /* TEST_POINTS_H */
