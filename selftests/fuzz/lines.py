#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""lines.py VERSION: assembly with a line number table of forms and opcodes that
compilers do not use, for a function of 64 bytes"""
import sys

version = int(sys.argv[1])
# DW_FORM_string, line_strp, strp, udata, data1 to data16, block, strp_sup
FORMS = ((1, 8, '.asciz "a"'), (1, 0x1F, ".long 0"), (1, 0xE, ".long 0"),
         (2, 0xF, ".byte 1"), (2, 0xB, ".byte 1"), (2, 5, ".short 1"),
         (3, 6, ".long 1"), (3, 7, ".quad 1"), (5, 0x1E, ".quad 1, 2"),
         (0x2001, 9, ".byte 2, 7, 7"), (0x2002, 0x1D, ".long 0"))


def names():
    """A table of version 5, or the two lists before that"""
    if version < 5:
        print('.asciz "dir"\n.byte 0\n.asciz "a"\n.byte 1, 0, 0\n.byte 0')
        return
    for _ in range(2):
        print(".byte %d" % len(FORMS))
        for what, form, _ in FORMS:
            print(".uleb128 %d, %d" % (what, form))
        print(".byte 2")
        for _ in range(2):
            for _, _, text in FORMS:
                print(text)


print(""".text
.globl f
.type f, %function
f: .skip 64, 0x90
.size f, 64
.section .debug_str, "", %progbits
.asciz "text"
.section .debug_line_str, "", %progbits
.asciz "name"
.section .debug_abbrev, "", %progbits
.byte 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0x03, 8, 0, 0, 0
.section .debug_info, "", %progbits
.long 2f - 1f""")
print("1: .short %d" % version)
print(".byte 1, 8\n.long .debug_abbrev" if version == 5 else
      ".long .debug_abbrev\n.byte 8")
print('.byte 1\n.long .debug_line\n.quad f\n.long 64\n.asciz "unit"\n2:')
print('.section .debug_line, "", %progbits\n.long 6f - 3f')
print("3: .short %d" % version)
if version == 5:
    print(".byte 8, 0")
print(".long 5f - 4f\n4: .byte 1")
if version > 3:
    print(".byte 2")
print(".byte 1, -5, 14, 14, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2")
names()
# set_address, set_file, copy, const_add_pc, fixed_advance_pc, marks, set_isa, one that
# is not known, define_file, discriminator, a vendor's, rows, end_sequence
print("""5: .byte 0, 9, 2
.quad f
.byte 4, 1, 1, 8, 9
.short 8
.byte 10, 11, 12, 1, 13, 1, 2
.byte 0, 6, 3
.asciz "x"
.byte 0, 0, 0
.byte 0, 2, 4, 1, 0, 3, 0x80, 1, 2
.byte 2, 3, 0x23, 3, 0x7e, 1, 2, 0x47, 6, 7, 5, 3
.byte 2, 20, 0, 1, 1
6:""")
