/* SPDX-License-Identifier: BSD-2-Clause */
/* Decompresses a zstd stream: its frames, one after the other. */
#ifndef PMCLOG_ZSTD_H
#define PMCLOG_ZSTD_H

#include <stddef.h>
#include <sys/types.h>

#define PMCLOG_ZSTD_MAGIC_LEN	4
#define PMCLOG_ZSTD_FIRST	65536U	/* most bytes that pmclog_zstd_new() takes */

struct pmclog_zstd;

/* Whether the first PMCLOG_ZSTD_MAGIC_LEN bytes are those of a frame */
int pmclog_zstd_magic(const unsigned char *p);
/* @first: the first @n bytes of the stream.  NULL: *@error says why. */
struct pmclog_zstd *pmclog_zstd_new(const void *first, size_t n,
				    const char **error);
/* Both functions take NULL. */
void pmclog_zstd_free(struct pmclog_zstd *z);
/* What is wrong with the stream, or NULL */
const char *pmclog_zstd_error(const struct pmclog_zstd *z);

/* Returns decompressed bytes; 0: more of the stream is needed; -1: an error */
ssize_t pmclog_zstd_read(struct pmclog_zstd *z, void *buf, size_t len);
/* The caller stores more of the stream at pmclog_zstd_room(), then calls _fill(). */
unsigned char *pmclog_zstd_room(struct pmclog_zstd *z, size_t *space);
void pmclog_zstd_fill(struct pmclog_zstd *z, size_t n);
/* Whether a frame has begun and not ended. */
int pmclog_zstd_open(const struct pmclog_zstd *z);

#endif /* PMCLOG_ZSTD_H */
