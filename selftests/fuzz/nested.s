# SPDX-License-Identifier: BSD-2-Clause
# Functions in functions, several names for one, and names without a size
	.text
	.macro symbol name, at, size, bind
	.type \name, %function
	.set \name, base+\at
	.ifnb \size
	.size \name, \size
	.endif
	.\bind \name
	.endm
base:
	.rept 4096
	nop
	.endr
	symbol outer, 0, 1024, globl
	symbol inside, 16, 256, globl
	symbol deepest, 32, 64, globl
	symbol over, 128, 512, globl
	symbol same, 16, 256, weak
	symbol __same, 16, 256, globl
	symbol _same, 16, 256, globl
	symbol unsized, 16, , globl
	symbol alone, 2048, , globl
	symbol _alone, 2048, , globl
	symbol after, 2064, 16, globl
	# more than are kept open
	.irpc a, 01234567
	.irpc b, 0123456789
	symbol open\a\b, 1024+(\a*10+\b)*2, 900, globl
	.endr
	.endr
	.section .note.GNU-stack, "", %progbits
