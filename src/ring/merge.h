/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef HWPMC_MERGE_H
#define HWPMC_MERGE_H

#include "ring.h"

/**
 * struct merge_src - one ring in a merge
 * @ring:  NULL: no ring on this CPU
 * @snap:  set by hwpmc_merge_look_end() or hwpmc_merge_look_busy()
 * @rec:   next record, not consumed yet
 */
struct merge_src {
	struct hwpmc_ring *ring;
	struct ring_snap snap;
	struct ring_rec *rec;
};

/* A source in the heap, with the stamp of its next record: comparisons need no more. */
struct merge_head {
	u64 stamp;
	struct merge_src *src;
};

/**
 * struct merge - k-way merge of rings by time stamp
 * @src:  @n sources
 * @heap: @n entries of scratch
 * Owned by the one consumer; no locks.
 */
struct merge {
	struct merge_src *src;
	struct merge_head *heap;
	unsigned int n;
	unsigned int live;
};

typedef void (*merge_emit_fn)(void *arg, unsigned int src, u32 kind,
			      struct ring_stamp *payload, u32 len);

u64 hwpmc_merge_look_begin(struct merge_src *s);
bool hwpmc_merge_look_holds(struct merge_src *s, u64 state);
bool hwpmc_merge_look_end(struct merge_src *s, u64 state, u64 now);
void hwpmc_merge_look_busy(struct merge_src *s);
u64 hwpmc_merge_horizon(const struct merge *m, u64 now);
u64 hwpmc_merge_run(struct merge *m, u64 upto, merge_emit_fn emit, void *arg);
bool hwpmc_merge_empty(const struct merge *m);

#endif /* HWPMC_MERGE_H */
