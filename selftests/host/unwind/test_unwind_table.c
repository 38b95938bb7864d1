// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables that nobody should believe in, the rows of those that are sound, and steps
 * by hostile rules.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../src/unwind/unwind_step.h"
#include "rnd.h"
#include "tap.h"

#define NRULES	3
#define NROWS	6	/* even: no padding behind them */

/* A table, as it is in memory */
struct whole {
	struct hwpmc_unwind_table head;
	struct hwpmc_unwind_rule rules[NRULES];
	u32	pc[NROWS];
	u16	rule[NROWS];
} __attribute__((packed, aligned(4)));

static const struct whole sound = {
	.head = {
		.magic = HWPMC_UNWIND_MAGIC, .version = HWPMC_UNWIND_VERSION,
		.machine = EM_X86_64, .nrows = NROWS, .nrules = NRULES,
	},
	.rules = {
		{ .cfa = HWPMC_CFA_NONE },
		{ .cfa = HWPMC_CFA_SP, .cfa_offset = 8, .ra = HWPMC_AT_CFA,
		  .ra_offset = -8 },
		{ .cfa = HWPMC_CFA_FP, .cfa_offset = 16, .ra = HWPMC_AT_CFA,
		  .ra_offset = -8, .fp = HWPMC_AT_CFA, .fp_offset = -16 },
	},
	.pc = { 0x1000, 0x1001, 0x1004, 0x2000, 0x2008, 0x2010 },
	.rule = { 1, 2, 1, 2, 1, 0 },
};

static struct unwind_table view;

/* The bytes are at the end of what has been allocated. */
static int check_len(const struct whole *t, size_t len, u16 machine)
{
	void *copy = malloc(len ? len : 1);
	int status;

	memcpy(copy, t, len);
	status = hwpmc_unwind_table_check(&view, copy, len, machine);
	free(copy);
	return status;
}

static bool refused(const struct whole *t)
{
	return check_len(t, sizeof(*t), EM_X86_64) == -EINVAL;
}

#define REFUSED(change, what) do {				\
	struct whole t = sound;					\
								\
	change;							\
	ok(refused(&t), "refused: " what);			\
} while (0)

#define TAKEN(change, what) do {				\
	struct whole t = sound;					\
								\
	change;							\
	ok(!refused(&t), "taken: " what);			\
} while (0)

static void test_head(void)
{
	size_t i, wrong = 0;

	ok(!refused(&sound), "a sound table");
	for (i = 0; i < sizeof(sound); i++)
		wrong += check_len(&sound, i, EM_X86_64) != -EINVAL;
	ok(!wrong, "refused: shorter by any number of bytes");
	ok(check_len(&sound, sizeof(sound), EM_AARCH64) == -EINVAL,
	   "refused: of another machine");
	REFUSED(t.head.magic++, "another magic");
	REFUSED(t.head.version++, "another version");
	REFUSED(t.head.version = 0, "version 0");
	for (i = 0; i < 4; i++)
		REFUSED(t.head.reserved[i] = 1, "a reserved field");
}

static void test_lengths(void)
{
	u64 row = sizeof(u32) + sizeof(u16);
	struct {
		struct whole t;
		char more[sizeof(struct hwpmc_unwind_rule)];
	} longer = { sound, { 0 } };

	REFUSED(t.head.nrows = 0, "no rows");
	REFUSED(t.head.nrules = 0, "no rules");
	REFUSED(t.head.nrows--, "a row more than it says");
	REFUSED(t.head.nrows++, "a row less than it says");
	REFUSED(t.head.nrules--, "a rule more than it says");
	REFUSED(t.head.nrules++, "a rule less than it says");
	REFUSED(t.head.nrows = HWPMC_UNWIND_ROWS_MAX + 1, "too many rows");
	REFUSED(t.head.nrules = HWPMC_UNWIND_RULES_MAX + 1, "too many rules");
	/* as many as come to the same length, if that wraps */
	REFUSED(t.head.nrows = (u32)((1ULL << 32) / row) + 1, "rows that wrap");
	REFUSED(t.head.nrows = ~0U, "all rows there can be");
	REFUSED(t.head.nrules = ~0U, "all rules there can be");
	REFUSED((t.head.nrules = 1, t.head.nrows += 2 * 28 / 6),
		"rows where rules are");
	ok(check_len(&longer.t, sizeof(longer), EM_X86_64) == -EINVAL,
	   "refused: something behind it");
}

