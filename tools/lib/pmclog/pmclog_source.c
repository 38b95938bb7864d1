// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmclog_source.h"
#include "pmclog_zstd.h"

#define FIRST_MAX	PMCLOG_ZSTD_FIRST

/*
 * @plain: the stream is known not to be a zstd stream
 * @zstd:  the decoder, if it is one
 * @head:  before this is known: the first bytes, too few to decide
 */
struct pmclog_source {
	int fd;
	int plain;
	struct pmclog_zstd *zstd;
	unsigned char head[PMCLOG_ZSTD_MAGIC_LEN];
	size_t nhead;
	const char *error;
};

struct pmclog_source *pmclog_source_new(int fd)
{
	struct pmclog_source *s = calloc(1, sizeof(*s));

	if (s)
		s->fd = fd;
	return s;
}

void pmclog_source_free(struct pmclog_source *s)
{
	if (!s)
		return;
	pmclog_zstd_free(s->zstd);
	free(s);
}

const char *pmclog_source_error(const struct pmclog_source *s)
{
	return s->error ? s->error : pmclog_zstd_error(s->zstd);
}

const char *pmclog_source_cut(const struct pmclog_source *s)
{
	if (s->zstd)
		return pmclog_zstd_open(s->zstd) ?
		       "truncated: the compressed log is cut" : NULL;
	return s->nhead ? "truncated record" : NULL;
}

static ssize_t read_fd(int fd, void *buf, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, buf, len);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* Decides by the first @n bytes in @buf whether this is a zstd stream. */
static ssize_t decide(struct pmclog_source *s, void *buf, size_t n)
{
	s->nhead = 0;
	if (!pmclog_zstd_magic(buf)) {
		s->plain = 1;
		return (ssize_t)n;
	}
	s->zstd = pmclog_zstd_new(buf, n, &s->error);
	return 0;
}

/* 0: the end, or it is a zstd stream */
static ssize_t read_first(struct pmclog_source *s, unsigned char *buf,
			  size_t len)
{
	ssize_t n;

	if (len > FIRST_MAX)
		len = FIRST_MAX;
	for (;;) {
		memcpy(buf, s->head, s->nhead);
		n = read_fd(s->fd, buf + s->nhead, len - s->nhead);
		if (n <= 0)
			return n;
		n += (ssize_t)s->nhead;
		if (n >= (ssize_t)sizeof(s->head))
			return decide(s, buf, (size_t)n);
		memcpy(s->head, buf, (size_t)n);
		s->nhead = (size_t)n;
	}
}

/* Decodes the compressed bytes in the buffer first, then reads more. */
static ssize_t read_zstd(struct pmclog_source *s, void *buf, size_t len)
{
	unsigned char *room;
	size_t space;
	ssize_t n;

	for (;;) {
		n = pmclog_zstd_read(s->zstd, buf, len);
		if (n)
			return n;
		room = pmclog_zstd_room(s->zstd, &space);
		n = read_fd(s->fd, room, space);
		if (n <= 0)
			return n;
		pmclog_zstd_fill(s->zstd, (size_t)n);
	}
}

ssize_t pmclog_source_read(struct pmclog_source *s, void *buf, size_t len)
{
	ssize_t n;

	if (s->plain)
		return read_fd(s->fd, buf, len);
	if (!s->zstd && !s->error) {
		n = read_first(s, buf, len);
		if (n || (!s->zstd && !s->error))
			return n;
	}
	return s->error ? -1 : read_zstd(s, buf, len);
}
