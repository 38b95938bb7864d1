/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of DIEs: libdw does not look for their end. */
#ifndef READER_DIESTRING_H
#define READER_DIESTRING_H

#include <elfutils/libdw.h>

/*
 * The string of attribute @name, or NULL: none, or none that ends in its
 * section.  Valid as long as the file (or its alternate file) is open.
 */
const char *die_string(Dwarf_Die *die, unsigned int name);

#endif /* READER_DIESTRING_H */
