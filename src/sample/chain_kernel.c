// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel part of a call chain, innermost frame first.
 *
 * Runs in the overflow handler (see sample.c).
 */
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <asm/ptrace.h>

#include "compat.h"
#include "hwpmc.h"
#include "sample.h"

#ifdef HAVE_UNWIND_FROM_REGS
#include <asm/unwind.h>

/* Is the current frame of @u the registers of user mode? */
static bool is_entry(struct unwind_state *u)
{
	struct pt_regs *regs = unwind_get_entry_regs(u, NULL);

	return regs && user_mode(regs);
}

/*
 * The address that the current frame of @u returns to; 0: the kernel's part is over, or
 * the address is not one of kernel code.  The registers of user mode are the last frame.
 * The program controls their pc: a jump to an address of the kernel must not add a
 * frame to the kernel's part.
 *
 * A frame that was interrupted returns to its instruction, not behind a call.  Readers
 * take every caller for called, and look before the address.  So the address is one more.
 */
unsigned long hwpmc_chain_kernel_caller(struct unwind_state *u)
{
	unsigned long addr;

	if (is_entry(u))
		return 0;
	addr = unwind_get_return_address(u);
	return addr && unwind_get_entry_regs(u, NULL) ? addr + 1 : addr;
}

/* Frames from @u on.  Returns their number; @pc has room for @max. */
static unsigned int unwind_rest(struct unwind_state *u, u64 *pc,
				unsigned int max, unsigned int *end)
{
	bool lost = false;
	unsigned int n = 0;
	unsigned long addr;

	for (; n < max && !unwind_done(u); unwind_next_frame(u)) {
		addr = hwpmc_chain_kernel_caller(u);
		if (!addr) {
			lost = !is_entry(u);
			break;
		}
		pc[n++] = addr;
	}
	if (lost || unwind_error(u))
		*end |= CUT(KERNEL);
	else if (n == max && !unwind_done(u))
		*end |= CUT(DEPTH);
	return n;
}

/*
 * Software events: @regs has only ip, sp and bp of the caller.  The functions that have
 * an unwinder of their own are not inlined: the walk by the cache has none.
 */
static noinline unsigned int chain_from_caller(u64 *pc, unsigned int max,
					       struct pt_regs *regs,
					       unsigned int *end)
{
	struct unwind_state u;

	pc[0] = instruction_pointer(regs);
	unwind_start(&u, current, NULL, (void *)regs->sp);
	/* the frame of the function that took the registers returns there */
	if (!unwind_done(&u) && hwpmc_chain_kernel_caller(&u) == pc[0])
		unwind_next_frame(&u);
	return 1 + unwind_rest(&u, pc + 1, max - 1, end);
}

/* The frame that the handler's own interrupt has hit.  False: it is not found. */
static bool find_interrupted(struct unwind_state *u)
{
	unsigned int i;

	unwind_start(u, current, NULL, NULL);
	for (i = 0; i < CHAIN_SLACK && !unwind_done(u); i++) {
		if (unwind_get_entry_regs(u, NULL))
			return true;
		unwind_next_frame(u);
	}
	return false;
}

/*
 * The address in @regs was replaced, so that the unwinder cannot begin there.  The
 * callers are those of the place that the interrupt has hit, which are not cached:
 * this place is not in @regs.  If that is user mode, the kernel's part is only the
 * address.
 */
static noinline unsigned int chain_from_interrupt(u64 *pc, unsigned int max,
						  struct pt_regs *regs,
						  unsigned int *end)
{
	struct unwind_state u;

	pc[0] = instruction_pointer(regs);
	if (!find_interrupted(&u)) {
		*end |= CUT(KERNEL);
		return 1;
	}
	if (user_mode(unwind_get_entry_regs(&u, NULL)))
		return 1;
	unwind_next_frame(&u);
	return 1 + unwind_rest(&u, pc + 1, max - 1, end);
}

/* A handler that has no cache: it has interrupted another one. */
static noinline unsigned int chain_from_regs(u64 *pc, unsigned int max,
					     struct pt_regs *regs,
					     unsigned int *end)
{
	struct unwind_state u;

	pc[0] = instruction_pointer(regs);
	unwind_start(&u, current, regs, NULL);
	return 1 + unwind_rest(&u, pc + 1, max - 1, end);
}

unsigned int hwpmc_chain_kernel_walk(u64 *pc, unsigned int max,
				     struct pt_regs *regs,
				     struct chain_cache *cache,
				     unsigned int *end)
{
	if (!(regs->flags & X86_EFLAGS_FIXED))
		return chain_from_caller(pc, max, regs, end);
	if (hwpmc_sample_ip_is_replaced(regs))
		return chain_from_interrupt(pc, max, regs, end);
	if (cache)
		return hwpmc_chain_cache_walk(pc, max, regs, cache, end);
	return chain_from_regs(pc, max, regs, end);
}
#else
/*
 * The only exported unwinder starts in this function, so everything up to the
 * interrupted pc is cut off.  @pc has CHAIN_SLACK entries more than @max.
 */
unsigned int hwpmc_chain_kernel_walk(u64 *pc, unsigned int max,
				     struct pt_regs *regs,
				     struct chain_cache *cache,
				     unsigned int *end)
{
	unsigned long ip = instruction_pointer(regs);
	unsigned int i, n;
	bool more;

	BUILD_BUG_ON(sizeof(unsigned long) != sizeof(u64));
	n = stack_trace_save((unsigned long *)pc, max + CHAIN_SLACK, 0);
	more = n == max + CHAIN_SLACK;
	for (i = 0; i < n && pc[i] != ip; i++)
		;
	if (i == n) {
		pc[0] = ip;
		*end |= CUT(KERNEL);
		return 1;
	}
	n -= i;
	if (more || n > max)
		*end |= CUT(DEPTH);
	n = min(n, max);
	memmove(pc, pc + i, n * sizeof(*pc));
	return n;
}
#endif
