// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Unwind tables from user space.  A table is checked once; after that its
 * indices are trusted to stay within their arrays.  Each step checks what the
 * rules say.
 */
#include "unwind_table.h"

#define ROWS_AT_ONCE	(1U << 16)

static bool at_ok(u8 at)
{
	return at < HWPMC_AT_KINDS;
}

static bool ra_ok(u8 at)
{
	return at_ok(at) || (at >= HWPMC_AT_REG && at < HWPMC_AT_REGS);
}

static bool cfa_ok(u8 cfa)
{
	return cfa <= HWPMC_CFA_UNTOLD ||
	       (cfa >= HWPMC_CFA_REG && cfa < HWPMC_CFA_REGS);
}

static bool rule_ok(const struct hwpmc_unwind_rule *r)
{
	return cfa_ok(r->cfa) && ra_ok(r->ra) && at_ok(r->fp) && at_ok(r->lr) &&
	       !(r->flags & ~HWPMC_RULE_SIGNAL) && !r->reserved[0] &&
	       !r->reserved[1] && !r->reserved[2];
}

static bool rules_ok(const struct unwind_table *t)
{
	u32 i;

	for (i = 0; i < t->nrules; i++)
		if (!rule_ok(&t->rules[i]))
			return false;
	return true;
}

/* Each pc is above the one before, each rule exists, and the last rule is NONE. */
static bool rows_ok(const struct unwind_table *t)
{
	u32 i;

	for (i = 0; i < t->nrows; i++) {
		if ((i && t->pc[i] <= t->pc[i - 1]) ||
		    t->rule[i] >= t->nrules)
			return false;
		if (!(i % ROWS_AT_ONCE))
			unwind_pause();
	}
	return t->rules[t->rule[t->nrows - 1]].cfa == HWPMC_CFA_NONE;
}

static bool head_ok(const struct hwpmc_unwind_table *h, size_t len, u16 machine)
{
	const size_t row = sizeof(u32) + sizeof(u16);

	return h->magic == HWPMC_UNWIND_MAGIC &&
	       h->version == HWPMC_UNWIND_VERSION && h->machine == machine &&
	       h->nrows && h->nrows <= HWPMC_UNWIND_ROWS_MAX &&
	       h->nrules && h->nrules <= HWPMC_UNWIND_RULES_MAX &&
	       !h->reserved[0] && !h->reserved[1] && !h->reserved[2] &&
	       !h->reserved[3] &&
	       len == sizeof(*h) + h->nrows * row +
		      h->nrules * sizeof(struct hwpmc_unwind_rule);
}

/*
 * hwpmc_unwind_table_check - check @len bytes at @data and make @t a view of
 * them
 * @data: aligned to 4 bytes; nothing else can write to it
 *
 * EINVAL: not a table for @machine.
 */
int hwpmc_unwind_table_check(struct unwind_table *t, const void *data,
			     size_t len, u16 machine)
{
	const struct hwpmc_unwind_table *h = data;

	if (len < sizeof(*h) || !head_ok(h, len, machine))
		return -EINVAL;
	t->nrows = h->nrows;
	t->nrules = h->nrules;
	t->rules = (const struct hwpmc_unwind_rule *)(h + 1);
	t->pc = (const u32 *)(t->rules + t->nrules);
	t->rule = (const u16 *)(t->pc + t->nrows);
	return rules_ok(t) && rows_ok(t) ? 0 : -EINVAL;
}

/*
 * hwpmc_unwind_table_find - the rule for the instruction at @pc of the file
 *
 * NULL: the table does not cover @pc.  A rule of UNTOLD: no rule can describe
 * that place.  Any context; about log2(rows) steps.
 */
const struct hwpmc_unwind_rule *
hwpmc_unwind_table_find(const struct unwind_table *t, u32 pc)
{
	const struct hwpmc_unwind_rule *r;
	u32 low = 0, n = t->nrows;

	if (pc < t->pc[0])
		return NULL;
	/* the row is one of @n from @low on, the first of which is not above @pc */
	while (n > 1) {
		u32 half = n / 2;

		if (t->pc[low + half] <= pc)
			low += half;
		n -= half;
	}
	r = &t->rules[array_index_nospec(t->rule[low], t->nrules)];
	return r->cfa == HWPMC_CFA_NONE ? NULL : r;
}
