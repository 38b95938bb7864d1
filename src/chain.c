// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains, innermost frame first.
 *
 * Runs in the overflow handler (see sample.c).  User memory is only read where
 * it is resident: a fault ends the chain.
 */
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>

#include "compat.h"
#include "hwpmc.h"

#ifdef HAVE_UNWIND_FROM_REGS
#include <asm/unwind.h>

/*
 * x86: the ORC unwinder starts at the interrupted registers.  For events of
 * software they hold only ip, sp and bp of the caller: look for its frame.
 */
unsigned int chain_kernel(u64 *pc, unsigned int max, struct pt_regs *regs,
			  bool *cut)
{
	struct unwind_state state;
	unsigned int n = 0;
	unsigned long addr;

	pc[n++] = instruction_pointer(regs);
	if (regs->flags & X86_EFLAGS_FIXED)
		unwind_start(&state, current, regs, NULL);
	else
		unwind_start(&state, current, NULL, (void *)regs->sp);
	for (; n < max && !unwind_done(&state); unwind_next_frame(&state)) {
		addr = unwind_get_return_address(&state);
		if (!addr)
			break;
		pc[n++] = addr;
	}
	if (n == max && !unwind_done(&state))
		*cut = true;
	return n;
}
#else
/*
 * The one exported unwinder starts here: cut off everything up to the
 * interrupted pc.  @pc has CHAIN_SLACK entries more than @max.
 */
unsigned int chain_kernel(u64 *pc, unsigned int max, struct pt_regs *regs,
			  bool *cut)
{
	unsigned long ip = instruction_pointer(regs);
	unsigned int i, n;

	BUILD_BUG_ON(sizeof(unsigned long) != sizeof(u64));
	n = stack_trace_save((unsigned long *)pc, max + CHAIN_SLACK, 0);
	if (n == max + CHAIN_SLACK)
		*cut = true;
	for (i = 0; i < n && pc[i] != ip; i++)
		;
	if (i == n) {
		pc[0] = ip;
		*cut = true;
		return 1;
	}
	n -= i;
	if (n > max) {
		n = max;
		*cut = true;
	}
	memmove(pc, pc + i, n * sizeof(*pc));
	return n;
}
#endif

#if defined(CONFIG_X86)
static bool regs_are_32bit(struct pt_regs *regs)
{
	return !user_64bit_mode(regs);
}

static unsigned long first_frame(struct pt_regs *regs, bool is32)
{
	return regs->bp;
}

static unsigned long strip_pac(unsigned long addr)
{
	return addr;
}

/* Both layouts begin with the caller's frame pointer. */
#define FRAME32_BACK	0
struct frame32 {
	u32	next;
	u32	ret;
};
#elif defined(CONFIG_ARM64)
static bool regs_are_32bit(struct pt_regs *regs)
{
	return compat_user_mode(regs);
}

static unsigned long first_frame(struct pt_regs *regs, bool is32)
{
	return is32 ? regs->compat_fp : regs->regs[29];
}

/* Authentication codes sit above the address. */
static unsigned long strip_pac(unsigned long addr)
{
	return addr & (TASK_SIZE_MAX - 1);
}

/* The APCS frame lies below what fp points to: fp, sp, lr. */
#define FRAME32_BACK	sizeof(struct frame32)
struct frame32 {
	u32	next;
	u32	sp;
	u32	ret;
};
#endif

struct frame64 {
	u64	next;
	u64	ret;
};

static bool read_frame(unsigned long fp, bool is32, unsigned long *next,
		       unsigned long *ret)
{
	struct frame32 f32;
	struct frame64 f64;
	void __user *at = (void __user *)fp;

	if (is32) {
		at -= FRAME32_BACK;
		if (copy_from_user_nofault(&f32, at, sizeof(f32)))
			return false;
		*next = f32.next;
		*ret = f32.ret;
	} else {
		if (copy_from_user_nofault(&f64, at, sizeof(f64)))
			return false;
		*next = f64.next;
		*ret = strip_pac(f64.ret);
	}
	return true;
}

/* Kernel threads have no user side; io_uring's have memory but no registers. */
static struct pt_regs *user_regs(void)
{
	if (!current->mm || (current->flags & COMPAT_NO_USER_REGS))
		return NULL;
	return task_pt_regs(current);
}

/*
 * chain_user - the user side of the current task, by frame pointers
 * @regs: user registers, or NULL: those it entered the kernel with
 * @cut:  set when there was more: the stack is not resident, or deeper than @max
 *
 * Frames lie above each other, which bounds the walk besides @max.  A frame
 * pointer that does not is a register that a function without frame pointers
 * uses otherwise (libc's start code does): the chain ends there.
 */
unsigned int chain_user(u64 *pc, unsigned int max, struct pt_regs *regs,
			bool *cut)
{
	unsigned long fp, below, next, ret;
	unsigned int n = 0;
	bool is32;

	if (!regs)
		regs = user_regs();
	if (!regs || !user_mode(regs))
		return 0;
	if (!max) {
		*cut = true;
		return 0;
	}
	is32 = regs_are_32bit(regs);
	pc[n++] = instruction_pointer(regs);
	below = user_stack_pointer(regs) - 1;
	for (fp = first_frame(regs, is32); fp > below; fp = next) {
		if (fp % (is32 ? sizeof(u32) : sizeof(u64)))
			break;
		if (n == max || !read_frame(fp, is32, &next, &ret)) {
			*cut = true;
			break;
		}
		/* nor may a program put words into the kernel's mouth */
		if (!ret || ret >= TASK_SIZE_MAX)
			break;
		pc[n++] = ret;
		below = fp;
	}
	return n;
}
