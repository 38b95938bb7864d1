// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory whose size a caller of the module decides.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "hwpmc.h"

/*
 * hwpmc_memory - pages, or less; kvfree()
 * @node: preferred; NUMA_NO_NODE: any
 * @flags: __GFP_ACCOUNT: charged to the active memory cgroup; __GFP_ZERO
 *
 * May sleep.  NULL: out of memory.  Never triggers the OOM killer.
 *
 * kvmalloc() first looks for contiguous memory, and with __GFP_RETRY_MAYFAIL it would
 * reclaim and compact memory for that, for as long as there is progress.  So
 * kvmalloc() only tries, and __vmalloc() waits for single pages.
 */
void *hwpmc_memory(size_t bytes, int node, gfp_t flags)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | flags;
	void *p = kvmalloc_node(bytes, gfp | __GFP_NORETRY, node);

	return p ?: __vmalloc(bytes, gfp | __GFP_RETRY_MAYFAIL);
}
