/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Definitions that the unwinder needs from the kernel, and stand-ins in user space. */
#ifndef HWPMC_UNWIND_SHIM_H
#define HWPMC_UNWIND_SHIM_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/types.h>

/*
 * The end of user addresses of this processor.  arm64: TASK_SIZE_MAX only says what
 * the kernel was built for: with 52 bits, it also runs on processors with 48.
 */
#ifdef CONFIG_ARM64
extern unsigned long hwpmc_unwind_user_end;
#else
#define hwpmc_unwind_user_end	TASK_SIZE_MAX
#endif
#define UNWIND_ADDR_MAX	(hwpmc_unwind_user_end - sizeof(u64))
/* between rows of a table: there may be millions */
#define unwind_pause()	cond_resched()

/* The register with DWARF number @n, below UNWIND_NREGS. */
static __always_inline u64 unwind_reg(const void *regs, unsigned int n)
{
	const struct pt_regs *r = regs;

#ifdef CONFIG_ARM64
	return r->regs[n];
#else
	switch (n) {
	case 0:		return r->ax;
	case 1:		return r->dx;
	case 2:		return r->cx;
	case 3:		return r->bx;
	case 4:		return r->si;
	case 5:		return r->di;
	case 6:		return r->bp;
	case 7:		return r->sp;
	case 8:		return r->r8;
	case 9:		return r->r9;
	case 10:	return r->r10;
	case 11:	return r->r11;
	case 12:	return r->r12;
	case 13:	return r->r13;
	case 14:	return r->r14;
	default:	return r->r15;
	}
#endif
}

#ifdef CONFIG_ARM64
#define UNWIND_FP_FLAGS	HWPMC_RULE_SP_BELOW
#define UNWIND_KEPT	UNWIND_NREGS	/* none */
#else
#define UNWIND_FP_FLAGS	0
#define UNWIND_KEPT	3	/* rbx */
#endif
#else
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#define array_index_nospec(index, size)	((void)(size), (index))

#define UNWIND_ADDR_MAX	((1ULL << 47) - 4096 - sizeof(u64))
#define unwind_pause()	((void)0)

/* in the order of DWARF numbers */
static inline u64 unwind_reg(const void *regs, unsigned int n)
{
	return ((const u64 *)regs)[n];
}

#ifdef __aarch64__
#define UNWIND_FP_FLAGS	HWPMC_RULE_SP_BELOW
#define UNWIND_KEPT	UNWIND_NREGS	/* none */
#else
#define UNWIND_FP_FLAGS	0
#define UNWIND_KEPT	3	/* rbx */
#endif
#endif

#include <linux/hwpmc_unwind.h>

#endif /* HWPMC_UNWIND_SHIM_H */
