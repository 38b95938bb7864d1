// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unpacks packed samples: see struct pmclog_ext_samples.
 *
 * The data is not trusted: an entry is checked before any of it is used.  A faulty
 * entry changes nothing, so that the next call finds the same fault.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pmclog.h>

#include "pmclog_iter.h"
#include "pmclog_pack.h"

#define ENTRIES	offsetof(struct pmclog_ext_samples, entry)

/**
 * struct chain - a slot
 * @n:   number of pcs; 0: not defined
 * @cap: entries allocated at @pc, which has all pcs but the innermost
 */
struct chain {
	uint32_t n;
	uint32_t cap;
	uint32_t high;
	uint64_t *pc;
};

struct context {
	bool defined;
	uint32_t word[4];	/* pid, tid, pmcid, cpuflags */
};

/**
 * struct pmclog_pack
 * @at:   offset of the next entry in the record
 * @tsc:  of the last sample
 */
struct pmclog_pack {
	struct chain chains[PMCLOG_PACK_CHAINS];
	struct context contexts[PMCLOG_PACK_CONTEXTS];
	uint32_t at;
	uint32_t done;
	uint32_t left;
	uint64_t tsc;
	uint32_t len;		/* of @sample */
	union {
		struct pmclog_callchain cc;
		uint64_t room[4 + PMCLOG_CHAIN_MAX];
	} sample;
};

_Static_assert(sizeof(struct pmclog_callchain) == 4 * sizeof(uint64_t),
	       "room for the deepest chain");

struct pmclog_pack *pmclog_pack_new(void)
{
	return calloc(1, sizeof(struct pmclog_pack));
}

void pmclog_pack_free(struct pmclog_pack *pk)
{
	size_t i;

	if (!pk)
		return;
	for (i = 0; i < PMCLOG_PACK_CHAINS; i++)
		free(pk->chains[i].pc);
	free(pk);
}

void pmclog_pack_reset(struct pmclog_pack *pk)
{
	size_t i;

	for (i = 0; i < PMCLOG_PACK_CHAINS; i++)
		pk->chains[i].n = 0;
	for (i = 0; i < PMCLOG_PACK_CONTEXTS; i++)
		pk->contexts[i].defined = false;
}

void pmclog_pack_begin(struct pmclog_pack *pk, const unsigned char *p)
{
	pk->at = ENTRIES;
	pk->done = 0;
	pk->left = pmclog_get32(p + offsetof(struct pmclog_ext_samples,
					     samples));
	pk->tsc = pmclog_get64(p + offsetof(struct pmclog_hdr, tsc));
}

static const char *define_context(struct pmclog_pack *pk,
				  const unsigned char *p, uint32_t left,
				  uint32_t *len)
{
	uint32_t slot = pmclog_get32(p) & ~PMCLOG_PACK_CHAIN;
	struct context *c;

	*len = PMCLOG_PACK_CONTEXT_LEN;
	if (left < *len)
		return "pack: context cut by the pack's end";
	if (slot >= PMCLOG_PACK_CONTEXTS)
		return "pack: context's slot out of range";
	c = &pk->contexts[slot];
	memcpy(c->word, p + 4, sizeof(c->word));
	c->defined = true;
	return NULL;
}

/* Makes room for @n pcs without the innermost; keeps the contents. */
static bool make_room(struct chain *c, uint32_t n)
{
	uint32_t cap = (n + 15) & ~15U;
	uint64_t *pc;

	if (n <= c->cap)
		return true;
	pc = realloc(c->pc, cap * sizeof(*pc));
	if (!pc)
		return false;
	c->pc = pc;
	c->cap = cap;
	return true;
}

static const char *define_chain(struct pmclog_pack *pk, const unsigned char *p,
				uint32_t left, uint32_t *len)
{
	uint32_t word = pmclog_get32(p), n, shared, fresh;
	struct chain *to, *like;

	if (left < PMCLOG_PACK_CHAIN_LEN)
		return "pack: chain cut by the pack's end";
	if ((word & ~PMCLOG_PACK_CHAIN) >> 22)
		return "pack: unknown bits in a chain";
	to = &pk->chains[word % PMCLOG_PACK_CHAINS];
	like = &pk->chains[word >> 11 & (PMCLOG_PACK_CHAINS - 1)];
	n = pmclog_get32(p + 4) & 0xFFFF;
	shared = pmclog_get32(p + 4) >> 16;
	if (!n || n > PMCLOG_CHAIN_MAX)
		return "pack: chain of no or too many pcs";
	if (shared >= n || (shared && shared >= like->n))
		return "pack: chain shares more than there is";
	fresh = n - 1 - shared;
	*len = PMCLOG_PACK_CHAIN_LEN + 8 * fresh;
	if (left < *len)
		return "pack: chain cut by the pack's end";
	if (!make_room(to, n - 1))
		return "pack: out of memory";
	/* both may be the same slot */
	if (shared)
		memmove(to->pc + fresh, like->pc + like->n - 1 - shared,
			shared * sizeof(*to->pc));
	if (fresh)
		memcpy(to->pc, p + PMCLOG_PACK_CHAIN_LEN,
		       fresh * sizeof(*to->pc));
	to->n = n;
	to->high = pmclog_get32(p + 8);
	return NULL;
}

