/* SPDX-License-Identifier: BSD-2-Clause */
/* A function in a jitdump: its bytes and lines. */
#ifndef READER_ANNOTATE_JIT_H
#define READER_ANNOTATE_JIT_H

#include <sys/types.h>

#include "profile/profile.h"

/**
 * struct jitbytes
 * @start:   address at run time, of @len bytes
 * @machine: ELF machine number
 * @owner:   user of the jitdump
 */
struct jitbytes {
	unsigned char *code;
	size_t len;
	uint64_t start;
	uint32_t machine;
	uid_t owner;
	struct jitlines lines;
};

/* Reads at most @len bytes from @start; NULL, or the reason for a failure. */
const char *jitbytes_open(struct jitbytes *b, struct profile *p, uint32_t obj,
			  uint64_t start, size_t len);
void jitbytes_close(struct jitbytes *b);

#endif /* READER_ANNOTATE_JIT_H */
