/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree with a sys and a proc in it that are not those of this machine. */
#ifndef FAKETREE_H
#define FAKETREE_H

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "scratch.h"

/* A file of the tree, with all directories above it */
static inline void put_bytes(const char *path, const void *p, size_t n)
{
	char full[4096], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", scratch, path);
	for (slash = full + sizeof(scratch); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		abort_if(mkdir(full, 0700) && errno != EEXIST);
		*slash = '/';
	}
	f = fopen(full, "we");
	abort_if(!f || fwrite(p, 1, n, f) != n || fclose(f));
}

static inline void put(const char *text, const char *fmt, ...)
{
	char path[4000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	put_bytes(path, text, strlen(text));
}

#endif /* FAKETREE_H */
