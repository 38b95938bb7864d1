/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Unwind tables: how to get from each instruction of an object file to its caller.
 *
 * libpmc compiles a table from a file's call frame information (.eh_frame and its
 * kin); the module follows it when it samples a program that maps the file.  A
 * table describes places in a file, so it is good wherever that is mapped.
 */
#ifndef _UAPI_LINUX_HWPMC_UNWIND_H
#define _UAPI_LINUX_HWPMC_UNWIND_H

#include <linux/types.h>

/* where the caller's frame begins: its stack pointer (the CFA of DWARF) */
#define HWPMC_CFA_NONE		0	/* this is not covered */
#define HWPMC_CFA_SP		1	/* stack pointer + cfa_offset */
#define HWPMC_CFA_FP		2	/* frame pointer + cfa_offset */
#define HWPMC_CFA_SP_DEREF	3	/* the word at that, + cfa_add */
#define HWPMC_CFA_FP_DEREF	4
/* amd64: sp + cfa_offset, and 8 more from byte cfa_add of 16 on */
#define HWPMC_CFA_PLT		5
#define HWPMC_CFA_UNTOLD	6	/* no rule can tell: chains end here */
/* DWARF's register N + cfa_offset; innermost frame only, but for amd64's rbx */
#define HWPMC_CFA_REG		16
#define HWPMC_CFA_REGS		32

/* where a register of the caller is */
#define HWPMC_AT_SAME		0	/* still there; return address: in LR */
#define HWPMC_AT_CFA		1	/* memory at CFA + its offset */
#define HWPMC_AT_SP		2	/* ... at the stack pointer + that */
#define HWPMC_AT_FP		3	/* ... at the frame pointer + that */
#define HWPMC_AT_UNDEFINED	4	/* lost; return address: no caller */
#define HWPMC_AT_KINDS		5
/* return address: in DWARF's register N; innermost frame only */
#define HWPMC_AT_REG		16
#define HWPMC_AT_REGS		32

/* the caller was interrupted here: it was not about to return */
#define HWPMC_RULE_SIGNAL	0x01

/**
 * struct hwpmc_unwind_rule - from a frame to its caller's
 * @cfa: HWPMC_CFA_*
 * @ra, @fp, @lr: HWPMC_AT_* of the return address, the frame pointer and, on
 *	arm64, the link register; on amd64, rbx
 * @flags: HWPMC_RULE_*
 * @reserved: 0
 *
 * Where @cfa is NONE or UNTOLD the rest is 0.  Offsets are in bytes.
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
 * Behind it, without gaps:
 *	struct hwpmc_unwind_rule rules[nrules]
 *	__u32 pc[nrows]		offsets in the file, each greater than the last
 *	__u16 rule[nrows]	the rule from there on; < nrules
 * The last row ends what the table covers: its rule's cfa is NONE.
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
