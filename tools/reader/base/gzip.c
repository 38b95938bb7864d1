// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include <zlib.h>

#include "base/mem.h"
#include "base/outfile.h"

/* Higher levels gain little and cost much time. */
#define LEVEL	4

struct gzip {
	struct out in;		/* bytes to compress; must be first */
	struct out to;
	z_stream z;
};

static void compress_part(struct gzip *g, int flush)
{
	unsigned char buf[16384];
	int ret;

	do {
		g->z.next_out = buf;
		g->z.avail_out = sizeof(buf);
		ret = deflate(&g->z, flush);
		out_bytes(&g->to, buf, sizeof(buf) - g->z.avail_out);
	} while (ret == Z_OK && !g->z.avail_out);
	if (ret == Z_STREAM_ERROR)
		g->to.error = EIO;
}

static void sink(struct out *o, const char *p, size_t n)
{
	struct gzip *g = (struct gzip *)o;

	g->z.next_in = (unsigned char *)p;
	g->z.avail_in = (unsigned int)n;
	compress_part(g, Z_NO_FLUSH);
	g->in.error = g->to.error;
}

struct out *gzip_open(int fd)
{
	struct gzip *g = xcalloc(1, sizeof(*g));

	/* 15: the largest window; + 16: gzip header and trailer */
	if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, 15 + 16, 9,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		g->to.error = ENOMEM;
	g->in.sink = sink;
	g->in.error = g->to.error;
	g->to.fd = fd;
	return &g->in;
}

int gzip_finish(struct out *o, const char *path)
{
	struct gzip *g = (struct gzip *)o;
	int ret;

	out_flush(o);
	if (!g->to.error)
		compress_part(g, Z_FINISH);
	ret = out_finish_file(&g->to, path);
	deflateEnd(&g->z);
	free(g);
	return ret;
}
