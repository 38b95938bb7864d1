/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes that a zstd stream holds: its frames, one after the other. */
#ifndef PMCLOG_ZSTD_H
#define PMCLOG_ZSTD_H

#include <stddef.h>
#include <sys/types.h>

#define PMCLOG_ZSTD_MAGIC_LEN	4
#define PMCLOG_ZSTD_FIRST	65536U	/* it can begin with that much at most */

struct pmclog_zstd;

/* Whether the first PMCLOG_ZSTD_MAGIC_LEN bytes are those of a frame */
int pmclog_zstd_magic(const unsigned char *p);
/* With the stream's first bytes.  NULL: @error says why. */
struct pmclog_zstd *pmclog_zstd_new(const void *first, size_t n,
				    const char **error);
/* These take NULL. */
void pmclog_zstd_free(struct pmclog_zstd *z);
/* What is wrong with the stream, or NULL */
const char *pmclog_zstd_error(const struct pmclog_zstd *z);

/* What is there already; 0: more of the stream is needed; -1: an error */
ssize_t pmclog_zstd_read(struct pmclog_zstd *z, void *buf, size_t len);
/* More of the stream goes to where pmclog_zstd_room() says. */
unsigned char *pmclog_zstd_room(struct pmclog_zstd *z, size_t *space);
void pmclog_zstd_fill(struct pmclog_zstd *z, size_t n);
/* A frame has begun and not ended. */
int pmclog_zstd_open(const struct pmclog_zstd *z);

#endif /* PMCLOG_ZSTD_H */
