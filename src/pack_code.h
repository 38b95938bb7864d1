/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code of packed samples: see struct pmclog_ext_samples.
 *
 * No surroundings are needed, so that tests in user space run the same source.
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
/* frames of the deepest chain whose sample fits into a pack of its own */
#define PACK_DEPTH_MAX	500

/**
 * struct pack_chain - what a slot holds, its pcs apart
 * @shape: number of pcs, 0: the slot is empty; high word: that of the innermost
 *	pc, whose low word is not part of the chain
 * @hash: of all that, to pass over most others; it decides nothing
 */
struct pack_chain {
	u64	shape;
	u64	hash;
};

/**
 * struct pack_context
 * @a, @b: pid and tid, pmcid and cpuflags
 * @used:  the slot is defined
 * @like:  the slot of the chain that was last seen here
 */
struct pack_context {
	u64	a;
	u64	b;
	u64	used;
	u64	like;
};

/**
 * struct pack - the writer's side of a log with packed samples
 * @rec:   the pack that is being filled; NULL: none
 * @at, @end: where in it the next entry goes, and where there is no room
 * @last:  time of its last sample
 * @depth: longest chain that is kept
 * @victim: for each set of chains the way that goes next
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

/* Bytes for chains of @depth pcs; to be zeroed. */
size_t pack_size(u32 depth);
/* A new pack in PMCLOG_PACK_MAX bytes at @rec; the bytes taken by now. */
u32 pack_open(struct pack *p, void *rec, u64 tsc);
/*
 * Adds a sample of 1 to p->depth pcs (@cc is 8-aligned) to the open pack, which
 * is a whole record before and after.  Returns the bytes added; 0: it does not
 * fit, or no pack is open.  It fits into an empty one.
 */
u32 pack_add(struct pack *p, const struct pmclog_callchain *cc, u32 n, u64 tsc);

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
