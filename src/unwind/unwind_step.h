/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step of a walk up a user stack: from a frame to its caller's, by a rule.
 *
 * Plain C: used by the module in overflow handlers and in tasks, and by tests
 * and fuzzers in user space.  Rules and stacks may both be hostile.  A step
 * reads only what @read returns.  The stack pointer only grows, except for
 * signal frames.  The caller bounds the number of steps.
 */
#ifndef HWPMC_UNWIND_STEP_H
#define HWPMC_UNWIND_STEP_H

#include "unwind_table.h"

/* registers that a rule for an innermost frame can use, by DWARF number */
#define UNWIND_NREGS	16

/**
 * struct unwind_frame - where a walk is
 * @pc: of the innermost frame, or a return address
 * @sp, @fp, @lr: as the frame's function has them at @pc
 * @regs: all registers, of the innermost frame only (see unwind_reg()); else
 *	  NULL
 * @kept: amd64: rbx, or (@kept_saved) its place in memory: few rules need it
 * @sp_known, @fp_known, @lr_known, @kept_known: the value is what that function
 *	would find there; @sp is not above that in any case
 * @exact: @pc is the instruction itself, not the one after a call
 */
struct unwind_frame {
	u64		pc;
	u64		sp;
	u64		fp;
	u64		lr;
	u64		kept;
	const void	*regs;
	bool		sp_known;
	bool		fp_known;
	bool		lr_known;
	bool		kept_known;
	bool		kept_saved;
	bool		exact;
};

enum unwind_result {
	UNWIND_CALLER,		/* the frame is now the caller's */
	UNWIND_TOP,		/* there is no caller: the chain is whole */
	UNWIND_ABSENT,		/* memory could not be read */
	UNWIND_NONSENSE,	/* stack and rule do not match */
};

/*
 * Returns true and sets *word to the word at @addr, an aligned address of user
 * memory; returns false if it cannot be read.
 */
typedef bool (*unwind_read)(void *arg, u64 addr, u64 *word);

/*
 * A frame of which only the frame pointer is known.  On arm64 the frame record
 * is at the frame's lower end, so the start of the caller's frame is not known.
 */
#define HWPMC_RULE_SP_BELOW	0x80	/* not in tables */
static const struct hwpmc_unwind_rule unwind_by_fp = {
	.cfa = HWPMC_CFA_FP, .cfa_offset = 16,
	.ra = HWPMC_AT_CFA, .ra_offset = -8,
	.fp = HWPMC_AT_CFA, .fp_offset = -16,
	.lr = HWPMC_AT_UNDEFINED,
	.flags = UNWIND_FP_FLAGS,
};

static __always_inline u64 unwind_add(u64 base, s32 offset)
{
	return base + (u64)(s64)offset;
}

static __always_inline enum unwind_result
unwind_word(u64 addr, u64 *word, unwind_read read, void *arg)
{
	if ((addr & 7) || addr > UNWIND_ADDR_MAX)
		return UNWIND_NONSENSE;
	return read(arg, addr, word) ? UNWIND_CALLER : UNWIND_ABSENT;
}

/* DWARF register @n; of a caller, only the one in @kept */
static __always_inline enum unwind_result
unwind_any_reg(const struct unwind_frame *f, unsigned int n, u64 *value,
	       unwind_read read, void *arg)
{
	if (n < UNWIND_NREGS && f->regs) {
		*value = unwind_reg(f->regs, n);
		return UNWIND_CALLER;
	}
	if (f->regs || !f->kept_known || n != UNWIND_KEPT)
		return UNWIND_NONSENSE;
	*value = f->kept;
	return f->kept_saved ? unwind_word(f->kept, value, read, arg) :
			       UNWIND_CALLER;
}

/* The address that is a rule's CFA, or where the CFA is read. */
static __always_inline enum unwind_result
unwind_cfa_base(const struct unwind_frame *f, const struct hwpmc_unwind_rule *r,
		u64 *cfa, unwind_read read, void *arg)
{
	enum unwind_result res;
	bool known;

	switch (r->cfa) {
	case HWPMC_CFA_SP:
	case HWPMC_CFA_SP_DEREF:
	case HWPMC_CFA_PLT:
		*cfa = f->sp;
		known = f->sp_known;
		break;
	case HWPMC_CFA_FP:
	case HWPMC_CFA_FP_DEREF:
		*cfa = f->fp;
		known = f->fp_known;
		break;
	default:
		if (r->cfa < HWPMC_CFA_REG)
			return UNWIND_NONSENSE;
		res = unwind_any_reg(f, r->cfa - HWPMC_CFA_REG, cfa, read, arg);
		if (res != UNWIND_CALLER)
			return res;
		known = true;
	}
	*cfa = unwind_add(*cfa, r->cfa_offset);
	if (r->cfa == HWPMC_CFA_PLT && (f->pc & 15) >= (u32)r->cfa_add)
		*cfa += 8;
	return known ? UNWIND_CALLER : UNWIND_NONSENSE;
}

