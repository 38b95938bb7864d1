// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include <lzma.h>
#ifdef WITH_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"
#include "elf/unpack.h"

/* limits, since the unpacked size is not known in advance */
#define UNPACKED_MAX	((size_t)128 << 20)
#define LZMA_MEMORY	((uint64_t)128 << 20)

static void *unpack_xz(const void *data, size_t len, size_t *out)
{
	uint64_t memory = LZMA_MEMORY;
	lzma_ret ret = LZMA_BUF_ERROR;
	unsigned char *buf = NULL;
	size_t size = 65536, in;

	/* the unpacked size is not known in advance */
	while (ret == LZMA_BUF_ERROR && size < UNPACKED_MAX) {
		size *= 4;
		buf = xreallocarray(buf, size, 1);
		in = *out = 0;
		ret = lzma_stream_buffer_decode(&memory, 0, NULL, data, &in,
						len, buf, out, size);
		if (in == len)
			break;
	}
	if (ret == LZMA_OK)
		return buf;
	free(buf);
	return NULL;
}

#ifdef WITH_ZSTD
static void *unpack_zstd(const void *data, size_t len, size_t *out)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);
	void *buf;

	/* compressed files normally have their size in the header */
	if (size > UNPACKED_MAX || !size)
		return NULL;
	buf = xmalloc(size);
	*out = ZSTD_decompress(buf, size, data, len);
	if (!ZSTD_isError(*out))
		return buf;
	free(buf);
	return NULL;
}
#endif

void *unpack(const void *data, size_t len, size_t *out)
{
#ifdef WITH_ZSTD
	if (len > 4 && !memcmp(data, "\x28\xb5\x2f\xfd", 4))
		return unpack_zstd(data, len, out);
#endif
	if (len > 6 && !memcmp(data, "\xfd" "7zXZ", 6))
		return unpack_xz(data, len, out);
	return NULL;
}
