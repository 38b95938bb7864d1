/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes overlapping address ranges disjoint: the highest owner wins. */
#ifndef READER_SEGS_H
#define READER_SEGS_H

#include <stddef.h>
#include <stdint.h>

#define SEGS_NONE	UINT32_MAX

struct seg {
	uint64_t start, end;
	uint32_t owner;
};

struct segs {
	struct seg *seg;
	size_t n, cap;
};

void segs_add(struct segs *t, uint64_t start, uint64_t end, uint32_t owner);
/* Call once between the last segs_add() and the first segs_find(). */
void segs_flatten(struct segs *t);
/* The same for ranges that do not overlap. */
void segs_sort(struct segs *t);
/* The owner, or SEGS_NONE. */
uint32_t segs_find(const struct segs *t, uint64_t addr);
void segs_free(struct segs *t);

#endif /* READER_SEGS_H */
