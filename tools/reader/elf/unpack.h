/* SPDX-License-Identifier: BSD-2-Clause */
/* Decompresses whole files and sections in memory. */
#ifndef READER_UNPACK_H
#define READER_UNPACK_H

#include <stddef.h>

/* Unpacks xz or zstd data; the caller frees it.  NULL: neither, or damaged. */
void *unpack(const void *data, size_t len, size_t *out);

#endif /* READER_UNPACK_H */
