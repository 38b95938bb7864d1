/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of DIEs: libdw does not look for their end. */
#ifndef READER_DIESTRING_H
#define READER_DIESTRING_H

#include <elfutils/libdw.h>

/**
 * struct die_strings - the sections that strings can be in, by address
 * @last: place of the last NUL: all strings from before it have an end
 */
struct die_strings {
	struct die_text {
		const char *from;
		size_t last;
	} *text;
	size_t n, cap;
};

/* Adds a file, after dwarf_begin_elf(): that may have decompressed its sections. */
void die_strings_add(struct die_strings *t, Elf *elf);
/*
 * The string of attribute @name, or NULL: none, or none that ends in its
 * section.  Valid as long as the file (or its alternate file) is open.
 */
const char *die_string(const struct die_strings *t, Dwarf_Die *die,
		       unsigned int name);
void die_strings_free(struct die_strings *t);

#endif /* READER_DIESTRING_H */
