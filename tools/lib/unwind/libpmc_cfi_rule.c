// SPDX-License-Identifier: BSD-2-Clause
/*
 * Converts DWARF's state at a place to a rule.  Only those forms of expressions are
 * recognised that compilers, assemblers and libraries write.
 */
#include <elf.h>
#include <string.h>

#include "libpmc_cfi.h"
#include "libpmc_dwarf.h"

struct machine {
	unsigned int	sp, fp;
};

static struct machine machine_of(unsigned int machine)
{
	return machine == EM_AARCH64 ? (struct machine){ 31, 29 } :
				       (struct machine){ 7, 6 };
}

/* Valid registers are not saved farther away than this. */
static int fits(int64_t offset)
{
	return offset == (int32_t)offset;
}

/* DW_OP_bregN OFFSET at the beginning of an expression */
static int read_breg(struct cfi_reader *r, unsigned int *reg, int64_t *offset)
{
	unsigned int op = (unsigned int)pmc_cfi_bytes(r, 1);

	if (op < DW_OP_breg0 || op > DW_OP_breg31)
		return 0;
	*reg = op - DW_OP_breg0;
	*offset = pmc_cfi_sleb(r);
	return !r->bad && fits(*offset);
}

/* A constant that is added; 0 at the expression's end */
static int read_addend(struct cfi_reader *r, int64_t *addend)
{
	unsigned int op;

	*addend = 0;
	if (r->at == r->end)
		return 1;
	op = (unsigned int)pmc_cfi_bytes(r, 1);
	if (op == DW_OP_plus_uconst) {
		*addend = (int64_t)pmc_cfi_uleb(r);
	} else {
		if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
			*addend = op - DW_OP_lit0;
		else if (op == DW_OP_const1u)
			*addend = (int64_t)pmc_cfi_bytes(r, 1);
		else if (op == DW_OP_consts)
			*addend = pmc_cfi_sleb(r);
		else
			return 0;
		if (pmc_cfi_bytes(r, 1) != DW_OP_plus)
			return 0;
	}
	return !r->bad && r->at == r->end && fits(*addend);
}

/*
 * The linker's expression for .plt: each entry of 16 bytes pushes a word before
 * its byte N.
 * sp + OFFSET + ((pc & 15) >= N) * 8
 */
static int plt(struct hwpmc_unwind_rule *rule, const struct cfi_state *s)
{
	static const unsigned char after[] = {
		DW_OP_breg0 + 16, 0, DW_OP_lit15, DW_OP_and,
	};
	static const unsigned char last[] = {
		DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus,
	};
	struct cfi_reader r = { s->expr, s->expr + s->len, 0 };
	const unsigned char *p;
	unsigned int reg, op;
	int64_t offset;

	if (!read_breg(&r, &reg, &offset) || reg != 7)
		return 0;
	p = pmc_cfi_skip(&r, sizeof(after));
	if (!p || memcmp(p, after, sizeof(after)))
		return 0;
	op = (unsigned int)pmc_cfi_bytes(&r, 1);
	p = pmc_cfi_skip(&r, sizeof(last));
	if (!p || memcmp(p, last, sizeof(last)) || r.at != r.end ||
	    op < DW_OP_lit0 || op > DW_OP_lit31)
		return 0;
	rule->cfa = HWPMC_CFA_PLT;
	rule->cfa_offset = (int32_t)offset;
	rule->cfa_add = (int32_t)(op - DW_OP_lit0);
	return 1;
}

static int cfa_register(struct hwpmc_unwind_rule *rule, struct machine m,
			uint64_t reg, int64_t offset)
{
	if (reg == m.sp)
		rule->cfa = HWPMC_CFA_SP;
	else if (reg == m.fp)
		rule->cfa = HWPMC_CFA_FP;
	else if (reg < HWPMC_CFA_REGS - HWPMC_CFA_REG)
		rule->cfa = (uint8_t)(HWPMC_CFA_REG + reg);
	else
		return 0;
	rule->cfa_offset = (int32_t)offset;
	return fits(offset);
}

/* reg + offset, or the word there and a constant */
static int cfa_expression(struct hwpmc_unwind_rule *rule, struct machine m,
			  const struct cfi_state *s)
{
	struct cfi_reader r = { s->expr, s->expr + s->len, 0 };
	int64_t offset, addend;
	unsigned int reg;

	if (!read_breg(&r, &reg, &offset))
		return 0;
	if (r.at == r.end)
		return cfa_register(rule, m, reg, offset);
	if (pmc_cfi_bytes(&r, 1) != DW_OP_deref || !read_addend(&r, &addend) ||
	    (reg != m.sp && reg != m.fp))
		return 0;
	rule->cfa = reg == m.sp ? HWPMC_CFA_SP_DEREF : HWPMC_CFA_FP_DEREF;
	rule->cfa_offset = (int32_t)offset;
	rule->cfa_add = (int32_t)addend;
	return 1;
}

/* Memory at the stack pointer, or at the frame pointer */
static int place_expression(const struct cfi_reg *reg, struct machine m,
			    uint8_t *at, int32_t *offset)
{
	struct cfi_reader r = { reg->expr, reg->expr + reg->len, 0 };
	unsigned int base;
	int64_t off;

	if (!read_breg(&r, &base, &off) || r.at != r.end ||
	    (base != m.sp && base != m.fp))
		return 0;
	*at = base == m.sp ? HWPMC_AT_SP : HWPMC_AT_FP;
	*offset = (int32_t)off;
	return 1;
}

