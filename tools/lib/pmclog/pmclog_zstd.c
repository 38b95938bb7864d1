// SPDX-License-Identifier: BSD-2-Clause
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmclog_iter.h"
#include "pmclog_zstd.h"

#define MAGIC		0xFD2FB528U
#define MAGIC_SKIPPABLE	0x184D2A50U	/* ... 5F */

int pmclog_zstd_magic(const unsigned char *p)
{
	uint32_t magic = pmclog_get32(p);

	return magic == MAGIC || (magic & ~0xFU) == MAGIC_SKIPPABLE;
}

#ifdef WITH_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

/* 128 MiB, the default limit of zstd(1), so all its output can be read. */
#define WINDOW_LOG_MAX	27
#define IN_SIZE		(256U << 10)
#define BLOCK_HEADER	3

/*
 * @at, @n: the part of @in that is not yet decoded
 * @want:   number of bytes that zstd suggests for the next input
 * @open:   in a frame
 * @full:   there may be more output without more input
 */
struct pmclog_zstd {
	ZSTD_DStream *stream;
	size_t at;
	size_t n;
	size_t want;
	int open;
	int full;
	const char *error;
	char text[80];
	unsigned char in[IN_SIZE];
};

_Static_assert(PMCLOG_ZSTD_FIRST <= IN_SIZE, "the first bytes fit");

static void expect_frame(struct pmclog_zstd *z)
{
	z->want = ZSTD_initDStream(z->stream);
	z->open = 0;
	z->full = 0;	/* all output of the last frame has been returned */
}

struct pmclog_zstd *pmclog_zstd_new(const void *first, size_t n,
				    const char **error)
{
	struct pmclog_zstd *z = calloc(1, sizeof(*z));

	*error = "out of memory";
	if (!z)
		return NULL;
	z->stream = ZSTD_createDStream();
	if (!z->stream ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax,
						WINDOW_LOG_MAX))) {
		pmclog_zstd_free(z);
		return NULL;
	}
	expect_frame(z);
	memcpy(z->in, first, n);
	z->n = n;
	*error = NULL;
	return z;
}

void pmclog_zstd_free(struct pmclog_zstd *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z);
}

const char *pmclog_zstd_error(const struct pmclog_zstd *z)
{
	return z ? z->error : NULL;
}

int pmclog_zstd_open(const struct pmclog_zstd *z)
{
	return z->open;
}

unsigned char *pmclog_zstd_room(struct pmclog_zstd *z, size_t *space)
{
	*space = sizeof(z->in);
	return z->in;
}

void pmclog_zstd_fill(struct pmclog_zstd *z, size_t n)
{
	z->at = 0;
	z->n = n;
}

static void fail(struct pmclog_zstd *z, size_t result)
{
	ZSTD_ErrorCode code = ZSTD_getErrorCode(result);

	if (code == ZSTD_error_frameParameter_windowTooLarge)
		z->error = "compressed with a window of more than 128 MiB";
	else if (code == ZSTD_error_memory_allocation)
		z->error = "out of memory";
	else
		z->error = z->text;
	snprintf(z->text, sizeof(z->text), "damaged compressed log: %s",
		 ZSTD_getErrorName(result));
}

/*
 * Decodes one block at a time, because zstd does not return the output before an
 * error.  The size it suggests is a block and the header of the next.
 */
static size_t portion(const struct pmclog_zstd *z)
{
	size_t left = z->n - z->at, want = z->want;

	if (want > BLOCK_HEADER)
		want -= BLOCK_HEADER;
	return left < want ? left : want;
}

static void decode(struct pmclog_zstd *z, ZSTD_outBuffer *out)
{
	ZSTD_inBuffer in = { z->in + z->at, portion(z), 0 };
	size_t result;

	result = ZSTD_decompressStream(z->stream, out, &in);
	z->at += in.pos;
	z->full = out->pos == out->size;
	if (ZSTD_isError(result)) {
		fail(z, result);
	} else if (result) {
		z->want = result;
		z->open = 1;
	} else {
		expect_frame(z);
	}
}

ssize_t pmclog_zstd_read(struct pmclog_zstd *z, void *buf, size_t len)
{
	ZSTD_outBuffer out = { buf, len, 0 };

	while (!z->error && out.pos < len && (z->at < z->n || z->full))
		decode(z, &out);
	if (out.pos)
		return (ssize_t)out.pos;
	return z->error ? -1 : 0;
}

#else /* !WITH_ZSTD */

struct pmclog_zstd *pmclog_zstd_new(const void *first, size_t n,
				    const char **error)
{
	(void)first;
	(void)n;
	*error = "compressed log: this program was built without zstd";
	return NULL;
}

void pmclog_zstd_free(struct pmclog_zstd *z)
{
	(void)z;
}

const char *pmclog_zstd_error(const struct pmclog_zstd *z)
{
	(void)z;
	return NULL;
}

int pmclog_zstd_open(const struct pmclog_zstd *z)
{
	(void)z;
	return 0;
}

unsigned char *pmclog_zstd_room(struct pmclog_zstd *z, size_t *space)
{
	(void)z;
	*space = 0;
	return NULL;
}

void pmclog_zstd_fill(struct pmclog_zstd *z, size_t n)
{
	(void)z;
	(void)n;
}

ssize_t pmclog_zstd_read(struct pmclog_zstd *z, void *buf, size_t len)
{
	(void)z;
	(void)buf;
	(void)len;
	return -1;
}

#endif
