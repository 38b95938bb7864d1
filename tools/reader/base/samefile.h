/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_SAMEFILE_H
#define READER_SAMEFILE_H

#include <stdbool.h>

/* Is @path, NULL or "-" standard output, the file that @fd is open on? */
bool same_file(int fd, const char *path);

#endif /* READER_SAMEFILE_H */
