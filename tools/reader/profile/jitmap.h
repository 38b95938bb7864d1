/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that was made at run time: /tmp/perf-PID.map, which programs
 * with a just-in-time compiler write on request.
 */
#ifndef READER_JITMAP_H
#define READER_JITMAP_H

#include "elf/symtab.h"
#include "profile/profile.h"

/* Does a map exist for that process?  It may be unusable. */
bool jitmap_exists(struct profile *p, uint32_t pid);
/* Opens its map if it can be trusted: a descriptor, or -1 and *@why. */
int jitmap_open(const struct profile *p, uint32_t pid, const char **why);
/* Adds its functions without overlaps; NULL, or why there are none. */
const char *jitmap_load(struct symtab *t, const struct profile *p,
			uint32_t pid);

#endif /* READER_JITMAP_H */