/* Where the caller's register was saved to. */
static __always_inline enum unwind_result
unwind_place(const struct unwind_frame *f, u64 cfa, u8 at, s32 offset,
	     u64 *place)
{
	bool known = true;

	*place = cfa;
	if (at == HWPMC_AT_SP) {
		*place = f->sp;
		known = f->sp_known;
	} else if (at == HWPMC_AT_FP) {
		*place = f->fp;
		known = f->fp_known;
	}
	*place = unwind_add(*place, offset);
	return known ? UNWIND_CALLER : UNWIND_NONSENSE;
}

static __always_inline enum unwind_result
unwind_saved(const struct unwind_frame *f, u64 cfa, u8 at, s32 offset,
	     u64 *reg, unwind_read read, void *arg)
{
	enum unwind_result res;
	u64 place;

	res = unwind_place(f, cfa, at, offset, &place);
	return res == UNWIND_CALLER ? unwind_word(place, reg, read, arg) : res;
}

/* Finds the place of the caller's value of the register in @kept. */
static __always_inline void
unwind_kept(const struct unwind_frame *f, const struct hwpmc_unwind_rule *r,
	    u64 cfa, struct unwind_frame *up)
{
	switch (r->lr) {
	case HWPMC_AT_SAME:
		if (f->regs) {
			up->kept = unwind_reg(f->regs, UNWIND_KEPT);
			up->kept_known = true;
		}
		return;
	case HWPMC_AT_UNDEFINED:
		up->kept_known = false;
		return;
	default:
		up->kept_known = unwind_place(f, cfa, r->lr, r->lr_offset,
					      &up->kept) == UNWIND_CALLER;
		up->kept_saved = true;
	}
}

/* Does the function return to an address in a register? */
static __always_inline bool unwind_returns_by_register(u8 ra)
{
	return ra == HWPMC_AT_SAME || ra >= HWPMC_AT_REG;
}

/* The caller's value of a register. */
static __always_inline enum unwind_result
unwind_register(const struct unwind_frame *f, u64 cfa, u8 at, s32 offset,
		u64 *reg, bool *known, unwind_read read, void *arg)
{
	if (at == HWPMC_AT_SAME)
		return UNWIND_CALLER;
	*known = at != HWPMC_AT_UNDEFINED;
	return *known ? unwind_saved(f, cfa, at, offset, reg, read, arg) :
			UNWIND_CALLER;
}

/* The CFA of a rule that has one. */
static __always_inline enum unwind_result
unwind_cfa(const struct unwind_frame *f, const struct hwpmc_unwind_rule *r,
	   u64 *cfa, unwind_read read, void *arg)
{
	enum unwind_result res;

	res = unwind_cfa_base(f, r, cfa, read, arg);
	if (res != UNWIND_CALLER)
		return res;
	if (r->cfa != HWPMC_CFA_SP_DEREF && r->cfa != HWPMC_CFA_FP_DEREF)
		return UNWIND_CALLER;
	res = unwind_word(*cfa, cfa, read, arg);
	*cfa = unwind_add(*cfa, r->cfa_add);
	return res;
}

/* The return address. */
static __always_inline enum unwind_result
unwind_return(const struct unwind_frame *f, u64 cfa,
	      const struct hwpmc_unwind_rule *r, u64 *pc, unwind_read read,
	      void *arg)
{
	if (r->ra >= HWPMC_AT_REG) {
		if (r->ra >= HWPMC_AT_REG + UNWIND_NREGS || !f->regs)
			return UNWIND_NONSENSE;
		*pc = unwind_reg(f->regs, r->ra - HWPMC_AT_REG);
		return UNWIND_CALLER;
	}
	if (r->ra != HWPMC_AT_SAME)
		return unwind_saved(f, cfa, r->ra, r->ra_offset, pc, read, arg);
	*pc = f->lr;
	return f->lr_known ? UNWIND_CALLER : UNWIND_NONSENSE;
}

