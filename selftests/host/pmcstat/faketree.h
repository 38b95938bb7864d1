/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree with a sys and a proc in it that are not those of this machine. */
#ifndef FAKETREE_H
#define FAKETREE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char tree[] = "/tmp/faketree.XXXXXX";

static inline void tree_make(void)
{
	if (!mkdtemp(tree))
		abort();
}

/* A file of the tree, with all directories above it */
static inline void put(const char *text, const char *fmt, ...)
{
	char path[4096], *slash;
	va_list ap;
	size_t n;
	FILE *f;

	n = (size_t)snprintf(path, sizeof(path), "%s/", tree);
	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - n, fmt, ap);
	va_end(ap);
	for (slash = path + n; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			abort();
		*slash = '/';
	}
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static inline void tree_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", tree);
	if (system(command))
		abort();
}

#endif /* FAKETREE_H */
