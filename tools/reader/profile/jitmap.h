/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that was made at run time: /tmp/perf-PID.map, which programs
 * with a just-in-time compiler write if asked to.
 */
#ifndef READER_JITMAP_H
#define READER_JITMAP_H

#include "elf/symtab.h"
#include "profile/profile.h"

/* Is there a map for that process?  It may not be good for anything. */
bool jitmap_exists(struct profile *p, uint32_t pid);
/* Its map, if it can be believed: a descriptor, or -1 and why not. */
int jitmap_open(const struct profile *p, uint32_t pid, const char **why);
/* Adds its functions, which do not overlap; NULL, or why there are none. */
const char *jitmap_load(struct symtab *t, const struct profile *p,
			uint32_t pid);

#endif /* READER_JITMAP_H */
