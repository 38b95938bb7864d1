// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in memory: lists of chunks, each of whole records.
 *
 * The size depends on how many mappings and names the traced processes create.
 * It is charged to the user, and to the memory cgroup of the process that
 * configured the log; the writer thread has no cgroup of its own.
 *
 * Used by the writer thread, and before it runs by hwpmc_flight_attach() and
 * its undo.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "hwpmc.h"

/*
 * hwpmc_chunk_alloc - memory charged to the process that configured the log
 *
 * NULL: out of memory.  Never triggers the OOM killer; on failure the caller
 * retries or dumps the process again.
 */
void *hwpmc_chunk_alloc(struct hwpmc_log *log, size_t bytes)
{
	struct mem_cgroup *old = set_active_memcg(log->maker.memcg);
	void *p;

	p = hwpmc_memory(bytes, NUMA_NO_NODE, __GFP_ACCOUNT);
	set_active_memcg(old);
	return p;
}

/* Adds an empty chunk.  -EDQUOT, -ENOMEM */
int hwpmc_chunk_add(struct hwpmc_owner *o, struct list_head *chunks)
{
	struct log_meta *m;

	BUILD_BUG_ON(CHUNK_ROOM < PMCLOG_RECORD_MAX);
	if (hwpmc_limit_charge(o, LIMIT_RING_BYTES, CHUNK_BYTES))
		return -EDQUOT;
	m = hwpmc_chunk_alloc(&o->log, CHUNK_BYTES);
	if (!m) {
		hwpmc_limit_release(o, LIMIT_RING_BYTES, CHUNK_BYTES);
		return -ENOMEM;
	}
	m->len = 0;
	list_add_tail(&m->list, chunks);
	return 0;
}

/* Room in the last chunk, or in a new one; NULL: no memory or over the limit. */
void *hwpmc_chunk_room(struct hwpmc_owner *o, struct list_head *chunks, u32 len)
{
	struct log_meta *m;
	void *p;

	if ((list_empty(chunks) ||
	     CHUNK_ROOM - list_last_entry(chunks, struct log_meta, list)->len <
		     len) &&
	    hwpmc_chunk_add(o, chunks))
		return NULL;
	m = list_last_entry(chunks, struct log_meta, list);
	p = m->data + m->len;
	m->len += len;
	return p;
}

void hwpmc_chunk_free(struct hwpmc_owner *o, struct log_meta *m)
{
	list_del(&m->list);
	kvfree(m);
	hwpmc_limit_release(o, LIMIT_RING_BYTES, CHUNK_BYTES);
}

void hwpmc_chunk_free_all(struct hwpmc_owner *o, struct list_head *chunks)
{
	struct log_meta *m, *next;

	list_for_each_entry_safe(m, next, chunks, list)
		hwpmc_chunk_free(o, m);
}
