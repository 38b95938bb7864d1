/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Caches from recently seen lists of callers to their nodes.
 *
 * One table is keyed by lists as they are in the log: addresses, and the
 * generations of their address spaces.  Most samples hit it, with one memory
 * access instead of several for each frame.  The other table is keyed by paths
 * of places from the outermost frame on.  Short-lived processes run the same
 * code at other addresses, so usually only a few innermost frames miss it.
 * Both tables have a fixed size and compare 96 bits of a hash.  An evicted
 * entry is looked up again, so memory use is independent of the number of
 * samples and of program starts.
 */
#ifndef READER_CALLERS_H
#define READER_CALLERS_H

#include "base/idtab.h"
#include "base/mem.h"

#define CALLERS_NEW	UINT32_MAX
/* sized to fit the processor's cache */
#define CALLERS_LISTS	131072U
#define CALLERS_WAYS	131072U

/* callers as logged, innermost first; the pcs are not aligned */
struct rawcallers {
	const unsigned char *pc;
	uint32_t n;
	uint32_t top;		/* node above the outermost of them */
	uint32_t gen, kgen;	/* of the process and of the kernel */
	bool kernel;		/* the frame they called is in the kernel */
};

/* @more: further bits of the key; @node1: node + 1, 0 for an empty slot */
struct callerslot {
	uint64_t hash;
	uint32_t more;
	uint32_t node1;
};

/**
 * struct caller - a caller in a list that is not cached
 * @addr, @obj: the place of @frame
 * @way: hash of the path from the outermost frame to this caller
 */
struct caller {
	uint64_t addr, way;
	uint32_t obj, frame;
};

struct callers {
	struct callerslot *list, *way;
};

void callers_init(struct callers *t);
void callers_free(struct callers *t);

/* The hash of a list. */
uint64_t callers_hash(const struct rawcallers *raw);
/* Sets @way of the callers, whose places are known. */
void callers_ways(const struct callers *t, struct caller *c, uint32_t n,
		  uint32_t top);
/* The hash of all callers together, for chains without a tree. */
uint64_t callers_way(const struct caller *c, uint32_t n, uint32_t top);
/* Number of innermost callers that are not cached; *@node is of the others. */
uint32_t callers_new(const struct callers *t, const struct caller *c,
		     uint32_t n, uint32_t *node);

static inline uint32_t callerslot_node(const struct callerslot *s,
				       uint64_t hash, uint32_t more)
{
	return s->hash == hash && s->more == more ? s->node1 - 1 : CALLERS_NEW;
}

static inline void callers_prefetch(const struct callers *t, uint64_t hash)
{
	__builtin_prefetch(&t->list[hash % CALLERS_LISTS]);
}

/* The node of a list, or CALLERS_NEW; @pc: its innermost address. */
static inline uint32_t callers_find(const struct callers *t, uint64_t hash,
				    uint64_t pc)
{
	return callerslot_node(&t->list[hash % CALLERS_LISTS], hash,
			       (uint32_t)pc);
}

static inline void callers_learn(struct callers *t, uint64_t hash, uint64_t pc,
				 uint32_t node)
{
	t->list[hash % CALLERS_LISTS] = (struct callerslot){
		hash, (uint32_t)pc, node + 1,
	};
}

static inline void callers_learn_way(struct callers *t,
				     const struct caller *c, uint32_t node)
{
	t->way[c->way % CALLERS_WAYS] = (struct callerslot){
		c->way, (uint32_t)c->addr, node + 1,
	};
}

#endif /* READER_CALLERS_H */
