/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Unwind tables: how to get from each instruction of an object file to its caller.
 *
 * libpmc compiles a table from a file's call frame information (.eh_frame and
 * similar sections).  The module uses the table when it samples a program that maps
 * the file.  A table uses offsets in the file, so it is valid at any address.
 */
#ifndef _UAPI_LINUX_HWPMC_UNWIND_H
#define _UAPI_LINUX_HWPMC_UNWIND_H

#include <linux/types.h>

/* where the caller's frame begins: the caller's stack pointer (the CFA of DWARF) */
#define HWPMC_CFA_NONE		0	/* the table does not cover this place */
#define HWPMC_CFA_SP		1	/* stack pointer + cfa_offset */
#define HWPMC_CFA_FP		2	/* frame pointer + cfa_offset */
#define HWPMC_CFA_SP_DEREF	3	/* word at SP + cfa_offset, + cfa_add */
#define HWPMC_CFA_FP_DEREF	4	/* word at FP + cfa_offset, + cfa_add */
/* amd64: sp + cfa_offset; 8 more if pc % 16 >= cfa_add */
#define HWPMC_CFA_PLT		5
#define HWPMC_CFA_UNTOLD	6	/* no rule can express it: chains end here */
/* + N: DWARF register N + cfa_offset; innermost frame only, except amd64's rbx */
#define HWPMC_CFA_REG		16
#define HWPMC_CFA_REGS		32

/* where the caller's value of a register is */
#define HWPMC_AT_SAME		0	/* in the register; return address: in LR */
#define HWPMC_AT_CFA		1	/* memory at CFA + its offset */
#define HWPMC_AT_SP		2	/* memory at the stack pointer + offset */
#define HWPMC_AT_FP		3	/* memory at the frame pointer + offset */
#define HWPMC_AT_UNDEFINED	4	/* lost; return address: no caller */
#define HWPMC_AT_KINDS		5
/* + N: return address in DWARF register N; innermost frame only */
#define HWPMC_AT_REG		16
#define HWPMC_AT_REGS		32

/* signal frame: the caller was interrupted, its pc is not a return address */
#define HWPMC_RULE_SIGNAL	0x01

/**
 * struct hwpmc_unwind_rule - from a frame to its caller's
 * @cfa: HWPMC_CFA_*
 * @ra, @fp, @lr: HWPMC_AT_* of the return address, the frame pointer and, on
 *	arm64, the link register; on amd64, rbx
 * @flags: HWPMC_RULE_*
 * @reserved: 0
 *
 * If @cfa is NONE or UNTOLD, all other fields are 0.  Offsets are in bytes.
 */
struct hwpmc_unwind_rule {
	__u8	cfa;
	__u8	ra;
	__u8	fp;
	__u8	lr;
	__u8	flags;
	__u8	reserved[3];
	__s32	cfa_offset;
	__s32	cfa_add;
	__s32	ra_offset;
	__s32	fp_offset;
	__s32	lr_offset;
};

#define HWPMC_UNWIND_MAGIC	0x57555048U	/* "HPUW" */
#define HWPMC_UNWIND_VERSION	1
#define HWPMC_UNWIND_ROWS_MAX	(1U << 24)
#define HWPMC_UNWIND_RULES_MAX	(1U << 16)

/**
 * struct hwpmc_unwind_table - the head of a table
 * @magic:   HWPMC_UNWIND_MAGIC
 * @version: HWPMC_UNWIND_VERSION
 * @machine: EM_X86_64 or EM_AARCH64
 * @nrows:   at least one
 * @nrules:  at least one
 * @reserved: 0
 *
 * Followed by, without gaps:
 *	struct hwpmc_unwind_rule rules[nrules]
 *	__u32 pc[nrows]		offsets in the file, each greater than the last
 *	__u16 rule[nrows]	the rule from that pc on; < nrules
 * The last row ends the covered range: the cfa of its rule is NONE.
 */
struct hwpmc_unwind_table {
	__u32	magic;
	__u16	version;
	__u16	machine;
	__u32	nrows;
	__u32	nrules;
	__u32	reserved[4];
};

#endif /* _UAPI_LINUX_HWPMC_UNWIND_H */
