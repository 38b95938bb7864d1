/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log that is a regular file, mapped instead of read.
 *
 * The whole file is mapped, but only a window of it takes memory.  If the file
 * is truncated meanwhile, the pages behind its end read as zeros, and the log
 * ends where the file does.  The sample at the cut may have been seen with
 * zeros.
 */
#ifndef READER_MAPPED_H
#define READER_MAPPED_H

#include <stdint.h>
#include <sys/types.h>

struct mapped;

/* NULL: the log can't be mapped and has to be read. */
struct mapped *mapped_open(int fd);
/* For pmclog_iter_window(); @ctx is a struct mapped. */
ssize_t mapped_window(void *ctx, uint64_t offset, const unsigned char **p);
void mapped_close(struct mapped *m);

#endif /* READER_MAPPED_H */
