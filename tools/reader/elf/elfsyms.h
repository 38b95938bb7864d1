/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of an ELF file, from all sources in it. */
#ifndef READER_ELFSYMS_H
#define READER_ELFSYMS_H

#include <gelf.h>

#include "elf/imagefile.h"
#include "elf/symtab.h"

/*
 * a PT_LOAD: maps a part of the file to an address; @slack: bytes mapped before
 * it because mappings are whole pages
 */
struct elfseg {
	uint64_t offset, vaddr, len, slack;
	bool exec;
};

struct elfsegs {
	struct elfseg *seg;
	size_t n, cap;
};

void elfsyms_segments(struct elfsegs *t, Elf *elf);
/* False if no segment maps that byte of the file. */
bool elfsyms_vaddr(const struct elfsegs *t, uint64_t offset,
		   uint64_t *vaddr);
/**
 * struct elfmove - load addresses of the sections of a relocatable file
 * @addr: by section number, 0: not loaded
 * @mod:  the module that the symbols belong to
 */
struct elfmove {
	const uint64_t *addr;
	size_t n;
	uint32_t mod;
};

/* Why names are missing if symtab.cut is set. */
#define ELFSYMS_CUT	"has symbols that share long names: not all were read"

/* Adds .symtab at the load addresses; false if there is none. */
bool elfsyms_load_moved(struct symtab *t, Elf *elf, const struct elfmove *m);
/* Adds .symtab or .dynsym; false if the file has no such section. */
bool elfsyms_load(struct symtab *t, Elf *elf, uint32_t type);
/*
 * Adds all symbols: of the file, of its debug file (looked for if @path is not
 * NULL), or those left after stripping.  NULL, or what is missing.
 */
const char *elfsyms_names(struct symtab *t, const struct image *im,
			  const struct image_root *root, const char *path);
/* Adds the stubs of the procedure linkage table as name@plt. */
void elfsyms_plt(struct symtab *t, Elf *elf);
/* Adds starts of functions from the unwind table, as stripped files have it. */
void elfsyms_entries(struct symtab *t, Elf *elf);
/* Adds the ends of executable sections. */
void elfsyms_bounds(struct symtab *t, Elf *elf);

#endif /* READER_ELFSYMS_H */
