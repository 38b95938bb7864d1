/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callers that were seen a moment ago, and the nodes that they lead to.
 *
 * One table knows lists of them as they are in the log, by addresses and the
 * generation of the address spaces that these belong to: most samples have such,
 * and one place in memory is looked at instead of some for each frame.  Another
 * one knows where places lead to from the outermost on: processes that come and
 * go do the same at other addresses, and what is new are a few of the innermost,
 * mostly.  Both are of a fixed size, and go by 96 bits of a hash.  What they
 * forget is looked up again, so memory does not follow how much was sampled or
 * how often programs were started.
 */
#ifndef READER_CALLERS_H
#define READER_CALLERS_H

#include "base/idtab.h"
#include "base/mem.h"

#define CALLERS_NEW	UINT32_MAX
/* as many as a processor has near */
#define CALLERS_LISTS	131072U
#define CALLERS_WAYS	131072U

/* callers as logged, innermost first; the pcs are not aligned */
struct rawcallers {
	const unsigned char *pc;
	uint32_t n;
	uint32_t top;		/* node that all of them are below */
	uint32_t gen, kgen;	/* of the process and of the kernel */
	bool kernel;		/* the frame that they called is the kernel's */
};

/* @more: beside the hash; @node1: node + 1, 0 of an empty slot */
struct callerslot {
	uint64_t hash;
	uint32_t more;
	uint32_t node1;
};

/**
 * struct caller - one of those of a list that is not known
 * @addr, @obj: the place that its @frame is of
 * @way: the hash of it and its own callers
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

/* What a list is found by. */
uint64_t callers_hash(const struct rawcallers *raw);
/* Gives callers whose places are known what their ways are found by. */
void callers_ways(const struct callers *t, struct caller *c, uint32_t n,
		  uint32_t top);
/* What all of them together are found by, where there is no tree. */
uint64_t callers_way(const struct caller *c, uint32_t n, uint32_t top);
/* How many of the innermost have to be looked up, and the node of the others. */
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

/* The node of a list, or CALLERS_NEW; @pc: the innermost. */
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
