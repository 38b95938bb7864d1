/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that were taken from the rings of the kernel, until the merge takes them: a
 * queue for each source, which is a ring of the module's, with the module's merge.
 */
#ifndef PMCSTAT_QUEUE_H
#define PMCSTAT_QUEUE_H

#include "ring/merge.h"

#define QUEUE_RECORD_MAX	(64U << 10)	/* a record of perf has 16 bits */

struct queues {
	struct hwpmc_ring *ring;	/* @merge.n of them */
	struct merge	merge;
};

/* @n queues of @size bytes, a power of two; 0, or -1 with errno */
int queues_init(struct queues *q, unsigned int n, u32 size);
void queues_free(struct queues *q);
/* True if queue @i has room for any record. */
bool queue_has_room(const struct queues *q, unsigned int i);
/* @payload begins with struct ring_stamp; there must be room. */
void queue_push(struct queues *q, unsigned int i, u32 kind, const void *payload,
		u32 len);
/* All records of queue @i with a stamp below @horizon have been pushed. */
void queue_seen(struct queues *q, unsigned int i, u64 horizon);

#endif /* PMCSTAT_QUEUE_H */
