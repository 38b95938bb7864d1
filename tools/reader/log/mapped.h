/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log that is a regular file, mapped instead of read.
 *
 * It is mapped as long as it is, but only a window of it takes memory.  Who cuts
 * it meanwhile leaves pages that can't be read: they become zeros, and the log
 * ends where the file does.  The sample that the cut is in may have been seen
 * with zeros.
 */
#ifndef READER_MAPPED_H
#define READER_MAPPED_H

#include <stdint.h>
#include <sys/types.h>

struct mapped;

/* NULL: it has to be read. */
struct mapped *mapped_open(int fd);
/* For pmclog_iter_window(); @ctx is a struct mapped. */
ssize_t mapped_window(void *ctx, uint64_t offset, const unsigned char **p);
void mapped_close(struct mapped *m);

#endif /* READER_MAPPED_H */
