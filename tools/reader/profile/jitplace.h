/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files with the names of code that a process makes at run time: where they
 * are, and whether they can be trusted.
 */
#ifndef READER_JITPLACE_H
#define READER_JITPLACE_H

#include "profile/profile.h"

enum jit_file { JIT_MAP, JIT_DUMP };

/**
 * struct jitplace - a process that may have such files
 * @own:   the root directory of the process, if it is @alive
 * @inner: its pid in its own pid namespace
 * @alive: the process still runs
 * @uid:   its user
 * @apart: it has mounts of its own: what is root's there may be any file, by a bind mount
 */
struct jitplace {
	struct image_root own;
	uint32_t inner;
	bool alive;
	bool apart;
	uid_t uid;
};

/* False: no such file can exist. */
bool jitplace_find(const struct profile *p, uint32_t pid, struct jitplace *at);
/* Opens such a file: a descriptor, or -1 and *@why. */
int jitplace_open(const struct profile *p, const struct jitplace *at,
		  const char *path, const char **why);
/* Why the file can't be trusted, or NULL. */
const char *jitplace_why_not(const struct profile *p,
			     const struct jitplace *at, uint32_t pid, int fd,
			     enum jit_file file);

#endif /* READER_JITPLACE_H */
