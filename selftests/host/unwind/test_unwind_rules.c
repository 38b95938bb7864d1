// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is not a rule of the module's is told as such: a wrong one would be followed.
 */
#include "frames.h"
#include "tap.h"

static struct hwpmc_unwind_rule last;
static size_t nrows;

static int on_function(void *arg, uint64_t start, uint64_t end)
{
	return 0;
}

static int on_row(void *arg, uint64_t addr,
		  const struct hwpmc_unwind_rule *rule)
{
	last = *rule;
	nrows++;
	return 0;
}

/* The rule of a function with this program */
static uint8_t cfa_of(const void *program, size_t n)
{
	const struct cfi_sink sink = { on_function, on_row, NULL };
	struct cfi_section s = {
		.data = section, .addr = 0x10000, .machine = EM_X86_64,
	};
	size_t common, at;

	len = 0;
	common = begin_common(0);
	byte(DW_CFA_def_cfa);
	uleb(7);
	uleb(8);
	byte(DW_CFA_offset | 16);
	uleb(1);
	end_entry(common);
	at = begin_function(common, 0x1000, 16);
	bytes(program, n);
	end_entry(at);
	s.len = len;
	last = (struct hwpmc_unwind_rule){ 0 };
	if (pmc_cfi_walk(&s, &sink))
		abort();
	return last.cfa;
}

#define PROGRAM(...) (const unsigned char[]){ __VA_ARGS__ }, \
		      sizeof((const unsigned char[]){ __VA_ARGS__ })
#define SP		7
#define BREG_SP		(DW_OP_breg0 + SP)
#define DEREF_SP(n)	DW_CFA_def_cfa_expression, 3, BREG_SP, n, DW_OP_deref

/* That of the caller, which is the CFA unless it is told: see setcontext(), longjmp() */
static void test_stack_pointer(void)
{
	ok(cfa_of(PROGRAM(DW_CFA_nop)) == HWPMC_CFA_SP, "nothing of the stack pointer");
	ok(cfa_of(PROGRAM(DW_CFA_offset | SP, 4)) == HWPMC_CFA_UNTOLD,
	   "the stack pointer is in memory");
	ok(cfa_of(PROGRAM(DW_CFA_register, SP, 8)) == HWPMC_CFA_UNTOLD,
	   "... in a register");
	ok(cfa_of(PROGRAM(DW_CFA_val_expression, SP, 2, BREG_SP, 64)) ==
	   HWPMC_CFA_UNTOLD, "... somewhere else");
	ok(cfa_of(PROGRAM(DW_CFA_val_offset, SP, 1)) == HWPMC_CFA_UNTOLD,
	   "... beside the CFA");
	ok(cfa_of(PROGRAM(DW_CFA_val_offset, SP, 0)) == HWPMC_CFA_SP,
	   "... the CFA");
	ok(cfa_of(PROGRAM(DEREF_SP(16), DW_CFA_expression, SP, 2, BREG_SP,
			  16)) == HWPMC_CFA_SP_DEREF,
	   "... where the CFA is");
	ok(cfa_of(PROGRAM(DEREF_SP(16), DW_CFA_expression, SP, 2, BREG_SP,
			  24)) == HWPMC_CFA_UNTOLD,
	   "... not where the CFA is");
	ok(cfa_of(PROGRAM(DW_CFA_offset | SP, 4, DW_CFA_advance_loc | 1,
			  DW_CFA_restore | SP)) == HWPMC_CFA_SP,
	   "... no longer in memory");
}

static size_t rows_of(int open)
{
	const struct cfi_sink sink = { on_function, on_row, NULL };
	const struct cfi_section s = {
		.data = section, .len = len, .addr = 0x10000, .open = open,
		.machine = EM_X86_64,
	};

	nrows = 0;
	if (pmc_cfi_walk(&s, &sink))
		abort();
	return nrows;
}

/* Objects that end the section are sometimes linked before others. */
static void test_terminators(void)
{
	size_t common, before, i;

	len = 0;
	for (i = 0; i < 2; i++) {
		common = begin_common(0);
		end_entry(common);
		end_entry(begin_function(common, 0x1000, 16));
		before = len;
		fill(0, 12);
	}
	ok(rows_of(0) == 2, "terminators between functions");
	ok(rows_of(1) == 1, "... end what has no length");
	for (i = 1; len > before; i++, len--)
		if (rows_of(0) != 2)
			break;
	ok(i == 13, "... and some bytes of one");
}

int main(void)
{
	test_terminators();
	test_stack_pointer();
	return done();
}
