// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user part of a call chain, innermost frame first, by frame pointers.
 *
 * Runs in the overflow handler (see sample.c).  It reads only resident user
 * memory: a fault ends the chain.
 */
#include <linux/uaccess.h>

#include "chain_frame.h"
#include "hwpmc.h"
#include "sample.h"

/*
 * One check and one opening of user memory serve all frames.  The address is bounded
 * under speculation too, because the word that is read is used as an address again.
 */
static unsigned int user_walk64(u64 *pc, unsigned int max, unsigned long fp,
				unsigned long below, unsigned int *end)
{
	const unsigned long top = FRAME64_TOP;
	unsigned int n = 0;

	faults_off();
	if (!user_read_access_begin((void __user *)fp, TASK_SIZE_MAX - fp))
		goto closed;
	for (; is_frame(fp, below, top, sizeof(u64)); n++) {
		const struct frame64 __user *f = user_ptr_nospec(fp, top + 1);
		u64 next, ret;

		if (n == max) {
			*end |= CUT(DEPTH);
			break;
		}
		unsafe_get_user(next, &f->next, absent);
		unsafe_get_user(ret, &f->ret, absent);
		ret = strip_pac(ret);
		if (!is_user_code(ret))
			break;
		pc[n] = ret;
		below = fp;
		fp = next;
	}
	*end |= whole_if_start(fp);
	user_read_access_end();
closed:
	faults_on();
	return n;
absent:
	user_read_access_end();
	faults_on();
	*end |= CUT(USER);
	return n;
}

static unsigned int user_walk32(u64 *pc, unsigned int max, unsigned long fp,
				unsigned long below, unsigned int *end)
{
	struct frame32 f;
	unsigned int n;

	for (n = 0; is_frame(fp, below, FRAME32_TOP, sizeof(u32)); n++) {
		if (n == max) {
			*end |= CUT(DEPTH);
			break;
		}
		if (copy_from_user_nofault(&f, (void __user *)fp -
					   FRAME32_BACK, sizeof(f))) {
			*end |= CUT(USER);
			break;
		}
		if (!f.ret)
			break;
		pc[n] = f.ret;
		below = fp;
		fp = f.next;
	}
	*end |= whole_if_start(fp);
	return n;
}

static bool is_first_frame(unsigned long fp, unsigned long below, bool is32)
{
	return is32 ? is_frame(fp, below, FRAME32_TOP, sizeof(u32)) :
		      is_frame(fp, below, FRAME64_TOP, sizeof(u64));
}

#ifdef CONFIG_X86
/*
 * Kernel addresses, also with five levels of page tables.  With page table isolation,
 * syscall's entry uses sp to set CR3, whose flags make it look like no user address either.
 */
#define KERNEL_HALF	(~0UL << 56)

/*
 * Is @sp on a stack for entries?  These of all CPUs are in one area, each with its top at
 * the end of a page.  It has the stacks of NMIs and debug exceptions, too.
 */
static bool is_entry_stack(unsigned long sp)
{
	return sp >= CPU_ENTRY_AREA_BASE &&
	       sp - CPU_ENTRY_AREA_BASE < CPU_ENTRY_AREA_MAP_SIZE;
}

/* False: there is no memory at @at. */
static bool read_entry_stack(unsigned long frame[5], const unsigned long *at)
{
	unsigned int i;

	faults_off();
	for (i = 0; i < 5; i++)
		__get_kernel_nofault(&frame[i], &at[i], unsigned long, absent);
	faults_on();
	return true;
absent:
	faults_on();
	return false;
}

/*
 * The processor has put ip, cs, flags, sp and ss on the entry stack, or the kernel has on
 * its way out; sysret's way out has sp at the top.  A cs of the kernel is that of an
 * exception in the kernel, which leaves the user registers alone.
 *
 * syscall does not change sp, and a program can have set it to any address.
 */
