/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rings of the tests of edges, and what checks them. */
#ifndef EDGES_H
#define EDGES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "merge.h"

#define SIZE	256U
#define KIND	7
/* Bytes of payload of a record that takes @n bytes. */
#define BODY(n)	((n) - (u32)sizeof(struct ring_rec))

/* a test; the last one of a table has no function */
struct edge {
	void (*run)(void);
	const char *name;
};

#define EDGE(f)	{ f, #f }

extern const struct edge ring_edges[];

/* ring_edges.c: the time, and what interrupts ring_clock() */
extern u64 test_now;
extern void (*clock_hook)(void);

/* the test that runs is good so far */
extern bool this_ok;

#define EXPECT(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("# %s:%d: %s\n", __func__, __LINE__, #cond); \
			this_ok = false;				\
		}							\
	} while (0)

/* A ring with guards around its buffer. */
struct box {
	struct hwpmc_ring ring;
	u64 before;
	u64 data[SIZE / 8];
	u64 after;
};

extern struct box box[9];
extern struct hwpmc_ring *const ring;

/* Before each test */
void reset(void);
bool guards_ok(void);
enum ring_result put(struct hwpmc_ring *r, u32 len, u64 tsc);
/* Takes one record; returns its stamp, 0 if there is none. */
u64 take(struct hwpmc_ring *r);

#endif /* EDGES_H */
