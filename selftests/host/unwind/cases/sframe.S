/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions whose frames are told twice: for .eh_frame by the assembler, and as SFrame
 * of VERSION 2 or 3, written out: not all assemblers know it.  Linkers that know
 * another version only would refuse it: it gets its name later.
 */
#ifndef LONG
#define LONG	70000
#endif
	.text
	.p2align 4
first:	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	nop
	pop	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
first_end:

	.p2align 4
large:	.cfi_startproc
	sub	$0x1000, %rsp
	.cfi_adjust_cfa_offset 0x1000
	.skip	300, 0x90
large_more:
	sub	$0x100000, %rsp
	.cfi_adjust_cfa_offset 0x100000
	.skip	LONG, 0x90
large_less:
	add	$0x101000, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
large_end:

	.p2align 4
entries:
	.cfi_startproc
	/* rsp + 8 + ((rip & 15) >= 11) * 8 */
	.cfi_escape 0x0f, 0x0b, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.skip	64, 0x90
	.cfi_endproc
entries_end:

	.p2align 4
pieces:	.cfi_startproc
	.rept	5
	push	%rax
	.cfi_def_cfa_offset 16
	pop	%rax
	.cfi_def_cfa_offset 8
	.endr
	.cfi_endproc
pieces_end:

outermost:
	.cfi_startproc
	.cfi_undefined rip
	nop
	.cfi_endproc
outermost_end:

#if VERSION == 2
#define HEAD(rows, form, repeats)
#define FUNC(name, n, form, repeats)			\
	.long	name - sframe, name##_end - name, name##_rows - rows, n; \
	.byte	form, repeats, 0, 0
#define FLAGS	0
#else
#define HEAD(n, form, repeats)				\
	.short	n; .byte form, 0, repeats
#define FUNC(name, n, form, repeats)			\
	.quad	name - .; .long name##_end - name, name##_rows - rows
#define FLAGS	4	/* starts are relative to where they are */
#endif

	.section .sframe_later, "a"
	.p2align 3
sframe:	.short	0xdee2
	.byte	VERSION, FLAGS
	.byte	3, 0, -8, 0
	.long	5, 12, rows_end - rows, 0, rows - functions
functions:
	FUNC(first, 4, 0, 0)
	FUNC(large, 4, 2, 0)
	FUNC(entries, 2, 0x10, 16)
	FUNC(pieces, 2, 0x11, 2)
	FUNC(outermost, 1, 0, 0)
/* an info byte: 1 for the stack pointer, 2 * numbers, 0x20 or 0x40 for their width */
rows:
first_rows:
	HEAD(4, 0, 0)
	.byte	0, 3, 8
	.byte	1, 5, 16, -16
	.byte	4, 4, 16, -16
	.byte	6, 3, 8
large_rows:
	HEAD(4, 2, 0)
	.long	0
	.byte	3, 8
	.long	7
	.byte	3 | 0x20
	.short	0x1008
	.long	large_more + 7 - large
	.byte	3 | 0x40
	.long	0x101008
	.long	large_less + 7 - large
	.byte	3, 8
entries_rows:
	HEAD(2, 0x10, 16)
	.byte	0, 3, 8
	.byte	11, 3, 16
pieces_rows:
	HEAD(2, 0x11, 2)
	.short	0
	.byte	3, 8
	.short	1
	.byte	3, 16
outermost_rows:
	HEAD(1, 0, 0)
	.byte	0, 0
rows_end:
	.section .note.GNU-stack, "", @progbits
