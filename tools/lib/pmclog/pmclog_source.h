/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the bytes of a log from a descriptor, and decompresses a zstd stream,
 * which is recognised by its first bytes.
 */
#ifndef PMCLOG_SOURCE_H
#define PMCLOG_SOURCE_H

#include <sys/types.h>

struct pmclog_source;

/* NULL with errno ENOMEM.  The caller still owns @fd. */
struct pmclog_source *pmclog_source_new(int fd);
void pmclog_source_free(struct pmclog_source *s);
/*
 * Like read(2); 0 is the end for now.  -1 is an error of read(2), or a permanent
 * error that pmclog_source_error() returns.
 */
ssize_t pmclog_source_read(struct pmclog_source *s, void *buf, size_t len);
const char *pmclog_source_error(const struct pmclog_source *s);
/* After the end: says what the stream lacks, or NULL. */
const char *pmclog_source_cut(const struct pmclog_source *s);

#endif /* PMCLOG_SOURCE_H */
