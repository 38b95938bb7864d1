// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a tracepoint tells besides that it was hit: its fields, as perf has them.
 *
 * Runs in the overflow handler (see sample.c).  The data is perf's, of this CPU
 * and level of nesting: it stays as it is until the handler returns.
 */
#include <linux/perf_event.h>

#include "hwpmc.h"
#include "record.h"
#include "sample.h"

#define RAW_PARTS	8	/* looked at; a tracepoint's fields are in one */

/* Bytes of the first part: more than one, or one of a special kind, is cut. */
static u32 taken(const struct perf_raw_record *raw)
{
	return raw->frag.copy ? 0 : min_t(u32, raw->frag.size, PMCLOG_RAW_MAX);
}

static u32 size_of(const struct perf_raw_record *raw)
{
	const struct perf_raw_frag *frag = &raw->frag;
	u32 size = frag->size;
	unsigned int i;

	for (i = 1; i < RAW_PARTS && !perf_raw_frag_last(frag); i++) {
		frag = frag->next;
		size += frag->size;
	}
	return size;
}

/* Bytes that raw_fill() takes. */
u32 raw_room(const struct perf_raw_record *raw)
{
	return sizeof(struct ring_raw) + taken(raw);
}

void raw_fill(struct ring_raw *r, const struct perf_raw_record *raw)
{
	r->len = taken(raw);
	r->size = size_of(raw);
	memcpy(r->data, raw->frag.data, r->len);
}
