/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_SAMEFILE_H
#define READER_SAMEFILE_H

#include <stdbool.h>

/*
 * Is @path, NULL or "-" standard output, the file that @fd is open on?  Of a
 * directory: is it a file in there that may be a log?
 */
bool same_file(int fd, const char *path);

/*
 * Are these two names of one file, which may not exist yet?  A character device loses
 * nothing: it is never the same.
 */
bool same_path(const char *a, const char *b);

bool path_is_directory(const char *path);

/* Opens @path, relative to what @at is, with these flags, as open(2). */
typedef int open_below_fn(const void *at, const char *path, int flags);

/*
 * Opens a regular file for reading.  @follow: it may be a symbolic link to one.
 * -1 and errno; EINVAL: it is another kind of file, whose driver or writer does
 * not notice.
 */
int regular_open_below(open_below_fn *open_below, const void *at, const char *path,
		       bool follow);
/* The same for @name in the directory @dir; no link. */
int regular_open(int dir, const char *name);

#endif /* READER_SAMEFILE_H */
