/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of source files; their paths are those of the compiler. */
#ifndef READER_SRCTEXT_H
#define READER_SRCTEXT_H

#include <sys/types.h>

#include "base/strtab.h"

/**
 * struct srcfile - a file
 * @line: start of each line in @text
 * @owner: its user
 * @free: whoever has made the program may read it
 */
struct srcfile {
	char *text;
	const char **line;
	uint32_t n, cap;
	uid_t owner;
	bool free;
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
/*
 * Line @line, counted from 1, without its newline; NULL if not available.  A program can
 * name any file as its source: the line is not of one that @owner, the program's, may not
 * read, as far as that can be told; it must be public or this user's, or below @dir.
 * @owner -1: it must be public, or below @dir.
 */
const char *srctext_line(struct srctext *t, const char *path, uint32_t line,
			 uid_t owner, size_t *len);
void srctext_free(struct srctext *t);

#endif /* READER_SRCTEXT_H */