static void test_rows(void)
{
	REFUSED(t.pc[1] = t.pc[0], "two rows of an address");
	REFUSED(t.pc[2] = t.pc[1] - 1, "addresses that go back");
	REFUSED(t.pc[NROWS - 1] = 0, "the last address is 0");
	REFUSED(t.pc[0] = ~0U, "the first address is the last there is");
	REFUSED(t.rule[0] = NRULES, "a rule that is not there, in the first row");
	REFUSED(t.rule[3] = NRULES, "... in the middle");
	REFUSED(t.rule[NROWS - 1] = NRULES, "... in the last");
	REFUSED(t.rule[2] = 0xffff, "rule 65535");
	REFUSED(t.rule[NROWS - 1] = 1, "a last row that has no end");
	TAKEN(t.rule[1] = 0, "a hole");
	TAKEN(t.pc[0] = 0, "an address of 0");
	TAKEN(t.pc[NROWS - 1] = ~0U, "the last address there is");
}

static bool cfa_is_known(unsigned int kind)
{
	return kind <= HWPMC_CFA_UNTOLD ||
	       (kind >= HWPMC_CFA_REG && kind < HWPMC_CFA_REGS);
}

static bool at_is_known(unsigned int kind)
{
	return kind < HWPMC_AT_KINDS;
}

static bool ra_is_known(unsigned int kind)
{
	return at_is_known(kind) ||
	       (kind >= HWPMC_AT_REG && kind < HWPMC_AT_REGS);
}

static bool flags_are_known(unsigned int flags)
{
	return !(flags & ~HWPMC_RULE_SIGNAL);
}

static bool is_zero(unsigned int value)
{
	return !value;
}

/* Each value of each byte of a rule but its offsets */
static void test_kinds(void)
{
	static bool (*const known[])(unsigned int) = {
		cfa_is_known, ra_is_known, at_is_known, at_is_known,
		flags_are_known, is_zero, is_zero, is_zero,
	};
	static const char *const names[] = {
		"cfa", "ra", "fp", "lr", "flags", "reserved[0]", "reserved[1]",
		"reserved[2]",
	};
	unsigned int i, value, wrong;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		for (value = wrong = 0; value < 256; value++) {
			struct whole t = sound;

			((u8 *)&t.rules[1])[i] = (u8)value;
			wrong += refused(&t) == known[i](value);
		}
		ok(!wrong, "a rule's %s: only what there is", names[i]);
	}
	/* a rule that no row has is a rule, too */
	REFUSED((t.rule[1] = t.rule[3] = 1, t.rules[2].cfa = 99),
		"a rule that is not used");
	TAKEN((t.rules[1].cfa_offset = INT32_MIN, t.rules[1].ra_offset = INT32_MAX),
	      "any offset");
}

/* What a search finds is what looking at each row does. */
static const struct hwpmc_unwind_rule *slow_find(const struct unwind_table *t,
						 u32 pc)
{
	const struct hwpmc_unwind_rule *r = NULL;
	u32 i;

	for (i = 0; i < t->nrows && t->pc[i] <= pc; i++)
		r = &t->rules[t->rule[i]];
	return r && r->cfa != HWPMC_CFA_NONE ? r : NULL;
}

static void test_find(void)
{
	static struct hwpmc_unwind_rule rules[8];
	u32 pc[300], n, i, at, wrong = 0;
	u16 rule[300];
	struct unwind_table t = { rules, pc, rule, 0, 8 };

	for (i = 1; i < 8; i++)
		rules[i].cfa = HWPMC_CFA_SP;
	for (n = 1; n <= 300; n += n < 40 ? 1 : 37) {
		for (i = at = 0; i < n; i++) {
			pc[i] = at += 1 + (u32)rnd(4);
			rule[i] = (u16)rnd(8);
		}
		rule[n - 1] = 0;
		t.nrows = n;
		for (i = 0; i < at + 4; i++)
			wrong += hwpmc_unwind_table_find(&t, i) !=
				 slow_find(&t, i);
		wrong += hwpmc_unwind_table_find(&t, ~0U) != NULL;
	}
	ok(!wrong, "a search in tables of any length");
}

