// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is not a rule of the module's is told as such: a wrong one would be followed.
 */
#include "../../../src/unwind/unwind_table.h"
#include "frames.h"
#include "libpmc_unwind.h"
#include "tap.h"

/* The rule of a function with this program */
static uint8_t cfa_of(const void *program, size_t n)
{
	size_t common, at;

	len = 0;
	common = begin_common(0);
	byte(DW_CFA_def_cfa);
	uleb(7);
	uleb(8);
	byte(DW_CFA_offset | 16);
	uleb(1);
	end_entry(common);
	at = begin_function(common, 0x1000, 16);
	bytes(program, n);
	end_entry(at);
	walk_section(0);
	return last.cfa;
}

#define PROGRAM(...) (const unsigned char[]){ __VA_ARGS__ }, \
		      sizeof((const unsigned char[]){ __VA_ARGS__ })
#define SP		7
#define BREG_SP		(DW_OP_breg0 + SP)
#define DEREF_SP(n)	DW_CFA_def_cfa_expression, 3, BREG_SP, n, DW_OP_deref

/* That of the caller, which is the CFA unless it is told: see setcontext(), longjmp() */
static void test_stack_pointer(void)
{
	ok(cfa_of(PROGRAM(DW_CFA_nop)) == HWPMC_CFA_SP, "nothing of the stack pointer");
	ok(cfa_of(PROGRAM(DW_CFA_offset | SP, 4)) == HWPMC_CFA_UNTOLD,
	   "the stack pointer is in memory");
	ok(cfa_of(PROGRAM(DW_CFA_register, SP, 8)) == HWPMC_CFA_UNTOLD,
	   "... in a register");
	ok(cfa_of(PROGRAM(DW_CFA_val_expression, SP, 2, BREG_SP, 64)) ==
	   HWPMC_CFA_UNTOLD, "... somewhere else");
	ok(cfa_of(PROGRAM(DW_CFA_val_offset, SP, 1)) == HWPMC_CFA_UNTOLD,
	   "... beside the CFA");
	ok(cfa_of(PROGRAM(DW_CFA_val_offset, SP, 0)) == HWPMC_CFA_SP,
	   "... the CFA");
	ok(cfa_of(PROGRAM(DEREF_SP(16), DW_CFA_expression, SP, 2, BREG_SP,
			  16)) == HWPMC_CFA_SP_DEREF,
	   "... where the CFA is");
	ok(cfa_of(PROGRAM(DEREF_SP(16), DW_CFA_expression, SP, 2, BREG_SP,
			  24)) == HWPMC_CFA_UNTOLD,
	   "... not where the CFA is");
	ok(cfa_of(PROGRAM(DW_CFA_offset | SP, 4, DW_CFA_advance_loc | 1,
			  DW_CFA_restore | SP)) == HWPMC_CFA_SP,
	   "... no longer in memory");
}

static size_t rows_of(int open)
{
	walk_section(open);
	return told + unknown;
}

/* Objects that end the section are sometimes linked before others. */
static void test_terminators(void)
{
	size_t common, before, i;

	len = 0;
	for (i = 0; i < 2; i++) {
		common = begin_common(0);
		end_entry(common);
		end_entry(begin_function(common, 0x1000, 16));
		before = len;
		fill(0, 12);
	}
	ok(rows_of(0) == 2, "terminators between functions");
	ok(rows_of(1) == 1, "... end what has no length");
	for (i = 1; len > before; i++, len--)
		if (rows_of(0) != 2)
			break;
	ok(i == 13, "... and some bytes of one");
}

/* An object of one function at 0x1000, whose code is at @offset of the file */
static int compile_at(uint64_t offset, struct pmc_unwind *t)
{
	static struct {
		Elf64_Ehdr	e;
		Elf64_Phdr	p[3];
		unsigned char	hdr[8];
		unsigned char	frames[128];
	} image;
	const uint64_t at = offsetof(typeof(image), hdr);
	size_t common;

	len = 0;
	common = begin_common(0);
	end_entry(common);
	end_entry(begin_function(common, 0x1000, 32));
	fill(0, 4);
	memcpy(image.frames, section, len);
	memcpy(image.hdr, "\1\x1b\0\0\4\0\0\0", sizeof(image.hdr));
	image.e = (Elf64_Ehdr){
		OBJECT_OF_AMD64,
		.e_phoff = offsetof(typeof(image), p), .e_phnum = 3,
	};
	image.p[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x10000,
		.p_filesz = sizeof(image),
	};
	image.p[1] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 0x1000,
		.p_offset = offset, .p_filesz = 0x1000,
	};
	image.p[2] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x10000 + at,
		.p_offset = at,
	};
	return pmc_unwind_compile_image(&image, sizeof(image), t);
}

static bool is_sound(uint64_t offset)
{
	struct unwind_table view;
	struct pmc_unwind t;
	bool sound;

	if (compile_at(offset, &t))
		return false;
	sound = !hwpmc_unwind_table_check(&view, t.table, t.len, EM_X86_64);
	pmc_unwind_free(&t);
	return sound;
}

/* Tables have 32 bits for an offset. */
static void test_offsets(void)
{
	struct pmc_unwind t;

	ok(is_sound(0), "code at the beginning of a file");
	ok(is_sound(UINT32_MAX - 32), "code at the end of 4 GB");
	ok(compile_at(UINT32_MAX - 31, &t), "code that goes beyond them");
	ok(compile_at((uint64_t)-16, &t), "code that goes beyond all numbers");
}

int main(void)
{
	test_offsets();
	test_terminators();
	test_stack_pointer();
	return done();
}
