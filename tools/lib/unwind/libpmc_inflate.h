/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inflates compressed sections (SHF_COMPRESSED).
 */
#ifndef LIBPMC_INFLATE_H
#define LIBPMC_INFLATE_H

#include <stddef.h>

#define PMC_INFLATE_ZLIB	1	/* ELFCOMPRESS_ZLIB */
#define PMC_INFLATE_ZSTD	2	/* ELFCOMPRESS_ZSTD; not in all elf.h */

/*
 * Returns 0 with exactly @size bytes at @to, or -1 with errno: ENOMEM; or ENOEXEC: the
 * data does not inflate to @size bytes, @len bytes cannot inflate to that many, or the
 * build lacks the library.
 */
int pmc_inflate(unsigned int type, const void *from, size_t len, void *to,
		size_t size);
/* Can @len bytes inflate to @size?  To be checked before allocating memory. */
int pmc_inflate_fits(unsigned int type, size_t len, size_t size);

#endif
