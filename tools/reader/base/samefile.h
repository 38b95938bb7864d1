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

#endif /* READER_SAMEFILE_H */
