// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <string.h>

#include <linux/hwpmc_unwind.h>

#include "wild.h"

#ifdef __aarch64__
#define MACHINE		EM_AARCH64
#else
#define MACHINE		EM_X86_64
#endif

#define ROWS_MAX	1500
#define RULES_MAX	200

#define HEAD		sizeof(struct hwpmc_unwind_table)
#define RULE		sizeof(struct hwpmc_unwind_rule)

/* ------------------------------------------------------------------------
 * Rules
 */
static int32_t some_offset(struct rng *r)
{
	static const int32_t extreme[] = {
		0, 1, -1, 8, -8, 4096, INT32_MAX, INT32_MIN, INT32_MAX - 7,
		INT32_MIN + 8,
	};

	switch (rng_below(r, 4)) {
	case 0:
		return extreme[rng_below(r, sizeof(extreme) / sizeof(*extreme))];
	case 1:
		return rng_next(r);
	default:
		return 8 * ((int32_t)rng_below(r, 64) - 24);
	}
}

/* One of the kinds below @kinds, or of the registers. */
static uint8_t some_kind(struct rng *r, unsigned int kinds, unsigned int first,
			 unsigned int end)
{
	if (first < end && rng_once(r, 8))
		return first + rng_below(r, end - first);
	return rng_below(r, kinds);
}

/* Of compilers: walks by these get far. */
static struct hwpmc_unwind_rule plain_rule(struct rng *r)
{
	struct hwpmc_unwind_rule rule = {
		.cfa = rng_once(r, 40) ? HWPMC_CFA_FP : HWPMC_CFA_SP,
		.cfa_offset = 8 * (1 + rng_below(r, 6)),
		.ra = HWPMC_AT_CFA, .ra_offset = -8,
	};

	if (rng_once(r, 2)) {
		rule.fp = HWPMC_AT_CFA;
		rule.fp_offset = -16;
	}
	if (rng_once(r, 4)) {
		rule.lr = HWPMC_AT_CFA;
		rule.lr_offset = -24;
	}
	return rule;
}

/* Seldom one that ends all chains */
static uint8_t some_ra(struct rng *r)
{
	uint8_t ra = some_kind(r, HWPMC_AT_KINDS, HWPMC_AT_REG, HWPMC_AT_REGS);

	return ra == HWPMC_AT_UNDEFINED && !rng_once(r, 8) ? HWPMC_AT_CFA : ra;
}

static struct hwpmc_unwind_rule odd_rule(struct rng *r)
{
	return (struct hwpmc_unwind_rule){
		.cfa = some_kind(r, HWPMC_CFA_UNTOLD + 1, HWPMC_CFA_REG,
				 HWPMC_CFA_REGS),
		.ra = some_ra(r),
		.fp = some_kind(r, HWPMC_AT_KINDS, 0, 0),
		.lr = some_kind(r, HWPMC_AT_KINDS, 0, 0),
		.flags = rng_once(r, 4) ? HWPMC_RULE_SIGNAL : 0,
		.cfa_offset = some_offset(r),
		.cfa_add = some_offset(r),
		.ra_offset = some_offset(r),
		.fp_offset = some_offset(r),
		.lr_offset = some_offset(r),
	};
}

/* The caller is the frame itself: a walk ends by its depth alone. */
static struct hwpmc_unwind_rule circle(struct rng *r)
{
	return (struct hwpmc_unwind_rule){
		.cfa = HWPMC_CFA_SP, .ra = HWPMC_AT_SP,
		.ra_offset = 8 * rng_below(r, 4),
		.flags = HWPMC_RULE_SIGNAL,
	};
}

/* One of @odd rules is not a compiler's. */
static struct hwpmc_unwind_rule some_rule(struct rng *r, unsigned int odd)
{
	if (!rng_once(r, odd))
		return plain_rule(r);
	return rng_once(r, 8) ? circle(r) : odd_rule(r);
}

/* ------------------------------------------------------------------------
 * Tables
 */
static void write_rules(struct rng *r, struct hwpmc_unwind_rule *rule,
			uint32_t n, unsigned int odd)
{
	uint32_t i;

	memset(rule, 0, RULE);		/* the first one is NONE */
	for (i = 1; i < n; i++)
		rule[i] = some_rule(r, odd);
}

static void write_rows(struct rng *r, char *rows, uint32_t nrows,
		       uint32_t nrules)
{
	/* mostly to the end of the file */
	uint32_t step = 1 + 3 * WILD_FILE_SIZE / nrows, pc, i;
	uint16_t rule;

	pc = rng_once(r, 16) ? rng_below(r, WILD_FILE_SIZE) : 0;
	for (i = 0; i < nrows; i++) {
		memcpy(rows + i * sizeof(pc), &pc, sizeof(pc));
		pc += 1 + rng_below(r, step);
		rule = i < nrows - 1 ? rng_below(r, nrules) : 0;
		memcpy(rows + nrows * sizeof(pc) + i * sizeof(rule), &rule,
		       sizeof(rule));
	}
}