static void fill(struct pmclog_pack *pk, const struct context *x,
		 const struct chain *c, uint32_t low)
{
	struct pmclog_callchain *cc = &pk->sample.cc;
	uint64_t *pc = pk->sample.room + 4;

	pk->len = sizeof(*cc) + 8 * c->n;
	cc->h.header = PMCLOG_HEADER(PMCLOG_T_CALLCHAIN, pk->len);
	cc->h.spare = 0;
	cc->h.tsc = pk->tsc;
	cc->pid = x->word[0];
	cc->tid = x->word[1];
	cc->pmcid = x->word[2];
	cc->cpuflags = x->word[3];
	pc[0] = (uint64_t)c->high << 32 | low;
	if (c->n > 1)
		memcpy(pc + 1, c->pc, (c->n - 1) * sizeof(*pc));
}

/* The entry at @p is a sample. */
static const char *take(struct pmclog_pack *pk, const unsigned char *p,
			uint32_t left)
{
	uint32_t delta = pmclog_get32(p), slots;
	const struct context *x;
	const struct chain *c;

	if (left < PMCLOG_PACK_SAMPLE_LEN)
		return "pack: sample cut by the pack's end";
	slots = pmclog_get32(p + 8);
	if ((slots & 0xFFFF) >= PMCLOG_PACK_CHAINS ||
	    slots >> 16 >= PMCLOG_PACK_CONTEXTS)
		return "pack: sample's slot out of range";
	c = &pk->chains[slots & 0xFFFF];
	x = &pk->contexts[slots >> 16];
	if (!c->n)
		return "pack: sample of a chain that is not defined";
	if (!x->defined)
		return "pack: sample of a context that is not defined";
	if (!pk->done && delta)
		return "pack: its time is not the first sample's";
	if (pk->tsc + delta < pk->tsc)
		return "pack: time overflows";
	if (pk->left == 1 && left != PMCLOG_PACK_SAMPLE_LEN)
		return "pack: something behind the last sample";
	pk->tsc += delta;
	fill(pk, x, c, pmclog_get32(p + 4));
	pk->at += PMCLOG_PACK_SAMPLE_LEN;
	pk->done++;
	pk->left--;
	return NULL;
}

const char *pmclog_pack_next(struct pmclog_pack *pk, const unsigned char *p,
			     uint32_t len)
{
	const char *error = NULL;
	uint32_t first, used;

	if (!pk->left)
		return "pack without samples";
	if (pmclog_get32(p + offsetof(struct pmclog_ext_samples, pad)))
		return "pack: padding is not 0";
	while (!error) {
		if (pk->at >= len)
			return "pack: fewer samples than it says";
		first = pmclog_get32(p + pk->at);
		if (!(first & PMCLOG_PACK_DEFINES))
			return take(pk, p + pk->at, len - pk->at);
		if ((first & PMCLOG_PACK_CHAIN) == PMCLOG_PACK_CHAIN)
			error = define_chain(pk, p + pk->at, len - pk->at,
					     &used);
		else
			error = define_context(pk, p + pk->at, len - pk->at,
					       &used);
		if (!error)
			pk->at += used;
	}
	return error;
}

bool pmclog_pack_pass(struct pmclog_pack *pk, const unsigned char *p,
		      uint32_t len)
{
	uint32_t slots, delta;

	if (!pk->left || pk->at + PMCLOG_PACK_SAMPLE_LEN > len)
		return false;
	delta = pmclog_get32(p + pk->at);
	slots = pmclog_get32(p + pk->at + 8);
	if (delta & PMCLOG_PACK_DEFINES ||
	    (slots & 0xFFFF) >= PMCLOG_PACK_CHAINS ||
	    slots >> 16 >= PMCLOG_PACK_CONTEXTS ||
	    (pk->chains[slots & 0xFFFF].n &&
	     pk->contexts[slots >> 16].defined))
		return false;
	pk->tsc += delta;
	pk->at += PMCLOG_PACK_SAMPLE_LEN;
	pk->done++;
	pk->left--;
	return true;
}

const unsigned char *pmclog_pack_sample(const struct pmclog_pack *pk,
					uint32_t *len)
{
	*len = pk->len;
	return (const unsigned char *)&pk->sample;
}

uint32_t pmclog_pack_done(const struct pmclog_pack *pk)
{
	return pk->done;
}

uint32_t pmclog_pack_left(const struct pmclog_pack *pk)
{
	return pk->left;
}