/*
 * unwind_step - from @f to its caller, by @r
 * @strip: makes a return address an instruction address (arm64: authentication)
 *
 * After CALLER @f is the caller's frame, otherwise unchanged.  Any context in
 * which @read can run.
 */
static __always_inline enum unwind_result
unwind_step(struct unwind_frame *f, const struct hwpmc_unwind_rule *r,
	    unwind_read read, void *arg, u64 (*strip)(u64 pc))
{
	const bool signal = r->flags & HWPMC_RULE_SIGNAL;
	struct unwind_frame up = *f;
	enum unwind_result res;
	u64 cfa;

	if (r->ra == HWPMC_AT_UNDEFINED)
		return UNWIND_TOP;
	res = unwind_cfa(f, r, &cfa, read, arg);
	if (res != UNWIND_CALLER)
		return res;
	/* a function that has not moved its stack pointer returns by a register */
	if (!signal && cfa <= f->sp &&
	    (cfa < f->sp || !unwind_returns_by_register(r->ra)))
		return UNWIND_NONSENSE;
	res = unwind_return(f, cfa, r, &up.pc, read, arg);
	if (res != UNWIND_CALLER)
		return res;
	res = unwind_register(f, cfa, r->fp, r->fp_offset, &up.fp, &up.fp_known,
			      read, arg);
	if (res != UNWIND_CALLER)
		return res;
	up.lr_known = false;
	if (UNWIND_KEPT < UNWIND_NREGS) {
		unwind_kept(f, r, cfa, &up);
	} else if (signal && r->lr != HWPMC_AT_SAME) {
		res = unwind_register(f, cfa, r->lr, r->lr_offset, &up.lr,
				      &up.lr_known, read, arg);
		if (res != UNWIND_CALLER)
			return res;
	}
	up.pc = strip(up.pc);
	up.sp = cfa;
	up.sp_known = !(r->flags & HWPMC_RULE_SP_BELOW);
	up.regs = NULL;
	up.exact = signal;
	*f = up;
	return UNWIND_CALLER;
}

static inline bool unwind_same_or_saved(u8 at, s32 offset)
{
	return at == HWPMC_AT_SAME || (at == HWPMC_AT_CFA && offset);
}

/*
 * Nearly all rules of compilers are like this: the CFA is at a fixed distance
 * from a register, and saved registers are at fixed distances from the CFA.
 */
static inline bool unwind_is_usual(const struct hwpmc_unwind_rule *r)
{
	return (r->cfa == HWPMC_CFA_SP || r->cfa == HWPMC_CFA_FP) &&
	       r->ra == HWPMC_AT_CFA && r->ra_offset && !r->flags &&
	       unwind_same_or_saved(r->fp, r->fp_offset) &&
	       (UNWIND_KEPT >= UNWIND_NREGS ||
		unwind_same_or_saved(r->lr, r->lr_offset));
}

/*
 * unwind_step_usual - unwind_step() for a usual rule and a frame with known
 * registers
 *
 * Most of the cost of a sample is here.
 */
static __always_inline enum unwind_result
unwind_step_usual(struct unwind_frame *f, const struct hwpmc_unwind_rule *r,
		  unwind_read read, void *arg, u64 (*strip)(u64 pc))
{
	u64 cfa = unwind_add(r->cfa == HWPMC_CFA_SP ? f->sp : f->fp,
			     r->cfa_offset);
	u64 at = unwind_add(cfa, r->ra_offset), pc, fp = f->fp;

	if (cfa <= f->sp || (at & 7) || at > UNWIND_ADDR_MAX)
		return UNWIND_NONSENSE;
	if (!read(arg, at, &pc))
		return UNWIND_ABSENT;
	if (r->fp == HWPMC_AT_CFA) {
		at = unwind_add(cfa, r->fp_offset);
		if ((at & 7) || at > UNWIND_ADDR_MAX)
			return UNWIND_NONSENSE;
		if (!read(arg, at, &fp))
			return UNWIND_ABSENT;
	}
	if (UNWIND_KEPT < UNWIND_NREGS)
		unwind_kept(f, r, cfa, f);
	f->pc = strip(pc);
	f->sp = cfa;
	f->fp = fp;
	f->regs = NULL;
	f->lr_known = false;
	f->exact = false;
	return UNWIND_CALLER;
}

#endif /* HWPMC_UNWIND_STEP_H */
