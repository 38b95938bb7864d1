// SPDX-License-Identifier: BSD-2-Clause
/*
 * The record iterator.
 *
 * The bytes read and not yet handed out are a window [p, end) in the buffer
 * (or in the caller's memory).  A record is checked where it lies; bytes move
 * only when a record is cut by the end of the buffer.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmclog_check.h"
#include "pmclog_iter.h"
#include "pmclog_wire.h"

#define READ_SIZE	(256U << 10)	/* several of the longest record */
#define FEED_SIZE	4096U
#define HDR_LEN		sizeof(struct pmclog_hdr)

enum source { SOURCE_FD, SOURCE_MEM, SOURCE_FEED };

struct pmclog_iter {
	const unsigned char *p;
	const unsigned char *end;
	uint64_t offset;	/* of p in the stream */
	uint64_t serial;
	unsigned char *buf;
	size_t size;
	enum source source;
	int fd;
	const char *error;
	uint64_t error_offset;
	char text[80];		/* an error with a changing part */
};

static struct pmclog_iter *iter_new(enum source source, int fd, size_t size)
{
	struct pmclog_iter *it;

	it = calloc(1, sizeof(*it));
	if (!it)
		return NULL;
	if (size) {
		it->buf = malloc(size);
		if (!it->buf) {
			free(it);
			return NULL;
		}
	}
	it->size = size;
	it->source = source;
	it->fd = fd;
	it->p = it->buf;
	it->end = it->buf;
	return it;
}

struct pmclog_iter *pmclog_iter_fd(int fd)
{
	return iter_new(SOURCE_FD, fd, READ_SIZE);
}

struct pmclog_iter *pmclog_iter_new(void)
{
	return iter_new(SOURCE_FEED, -1, FEED_SIZE);
}

struct pmclog_iter *pmclog_iter_mem(const void *buf, size_t len)
{
	static const unsigned char none[1];
	struct pmclog_iter *it = iter_new(SOURCE_MEM, -1, 0);

	if (it) {
		it->p = buf ? buf : none;
		it->end = it->p + (buf ? len : 0);
	}
	return it;
}

void pmclog_iter_close(struct pmclog_iter *it)
{
	if (!it)
		return;
	free(it->buf);
	free(it);
}

const char *pmclog_iter_error(const struct pmclog_iter *it, uint64_t *offset)
{
	if (offset)
		*offset = it->error ? it->error_offset : it->offset;
	return it->error ? it->error : "no error";
}

/* Moves what is left to the buffer's start, to make room behind it. */
static void compact(struct pmclog_iter *it)
{
	size_t left = it->end - it->p;

	if (it->p == it->buf)
		return;
	memmove(it->buf, it->p, left);
	it->p = it->buf;
	it->end = it->buf + left;
}

static int grow(struct pmclog_iter *it, size_t need)
{
	size_t left = it->end - it->p;
	size_t size = it->size;
	unsigned char *buf;

	if (need > SIZE_MAX / 2) {
		errno = ENOMEM;
		return -1;
	}
	while (size < need)
		size *= 2;
	buf = realloc(it->buf, size);
	if (!buf)
		return -1;
	it->buf = buf;
	it->size = size;
	it->p = buf;
	it->end = buf + left;
	return 0;
}

int pmclog_iter_feed(struct pmclog_iter *it, const void *buf, size_t len)
{
	size_t left = it->end - it->p;

	if (it->source != SOURCE_FEED) {
		errno = EINVAL;
		return -1;
	}
	if (!len)
		return 0;
	if (len > it->size - (size_t)(it->end - it->buf)) {
		compact(it);
		if (len > SIZE_MAX - left) {
			errno = ENOMEM;
			return -1;
		}
		if (len > it->size - left && grow(it, left + len))
			return -1;
	}
	memcpy(it->buf + (it->end - it->buf), buf, len);
	it->end += len;
	return 0;
}

/* The record stays where it is, so the next call finds the same fault. */
static enum pmclog_iter_status fail(struct pmclog_iter *it, const char *error)
{
	it->error = error;
	it->error_offset = it->offset;
	return PMCLOG_ITER_ERROR;
}

/*
 * The stream ends here for now.  A file may still grow, so this is not for
 * good, not even in the middle of a record.
 */
static enum pmclog_iter_status at_end(struct pmclog_iter *it)
{
	if (it->p == it->end) {
		it->error = NULL;
		return PMCLOG_ITER_EOF;
	}
	return fail(it, "truncated record");
}

/* Called with less than a record in the window; RECORD: there is more now. */
static enum pmclog_iter_status refill(struct pmclog_iter *it)
{
	ssize_t n;

	if (it->source == SOURCE_MEM)
		return at_end(it);
	if (it->source == SOURCE_FEED)
		return PMCLOG_ITER_MORE;
	compact(it);
	do {
		n = read(it->fd, it->buf + (it->end - it->buf),
			 it->size - (it->end - it->buf));
	} while (n < 0 && errno == EINTR);
	if (n > 0) {
		it->end += n;
		return PMCLOG_ITER_RECORD;
	}
	if (n == 0)
		return at_end(it);
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return PMCLOG_ITER_MORE;
	snprintf(it->text, sizeof(it->text), "read error: %s",
		 strerror(errno));
	return fail(it, it->text);
}

enum pmclog_iter_status pmclog_iter_next(struct pmclog_iter *it,
					 struct pmclog_rec *rec)
{
	enum pmclog_iter_status status;
	uint32_t header, len, type;
	const char *error;
	size_t left;

	for (;;) {
		left = it->end - it->p;
		if (left >= sizeof(header)) {
			header = pmclog_get32(it->p);
			error = NULL;
			if (!it->serial)
				error = pmclog_check_foreign(header);
			if (!error)
				error = pmclog_check_header(header);
			if (error)
				return fail(it, error);
			len = PMCLOG_HEADER_LEN(header);
			if (left >= len)
				break;
		}
		status = refill(it);
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
	type = PMCLOG_HEADER_TYPE(header);
	error = pmclog_check_record(it->p, len, type);
	if (error)
		return fail(it, error);
	rec->data = it->p;
	rec->len = len;
	rec->type = type;
	rec->tsc = pmclog_get64(it->p + offsetof(struct pmclog_hdr, tsc));
	rec->offset = it->offset;
	rec->serial = ++it->serial;
	it->p += len;
	it->offset += len;
	return PMCLOG_ITER_RECORD;
}
