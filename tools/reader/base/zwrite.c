// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/zwrite.h"

#ifdef WITH_ZSTD

#include <zstd.h>

/* zstd's default; with long stacks, half the size of level 1 */
#define LEVEL		3
#define OUT_BYTES	(128U << 10)

struct zwrite {
	ZSTD_CCtx *c;
	int fd;
	uint64_t total;
	unsigned char out[OUT_BYTES];
};

struct zwrite *zwrite_new(int fd)
{
	struct zwrite *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->fd = fd;
	z->c = ZSTD_createCCtx();
	if (!z->c) {
		free(z);
		errno = ENOMEM;
		return NULL;
	}
	ZSTD_CCtx_setParameter(z->c, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(z->c, ZSTD_c_checksumFlag, 1);
	return z;
}

void zwrite_free(struct zwrite *z)
{
	if (!z)
		return;
	ZSTD_freeCCtx(z->c);
	free(z);
}

static int write_all(struct zwrite *z, size_t n)
{
	struct pollfd pfd = { .fd = z->fd, .events = POLLOUT };
	size_t done = 0;
	ssize_t w;

	while (done < n) {
		w = write(z->fd, z->out + done, n - done);
		if (w >= 0) {
			done += (size_t)w;
			z->total += (uint64_t)w;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			poll(&pfd, 1, -1);	/* O_NONBLOCK set elsewhere */
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static int step(struct zwrite *z, const void *p, size_t n,
		ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { p, n, 0 };
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = { z->out, sizeof(z->out), 0 };

		left = ZSTD_compressStream2(z->c, &out, &in, how);
		if (ZSTD_isError(left))
			return ENOMEM;	/* the only possible failure */
		err = write_all(z, out.pos);
	} while (!err && (how == ZSTD_e_continue ? in.pos < in.size : left));
	return err;
}

int zwrite_bytes(struct zwrite *z, const void *p, size_t n)
{
	return step(z, p, n, ZSTD_e_continue);
}

int zwrite_flush(struct zwrite *z)
{
	return step(z, NULL, 0, ZSTD_e_flush);
}

int zwrite_end(struct zwrite *z)
{
	return step(z, NULL, 0, ZSTD_e_end);
}

uint64_t zwrite_total(const struct zwrite *z)
{
	return z->total;
}

#else /* !WITH_ZSTD */

struct zwrite *zwrite_new(int fd)
{
	(void)fd;
	errno = ENOSYS;
	return NULL;
}

void zwrite_free(struct zwrite *z)
{
	(void)z;
}

int zwrite_bytes(struct zwrite *z, const void *p, size_t n)
{
	(void)z;
	(void)p;
	(void)n;
	return ENOSYS;
}

int zwrite_flush(struct zwrite *z)
{
	(void)z;
	return ENOSYS;
}

int zwrite_end(struct zwrite *z)
{
	(void)z;
	return ENOSYS;
}

uint64_t zwrite_total(const struct zwrite *z)
{
	(void)z;
	return 0;
}

#endif