/* A stack of words: the address of the first, and each its own number, but for one */
#define STACK	0x7000000000ULL
#define WORDS	64
#define ADDRESS	63		/* of STACK + 480 */

static bool read_stack(void *arg, u64 addr, u64 *word)
{
	if (addr < STACK || addr >= STACK + WORDS * 8 || (addr & 7))
		return false;
	*word = (addr - STACK) / 8;
	if (*word == ADDRESS)
		*word = STACK + 480;
	return true;
}

static u64 as_it_is(u64 pc)
{
	return pc;
}

static u64 regs[UNWIND_NREGS];

static const struct unwind_frame start = {
	.pc = 0x401000, .sp = STACK + 80, .fp = STACK + 160, .regs = regs,
	.sp_known = true, .fp_known = true, .exact = true,
};

static enum unwind_result step(struct unwind_frame *f,
			       struct hwpmc_unwind_rule r)
{
	return unwind_step(f, &r, read_stack, NULL, as_it_is);
}

#define RULE(...)	((struct hwpmc_unwind_rule){ __VA_ARGS__ })
/* the return address is where calls put it */
#define BY(...)		RULE(.ra = HWPMC_AT_CFA, .ra_offset = -8, __VA_ARGS__)

/* Steps by a rule go to a return address (a word's number) and a stack pointer. */
static void goes(const char *what, struct unwind_frame from,
		 struct hwpmc_unwind_rule r, u64 pc, u64 sp)
{
	enum unwind_result res = step(&from, r);

	ok(res == UNWIND_CALLER && from.pc == pc && from.sp == sp &&
	   !from.regs, "by %s", what);
}

static void refuses(const char *what, struct unwind_frame from,
		    struct hwpmc_unwind_rule r, enum unwind_result want)
{
	struct unwind_frame before = from;
	enum unwind_result res = step(&from, r);

	ok(res == want && from.pc == before.pc && from.sp == before.sp &&
	   from.fp == before.fp, "not by %s", what);
}

static void test_steps(void)
{
	struct unwind_frame f = start;

	regs[3] = STACK + 400;
	regs[5] = 0x1234;
	goes("the stack pointer", f, BY(.cfa = HWPMC_CFA_SP, .cfa_offset = 16),
	     11, STACK + 96);
	goes("the frame pointer", f, BY(.cfa = HWPMC_CFA_FP, .cfa_offset = 16),
	     21, STACK + 176);
	goes("a register", f, BY(.cfa = HWPMC_CFA_REG + 3), 49, STACK + 400);
	goes("a return address in a register", f,
	     RULE(.cfa = HWPMC_CFA_SP, .ra = HWPMC_AT_REG + 5), 0x1234, f.sp);
	goes("an entry of .plt, before it pushes", f,
	     BY(.cfa = HWPMC_CFA_PLT, .cfa_offset = 8, .cfa_add = 11),
	     10, STACK + 88);
	f.pc += 11;
	goes("an entry of .plt, later", f,
	     BY(.cfa = HWPMC_CFA_PLT, .cfa_offset = 8, .cfa_add = 11),
	     11, STACK + 96);
	f = start;
	goes("a signal's frame, to a stack below", f,
	     RULE(.cfa = HWPMC_CFA_SP, .cfa_offset = -32, .ra = HWPMC_AT_CFA,
		  .ra_offset = 8, .flags = HWPMC_RULE_SIGNAL), 7, STACK + 48);
}

/* rbx is kept track of: a step, by which it is lost or not, then one by it */
static void kept(const char *what, struct hwpmc_unwind_rule first,
		 enum unwind_result res, u64 sp)
{
	struct unwind_frame f = start;

	regs[3] = STACK + 400;
	if (step(&f, first) != UNWIND_CALLER)
		ok(false, "a first step: %s", what);
	else if (res == UNWIND_CALLER)
		goes(what, f, BY(.cfa = HWPMC_CFA_REG + 3), (sp - STACK) / 8 - 1,
		     sp);
	else
		refuses(what, f, BY(.cfa = HWPMC_CFA_REG + 3), res);
}

