/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that several debug files have their common parts in
 * (.gnu_debugaltlink, made by dwz).  libdw would look for it by itself, but
 * outside of --root, and open whatever is there.
 */
#ifndef READER_ALTFILE_H
#define READER_ALTFILE_H

#include <elfutils/libdw.h>

#include "elf/imagefile.h"

struct altfile {
	struct image im;
	Dwarf *dw;		/* NULL: there is none */
};

/*
 * Gives @dw, of @im, its other part.  False if it needs one that is not there:
 * then names in it can't be told.
 */
bool altfile_open(struct altfile *a, Dwarf *dw, const struct image *im,
		  const struct image_root *root);
/* After the end of the other. */
void altfile_close(struct altfile *a);

#endif /* READER_ALTFILE_H */
