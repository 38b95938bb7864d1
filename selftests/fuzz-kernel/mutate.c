// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer's mutations know bytes; these know operations, what they are nothing
 * without, and parts of programs that have reached something new.
 */
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size,
				 const uint8_t *b, size_t b_size, uint8_t *out,
				 size_t max_size, unsigned int seed);

/* longer programs take longer, and are seldom the better for it */
#define ENOUGH_OPS	28

static unsigned int state;

unsigned int below(unsigned int n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static uint32_t random_word(void)
{
	static const uint32_t words[] = {
		0, 1, 2, 3, 64, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000,
		0xFFFFFFFE, 0xFFFFFFFF,
	};

	return below(2) ? words[below(11)] : 1U << below(32);
}

static void random_how(struct op *op)
{
	op->how = 0;
	switch (below(6)) {
	case 0:
	case 1:
		op->how = HOW_FAIL;
		op->nth = below(below(2) ? 8 : 48);
		break;
	case 2:
		op->how = HOW_WORD;
		op->where = below(3) ? below(20) : 255 - below(4);
		op->word = random_word();
		break;
	case 3:
		op->how = below(2) ? HOW_BAD : HOW_SIZE;
		op->where = below(256);
		op->word = below(128);
		break;
	}
	if (!below(3))
		op->how |= 1 + below(2);
}

/* ------------------------------------------------------------------------
 * Parts of programs
 */
#define POOL	512

static struct {
	unsigned int n;
	struct op op[PROGRAM_OPS];
} pool[POOL];

static unsigned int pooled;

static unsigned int ops_of(size_t size)
{
	size_t n = size < PROGRAM_HEADER ? 0 :
		   (size - PROGRAM_HEADER) / sizeof(struct op);

	return n < PROGRAM_OPS ? n : PROGRAM_OPS;
}

void mutate_pool(const uint8_t *data, size_t size)
{
	unsigned int at = pooled < POOL ? pooled : (unsigned int)rand() % POOL;

	pool[at].n = ops_of(size);
	memcpy(pool[at].op, data + PROGRAM_HEADER,
	       pool[at].n * sizeof(struct op));
	pooled++;
}

static unsigned int insert_at(struct program *p, unsigned int n, unsigned int at,
			      const struct op *ops, unsigned int count)
{
	struct op copy[PROGRAM_OPS];

	if (n + count > PROGRAM_OPS)
		return n;
	memcpy(copy, ops, count * sizeof(*ops));	/* may be of @p */
	memmove(&p->op[at + count], &p->op[at], (n - at) * sizeof(*ops));
	memcpy(&p->op[at], copy, count * sizeof(*ops));
	return n + count;
}

/* A few operations of @from, which has @count, somewhere. */
static unsigned int insert_part(struct program *p, unsigned int n,
				const struct op *from, unsigned int count)
{
	unsigned int begin, len;

	if (!count)
		return n;
	begin = below(count);
	len = 1 + below(below(2) ? 4 : 16);
	if (len > count - begin)
		len = count - begin;
	return insert_at(p, n, below(n + 1), from + begin, len);
}

static unsigned int insert_pooled(struct program *p, unsigned int n)
{
	unsigned int from;

	if (!pooled)
		return n;
	from = below(pooled < POOL ? pooled : POOL);
	return insert_part(p, n, pool[from].op, pool[from].n);
}

/* ------------------------------------------------------------------------
 * Mutations
 */

/* An operation that makes sense where it is, behind what it needs. */
static unsigned int insert_plausible(struct program *p, unsigned int n)
{
	struct op ops[PLAUSIBLE_OPS];
	unsigned int at = n && below(3) ? n - below(n < 4 ? n : 4) : below(n + 1);
	unsigned int count = plausible(p, at, ops);

	if (!below(4))
		random_how(&ops[count - 1]);
	return insert_at(p, n, at, ops, count);
}

static unsigned int erase(struct program *p, unsigned int n)
{
	unsigned int at, count = 1 + (below(3) ? 0 : below(4));

	if (n < 2)
		return n;
	at = below(n);
	if (count > n - at)
		count = n - at;
	memmove(&p->op[at], &p->op[at + count],
		(n - at - count) * sizeof(struct op));
	return n - count;
}

static void change(struct op *op)
{
	uint8_t how = op->how, dev = op->dev, pmc = op->pmc;

	switch (below(8)) {
	case 0:
	case 1:
		random_how(op);
		break;
	case 2:
		op->pmc = below(12);
		break;
	case 3:
		op->dev = below(4);
		break;
	case 4:
		op->arg[below(6)] ^= 1U << below(8);
		break;
	case 5:
	case 6:
		good_op(op, op->code % CODES);
		op->how = how;
		op->dev = dev;
		op->pmc = pmc;
		break;
	default:
		op->arg[below(6)] = below(3) ? below(8) : below(256);
	}
}

static unsigned int mutate_once(struct program *p, unsigned int n)
{
	unsigned int a, b;
	struct op swap;

	if (!n)
		return insert_plausible(p, n);
	a = below(n);
	b = below(n);
	if (n > ENOUGH_OPS && below(2))
		return erase(p, n);
	switch (below(16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return insert_plausible(p, n);
	case 4:
	case 5:
		return insert_pooled(p, n);
	case 6:
	case 7:
		return erase(p, n);
	case 8:
		return insert_part(p, n, p->op, n);
	case 9:
		swap = p->op[a];
		p->op[a] = p->op[b];
		p->op[b] = swap;
		return n;
	case 10:
		if (below(3))
			p->user = below(USERS);
		else
			p->spare[0] = below(4);
		return n;
	case 11:
		LLVMFuzzerMutate((uint8_t *)&p->op[a], sizeof(swap),
				 sizeof(swap));
		return n;
	default:
		change(&p->op[a]);
		return n;
	}
}

static size_t give(uint8_t *data, const struct program *p, unsigned int n,
		   size_t max_size)
{
	size_t size = PROGRAM_HEADER + n * sizeof(struct op);

	if (size > max_size)
		size = max_size;
	memcpy(data, p, size);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	struct program p = { 0 };
	unsigned int n = ops_of(size), times;

	state = seed;
	memcpy(&p, data, size < PROGRAM_MAX ? size : PROGRAM_MAX);
	/* a program takes long: it may as well have several */
	for (times = 1 + below(6); times; times--)
		n = mutate_once(&p, n);
	return give(data, &p, n, max_size);
}

/* The beginning of one and the end of the other, or a part of that within one. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size,
				 const uint8_t *b, size_t b_size, uint8_t *out,
				 size_t max_size, unsigned int seed)
{
	unsigned int an = ops_of(a_size), bn = ops_of(b_size), from, n;
	struct program p = { 0 }, q = { 0 };

	state = seed;
	memcpy(&p, a, a_size < PROGRAM_MAX ? a_size : PROGRAM_MAX);
	memcpy(&q, b, b_size < PROGRAM_MAX ? b_size : PROGRAM_MAX);
	if (below(2))
		return give(out, &p, insert_part(&p, an, q.op, bn), max_size);
	n = below(an + 1);
	from = below(bn + 1);
	while (from < bn && n < PROGRAM_OPS)
		p.op[n++] = q.op[from++];
	return give(out, &p, n, max_size);
}
