/* SPDX-License-Identifier: BSD-2-Clause */
/* Machine code of an ELF file or of a jitdump, instruction by instruction. */
#ifndef READER_DISASM_H
#define READER_DISASM_H

#include "elf/imagefile.h"

#define DISASM_TEXT	224
#define DISASM_BYTES	16	/* of the longest instruction */

/**
 * struct insn - one instruction
 * @text:   in assembly language
 * @target: address that it jumps to or calls, if @jumps; @tail is the length of
 *          @text before that address
 */
struct insn {
	uint64_t addr, target;
	uint32_t size, tail;
	bool jumps;
	char text[DISASM_TEXT];
	unsigned char bytes[DISASM_BYTES];
};

/**
 * struct disasm - a disassembler; [addr, addr + left) is still to be decoded
 * @least: size of the machine's shortest instruction, bytes
 */
struct disasm {
	size_t handle;
	void *insn;
	const unsigned char *code;
	size_t left;
	uint64_t addr;
	uint32_t least;
	bool x86;
};

/* NULL, or why there is no code at [start, end) of the file. */
const char *disasm_open(struct disasm *d, const struct image *im,
			uint64_t start, uint64_t end, bool intel);
/* As disasm_open(), for code in memory that outlives @d; @machine: EM_*. */
const char *disasm_memory(struct disasm *d, uint32_t machine,
			  const unsigned char *code, size_t len,
			  uint64_t start, bool intel);
/* False at the end.  Bytes that can't be decoded are shown as bytes. */
bool disasm_next(struct disasm *d, struct insn *i);
void disasm_close(struct disasm *d);

#endif /* READER_DISASM_H */
