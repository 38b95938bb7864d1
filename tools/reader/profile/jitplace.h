/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files in which a process tells the names of code that it makes at run time:
 * where they are, and whether they can be believed.
 */
#ifndef READER_JITPLACE_H
#define READER_JITPLACE_H

#include "profile/profile.h"

enum jit_file { JIT_MAP, JIT_DUMP };

/**
 * struct jitplace - a process that may have such files
 * @own:   the file system that the process sees, if it is @alive
 * @inner: the number that it has there
 * @alive: the process still runs
 * @uid:   its user
 */
struct jitplace {
	struct image_root own;
	uint32_t inner;
	bool alive;
	uid_t uid;
};

/* False: there is no sense in looking. */
bool jitplace_find(const struct profile *p, uint32_t pid, struct jitplace *at);
/* Such a file: a descriptor, or -1 and why not. */
int jitplace_open(const struct profile *p, const struct jitplace *at,
		  const char *path, const char **why);
/* Why it can't be believed, or NULL. */
const char *jitplace_why_not(const struct profile *p,
			     const struct jitplace *at, uint32_t pid, int fd,
			     enum jit_file file);

#endif /* READER_JITPLACE_H */
