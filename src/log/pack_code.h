/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encoder of packed samples: see struct pmclog_ext_samples.
 *
 * It depends on nothing else in the module, so that tests in user space run the
 * same source.
 */
#ifndef HWPMC_PACK_CODE_H
#define HWPMC_PACK_CODE_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/linux/pmclog.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/pmclog.h>
#define noinline __attribute__((noinline))
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
#endif

#define PACK_WAYS	2
#define PACK_SETS	(PMCLOG_PACK_CHAINS / PACK_WAYS)
/* frames of the deepest chain whose sample fits into one pack */
#define PACK_DEPTH_MAX	500

/**
 * struct pack_chain - a slot for a chain, without its pcs
 * @shape: number of pcs, 0: the slot is empty; high word: that of the innermost
 *	   pc, whose low word is not part of the chain
 * @hash: of all that, to skip most other chains; a full comparison decides
 */
struct pack_chain {
	u64	shape;
	u64	hash;
};

/**
 * struct pack_context - a slot for a context
 * @a, @b: pid and tid, pmcid and cpuflags
 * @used:  the slot is defined
 * @like:  slot of the chain that was last seen in this context
 */
struct pack_context {
	u64	a;
	u64	b;
	u64	used;
	u64	like;
};

/**
 * struct pack - the writer's side of a log with packed samples
 * @rec:   the open pack; NULL: none
 * @at, @end: place of the next entry in the pack, and end of its room
 * @last:  time of the pack's last sample
 * @depth: longest chain that is kept
 * @victim: for each set of chains, the way that is replaced next
 * @pc:    PMCLOG_PACK_CHAINS times @depth; the first of each is not used
 */
struct pack {
	u32	*rec;
	u32	*at;
	u32	*end;
	u64	last;
	u32	depth;
	struct pack_context context[PMCLOG_PACK_CONTEXTS];
	struct pack_chain chain[PMCLOG_PACK_CHAINS];
	u8	victim[PACK_SETS];
	u64	pc[];
};

/* Size of struct pack for chains of @depth pcs; memory is to be zeroed. */
size_t hwpmc_pack_size(u32 depth);
/* Opens a pack in PMCLOG_PACK_MAX bytes at @rec; returns the bytes used so far. */
u32 hwpmc_pack_open(struct pack *p, void *rec, u64 tsc);
/*
 * Adds a sample of 1 to p->depth pcs (@cc is 8-aligned) to the open pack, which
 * is a complete record before and after.  Returns the bytes added, or 0 if the
 * sample does not fit or no pack is open.  A sample always fits into an empty
 * pack.
 */
u32 hwpmc_pack_add(struct pack *p, const struct pmclog_callchain *cc, u32 n,
		   u64 tsc);

static inline void pack_close(struct pack *p)
{
	p->rec = NULL;
	p->at = NULL;
	p->end = NULL;
}

/* Bytes of the open pack. */
static inline u32 pack_len(const struct pack *p)
{
	return (p->at - p->rec) * 4;
}

#endif /* HWPMC_PACK_CODE_H */
