/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a zstd stream to a descriptor. */
#ifndef READER_ZWRITE_H
#define READER_ZWRITE_H

#include <stddef.h>
#include <stdint.h>

struct zwrite;

/* NULL with errno; ENOSYS: this program was built without zstd. */
struct zwrite *zwrite_new(int fd);
void zwrite_free(struct zwrite *z);
/* These return 0, or the errno of a write that failed. */
int zwrite_bytes(struct zwrite *z, const void *p, size_t n);
/* Flushes: the receiver can decompress all that was written so far. */
int zwrite_flush(struct zwrite *z);
/* The end of the stream */
int zwrite_end(struct zwrite *z);
/* Bytes that went to the descriptor */
uint64_t zwrite_total(const struct zwrite *z);

#endif /* READER_ZWRITE_H */
