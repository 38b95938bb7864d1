// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Encodes samples into packs.
 *
 * A chain is found by its hash and then compared as a whole, except for the low
 * word of its innermost pc: a loop has many places and few callers.  A new
 * chain is encoded as its difference from the last chain of the same context.
 * That last chain is often the sample's chain too, so it is compared first.
 *
 * This code runs once per sample, so it uses plain loops over words: a string
 * instruction takes longer to start than these loops take to finish.
 */
#include "pack_code.h"

#define WORD(field)	(offsetof(struct pmclog_ext_samples, field) / 4)
#define HASH_FACTOR	0x9E3779B97F4A7C15ULL
#define DELTA_MAX	(PMCLOG_PACK_DEFINES - 1)

/* lengths of entries in words */
#define SAMPLE_WORDS	(PMCLOG_PACK_SAMPLE_LEN / 4)
#define CONTEXT_WORDS	(PMCLOG_PACK_CONTEXT_LEN / 4)
#define CHAIN_WORDS	(PMCLOG_PACK_CHAIN_LEN / 4)

size_t hwpmc_pack_size(u32 depth)
{
	return sizeof(struct pack) +
	       sizeof(u64) * depth * PMCLOG_PACK_CHAINS;
}

static u64 *slot_pcs(struct pack *p, u32 slot)
{
	return p->pc + (size_t)slot * p->depth;
}

static u64 shape_of(const u64 *pc, u32 n)
{
	return (pc[0] & ~0xFFFFFFFFULL) | n;
}

/* Hashes all that a chain's slot holds.  The top bits are the best ones. */
static u64 hash_chain(u64 shape, const u64 *pc, u32 n)
{
	const u64 *end = pc + n;
	u64 h = shape * 0x10001;

	for (pc++; end - pc >= 4; pc += 4) {
		h = h * 9 + pc[0];
		h = h * 9 + pc[1];
		h = h * 9 + pc[2];
		h = h * 9 + pc[3];
	}
	for (; pc < end; pc++)
		h = h * 9 + *pc;
	return h * HASH_FACTOR;
}

#define DIFFER(i)	(pc[i] != other[i])

static inline bool same_pcs(const u64 *pc, const u64 *other, u32 n)
{
	const u64 *end = pc + n;

	for (pc++, other++; end - pc >= 8; pc += 8, other += 8)
		if (DIFFER(0) || DIFFER(1) || DIFFER(2) || DIFFER(3) ||
		    DIFFER(4) || DIFFER(5) || DIFFER(6) || DIFFER(7))
			return false;
	for (; pc < end; pc++, other++)
		if (DIFFER(0))
			return false;
	return true;
}

/* Returns how many of its outermost pcs a chain shares with the chain in @slot. */
static u32 count_shared(struct pack *p, u32 slot, const u64 *pc, u32 n)
{
	const u32 m = p->chain[slot].shape;	/* 0: not used yet */
	const u64 *other = slot_pcs(p, slot) + m;
	const u32 least = n < m ? n : m;
	u32 shared = 0;

	for (pc += n; shared + 1 < least && *--pc == *--other; shared++)
		;
	return shared;
}

static inline u32 *put64(u32 *w, u64 v)
{
	memcpy(w, &v, sizeof(v));	/* 4-aligned */
	return w + 2;
}

static void put_context(struct pack *p, u32 slot, u64 a, u64 b)
{
	p->context[slot].a = a;
	p->context[slot].b = b;
	p->context[slot].used = 1;
	*p->at = PMCLOG_PACK_CONTEXT | slot;
	p->at = put64(put64(p->at + 1, a), b);
}

static void put_chain(struct pack *p, u32 slot, u32 like, u32 shared,
		      const u64 *pc, u32 n)
{
	u64 *to = slot_pcs(p, slot);
	u32 *w = p->at;
	u32 i;

	*w++ = PMCLOG_PACK_CHAIN | like << 11 | slot;
	*w++ = n | shared << 16;
	*w++ = pc[0] >> 32;
	for (i = 1; i < n - shared; i++)
		w = put64(w, pc[i]);
	for (i = 1; i < n; i++)
		to[i] = pc[i];
	p->at = w;
}

