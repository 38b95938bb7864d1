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
struct pack *hwpmc_pack_new(void)
{
	u32 depth = min_t(u32, hwpmc_param_chain_depth(), PACK_DEPTH_MAX);
	struct pack *p = hwpmc_memory(hwpmc_pack_size(depth), NUMA_NO_NODE,
				      __GFP_ACCOUNT | __GFP_ZERO);

	if (p)
		p->depth = depth;
	return p;
}

void hwpmc_pack_end(struct hwpmc_log *log)
{
	if (log->out.pack)
		pack_close(log->out.pack);
}

/* Clears the tables: the records that follow must be readable alone.  No pack is open. */
void hwpmc_pack_forget(struct hwpmc_log *log)
{
	if (!log->out.pack)
		return;
	memset(log->out.pack->context, 0, sizeof(log->out.pack->context));
	memset(log->out.pack->chain, 0, sizeof(log->out.pack->chain));
}

/* Returns false if the chain is empty or deeper than a pack can hold. */
bool hwpmc_pack_sample(struct hwpmc_owner *o, const struct pmclog_callchain *cc,
		       u64 tsc)
{
	struct hwpmc_log *log = &o->log;
	struct pack *p = log->out.pack;
	u32 n, added;

	n = (PMCLOG_HEADER_LEN(cc->h.header) - sizeof(*cc)) / sizeof(u64);
	if (!n || n > p->depth)
		return false;
	added = hwpmc_pack_add(p, cc, n, tsc);
	if (!added) {
		pack_close(p);
		if (log->out.size - log->out.used < PMCLOG_PACK_MAX)
			hwpmc_sink_flush(o);
		log->out.used += hwpmc_pack_open(p, log->out.buf + log->out.used, tsc);
		log->acct.buf_records++;
		added = hwpmc_pack_add(p, cc, n, tsc);
	}
	log->out.used += added;
	return true;
}

/* Returns the number of samples in a pack; 0 for any other record. */
u32 hwpmc_pack_count(const void *rec, u32 len)
{
	const struct pmclog_ext_samples *s = rec;

	if (len < sizeof(*s) ||
	    PMCLOG_HEADER_TYPE(s->e.h.header) != PMCLOG_T_USERDATA ||
	    s->e.cookie != PMCLOG_EXT_COOKIE ||
	    s->e.subtype != PMCLOG_EXT_SAMPLES)
		return 0;
	return s->samples;
}
