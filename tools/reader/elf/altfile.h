/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The supplementary file with the common parts of several debug files
 * (.gnu_debugaltlink, made by dwz).  libdw would look for it by itself, but
 * outside of --root, and would open any type of file.
 */
#ifndef READER_ALTFILE_H
#define READER_ALTFILE_H

#include <elfutils/libdw.h>

#include "elf/imagefile.h"

struct altfile {
	struct image im;
	Dwarf *dw;		/* NULL: no such file */
};

/* Opens the supplementary file of @im; false: it needs none, or it is missing. */
bool altfile_image(struct image *alt, const struct image *im,
		   const struct image_root *root);
/*
 * Attaches the supplementary file to @dw, the DWARF of @im.  False if @dw needs
 * one that is missing: names in @dw can't be resolved then.
 */
bool altfile_open(struct altfile *a, Dwarf *dw, const struct image *im,
		  const struct image_root *root);
/* Call it after dwarf_end() of the main file. */
void altfile_close(struct altfile *a);

#endif /* READER_ALTFILE_H */
