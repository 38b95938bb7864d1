// SPDX-License-Identifier: BSD-2-Clause
/* In a build without the libraries, compressed sections are treated as missing. */
#include <errno.h>

#include "libpmc_inflate.h"

#ifdef WITH_ZLIB
#include <zlib.h>
#endif
#ifdef WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* largest growth by inflation, approximately */
#define ZLIB_GROWTH	1032
#define ZSTD_GROWTH	32768

int pmc_inflate_fits(unsigned int type, size_t len, size_t size)
{
	switch (type) {
	case PMC_INFLATE_ZLIB:
		return size / ZLIB_GROWTH <= len;
	case PMC_INFLATE_ZSTD:
		return size / ZSTD_GROWTH <= len;
	default:
		return 0;
	}
}

#if !defined(WITH_ZLIB) || !defined(WITH_ZSTD)
/* For a build without the library. */
static int absent(const void *from, size_t len, void *to, size_t size)
{
	(void)from;
	(void)len;
	(void)to;
	(void)size;
	return ENOEXEC;
}
#endif

/* 0, or an errno */
static int inflate_zlib(const void *from, size_t len, void *to, size_t size)
{
#ifdef WITH_ZLIB
	uLongf n = size;
	int status = uncompress(to, &n, from, len);

	if (status == Z_OK && n == size)
		return 0;
	return status == Z_MEM_ERROR ? ENOMEM : ENOEXEC;
#else
	return absent(from, len, to, size);
#endif
}

static int inflate_zstd(const void *from, size_t len, void *to, size_t size)
{
#ifdef WITH_ZSTD
	size_t n = ZSTD_decompress(to, size, from, len);

	if (n == size)
		return 0;
	return ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ?
	       ENOMEM : ENOEXEC;
#else
	return absent(from, len, to, size);
#endif
}

int pmc_inflate(unsigned int type, const void *from, size_t len, void *to,
		size_t size)
{
	int err = ENOEXEC;

	if (pmc_inflate_fits(type, len, size))
		err = type == PMC_INFLATE_ZLIB ?
		      inflate_zlib(from, len, to, size) :
		      inflate_zstd(from, len, to, size);
	if (err)
		errno = err;
	return err ? -1 : 0;
}
