/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of a mapped object. */
#ifndef READER_OBJSYMS_H
#define READER_OBJSYMS_H

#include "elf/elfsyms.h"
#include "elf/imagefile.h"
#include "profile/profile.h"

/**
 * struct objsyms - the symbols of an object
 * @id: build-id of the file that they are from; of length 0: it has none
 */
struct objsyms {
	struct symtab tab;
	struct elfsegs segs;
	struct buildid id;
};

/* path of the vdso in an archive, below its root */
#define VDSO_FILE	"/[vdso]"

/* Opens the vdso that was mapped; false: *@why is why not. */
bool objsyms_vdso(struct image *im, struct profile *p, const char **why);
/* Loads the symbols of object @obj; NULL, or why there are none. */
const char *objsyms_open(struct objsyms *s, struct profile *p, uint32_t obj);

/**
 * struct objfile - location of a mapped file
 * @path: the caller frees it
 */
struct objfile {
	char *path;
	struct image_root root;
};

/* False, and no path: the file is missing, or has been replaced. */
bool objsyms_file(struct objfile *f, struct profile *p, uint32_t obj);
/* Does the log tell that the symbols of object @obj are of another file? */
bool objsyms_are_wrong(const struct objsyms *s, struct profile *p, uint32_t obj);
/* The function at a frame's address, or NULL. */
const struct sym *objsyms_find(const struct objsyms *s, uint64_t addr);
void objsyms_close(struct objsyms *s);

#endif /* READER_OBJSYMS_H */
