/* SPDX-License-Identifier: BSD-2-Clause */
/* Packed files and sections, whole in memory. */
#ifndef READER_UNPACK_H
#define READER_UNPACK_H

#include <stddef.h>

/* What xz or zstd has packed, for free(); NULL: it is not that, or damaged. */
void *unpack(const void *data, size_t len, size_t *out);

#endif /* READER_UNPACK_H */
