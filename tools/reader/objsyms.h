/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of a mapped object. */
#ifndef READER_OBJSYMS_H
#define READER_OBJSYMS_H

#include "elfsyms.h"
#include "profile.h"

struct objsyms {
	struct symtab tab;
	struct elfsegs segs;
};

/* NULL, or why there are none. */
const char *objsyms_open(struct objsyms *s, struct profile *p, uint32_t obj);
/* The function at a frame's address, or NULL. */
const struct sym *objsyms_find(const struct objsyms *s, uint64_t addr);
void objsyms_close(struct objsyms *s);

#endif /* READER_OBJSYMS_H */
