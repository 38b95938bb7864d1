/* SPDX-License-Identifier: GPL-2.0-only */
/* A buffer for records that are written to a file or a pipe. */
#ifndef BENCH_SINK_H
#define BENCH_SINK_H

#include <stdint.h>
#include <string.h>

#define SINK_BUF	(1U << 20)

struct sinkfile {
	int fd;
	uint64_t bytes;			/* put so far */
	size_t n;
	unsigned char buf[SINK_BUF];
};

void sinkfile_open(struct sinkfile *f, const char *path);
void sinkfile_flush(struct sinkfile *f);
void sinkfile_close(struct sinkfile *f);
void sinkfile_write_at(struct sinkfile *f, const void *p, size_t len,
		       uint64_t at);

/* A record of @len bytes, zeroed. */
static inline void *sink_room(struct sinkfile *f, size_t len)
{
	unsigned char *p;

	if (f->n + len > SINK_BUF)
		sinkfile_flush(f);
	p = f->buf + f->n;
	memset(p, 0, len);
	f->n += len;
	f->bytes += len;
	return p;
}

#endif /* BENCH_SINK_H */
