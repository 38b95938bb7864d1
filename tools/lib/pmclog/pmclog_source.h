/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a log that a descriptor has: as they are, or out of a zstd
 * stream.  What it is, its first bytes say.
 */
#ifndef PMCLOG_SOURCE_H
#define PMCLOG_SOURCE_H

#include <sys/types.h>

struct pmclog_source;

/* NULL with errno ENOMEM.  The fd stays the caller's. */
struct pmclog_source *pmclog_source_new(int fd);
void pmclog_source_free(struct pmclog_source *s);
/*
 * As read(2); 0 is the end for now.  -1 is an error of read(2), or one that
 * pmclog_source_error() tells: it stays.
 */
ssize_t pmclog_source_read(struct pmclog_source *s, void *buf, size_t len);
const char *pmclog_source_error(const struct pmclog_source *s);
/* After the end: what is missing before it, or NULL. */
const char *pmclog_source_cut(const struct pmclog_source *s);

#endif /* PMCLOG_SOURCE_H */