static inline void put_sample(struct pack *p, u32 context, u32 chain,
			      const u64 *pc, u64 tsc)
{
	u32 *w = p->at;

	w[0] = tsc - p->last;
	w[1] = (u32)pc[0];
	w[2] = chain | context << 16;
	w += SAMPLE_WORDS;
	p->at = w;
	p->last = tsc;
	p->rec[WORD(e.h.header)] = PMCLOG_HEADER(PMCLOG_T_USERDATA,
						 pack_len(p));
	p->rec[WORD(samples)]++;
}

/* Finds a chain's slot.  If there is none: false, and *slot is the slot to use. */
static bool find_chain(struct pack *p, u64 shape, u64 hash, const u64 *pc,
		       u32 n, u32 *slot)
{
	u32 set = hash >> 54, way;

	for (way = 0; way < PACK_WAYS; way++) {
		*slot = set * PACK_WAYS + way;
		if (p->chain[*slot].hash == hash &&
		    p->chain[*slot].shape == shape &&
		    same_pcs(pc, slot_pcs(p, *slot), n))
			return true;
	}
	*slot = set * PACK_WAYS + p->victim[set];
	return false;
}

static u64 pid_tid(const struct pmclog_callchain *cc)
{
	return cc->pid | (u64)cc->tid << 32;
}

static u64 pmcid_cpuflags(const struct pmclog_callchain *cc)
{
	return cc->pmcid | (u64)cc->cpuflags << 32;
}

static u32 context_slot(u64 a, u64 b)
{
	return (a + (b << 17 | b >> 47)) * HASH_FACTOR >> 54;
}

static bool is_context(const struct pack_context *c, u64 a, u64 b)
{
	return c->a == a && c->b == b && c->used;
}

/* Adds a sample whose chain differs from the last one, or whose context is new. */
static noinline u32 add_other(struct pack *p, const struct pmclog_callchain *cc,
			      u32 n, u64 tsc)
{
	u64 a = pid_tid(cc), b = pmcid_cpuflags(cc);
	u32 context = context_slot(a, b), need = SAMPLE_WORDS, shared = 0, slot;
	struct pack_context *c = &p->context[context];
	bool known, known_context = is_context(c, a, b);
	u64 shape = shape_of(cc->pc, n);
	u64 hash = hash_chain(shape, cc->pc, n);

	known = find_chain(p, shape, hash, cc->pc, n, &slot);
	if (!known) {
		shared = count_shared(p, c->like, cc->pc, n);
		need += CHAIN_WORDS + 2 * (n - 1 - shared);
	}
	if (!known_context)
		need += CONTEXT_WORDS;
	if (p->end - p->at < need)
		return 0;
	if (!known_context)
		put_context(p, context, a, b);
	if (!known) {
		put_chain(p, slot, c->like, shared, cc->pc, n);
		p->chain[slot].shape = shape;
		p->chain[slot].hash = hash;
		p->victim[slot / PACK_WAYS] ^= 1;
	}
	c->like = slot;
	put_sample(p, context, slot, cc->pc, tsc);
	return need * 4;
}

u32 hwpmc_pack_open(struct pack *p, void *rec, u64 tsc)
{
	memset(rec, 0, sizeof(struct pmclog_ext_samples));
	p->rec = rec;
	p->at = p->rec + WORD(entry);
	p->end = p->rec + PMCLOG_PACK_MAX / 4;
	p->last = tsc;
	p->rec[WORD(e.h.header)] = PMCLOG_HEADER(PMCLOG_T_USERDATA,
						 pack_len(p));
	put64(&p->rec[WORD(e.h.tsc)], tsc);
	p->rec[WORD(e.cookie)] = PMCLOG_EXT_COOKIE;
	p->rec[WORD(e.subtype)] = PMCLOG_EXT_SAMPLES;	/* version 0 */
	return pack_len(p);
}

u32 hwpmc_pack_add(struct pack *p, const struct pmclog_callchain *cc, u32 n,
		   u64 tsc)
{
	u64 a = pid_tid(cc), b = pmcid_cpuflags(cc);
	u32 context = context_slot(a, b);
	const struct pack_context *c = &p->context[context];

	if (p->end - p->at < SAMPLE_WORDS || tsc - p->last > DELTA_MAX)
		return 0;
	if (!is_context(c, a, b) ||
	    p->chain[c->like].shape != shape_of(cc->pc, n) ||
	    !same_pcs(cc->pc, slot_pcs(p, c->like), n))
		return add_other(p, cc, n, tsc);
	put_sample(p, context, c->like, cc->pc, tsc);
	return PMCLOG_PACK_SAMPLE_LEN;
}
