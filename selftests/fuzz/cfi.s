# SPDX-License-Identifier: BSD-2-Clause
# Call frame information with all that there is to say
	.text
	.globl f
	.type f, @function
f:
	.cfi_startproc
	.cfi_signal_frame
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_remember_state
	.cfi_offset %rbx, -24
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	.cfi_restore %rbx
	ret
	.cfi_restore_state
	nop
	.cfi_register %rip, %rdi
	nop
	.cfi_same_value %rbp
	nop
	.cfi_undefined %rip
	nop
	.cfi_val_offset %rbp, 8
	nop
	# DW_CFA_def_cfa_expression: rsp + 24, deref, + 8
	.cfi_escape 0x0f, 0x05, 0x77, 24, 0x06, 0x23, 8
	nop
	# rsp + 8 + ((rip & 15) >= 11) * 8
	.cfi_escape 0x0f, 0x0b, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	nop
	# DW_CFA_expression, of rbp and of the return address
	.cfi_escape 0x10, 6, 2, 0x77, 0x78
	.cfi_escape 0x10, 16, 2, 0x76, 8
	nop
	# DW_CFA_def_cfa_sf, DW_CFA_def_cfa_offset_sf, DW_CFA_offset_extended_sf
	.cfi_escape 0x12, 7, 0x7e
	.cfi_escape 0x13, 0x7c
	.cfi_escape 0x11, 6, 2
	nop
	# DW_CFA_GNU_args_size, DW_CFA_GNU_negative_offset_extended
	.cfi_escape 0x2e, 16
	.cfi_escape 0x2f, 6, 1
	nop
	.cfi_endproc
	.size f, . - f
	.section .note.GNU-stack, "", @progbits
