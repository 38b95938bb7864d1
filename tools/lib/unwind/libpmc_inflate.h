/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sections that are compressed (SHF_COMPRESSED).
 */
#ifndef LIBPMC_INFLATE_H
#define LIBPMC_INFLATE_H

#include <stddef.h>

#define PMC_INFLATE_ZLIB	1	/* ELFCOMPRESS_ZLIB */
#define PMC_INFLATE_ZSTD	2	/* ELFCOMPRESS_ZSTD; not in all elf.h */

/*
 * 0: exactly @size bytes are at @to.  -1 with errno: ENOMEM; or ENOEXEC: that is not
 * what comes of it; they would be more than anything of @len bytes can hold; or it was
 * built without that library.
 */
int pmc_inflate(unsigned int type, const void *from, size_t len, void *to,
		size_t size);
/* Can it have so many bytes?  To be asked before there is memory for them. */
int pmc_inflate_fits(unsigned int type, size_t len, size_t size);

#endif
