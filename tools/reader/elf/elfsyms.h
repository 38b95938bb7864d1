/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of an ELF file, from every place that tells of some. */
#ifndef READER_ELFSYMS_H
#define READER_ELFSYMS_H

#include <gelf.h>

#include "elf/imagefile.h"
#include "elf/symtab.h"

/*
 * a PT_LOAD: what part of the file is seen at which address; @slack: what is
 * mapped before it because mappings are whole pages
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
/* False if no segment shows that byte of the file. */
bool elfsyms_vaddr(const struct elfsegs *t, uint64_t offset,
		   uint64_t *vaddr);
/**
 * struct elfmove - where the parts of a relocatable file were loaded
 * @addr: by section, 0: not at all
 * @mod:  what the symbols are of
 */
struct elfmove {
	const uint64_t *addr;
	size_t n;
	uint32_t mod;
};

/* .symtab, moved; false if there is none. */
bool elfsyms_load_moved(struct symtab *t, Elf *elf, const struct elfmove *m);
/* .symtab or .dynsym; false if the file has no such section. */
bool elfsyms_load(struct symtab *t, Elf *elf, uint32_t type);
/*
 * All there are: of the file, of its debug file (looked for if @path is not
 * NULL), or what was left in it.  NULL, or what lacks.
 */
const char *elfsyms_names(struct symtab *t, const struct image *im,
			  const struct image_root *root, const char *path);
/* Stubs of the procedure linkage table: name@plt. */
void elfsyms_plt(struct symtab *t, Elf *elf);
/* Where functions begin, from the unwind table: stripped files have it too. */
void elfsyms_entries(struct symtab *t, Elf *elf);
/* The ends of executable sections. */
void elfsyms_bounds(struct symtab *t, Elf *elf);

#endif /* READER_ELFSYMS_H */
