/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of frames of user code: for the overflow handler, which must not
 * fault (chain_user.c), and for the return to user mode, which may
 * (chain_deferred.c).
 */
#ifndef HWPMC_CHAIN_FRAME_H
#define HWPMC_CHAIN_FRAME_H

#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#ifdef CONFIG_X86
#include <uapi/asm/vsyscall.h>
#endif
#ifdef CONFIG_ARM64
#include <asm/mmu_context.h>
#include <asm/sysreg.h>
#endif

#include <uapi/linux/pmclog.h>

#include "compat.h"
#include "unwind/unwind_shim.h"

#if defined(CONFIG_X86)
static inline bool regs_are_32bit(struct pt_regs *regs)
{
	return !user_64bit_mode(regs);
}

static inline unsigned long first_frame(struct pt_regs *regs, bool is32)
{
	return regs->bp;
}

static inline unsigned long strip_pac(unsigned long addr)
{
	return addr;
}

/*
 * Is user memory that of the current task?  copy_from_user_nmi() checks it in any
 * context; copy_from_user_nofault() does so only since 6.4.
 */
static inline bool user_memory_is_own(unsigned long addr)
{
	u64 word;

	return !copy_from_user_nmi(&word, (void __user *)addr, sizeof(word));
}

static inline bool may_fault_here(void)
{
	return true;
}

/* Both layouts begin with the caller's frame pointer. */
#define FRAME32_BACK	0
struct frame32 {
	u32	next;
	u32	ret;
};
#elif defined(CONFIG_ARM64)
static inline bool regs_are_32bit(struct pt_regs *regs)
{
	return compat_user_mode(regs);
}

static inline unsigned long first_frame(struct pt_regs *regs, bool is32)
{
	return is32 ? regs->compat_fp : regs->regs[29];
}

/* The processor puts authentication codes into all bits above its addresses. */
static inline unsigned long strip_pac(unsigned long addr)
{
	return addr & (hwpmc_unwind_user_end - 1);
}

/*
 * Is user memory that of the current task?  The kernel's functions do not check
 * this on arm64, so this compares the page tables in use.  They are in the register
 * or, with software PAN, in the field that is loaded into it for each access.
 */
static inline bool user_memory_is_own(unsigned long addr)
{
	const struct mm_struct *mm = data_race(current->mm);
	u64 ttbr = read_sysreg(ttbr0_el1);

#ifdef CONFIG_ARM64_SW_TTBR0_PAN
	if (system_uses_ttbr0_pan())
		ttbr = READ_ONCE(current_thread_info()->ttbr0);
#endif
	/* without the ASID above, and flags below */
	return mm && (ttbr & GENMASK_ULL(47, 1)) ==
		     phys_to_ttbr(virt_to_phys(mm->pgd));
}

/*
 * While a kprobe single-steps, arm64 attributes each fault to the stepped
 * instruction, and resumes there.  An event can hit meanwhile only in the exception
 * that ends the step.  PSTATE.D is set only in debug exceptions.
 */
static inline bool may_fault_here(void)
{
	return !(read_sysreg(daif) & PSR_D_BIT);
}

/* The APCS frame is below the address in fp: fp, sp, lr. */
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

/*
 * @addr if it is below @end, else 0, under speculation too.  Where @end is constant, as
 * on x86 without five-level page tables, it is too large for array_index_nospec()'s cmp.
 */
static __always_inline const void __user *user_ptr_nospec(unsigned long addr,
							  unsigned long end)
{
	OPTIMIZER_HIDE_VAR(end);
	return (const void __user *)array_index_nospec(addr, end);
}

#define FRAME32_TOP	U32_MAX
#define FRAME64_TOP	(hwpmc_unwind_user_end - sizeof(struct frame64))

/*
 * Each frame must be above the previous one, which bounds the walks besides their
 * maximum.  Any other frame pointer is a register that a function without frame
 * pointers uses for other data (libc's start code does): the chain ends there.
 */
static inline bool is_frame(unsigned long fp, unsigned long below,
			    unsigned long top, size_t align)
{
	return fp > below && fp <= top && !(fp & (align - 1));
}

/*
 * Threads begin with a frame pointer of 0.  @fp: of a caller.  In a function that was
 * interrupted the register may have any value.
 */
static inline unsigned int whole_if_start(unsigned long fp)
{
	return fp ? 0 : PMCLOG_CC_WHOLE;
}

/* a program must not forge kernel addresses in its chain */
static inline bool is_user_code(unsigned long ret)
{
	return ret && ret < hwpmc_unwind_user_end;
}

/*
 * Kernel threads have no user side; io_uring's threads have memory but no registers.
 * Before 6.5 the latter lose their flag before they end.  Where their registers
 * would be, both the address and the stack pointer are 0.
 */
static inline struct pt_regs *user_regs(void)
{
	struct pt_regs *regs = task_pt_regs(current);

	/* the task may be changing its other flags or its mm right now */
	if (!data_race(current->mm) ||
	    (data_race(current->flags) & COMPAT_NO_USER_REGS))
		return NULL;
	if (!data_race(instruction_pointer(regs)) &&
	    !data_race(user_stack_pointer(regs)))
		return NULL;
	return regs;
}

/* The place at which a user chain begins. */
struct user_place {
	unsigned long	pc;	/* 0: not a user address */
	unsigned long	sp;
	unsigned long	fp;
	unsigned long	lr;	/* arm64 */
};

/* The only code in the upper half that a program can call */
static inline bool is_vsyscall(unsigned long pc)
{
#ifdef CONFIG_X86
	return (pc & PAGE_MASK) == VSYSCALL_ADDR;
#else
	return false;
#endif
}

/*
 * The pc of user mode; 0: not a user address.  A program can jump to any address,
 * or set one when it returns from a signal, and an event may hit it there.
 */
static inline unsigned long user_pc(struct pt_regs *regs)
{
	unsigned long pc = data_race(instruction_pointer(regs));

	return is_user_code(pc) || is_vsyscall(pc) ? pc : 0;
}

/*
 * @regs: of user mode.  The handler may interrupt the task while it changes them, for
 * an exec or a signal handler.  A chain from such mixed registers does no harm.
 */
static inline struct user_place user_place_of(struct pt_regs *regs)
{
	const bool is32 = data_race(regs_are_32bit(regs));

	return (struct user_place){
		.pc = user_pc(regs),
		.sp = data_race(user_stack_pointer(regs)),
		.fp = data_race(first_frame(regs, is32)),
#ifdef CONFIG_ARM64
		.lr = strip_pac(data_race(regs->regs[30])),
#endif
	};
}

/*
 * Can the handler read user memory at @addr?  An NMI, a tracepoint or a probe that hits
 * the kernel may be within a switch.  There, user memory is that of the next task, or
 * there is none, while current and its registers are still those of the previous task.
 * @from_user: user mode was hit, or an event of it is handled in the task
 */
static inline bool user_memory_is_there(unsigned long addr, bool from_user)
{
	return from_user || user_memory_is_own(addr);
}

/*
 * pagefault_disable() nests: a handler that interrupts this one restores the task's
 * counter before it returns.
 */
static inline void faults_off(void)
{
	data_race(({ pagefault_disable(); 0; }));
}

static inline void faults_on(void)
{
	data_race(({ pagefault_enable(); 0; }));
}

#endif /* HWPMC_CHAIN_FRAME_H */
