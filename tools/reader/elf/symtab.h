/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of one object, sorted by address, for binary search.
 * (libdwfl's own look-up walks all symbols each time.)
 */
#ifndef READER_SYMTAB_H
#define READER_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

enum sym_rank {			/* of names for one address: higher wins */
	SYM_GAP,		/* no function: only ends the previous one */
	SYM_ENTRY,		/* a function starts here, without a name */
	SYM_WEAK_NAME,		/* a made-up name: PLT entries */
	SYM_LOCAL,
	SYM_WEAK,
	SYM_GLOBAL,
};

/**
 * struct sym - a function
 * @end:  0 while adding: the function extends to the next one
 * @mod:  string number of the kernel module, 0 for none
 */
struct sym {
	uint64_t start, end;
	const char *name;
	uint32_t mod;
	uint8_t rank;
	bool sized;
};

/* What is kept of a name, also of a DIE's: few are as long, and each has a copy of its own. */
#define SYM_NAME_MAX	4096U

/**
 * struct symtab - the functions of an object
 * @cut: some have no name, since all names of their file would take too much memory
 */
struct symtab {
	struct sym *sym;
	size_t n, cap;
	struct arena names;
	bool cut;
};

/* The name is copied; of one of SYM_NAME_MAX bytes or more, so many, and the address. */
void symtab_add(struct symtab *t, const struct sym *s);
/* Call once between the last symtab_add() and the first symtab_find(). */
void symtab_sort(struct symtab *t);
/* NULL where no function is known. */
const struct sym *symtab_find(const struct symtab *t, uint64_t addr);
void symtab_free(struct symtab *t);

#endif /* READER_SYMTAB_H */