size_t wild_table(struct rng *r, void *to, unsigned int odd)
{
	struct hwpmc_unwind_table head = {
		.magic = HWPMC_UNWIND_MAGIC,
		.version = HWPMC_UNWIND_VERSION,
		.machine = MACHINE,
		.nrows = 1 + rng_below(r, rng_once(r, 16) ? 8 : ROWS_MAX),
		.nrules = 1 + rng_below(r, RULES_MAX),
	};
	char *rules = (char *)to + HEAD, *rows = rules + head.nrules * RULE;

	memcpy(to, &head, HEAD);
	write_rules(r, (void *)rules, head.nrules, odd);
	write_rows(r, rows, head.nrows, head.nrules);
	return HEAD + head.nrules * RULE + head.nrows * 6;
}

/* A bit, a byte or a word anywhere, or in the head. */
static void spoil(struct rng *r, char *table, size_t len)
{
	size_t at = rng_below(r, rng_once(r, 3) ? HEAD : len - 3);
	uint32_t word = rng_next(r);

	switch (rng_below(r, 3)) {
	case 0:
		table[at] ^= 1 << rng_below(r, 8);
		break;
	case 1:
		table[at] = word;
		break;
	default:
		memcpy(table + at, &word, sizeof(word));
	}
}

/* Two rows change places, or one is there twice. */
static void disorder(struct rng *r, char *table)
{
	const struct hwpmc_unwind_table *h = (const void *)table;
	uint32_t *pc = (void *)(table + HEAD + h->nrules * RULE), was;
	uint32_t i = rng_below(r, h->nrows), j = rng_below(r, h->nrows);

	was = pc[i];
	pc[i] = pc[j];
	if (rng_once(r, 2))
		pc[j] = was;
}

size_t wild_table_mutant(struct rng *r, void *to, unsigned int odd)
{
	size_t len = wild_table(r, to, odd);
	unsigned int n = 1 + rng_below(r, 3);

	if (rng_once(r, 4))
		disorder(r, to);
	else
		while (n--)
			spoil(r, to, len);
	if (rng_once(r, 8))
		len = rng_below(r, len) + 1;
	return len;
}

/* ------------------------------------------------------------------------
 * What a table has to be
 */
static bool rule_is_valid(const struct hwpmc_unwind_rule *r)
{
	bool cfa = r->cfa <= HWPMC_CFA_UNTOLD ||
		   (r->cfa >= HWPMC_CFA_REG && r->cfa < HWPMC_CFA_REGS);
	bool ra = r->ra < HWPMC_AT_KINDS ||
		  (r->ra >= HWPMC_AT_REG && r->ra < HWPMC_AT_REGS);

	return cfa && ra && r->fp < HWPMC_AT_KINDS && r->lr < HWPMC_AT_KINDS &&
	       !(r->flags & ~HWPMC_RULE_SIGNAL) &&
	       !(r->reserved[0] | r->reserved[1] | r->reserved[2]);
}

static bool head_is_valid(const struct hwpmc_unwind_table *h, size_t len)
{
	return h->magic == HWPMC_UNWIND_MAGIC &&
	       h->version == HWPMC_UNWIND_VERSION && h->machine == MACHINE &&
	       h->nrows && h->nrows <= HWPMC_UNWIND_ROWS_MAX &&
	       h->nrules && h->nrules <= HWPMC_UNWIND_RULES_MAX &&
	       !(h->reserved[0] | h->reserved[1] | h->reserved[2] |
		 h->reserved[3]) &&
	       len == HEAD + h->nrules * RULE + h->nrows * 6ULL;
}

bool wild_table_is_valid(const void *table, size_t len)
{
	const struct hwpmc_unwind_table *h = table;
	const struct hwpmc_unwind_rule *rule = (const void *)(h + 1);
	const uint32_t *pc;
	const uint16_t *number;
	uint32_t i;

	if (len < HEAD || !head_is_valid(h, len))
		return false;
	for (i = 0; i < h->nrules; i++)
		if (!rule_is_valid(&rule[i]))
			return false;
	pc = (const void *)(rule + h->nrules);
	number = (const void *)(pc + h->nrows);
	for (i = 0; i < h->nrows; i++)
		if (number[i] >= h->nrules || (i && pc[i] <= pc[i - 1]))
			return false;
	return rule[number[h->nrows - 1]].cfa == HWPMC_CFA_NONE;
}
