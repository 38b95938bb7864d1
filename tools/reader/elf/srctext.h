/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of source files; a file is named by whoever made the program. */
#ifndef READER_SRCTEXT_H
#define READER_SRCTEXT_H

#include "base/strtab.h"
#include "elf/imagefile.h"

/* a file: @line[i] is where line i begins in @text */
struct srcfile {
	char *text;
	const char **line;
	uint32_t n, cap;
};

/**
 * struct srctext - files that were read
 * @dir:  --source-root: where they are, NULL: where they were compiled
 * @name: their paths; the numbers are those of @file
 */
struct srctext {
	const char *dir;
	struct strtab name;
	struct srcfile *file;
	uint32_t n;
	size_t total;
};

void srctext_init(struct srctext *t, const char *dir);
/* A line from 1 on, without its end; NULL if it can't be had. */
const char *srctext_line(struct srctext *t, const char *path, uint32_t line,
			 size_t *len);
void srctext_free(struct srctext *t);

#endif /* READER_SRCTEXT_H */
