/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "bpf/queue.h"
#include "pmcstat.h"

static u64 stamp;

u64 ring_clock(void)
{
	return stamp;
}

int queues_init(struct queues *q, unsigned int n, u32 size)
{
	unsigned int i;
	void *data;

	q->merge.n = n;
	q->merge.src = calloc(n, sizeof(*q->merge.src));
	q->merge.heap = calloc(n, sizeof(*q->merge.heap));
	q->ring = aligned_alloc(64, n * sizeof(*q->ring));
	if (!q->merge.src || !q->merge.heap || !q->ring)
		return -1;
	memset(q->ring, 0, n * sizeof(*q->ring));
	for (i = 0; i < n; i++) {
		data = malloc(size);
		if (!data)
			return -1;
		ring_init(&q->ring[i], data, size);
		q->merge.src[i].ring = &q->ring[i];
	}
	return 0;
}

void queues_free(struct queues *q)
{
	unsigned int i;

	for (i = 0; q->ring && i < q->merge.n; i++)
		free(q->ring[i].data);
	free(q->ring);
	free(q->merge.src);
	free(q->merge.heap);
	memset(q, 0, sizeof(*q));
}

bool queue_has_room(const struct queues *q, unsigned int i)
{
	const struct hwpmc_ring *r = &q->ring[i];

	/* a record that does not fit at the end leaves a pad there */
	return r->head - r->tail + 2 * (QUEUE_RECORD_MAX + 64) <= r->size;
}

void queue_push(struct queues *q, unsigned int i, u32 kind, const void *payload,
		u32 len)
{
	struct hwpmc_ring *r = &q->ring[i];
	u64 entered = ring_enter(r), now;
	enum ring_result res;
	struct ring_stamp *s;

	stamp = ((const struct ring_stamp *)payload)->tsc;
	s = ring_reserve(r, len, kind, 0, &now, &res);
	if (!s)		/* the caller has asked queue_has_room() */
		die(EX_SOFTWARE, "--bpf: a queue has no room for %u bytes", len);
	memcpy(s, payload, len);
	ring_exit(r, entered);
}

void queue_seen(struct queues *q, unsigned int i, u64 horizon)
{
	struct merge_src *s = &q->merge.src[i];

	hwpmc_merge_look_end(s, hwpmc_merge_look_begin(s), horizon);
}