static void test_kept(void)
{
	struct hwpmc_unwind_rule r = BY(.cfa = HWPMC_CFA_SP, .cfa_offset = 16);

	kept("rbx, which is what it was", r, UNWIND_CALLER, STACK + 400);
	r.lr = HWPMC_AT_CFA;
	r.lr_offset = ADDRESS * 8 - 96;
	kept("rbx, which has been saved", r, UNWIND_CALLER, STACK + 480);
	r.lr_offset = WORDS * 8;
	kept("rbx, where there is no memory", r, UNWIND_ABSENT, 0);
	r.lr = HWPMC_AT_UNDEFINED;
	kept("rbx, which is lost", r, UNWIND_NONSENSE, 0);
	kept("rbx of a function that nothing is known of", unwind_by_fp,
	     UNWIND_NONSENSE, 0);
}

static void test_refusals(void)
{
	struct unwind_frame f = start;

	refuses("a frame that ends where it begins", f,
		BY(.cfa = HWPMC_CFA_SP), UNWIND_NONSENSE);
	refuses("a frame below the stack pointer", f,
		BY(.cfa = HWPMC_CFA_SP, .cfa_offset = -8), UNWIND_NONSENSE);
	refuses("... with its return address in a register", f,
		RULE(.cfa = HWPMC_CFA_SP, .cfa_offset = -8, .ra = HWPMC_AT_REG),
		UNWIND_NONSENSE);
	refuses("a register's value below the stack pointer", f,
		BY(.cfa = HWPMC_CFA_REG + 3, .cfa_offset = -392),
		UNWIND_NONSENSE);
	refuses("memory behind the stack", f,
		BY(.cfa = HWPMC_CFA_SP, .cfa_offset = WORDS * 8),
		UNWIND_ABSENT);
	refuses("memory that is nowhere", f,
		RULE(.cfa = HWPMC_CFA_SP, .cfa_offset = 16, .ra = HWPMC_AT_CFA,
		     .ra_offset = INT32_MIN),
		UNWIND_ABSENT);
	refuses("a word that is not aligned", f,
		BY(.cfa = HWPMC_CFA_SP, .cfa_offset = 17), UNWIND_NONSENSE);
	refuses("a frame pointer at no word", f,
		BY(.cfa = HWPMC_CFA_SP, .cfa_offset = 16, .fp = HWPMC_AT_FP,
		   .fp_offset = INT32_MAX), UNWIND_NONSENSE);
	refuses("a frame pointer that cannot be read", f,
		BY(.cfa = HWPMC_CFA_SP, .cfa_offset = 16, .fp = HWPMC_AT_FP,
		   .fp_offset = INT32_MAX - 7), UNWIND_ABSENT);
	refuses("a link register, on a machine without", f,
		RULE(.cfa = HWPMC_CFA_SP, .cfa_offset = 16, .ra = HWPMC_AT_SAME),
		UNWIND_NONSENSE);
	refuses("what begins a thread", f,
		RULE(.cfa = HWPMC_CFA_SP, .ra = HWPMC_AT_UNDEFINED), UNWIND_TOP);
	f.fp_known = false;
	refuses("a frame pointer that is lost", f,
		BY(.cfa = HWPMC_CFA_FP, .cfa_offset = 16), UNWIND_NONSENSE);
	f = start;
	f.regs = NULL;
	refuses("registers of a caller", f,
		BY(.cfa = HWPMC_CFA_REG + 3), UNWIND_NONSENSE);
	refuses("a return address in a caller's register", f,
		RULE(.cfa = HWPMC_CFA_SP, .cfa_offset = 8,
		   .ra = HWPMC_AT_REG + 5), UNWIND_NONSENSE);
	f.sp_known = false;
	refuses("a stack pointer that is lost", f,
		BY(.cfa = HWPMC_CFA_SP, .cfa_offset = 16), UNWIND_NONSENSE);
}

int main(void)
{
	test_head();
	test_lengths();
	test_rows();
	test_kinds();
	test_find();
	test_steps();
	test_kept();
	test_refusals();
	return done();
}
