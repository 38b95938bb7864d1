/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a log in several ways, and keeps enough of it to tell two readings apart. */
#ifndef READING_H
#define READING_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmclog_iter.h>

#include "abort.h"
#include "loggen.h"

/* a record: where it is in the log, and what it says; without padding, to be compared */
struct item {
	uint64_t tsc, serial, offset, sum;
	uint32_t len, type, pmcid, pack;
};

/**
 * struct seen - what a reader has been given
 * @item:   all of it, if the test defines KEEP_ITEMS; see seen_free()
 * @end:    offset behind the last record
 * @stored: bytes that these take in the log
 * @last:   type of the last one
 */
struct seen {
	struct item *item;
	size_t n;
	uint64_t end, stored, sum;
	uint32_t last;
	enum pmclog_iter_status status;
	const char *error;
	uint64_t error_offset;
	uint64_t gaps, first, bytes;
};

__attribute__((unused))
static struct item item_of(const struct pmclog_rec *rec)
{
	struct item it = {
		.tsc = rec->tsc, .serial = rec->serial, .offset = rec->offset,
		.sum = rec->type, .len = rec->len, .type = rec->type,
		.pack = rec->pack,
	};
	uint32_t i;

	if (rec->type == PMCLOG_T_CALLCHAIN)
		it.pmcid = PMCLOG_FIELD32(rec, struct pmclog_callchain, pmcid);
	for (i = 0; i < rec->len; i++)
		it.sum = it.sum * 31 + rec->data[i];
	return it;
}

static inline void seen_free(struct seen *s)
{
	free(s->item);
}

/* Looks at all that the interface promises to be there. */
static void see(struct seen *s, const struct pmclog_rec *rec)
{
	const char *data = (const char *)rec->data;
	uint32_t i;

#ifdef KEEP_ITEMS
	if (!(s->n & (s->n - 1)))	/* twice the room at 1, 2, 4, ... */
		s->item = realloc(s->item, (2 * s->n + 1) * sizeof(*s->item));
	s->item[s->n] = item_of(rec);
#endif
	s->n++;
	s->end = rec->offset + rec->stored;
	s->stored += rec->stored;
	s->last = rec->type;
	s->sum = s->sum * 31 + rec->tsc + rec->type + rec->serial + rec->offset +
		 rec->stored + rec->pack;
	for (i = 0; i < rec->len; i++)
		s->sum = s->sum * 31 + rec->data[i];
	if (rec->type == PMCLOG_T_MAP_IN)
		s->sum += strlen(data + offsetof(struct pmclog_map_in, path));
	if (pmclog_iter_ext_subtype(rec) == PMCLOG_EXT_SECTION)
		s->sum += strlen(data + offsetof(struct pmclog_ext_section, names));
}

static void see_end(struct seen *s, const struct pmclog_iter *it)
{
	s->error = pmclog_iter_error(it, &s->error_offset);
	s->gaps = pmclog_iter_gaps(it, &s->first, &s->bytes);
}

static void drain(struct pmclog_iter *it, struct seen *s)
{
	struct pmclog_rec rec;

	while ((s->status = pmclog_iter_next(it, &rec)) == PMCLOG_ITER_RECORD)
		see(s, &rec);
	see_end(s, it);
}

static struct seen read_all(struct pmclog_iter *it, bool resync)
{
	struct seen s = { 0 };

	if (resync)
		pmclog_iter_resync(it);
	drain(it, &s);
	pmclog_iter_close(it);
	return s;
}

/* A copy of exactly @len bytes, so that a sanitizer sees the end. */
__attribute__((unused))
static struct seen read_mem(const unsigned char *buf, size_t len, bool resync)
{
	unsigned char *copy = malloc(len ? len : 1);
	struct seen s;

	memcpy(copy, buf, len);
	s = read_all(pmclog_iter_mem(copy, len), resync);
	free(copy);
	return s;
}

__attribute__((unused))
static struct seen read_file(const unsigned char *buf, size_t len, bool resync)
{
	int fd = lg_file(buf, len);
	struct seen s = read_all(pmclog_iter_fd(fd), resync);

	close(fd);
	return s;
}

/* In pieces of as many bytes as @chunk says */
__attribute__((unused))
static struct seen read_feed(const unsigned char *buf, size_t len, size_t (*chunk)(void),
			     bool resync)
{
	struct pmclog_iter *it = pmclog_iter_new();
	struct seen s = { 0 };
	size_t n, at;

	if (resync)
		pmclog_iter_resync(it);
	for (at = 0; at < len; at += n) {
		n = chunk();
		if (n > len - at)
			n = len - at;
		abort_if(pmclog_iter_feed(it, buf + at, n));
		drain(it, &s);
	}
	drain(it, &s);
	pmclog_iter_close(it);
	return s;
}

#endif /* READING_H */
