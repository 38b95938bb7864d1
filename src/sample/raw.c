// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fields of a tracepoint, in perf's raw format.
 *
 * Runs in the overflow handler (see sample.c).  The data is perf's, for this
 * CPU and nesting level: it does not change until the handler returns.
 */
#include <linux/perf_event.h>

#include "hwpmc.h"
#include "record.h"
#include "sample.h"

#define RAW_PARTS	8	/* parts that are counted; a tracepoint's fields are in one */

/*
 * Bytes taken of the first part.  More than one part, or a special part, is
 * cut.
 */
static u32 raw_bytes_taken(const struct perf_raw_record *raw)
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

/* Bytes that hwpmc_raw_fill() needs in the ring. */
u32 hwpmc_raw_room(const struct perf_raw_record *raw)
{
	return sizeof(struct ring_raw) + raw_bytes_taken(raw);
}

void hwpmc_raw_fill(struct ring_raw *r, const struct perf_raw_record *raw)
{
	r->len = raw_bytes_taken(raw);
	r->size = size_of(raw);
	memcpy(r->data, raw->frag.data, r->len);
}
