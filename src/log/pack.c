// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed samples in the writer thread's buffer.
 *
 * The open pack is the last record in the buffer.  It is a complete record at
 * any time, so ending it just means adding no more to it.  It is ended before
 * any other record, and before the buffer is written.  The tables last as long
 * as the log.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "emit.h"
#include "hwpmc.h"
#include "pack_code.h"
#include "sink.h"

/* Tables for a new log; freed with kvfree().  Process context. */
struct pack *pack_new(void)
{
	u32 depth = min_t(u32, param_chain_depth(), PACK_DEPTH_MAX);
	struct pack *p = kvzalloc(pack_size(depth), GFP_KERNEL_ACCOUNT);

	if (p)
		p->depth = depth;
	return p;
}

void pack_end(struct hwpmc_log *log)
{
	if (log->pack)
		pack_close(log->pack);
}

/* Clears the tables: what follows must be readable alone.  No pack is open. */
void pack_forget(struct hwpmc_log *log)
{
	if (!log->pack)
		return;
	memset(log->pack->context, 0, sizeof(log->pack->context));
	memset(log->pack->chain, 0, sizeof(log->pack->chain));
}

/* Returns false if the chain is empty or deeper than a pack can hold. */
bool pack_sample(struct hwpmc_owner *o, const struct pmclog_callchain *cc,
		 u64 tsc)
{
	struct hwpmc_log *log = &o->log;
	struct pack *p = log->pack;
	u32 n, added;

	n = (PMCLOG_HEADER_LEN(cc->h.header) - sizeof(*cc)) / sizeof(u64);
	if (!n || n > p->depth)
		return false;
	added = pack_add(p, cc, n, tsc);
	if (!added) {
		pack_close(p);
		if (log->size - log->used < PMCLOG_PACK_MAX)
			sink_flush(o);
		log->used += pack_open(p, log->buf + log->used, tsc);
		log->buf_records++;
		added = pack_add(p, cc, n, tsc);
	}
	log->used += added;
	return true;
}

/* Returns the number of samples in a pack; 0 for any other record. */
u32 pack_count(const void *rec, u32 len)
{
	const struct pmclog_ext_samples *s = rec;

	if (len < sizeof(*s) ||
	    PMCLOG_HEADER_TYPE(s->e.h.header) != PMCLOG_T_USERDATA ||
	    s->e.cookie != PMCLOG_EXT_COOKIE ||
	    s->e.subtype != PMCLOG_EXT_SAMPLES)
		return 0;
	return s->samples;
}
