/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that takes the place of another when it is worth it. */
#ifndef READER_TEMPFILE_H
#define READER_TEMPFILE_H

#include <stdbool.h>

/* The rights of a new file that nobody has asked any for */
unsigned int tempfile_mode(void);

/*
 * A file beside @path to write and read, which *@temp names, with the owner and
 * the rights of the one that is there, or @mode; -1: @path has to be written in
 * place.
 */
int tempfile_open(const char *path, unsigned int mode, char **temp);

/*
 * Closes @fd; @temp, which is freed, is @path from then on, if @keep.  Without
 * @temp it was written in place.  0 or an errno.
 */
int tempfile_settle(int fd, const char *path, char *temp, bool keep);

#endif /* READER_TEMPFILE_H */
