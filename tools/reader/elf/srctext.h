/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of source files; their paths are those of the compiler. */
#ifndef READER_SRCTEXT_H
#define READER_SRCTEXT_H

#include "base/strtab.h"

/* a file: @line[i] is the start of line i in @text */
struct srcfile {
	char *text;
	const char **line;
	uint32_t n, cap;
};

/**
 * struct srctext - files that were read
 * @dir:  --source-root: root of the files, NULL: paths are as compiled
 * @name: paths of the files; path numbers are indices of @file
 */
struct srctext {
	const char *dir;
	struct strtab name;
	struct srcfile *file;
	uint32_t n;
	size_t total;
};

void srctext_init(struct srctext *t, const char *dir);
/* Line @line, counted from 1, without its newline; NULL if not available. */
const char *srctext_line(struct srctext *t, const char *path, uint32_t line,
			 size_t *len);
void srctext_free(struct srctext *t);

#endif /* READER_SRCTEXT_H */