static bool is_entry_of(unsigned long sp, struct pt_regs *user)
{
	const unsigned long *top = (const unsigned long *)PAGE_ALIGN(sp);
	unsigned long frame[5];

	/* sysenter begins at the top as well, and leaves there what the last entry put */
	if (data_race(regs_are_32bit(user)) && sp > (unsigned long)(top - 5))
		return false;
	if (!read_entry_stack(frame, top - 5))
		return false;
	if (frame[1] == __KERNEL_CS || frame[4] == data_race(user->sp))
		return true;
	return frame[0] == data_race(user->ip) &&
	       frame[3] == data_race(user->sp);
}

/*
 * Where perf replaced the address, the other registers are those of the interrupt, which
 * may have hit user mode.  Then it has saved all of them.
 */
static bool is_saved(const struct pt_regs *regs, const struct pt_regs *user)
{
	return hwpmc_sample_ip_is_replaced(regs) && data_race(user->sp) == regs->sp &&
	       data_race(!memcmp(user, regs, offsetof(struct pt_regs, orig_ax)));
}

/*
 * hwpmc_chain_user_is_known - are the user registers those of the present entry?
 * @regs: of a sample of the kernel, or with an address that perf replaced
 *
 * An NMI may hit the code that enters the kernel before it has saved them.  Those of the
 * last entry are still in their place then.  The code that leaves the kernel looks much
 * the same.  So they are compared with what the processor has of the entry: syscall
 * leaves sp and bp alone and puts the next ip into cx, which sysret finds there, too.
 *
 * Where perf replaced the address, sp may still be the program's, in user mode or at the
 * first instructions of syscall.  What is in the kernel's memory at such an sp must not
 * decide: the cut would tell it to an owner that may sample user mode only.
 */
bool hwpmc_chain_user_is_known(const struct pt_regs *regs)
{
	struct pt_regs *user = user_regs();
	const unsigned long sp = regs->sp;
	bool same_bp;

	/* on a stack of the kernel, and not where it saves the registers: nearly always */
	if (!user || (sp >= KERNEL_HALF && !is_entry_stack(sp) &&
		      (sp <= (unsigned long)user || sp > (unsigned long)(user + 1))))
		return true;
	if (is_saved(regs, user))
		return true;
	same_bp = data_race(user->bp) == regs->bp;
	if (sp < KERNEL_HALF)
		return same_bp && data_race(user->sp) == sp &&
		       data_race(user->ip) == regs->cx;
	if (is_entry_stack(sp))
		return !hwpmc_sample_ip_is_replaced(regs) && is_entry_of(sp, user);
	/* being saved, or restored: sp and ip are the first, and the last */
	return same_bp && sp <= (unsigned long)&user->ip;
}
#else
/* Entries run with all interrupts masked. */
bool hwpmc_chain_user_is_known(const struct pt_regs *regs)
{
	return true;
}
#endif

/*
 * hwpmc_chain_user_walk - the user part of the current task's chain
 * @regs: user registers, or NULL for those that it entered the kernel with
 * @end:  how the chain ends: CUT(USER) if the stack could not be read here, and the
 *	caller may defer the chain; CUT(DEPTH) if the stack has more than @max frames
 */
unsigned int hwpmc_chain_user_walk(u64 *pc, unsigned int max,
				   struct pt_regs *regs, unsigned int *end)
{
	const bool from_user = regs;
	struct user_place at;
	unsigned long below;
	bool is32;

	if (!regs)
		regs = user_regs();
	if (!regs || !data_race(user_mode(regs)))
		return 0;
	if (!max) {
		*end |= CUT(DEPTH);
		return 0;
	}
	is32 = data_race(regs_are_32bit(regs));
	at = user_place_of(regs);
	pc[0] = at.pc;
	if (!may_fault_here())
		goto later;
	below = at.sp - 1;
	if (!is_first_frame(at.fp, below, is32))
		return 1;
	if (!user_memory_is_there(at.fp, from_user))
		goto later;
	return 1 + (is32 ? user_walk32 : user_walk64)(pc + 1, max - 1, at.fp,
						      below, end);
later:
	*end |= CUT(USER);
	return 1;
}
