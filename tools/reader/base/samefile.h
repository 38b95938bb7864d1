/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_SAMEFILE_H
#define READER_SAMEFILE_H

#include <stdbool.h>

/*
 * Is @path, NULL or "-" standard output, the file that @fd is open on?  Of a
 * directory: is it a file in there that may be a log?
 */
bool same_file(int fd, const char *path);

bool path_is_directory(const char *path);

#endif /* READER_SAMEFILE_H */
