/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places that a log can go to.
 */
#ifndef TEST_ENDS_H
#define TEST_ENDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Two ends: what is written to ends[1] comes out of ends[0].  A TCP connection
 * over lo, and a terminal that changes nothing.  0, or -1 with errno.
 */
int make_tcp(int *ends);
int make_terminal(int *ends);

/*
 * A file system of @kib on a loop device, mounted at @dir; false: not here.  It
 * can be frozen.
 */
bool small_ext4(const char *dir, unsigned int kib);
void small_ext4_end(const char *dir);

/* Fills the file system that @path (made) is on, but for some @spare bytes. */
bool fill_but(const char *path, size_t spare);

#endif /* TEST_ENDS_H */
