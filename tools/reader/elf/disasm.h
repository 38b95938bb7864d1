/* SPDX-License-Identifier: BSD-2-Clause */
/* Machine code of an ELF file or of a jitdump, instruction by instruction. */
#ifndef READER_DISASM_H
#define READER_DISASM_H

#include "elf/imagefile.h"

#define DISASM_TEXT	224
#define DISASM_BYTES	16	/* of the longest instruction */

/**
 * struct insn - one instruction
 * @text:   for people
 * @target: where it jumps to or what it calls, if @jumps; @tail is the length
 *          of @text before that
 */
struct insn {
	uint64_t addr, target;
	uint32_t size, tail;
	bool jumps;
	char text[DISASM_TEXT];
	unsigned char bytes[DISASM_BYTES];
};

/**
 * struct disasm - on its way through the code [addr, addr + left)
 * @least: bytes of the shortest instruction there is
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
/* The same of code in memory, which is kept as long, for ELF's number of a machine. */
const char *disasm_memory(struct disasm *d, uint32_t machine,
			  const unsigned char *code, size_t len,
			  uint64_t start, bool intel);
/* False at the end.  What can't be decoded is shown as bytes. */
bool disasm_next(struct disasm *d, struct insn *i);
void disasm_close(struct disasm *d);

#endif /* READER_DISASM_H */
