# SPDX-License-Identifier: BSD-2-Clause
# Call frame information of each kind in a function of its own, so that none hides what
# another says.  Registers are numbers: this assembles for amd64 and for arm64.
	.text
	.macro function name
	.globl \name
	.type \name, %function
\name:
	.cfi_startproc
	nop
	.endm
	.macro end name
	nop
	.cfi_endproc
	.size \name, . - \name
	.endm

	# DW_CFA_def_cfa_expression, of the registers of amd64 and of arm64
	.irp sp, 0x77, 0x76, 0x8f, 0x8d, 0x73
	function deref\sp
	.cfi_escape 0x0f, 0x03, \sp, 24, 0x06
	nop
	.cfi_escape 0x0f, 0x05, \sp, 24, 0x06, 0x23, 8
	nop
	.cfi_escape 0x0f, 0x05, \sp, 24, 0x06, 0x38, 0x22
	nop
	.cfi_escape 0x0f, 0x06, \sp, 24, 0x06, 0x08, 16, 0x22
	nop
	.cfi_escape 0x0f, 0x06, \sp, 24, 0x06, 0x11, 0x78, 0x22
	nop
	.cfi_escape 0x0f, 0x05, \sp, 24, 0x06, 0x38, 0x1c
	nop
	.cfi_escape 0x0f, 0x05, \sp, 24, 0x06, 0x96, 0x22
	nop
	.cfi_escape 0x0f, 0x02, \sp, 24
	# of the frame pointer and of the return address: DW_CFA_expression
	.cfi_escape 0x10, 6, 2, \sp, 8
	.cfi_escape 0x10, 29, 2, \sp, 8
	.cfi_escape 0x10, 16, 2, \sp, 16
	.cfi_escape 0x10, 30, 2, \sp, 16
	end deref\sp
	.endr

	# .plt, as linkers say it, and nearly so
	.irp op, 0x2a, 0x29
	function plt\op
	.cfi_escape 0x0f, 0x0b, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, \op, 0x33, 0x24, 0x22
	end plt\op
	.endr

	# where the return address is: in a register, nowhere, cannot be said
	.irp ra, 16, 30
	function register\ra
	.cfi_escape 0x09, \ra, 5
	nop
	.cfi_escape 0x09, \ra, 0xff, 0x01
	end register\ra
	function undefined\ra
	.cfi_escape 0x07, \ra
	end undefined\ra
	function value\ra
	.cfi_escape 0x16, \ra, 2, 0x77, 8
	end value\ra
	function far\ra
	.cfi_escape 0x05, \ra, 0xff, 0xff, 0xff, 0xff, 0x7f
	nop
	.cfi_escape 0x06, \ra
	end far\ra
	# below the stack pointer, as of a resolver
	function below\ra
	.cfi_escape 0x2f, \ra, 1
	end below\ra
	.endr

	# the frame pointer: undefined, a value, elsewhere
	.irp fp, 6, 29, 3
	function frame\fp
	.cfi_escape 0x07, \fp
	nop
	.cfi_escape 0x16, \fp, 2, 0x77, 8
	nop
	.cfi_escape 0x14, \fp, 1
	nop
	.cfi_escape 0x05, \fp, 2
	nop
	.cfi_escape 0x06, \fp
	nop
	.cfi_escape 0x10, \fp, 3, 0x77, 8, 0x06
	end frame\fp
	.endr

	# of many registers; more than there are
	.irp reg, 0, 5, 12, 40, 90
	function cfa\reg
	.cfi_escape 0x0c, \reg, 16
	nop
	.cfi_escape 0x0d, \reg
	nop
	.cfi_escape 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f
	end cfa\reg
	.endr

	# the return address is signed; a place by its address; what is not known
	function other
	.cfi_escape 0x2d
	nop
	.cfi_escape 0x02, 1
	.cfi_escape 0x03, 1, 0
	.cfi_escape 0x04, 1, 0, 0, 0
	.cfi_escape 0x1d, 1, 2
	end other
	function depth
	.rept 20
	.cfi_remember_state
	.endr
	nop
	.rept 21
	.cfi_escape 0x0b
	.endr
	end depth
	function signal
	.cfi_signal_frame
	.cfi_escape 0x0c, 7, 16
	end signal

	.hidden handler
	.type handler, %function
handler:
	nop
	# what is behind the 'z', with addresses of each form
	.irp form, 0x00, 0x0c, 0x1b
	.globl person\form
	.type person\form, %function
person\form:
	.cfi_startproc
	.cfi_personality \form, handler
	.cfi_lsda \form, handler
	nop
	.cfi_endproc
	.size person\form, . - person\form
	.endr

	# calls through .plt
	.globl calls
calls:
	.ifdef amd64
	call elsewhere@plt
	.else
	bl elsewhere
	.endif
	.section .note.GNU-stack, "", %progbits
