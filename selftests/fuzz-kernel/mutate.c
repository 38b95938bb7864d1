// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer's mutations know bytes; these know operations.
 */
#include <stdlib.h>
#include <string.h>

#include "program.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size,
				 const uint8_t *b, size_t b_size, uint8_t *out,
				 size_t max_size, unsigned int seed);

static unsigned int state;

static unsigned int below(unsigned int n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static unsigned int random_code(void)
{
	unsigned int code;

	do {
		code = below(CODES);
		/* takes a second */
	} while (code == OP_HOTPLUG && below(16));
	return code;
}

static uint8_t random_arg(void)
{
	return below(3) ? below(8) : below(256);
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
	switch (below(6)) {
	case 0:
		op->how = HOW_FAIL;
		op->nth = below(below(2) ? 8 : 48);
		break;
	case 1:
		op->how = HOW_WORD;
		op->where = below(3) ? below(20) : 255 - below(4);
		op->word = random_word();
		break;
	case 2:
		op->how = below(2) ? HOW_BAD : HOW_SIZE;
		op->where = below(256);
		op->word = below(128);
		break;
	default:
		op->how = 0;
	}
	if (!below(4))
		op->how |= 1 + below(2);
}

static struct op random_op(void)
{
	struct op op = { .code = random_code() };
	unsigned int i;

	for (i = 0; i < 6; i++)
		op.arg[i] = random_arg();
	op.dev = below(4) ? 0 : below(4);
	op.pmc = below(2) ? 0 : below(12);
	if (!below(3))
		random_how(&op);
	return op;
}

/* What most calls are nothing without.  Few flags are of all modes. */
static unsigned int session(struct op *op)
{
	static const uint8_t flags[] = { 0xF8, 0, 0x59, 0x07 };
	unsigned int dev = below(3), pmc = below(4), mode = below(4), n = 0;

	op[n++] = (struct op) { OP_OPEN, .dev = dev };
	op[n++] = (struct op) { OP_LOGOPEN, .arg = { dev, below(16) } };
	op[n++] = (struct op) { OP_CONFIGURELOG, .dev = dev,
		.arg = { dev, below(3) ? below(2) : below(8), below(8) } };
	op[n++] = (struct op) { OP_ALLOCATE, .dev = dev, .pmc = pmc,
		.arg = { mode, below(14), below(12), below(256) & flags[mode],
			 mode >= 2 ? 1 : below(4) } };
	if (mode >= 2)
		op[n++] = (struct op) { OP_ATTACH, .dev = dev, .pmc = pmc,
			.arg = { PROGRAM_OPS } };
	op[n++] = (struct op) { OP_START, .dev = dev, .pmc = pmc };
	op[n++] = (struct op) { OP_LOAD, .arg = { below(16), below(32) } };
	return n;
}

static unsigned int insert(struct program *p, unsigned int n,
			   const struct op *ops, unsigned int count)
{
	unsigned int at = below(n + 1);

	if (n + count > PROGRAM_OPS)
		return n;
	memmove(&p->op[at + count], &p->op[at], (n - at) * sizeof(*ops));
	memcpy(&p->op[at], ops, count * sizeof(*ops));
	return n + count;
}

static unsigned int erase(struct program *p, unsigned int n)
{
	unsigned int at = below(n), count = 1 + (below(3) ? 0 : below(4));

	if (n < 2)
		return n;
	if (count > n - at)
		count = n - at;
	memmove(&p->op[at], &p->op[at + count],
		(n - at - count) * sizeof(struct op));
	return n - count;
}

static void change(struct op *op)
{
	switch (below(6)) {
	case 0:
		random_how(op);
		break;
	case 1:
		op->pmc = below(12);
		break;
	case 2:
		op->dev = below(4);
		break;
	case 3:
		op->arg[below(6)] ^= 1U << below(8);
		break;
	default:
		op->arg[below(6)] = random_arg();
	}
}

static unsigned int mutate_once(struct program *p, unsigned int n)
{
	struct op ops[8], swap;
	unsigned int a, b;

	if (!n || below(8) < 2) {
		ops[0] = random_op();
		return insert(p, n, ops, 1);
	}
	a = below(n);
	b = below(n);
	switch (below(12)) {
	case 0:
		return insert(p, n, ops, session(ops));
	case 1:
	case 2:
		return erase(p, n);
	case 3:
		ops[0] = p->op[a];
		return insert(p, n, ops, 1);
	case 4:
		swap = p->op[a];
		p->op[a] = p->op[b];
		p->op[b] = swap;
		return n;
	case 5:
		if (below(3))
			p->user = below(USERS);
		else
			p->spare[0] = below(4);
		return n;
	case 6:
		p->op[a] = random_op();
		return n;
	case 7:
		LLVMFuzzerMutate((uint8_t *)&p->op[a], sizeof(swap),
				 sizeof(swap));
		return n;
	default:
		change(&p->op[a]);
		return n;
	}
}

static unsigned int ops_of(size_t size)
{
	size_t n = size < PROGRAM_HEADER ? 0 :
		   (size - PROGRAM_HEADER) / sizeof(struct op);

	return n < PROGRAM_OPS ? n : PROGRAM_OPS;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	struct program p = { 0 };
	unsigned int n = ops_of(size), times;

	state = seed;
	memcpy(&p, data, size < PROGRAM_MAX ? size : PROGRAM_MAX);
	for (times = 1 + below(4); times; times--)
		n = mutate_once(&p, n);
	size = PROGRAM_HEADER + n * sizeof(struct op);
	if (size > max_size)
		size = max_size;
	memcpy(data, &p, size);
	return size;
}

/* The beginning of one, the end of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size,
				 const uint8_t *b, size_t b_size, uint8_t *out,
				 size_t max_size, unsigned int seed)
{
	unsigned int an = ops_of(a_size), bn = ops_of(b_size), from, n;
	struct program p = { 0 };

	state = seed;
	memcpy(&p, a, a_size < PROGRAM_MAX ? a_size : PROGRAM_MAX);
	n = below(an + 1);
	from = below(bn + 1);
	while (from < bn && n < PROGRAM_OPS)
		memcpy(&p.op[n++], b + PROGRAM_HEADER +
		       from++ * sizeof(struct op), sizeof(struct op));
	n = PROGRAM_HEADER + n * sizeof(struct op);
	if (n > max_size)
		n = max_size;
	memcpy(out, &p, n);
	return n;
}
