// SPDX-License-Identifier: BSD-2-Clause
/* The bytes of a log for the iterator, from each kind of source. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmclog_iter_parts.h"
#include "pmclog_source.h"

#define READ_SIZE	(256U << 10)	/* several of the longest record */
#define FEED_SIZE	4096U
#define COPY_SIZE	(64U << 10)	/* the longest record */

static struct pmclog_iter *iter_new(enum source source, size_t size)
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
	it->p = it->buf;
	it->end = it->buf;
	pmclog_era_none(&it->session);
	return it;
}

struct pmclog_iter *pmclog_iter_fd(int fd)
{
	struct pmclog_iter *it = iter_new(SOURCE_FD, READ_SIZE);

	if (!it)
		return NULL;
	it->from = pmclog_source_new(fd);
	if (it->from)
		return it;
	pmclog_iter_close(it);
	errno = ENOMEM;
	return NULL;
}

struct pmclog_iter *pmclog_iter_new(void)
{
	return iter_new(SOURCE_FEED, FEED_SIZE);
}

struct pmclog_iter *pmclog_iter_mem(const void *buf, size_t len)
{
	static const unsigned char none[1];
	struct pmclog_iter *it = iter_new(SOURCE_MEM, 0);

	if (it) {
		it->p = buf ? buf : none;
		it->end = it->p + (buf ? len : 0);
	}
	return it;
}

struct pmclog_iter *pmclog_iter_window(pmclog_window_fn window, void *ctx)
{
	struct pmclog_iter *it = iter_new(SOURCE_WINDOW, COPY_SIZE);

	if (it) {
		it->window = window;
		it->window_ctx = ctx;
	}
	return it;
}

void pmclog_iter_close(struct pmclog_iter *it)
{
	if (!it)
		return;
	pmclog_pack_free(it->pack);
	pmclog_source_free(it->from);
	pmclog_era_free(&it->session);
	free(it->buf);
	free(it);
}

/* Moves the remaining bytes to the start of the buffer, to make room after them. */
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

enum pmclog_iter_status pmclog_iter_fail(struct pmclog_iter *it,
					 const char *error)
{
	it->error = error;
	it->error_offset = it->offset;
	it->damaged = false;
	return PMCLOG_ITER_ERROR;
}

enum pmclog_iter_status pmclog_iter_damaged(struct pmclog_iter *it,
					    const char *error)
{
	pmclog_iter_fail(it, error);
	it->damaged = !strstr(error, "out of memory");
	return PMCLOG_ITER_ERROR;
}

enum pmclog_iter_status pmclog_iter_at_end(struct pmclog_iter *it)
{
	const char *cut = it->from ? pmclog_source_cut(it->from) : NULL;

	if (it->p != it->end && !cut && !it->held)
		return pmclog_iter_damaged(it, "truncated record");
	if (cut)
		return pmclog_iter_fail(it, cut);
	it->error = NULL;
	return PMCLOG_ITER_EOF;
}

static enum pmclog_iter_status read_failed(struct pmclog_iter *it)
{
	snprintf(it->text, sizeof(it->text), "read error: %s",
		 strerror(errno));
	return pmclog_iter_fail(it, it->text);
}

enum pmclog_iter_status pmclog_iter_move(struct pmclog_iter *it)
{
	size_t left = it->end - it->p;
	const unsigned char *p;
	ssize_t n = it->window(it->window_ctx, it->offset, &p);

	if (n < 0)
		return read_failed(it);
	it->p = n ? p : it->buf;
	it->end = it->p + n;
	return (size_t)n > left ? PMCLOG_ITER_RECORD : PMCLOG_ITER_EOF;
}

enum pmclog_iter_status pmclog_iter_more(struct pmclog_iter *it)
{
	ssize_t n;

	if (it->source == SOURCE_MEM)
		return PMCLOG_ITER_EOF;
	if (it->source == SOURCE_FEED)
		return PMCLOG_ITER_MORE;
	if (it->source == SOURCE_WINDOW)
		return pmclog_iter_move(it);
	compact(it);
	n = pmclog_source_read(it->from, it->buf + (it->end - it->buf),
			       it->size - (it->end - it->buf));
	if (n > 0) {
		it->end += n;
		return PMCLOG_ITER_RECORD;
	}
	if (n == 0)
		return PMCLOG_ITER_EOF;
	if (pmclog_source_error(it->from))
		return pmclog_iter_fail(it, pmclog_source_error(it->from));
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return PMCLOG_ITER_MORE;
	return read_failed(it);
}

/* Uses the copy of the current pack if the log was cut: samples of it are left. */
static void keep_pack(struct pmclog_iter *it)
{
	if (it->source != SOURCE_WINDOW ||
	    (size_t)(it->end - it->p) >= it->inside)
		return;
	it->p = it->buf;
	it->end = it->buf + it->inside;
}

enum pmclog_iter_status pmclog_iter_await(struct pmclog_iter *it)
{
	size_t need = it->inside + sizeof(struct pmclog_hdr);
	enum pmclog_iter_status status = PMCLOG_ITER_RECORD;

	while (status == PMCLOG_ITER_RECORD && !it->lost &&
	       (size_t)(it->end - it->p) < need) {
		status = pmclog_iter_more(it);
		keep_pack(it);
	}
	return status;
}