static int place(const struct cfi_reg *reg, struct machine m, uint8_t *at,
		 int32_t *offset)
{
	switch (reg->kind) {
	case CFI_SAME:
		*at = HWPMC_AT_SAME;
		return 1;
	case CFI_UNDEFINED:
		*at = HWPMC_AT_UNDEFINED;
		return 1;
	case CFI_OFFSET:
		*at = HWPMC_AT_CFA;
		*offset = (int32_t)reg->offset;
		return fits(reg->offset);
	case CFI_EXPRESSION:
		return place_expression(reg, m, at, offset);
	default:
		return 0;
	}
}

/* A return address may also be in a register, as in vfork(). */
static int ra_place(const struct cfi_reg *reg, struct machine m,
		    struct hwpmc_unwind_rule *rule)
{
	if (reg->kind != CFI_REGISTER)
		return place(reg, m, &rule->ra, &rule->ra_offset);
	if (reg->offset < 0 || reg->offset >= HWPMC_AT_REGS - HWPMC_AT_REG)
		return 0;
	rule->ra = (uint8_t)(HWPMC_AT_REG + reg->offset);
	return 1;
}

/*
 * By a rule, the caller's stack pointer is the CFA.  setcontext() and longjmp() have
 * another one.  A signal's frame says that it is where the CFA is read.
 */
static int sp_is_cfa(const struct cfi_reg *sp, struct machine m,
		     const struct hwpmc_unwind_rule *rule)
{
	int32_t offset;
	uint8_t at;

	switch (sp->kind) {
	case CFI_SAME:
	case CFI_UNDEFINED:
		return 1;
	case CFI_OTHER:
		return !sp->expr && !sp->offset;
	case CFI_EXPRESSION:
		return place_expression(sp, m, &at, &offset) &&
		       rule->cfa == (at == HWPMC_AT_SP ? HWPMC_CFA_SP_DEREF :
							 HWPMC_CFA_FP_DEREF) &&
		       rule->cfa_offset == offset && !rule->cfa_add;
	default:
		return 0;
	}
}

/*
 * For its trampoline, arm64's kernel describes the caller's return address, not the
 * place where the program was interrupted.  The latter is in the signal's frame, at
 * the stack pointer.  struct rt_sigframe: siginfo, ucontext up to the registers, x0.
 */
static void arm64_signal(struct hwpmc_unwind_rule *rule)
{
	const int32_t x0 = 128 + 176 + 8;

	*rule = (struct hwpmc_unwind_rule){
		.cfa = HWPMC_CFA_SP_DEREF, .cfa_offset = x0 + 31 * 8,
		.ra = HWPMC_AT_SP, .ra_offset = x0 + 32 * 8,
		.fp = HWPMC_AT_SP, .fp_offset = x0 + 29 * 8,
		.lr = HWPMC_AT_SP, .lr_offset = x0 + 30 * 8,
		.flags = HWPMC_RULE_SIGNAL,
	};
}

/*
 * .plt pushes two words before it jumps to glibc's _dl_runtime_resolve(), which says
 * that its frame begins below them.  No other function has its return address in the
 * frame of its caller.
 */
static void arm64_resolver(struct hwpmc_unwind_rule *rule)
{
	if (rule->cfa != HWPMC_CFA_SP || rule->ra != HWPMC_AT_CFA ||
	    rule->ra_offset != 8 || rule->fp != HWPMC_AT_SAME ||
	    !fits((int64_t)rule->cfa_offset + 16))
		return;
	rule->cfa_offset += 16;
	rule->ra_offset -= 16;
}

void pmc_cfi_rule(struct hwpmc_unwind_rule *rule, const struct cfi_state *s,
		  unsigned int machine, int signal)
{
	struct machine m = machine_of(machine);
	int ok;

	if (signal && machine == EM_AARCH64) {
		arm64_signal(rule);
		return;
	}
	*rule = (struct hwpmc_unwind_rule){
		.flags = signal ? HWPMC_RULE_SIGNAL : 0,
	};
	if (s->ra.kind == CFI_UNDEFINED) {	/* where a thread begins */
		rule->cfa = HWPMC_CFA_SP;
		rule->ra = HWPMC_AT_UNDEFINED;
		return;
	}
	ok = s->expr ? cfa_expression(rule, m, s) ||
		       (machine == EM_X86_64 && plt(rule, s)) :
		       cfa_register(rule, m, s->reg, s->offset);
	ok = ok && sp_is_cfa(&s->sp, m, rule) && ra_place(&s->ra, m, rule);
	if (ok && !place(&s->fp, m, &rule->fp, &rule->fp_offset)) {
		rule->fp = HWPMC_AT_UNDEFINED;
		rule->fp_offset = 0;
	}
	if (ok && !place(&s->rbx, m, &rule->lr, &rule->lr_offset)) {
		rule->lr = HWPMC_AT_UNDEFINED;
		rule->lr_offset = 0;
	}
	if (ok && machine == EM_AARCH64)
		arm64_resolver(rule);
	if (!ok)
		*rule = (struct hwpmc_unwind_rule){ .cfa = HWPMC_CFA_UNTOLD };
}
