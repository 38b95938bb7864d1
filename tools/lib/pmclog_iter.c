// SPDX-License-Identifier: BSD-2-Clause
/*
 * The record iterator.
 *
 * The bytes read and not yet handed out are a window [p, end) in the buffer
 * (or in the caller's memory).  A record is checked where it lies; bytes move
 * only when a record is cut by the end of the buffer.  A pack stays at the
 * window's start until the last of its samples has been handed out.
 *
 * Of memory that may change, the buffer has the record that is looked at.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmclog_check.h"
#include "pmclog_era.h"
#include "pmclog_iter.h"
#include "pmclog_pack.h"
#include "pmclog_resync.h"
#include "pmclog_source.h"

#define READ_SIZE	(256U << 10)	/* several of the longest record */
#define FEED_SIZE	4096U
#define COPY_SIZE	(64U << 10)	/* the longest record */

/* Walking from header to header is waiting for memory: this far ahead. */
#define PREFETCH	4096
#define LINE		64U

/* So far from where a log should begin its first records are looked for. */
#define START_SIZE	(64U << 10)

/*
 * A record may be as long without anybody asking what follows it.  Nothing
 * follows the last one, and who feeds us would wait for it.
 */
#define SURE_LEN	sizeof(struct pmclog_closelog)

/* Nothing to hand out, but there may be if one asks again. */
#define AGAIN		((enum pmclog_iter_status)3)

enum source { SOURCE_FD, SOURCE_MEM, SOURCE_FEED, SOURCE_WINDOW };

struct pmclog_iter {
	const unsigned char *p;
	const unsigned char *end;
	uint64_t offset;	/* of p in the stream */
	uint64_t serial;
	struct pmclog_session session;
	struct pmclog_pack *pack;	/* from the first one on */
	uint32_t inside;	/* length of the pack that we are in, or 0 */
	uint32_t owed;		/* the same, before a sample of it had it */
	int raw;
	unsigned char *buf;
	size_t size;
	enum source source;
	struct pmclog_source *from;	/* of SOURCE_FD */
	pmclog_window_fn window;	/* of SOURCE_WINDOW */
	void *window_ctx;
	const char *error;
	uint64_t error_offset;
	bool damaged;		/* the error is the log's own */
	char text[80];		/* an error with a changing part */
	bool resync;
	bool lost;		/* looking for a record */
	bool bad;		/* what is at @p is none */
	bool guessed;		/* what the log is without INITIALIZE */
	uint64_t gaps, gap_first, gap_end, skipped;
};

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

void pmclog_iter_raw(struct pmclog_iter *it)
{
	it->raw = 1;
}

void pmclog_iter_resync(struct pmclog_iter *it)
{
	it->resync = true;
}

uint64_t pmclog_iter_gaps(const struct pmclog_iter *it, uint64_t *first,
			  uint64_t *bytes)
{
	*first = it->gap_first;
	*bytes = it->skipped;
	return it->gaps;
}

const struct pmclog_format *pmclog_iter_format(const struct pmclog_iter *it)
{
	return &it->session.format;
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
	it->damaged = false;
	return PMCLOG_ITER_ERROR;
}

static enum pmclog_iter_status damaged(struct pmclog_iter *it,
				       const char *error)
{
	fail(it, error);
	it->damaged = !strstr(error, "out of memory");
	return PMCLOG_ITER_ERROR;
}

/*
 * The stream ends here for now.  A file may still grow, so this is not for
 * good, not even in the middle of a record.
 */
static enum pmclog_iter_status at_end(struct pmclog_iter *it)
{
	const char *cut = it->from ? pmclog_source_cut(it->from) : NULL;

	if (it->p != it->end && !cut)
		return damaged(it, "truncated record");
	if (cut)
		return fail(it, cut);
	it->error = NULL;
	return PMCLOG_ITER_EOF;
}

static enum pmclog_iter_status read_failed(struct pmclog_iter *it)
{
	snprintf(it->text, sizeof(it->text), "read error: %s",
		 strerror(errno));
	return fail(it, it->text);
}

/* The window moves on; it may be found to end where the log was cut. */
static enum pmclog_iter_status move_window(struct pmclog_iter *it)
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

/* RECORD: there is more now. */
static enum pmclog_iter_status more(struct pmclog_iter *it)
{
	ssize_t n;

	if (it->source == SOURCE_MEM)
		return PMCLOG_ITER_EOF;
	if (it->source == SOURCE_FEED)
		return PMCLOG_ITER_MORE;
	if (it->source == SOURCE_WINDOW)
		return move_window(it);
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
		return fail(it, pmclog_source_error(it->from));
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return PMCLOG_ITER_MORE;
	return read_failed(it);
}

/* Called with less than a record in the window; RECORD: there is more now. */
static enum pmclog_iter_status refill(struct pmclog_iter *it)
{
	enum pmclog_iter_status status = more(it);

	return status == PMCLOG_ITER_EOF ? at_end(it) : status;
}

static void step(struct pmclog_iter *it, size_t len)
{
	it->p += len;
	it->offset += len;
}

/* Nothing is handed out of the @n bytes from @offset on. */
static void count_gap(struct pmclog_iter *it, uint64_t offset, size_t n)
{
	uint64_t twice = it->gap_end > offset ? it->gap_end - offset : 0;

	/* samples passed over, then the rest of their pack */
	if (twice && twice >= n)
		return;
	offset += twice;
	n -= twice;
	if (!it->gaps)
		it->gap_first = offset;
	if (!it->gaps || offset != it->gap_end)
		it->gaps++;
	it->skipped += n;
	it->gap_end = offset + n;
}

static void leave_pack(struct pmclog_iter *it)
{
	step(it, it->inside);
	it->inside = 0;
}

/* The pack that we are in. */
static const unsigned char *in_pack(const struct pmclog_iter *it)
{
	return it->source == SOURCE_WINDOW ? it->buf : it->p;
}

/* A sample that can't be made: one whose chain was skipped is passed over. */
static enum pmclog_iter_status no_sample(struct pmclog_iter *it,
					 const char *error)
{
	if (!it->resync || !pmclog_pack_pass(it->pack, in_pack(it), it->inside))
		return damaged(it, error);
	/* as if they had been the first bytes: a pack has one gap */
	count_gap(it, it->gap_end > it->offset ? it->gap_end : it->offset,
		  PMCLOG_PACK_SAMPLE_LEN);
	if (!pmclog_pack_left(it->pack))
		leave_pack(it);
	return AGAIN;
}

/* The next sample of the pack that we are in. */
static enum pmclog_iter_status unpack(struct pmclog_iter *it,
				      struct pmclog_rec *rec)
{
	const char *error = pmclog_pack_next(it->pack, in_pack(it), it->inside);

	if (error)
		return no_sample(it, error);
	rec->data = pmclog_pack_sample(it->pack, &rec->len);
	rec->type = PMCLOG_T_CALLCHAIN;
	rec->tsc = pmclog_get64(rec->data + offsetof(struct pmclog_hdr, tsc));
	rec->offset = it->offset;
	rec->serial = ++it->serial;
	rec->pack = pmclog_pack_done(it->pack);
	rec->stored = it->owed;
	it->owed = 0;
	if (!pmclog_pack_left(it->pack))
		leave_pack(it);
	return PMCLOG_ITER_RECORD;
}

static enum pmclog_iter_status enter_pack(struct pmclog_iter *it, uint32_t len,
					  struct pmclog_rec *rec)
{
	if (!it->pack)
		it->pack = pmclog_pack_new();
	if (!it->pack)
		return fail(it, "out of memory");
	pmclog_pack_begin(it->pack, rec->data);
	it->inside = len;
	it->owed = len;
	return unpack(it, rec);
}

/*
 * A word that is no header of this log may be the first of another, of another
 * era or byte order.
 */
static const char *first_word(const struct pmclog_iter *it,
			      const unsigned char *p, uint32_t *header,
			      const char *error)
{
	bool swap;

	*header = pmclog_era_first(p, &swap);
	if (*header)
		return NULL;
	return it->session.format.era ? error : pmclog_era_refuse(p);
}

/* The header of the record at @p; NULL, or why it is none. */
static inline const char *header_at(const struct pmclog_iter *it,
				    const unsigned char *p, uint32_t *header)
{
	const char *error;

	*header = pmclog_era_header(&it->session, p);
	/* @p may change: what was checked is what is used */
	__asm__ volatile("" : "+r" (*header));
	error = pmclog_check_header(*header, it->session.hdr_len);
	return error ? first_word(it, p, header, error) : NULL;
}

/* The record at p, where nobody changes it. */
static const char *keep_record(struct pmclog_iter *it, uint32_t header,
			       struct pmclog_rec *rec)
{
	uint32_t again;

	memcpy(it->buf, it->p, rec->len);
	rec->data = it->buf;
	if (header_at(it, it->buf, &again) || again != header)
		return "record that changes while it is read";
	return NULL;
}

/*
 * A record that can't be handed out as it is, or where another log begins: with
 * the first record of any era, whatever it would be in this one.
 */
static const char *special(struct pmclog_iter *it, uint32_t header,
			   struct pmclog_rec *rec)
{
	uint32_t len = PMCLOG_HEADER_LEN(header);
	const unsigned char *p = rec->data;
	struct pmclog_session before;
	bool swap, same, first = pmclog_era_first(p, &swap);
	const char *error;

	if (first) {
		same = pmclog_era_other(&it->session, header, swap);
		error = pmclog_era_begin(&it->session, p, len, swap);
		if (error && !same)
			return error;
		if (!error && it->pack)
			pmclog_pack_reset(it->pack);
	}
	before = it->session;
	error = pmclog_era_record(&it->session, p, len,
				  PMCLOG_HEADER_TYPE(header), rec);
	if (!error)
		error = pmclog_check_record(rec->data, rec->len, rec->type);
	if (!error && !first && rec->type == PMCLOG_T_INITIALIZE)
		error = "INITIALIZE of an unknown length";
	/* it may be asked for again, but tells of the session once */
	if (error && !it->resync) {
		before.out = it->session.out;
		it->session = before;
	}
	return error;
}

/*
 * A damaged length may take a good part of the log into one record: if no other
 * follows a long one, it is wrong.
 */
static enum pmclog_iter_status look_behind(struct pmclog_iter *it, uint32_t len)
{
	enum pmclog_iter_status status;

	while ((size_t)(it->end - it->p) < len + PMCLOG_RESYNC_AHEAD) {
		status = more(it);
		if (status == PMCLOG_ITER_MORE)
			return status;
		if (status != PMCLOG_ITER_RECORD)
			break;	/* an error is of what follows, found again */
	}
	if (pmclog_resync_header(&it->session, it->p + len,
				 it->end - it->p - len))
		return PMCLOG_ITER_RECORD;
	return damaged(it, "record of a wrong length");
}

/*
 * What was read was near a moment ago.  What is mapped was not: as many lines as
 * we go on by, for who knows which of them begins a record.
 */
static inline void prefetch(const struct pmclog_iter *it,
			    const unsigned char *p, uint32_t len)
{
	uintptr_t at = (uintptr_t)p + PREFETCH, end = at + len;

	if (it->source != SOURCE_WINDOW)
		end = at;
	do {
		__builtin_prefetch((const void *)at);
		at += LINE;
	} while (at < end);
}

static inline enum pmclog_iter_status next_record(struct pmclog_iter *it,
						  struct pmclog_rec *rec)
{
	enum pmclog_iter_status status;
	const char *error = NULL;
	uint32_t header, len;
	size_t left;
	bool is_special;

	if (it->inside)
		return unpack(it, rec);
	for (;;) {
		left = it->end - it->p;
		if (left >= sizeof(header)) {
			error = header_at(it, it->p, &header);
			if (error)
				return damaged(it, error);
			len = PMCLOG_HEADER_LEN(header);
			if (left >= len)
				break;
		}
		status = refill(it);
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
	if (len > SURE_LEN && it->resync && it->session.format.era) {
		status = look_behind(it, len);
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
	prefetch(it, it->p, len);
	rec->data = it->p;
	rec->len = len;
	rec->type = PMCLOG_HEADER_TYPE(header);
	is_special = pmclog_era_special(&it->session, rec->type);
	if (it->source == SOURCE_WINDOW &&
	    (rec->type != PMCLOG_T_CALLCHAIN || is_special))
		error = keep_record(it, header, rec);
	if (!error)
		error = is_special ? special(it, header, rec) :
			pmclog_check_record(rec->data, rec->len, rec->type);
	if (error)
		return damaged(it, error);
	rec->tsc = pmclog_get64(rec->data + offsetof(struct pmclog_hdr, tsc));
	rec->offset = it->offset;
	rec->stored = len;
	rec->pack = 0;
	if (!it->raw && pmclog_iter_ext_subtype(rec) == PMCLOG_EXT_SAMPLES)
		return enter_pack(it, len, rec);
	rec->serial = ++it->serial;
	step(it, len);
	return PMCLOG_ITER_RECORD;
}

/*
 * A length that is too large for what is left looks like a record that the end
 * has cut, and so it is unless records follow; then it may still grow.
 */
static enum pmclog_iter_status go_on_at_end(struct pmclog_iter *it)
{
	bool found;
	size_t n = pmclog_resync(&it->session, it->p, it->end - it->p, true,
				 true, &found);

	it->lost = false;
	if (!found)
		return PMCLOG_ITER_ERROR;
	count_gap(it, it->offset, n);
	step(it, n);
	return PMCLOG_ITER_RECORD;
}

/* Looks for where the log goes on; RECORD: there it is. */
static enum pmclog_iter_status go_on(struct pmclog_iter *it)
{
	enum pmclog_iter_status status;
	bool found, last = it->source == SOURCE_MEM;
	size_t n;

	for (;;) {
		n = pmclog_resync(&it->session, it->p, it->end - it->p,
				  it->bad, last, &found);
		if (n) {
			it->bad = false;
			count_gap(it, it->offset, n);
			step(it, n);
		}
		it->lost = !found;
		if (found)
			return PMCLOG_ITER_RECORD;
		if (last)
			return at_end(it);
		status = more(it);
		last = status == PMCLOG_ITER_EOF;
		if (!last && status != PMCLOG_ITER_RECORD)
			return status;
	}
}

/*
 * A log without its first record, or whose first record is damaged.  What is
 * known to be a log that can't be read is left alone.
 */
static enum pmclog_iter_status start_anyway(struct pmclog_iter *it)
{
	enum pmclog_iter_status status;
	bool swap;
	size_t n;

	if (it->guessed || it->source == SOURCE_FEED ||
	    pmclog_era_first(it->p, &swap) || pmclog_era_window(it->p) ||
	    pmclog_era_archive(it->p))
		return PMCLOG_ITER_ERROR;
	while (it->end - it->p < START_SIZE) {
		status = more(it);
		if (status == PMCLOG_ITER_EOF)
			break;
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
	it->guessed = true;
	n = it->end - it->p;
	if (!pmclog_resync_start(&it->session, it->p,
				 n < START_SIZE ? n : START_SIZE, &n))
		return PMCLOG_ITER_ERROR;
	count_gap(it, it->offset, n);
	step(it, n);
	return PMCLOG_ITER_RECORD;
}

/* What can be done about an error: RECORD if there is a record after all. */
static enum pmclog_iter_status recover(struct pmclog_iter *it)
{
	bool cut = !strcmp(it->error, "truncated record");

	if (it->session.format.era == PMCLOG_ERA_NONE)
		return cut ? PMCLOG_ITER_ERROR : start_anyway(it);
	it->inside = 0;
	it->lost = true;
	it->bad = true;
	return cut ? go_on_at_end(it) : go_on(it);
}

/*
 * What seems damaged may be where the log was cut meanwhile: then that is its
 * end.  ERROR: it is not.
 */
static enum pmclog_iter_status cut_here(struct pmclog_iter *it)
{
	size_t left = it->end - it->p;

	if (it->source != SOURCE_WINDOW || !it->damaged || it->inside)
		return PMCLOG_ITER_ERROR;
	if (move_window(it) == PMCLOG_ITER_ERROR)
		return PMCLOG_ITER_ERROR;
	return (size_t)(it->end - it->p) < left ? PMCLOG_ITER_RECORD :
						  PMCLOG_ITER_ERROR;
}

enum pmclog_iter_status pmclog_iter_next(struct pmclog_iter *it,
					 struct pmclog_rec *rec)
{
	enum pmclog_iter_status status;

	if (it->lost) {
		status = go_on(it);
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
	for (;;) {
		status = next_record(it, rec);
		if (status == AGAIN ||
		    (status == PMCLOG_ITER_ERROR &&
		     cut_here(it) == PMCLOG_ITER_RECORD))
			continue;
		if (status != PMCLOG_ITER_ERROR || !it->resync || !it->damaged)
			return status;
		status = recover(it);
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
}

/* A pack's samples are still to come, even if the log was cut meanwhile. */
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
		status = more(it);
		keep_pack(it);
	}
	return status;
}

unsigned int pmclog_iter_ahead(const struct pmclog_iter *it, uint64_t *tsc,
			       unsigned int n)
{
	size_t left = it->end - it->p, at = it->inside;
	unsigned int i;
	uint32_t header;

	if (it->lost)
		return 0;
	for (i = 0; i < n && left >= at + sizeof(struct pmclog_hdr); i++) {
		header = pmclog_era_header(&it->session, it->p + at);
		if (pmclog_check_header(header, it->session.hdr_len) ||
		    pmclog_era_special(&it->session,
				       PMCLOG_HEADER_TYPE(header)))
			break;
		tsc[i] = pmclog_get64(it->p + at + offsetof(struct pmclog_hdr,
							    tsc));
		at += PMCLOG_HEADER_LEN(header);
	}
	return i;
}

/*
 * The length of a sample that begins at @p, if that is plain to see; else 0: who
 * reads records finds out.
 */
static inline uint32_t sample_len(const unsigned char *p)
{
	uint32_t len = pmclog_get32(p) - PMCLOG_HEADER(PMCLOG_T_CALLCHAIN, 0);

	/* @p may change: what was checked is what is used */
	__asm__ volatile("" : "+r" (len));
	return len >= sizeof(struct pmclog_callchain) &&
	       len <= PMCLOG_RESYNC_LEN && !(len % sizeof(uint64_t)) ? len : 0;
}

/* A sample that another follows is sound: no more has to be looked at. */
bool pmclog_iter_pass(struct pmclog_iter *it, uint64_t from, uint64_t to,
		      struct pmclog_passed *passed)
{
	const unsigned char *p = it->p;
	size_t left = it->end - p, least = sizeof(struct pmclog_callchain);
	uint32_t len, next, pmcid;
	uint64_t tsc;

	memset(passed, 0, sizeof(*passed));
	if (it->inside || it->lost || left < least ||
	    pmclog_era_special(&it->session, PMCLOG_T_CALLCHAIN))
		return false;
	for (len = sample_len(p); len && left >= len + least; len = next) {
		next = sample_len(p + len);
		tsc = pmclog_get64(p + offsetof(struct pmclog_hdr, tsc));
		pmcid = pmclog_get32(p + offsetof(struct pmclog_callchain,
						  pmcid));
		if (!next || (tsc >= from && tsc < to) ||
		    (passed->n && pmcid != passed->pmcid))
			break;
		prefetch(it, p, len);
		passed->n++;
		passed->pmcid = pmcid;
		if (tsc > passed->latest && tsc <= pmclog_get64(p + len +
				offsetof(struct pmclog_hdr, tsc)))
			passed->latest = tsc;
		p += len;
		left -= len;
	}
	step(it, p - it->p);
	it->serial += passed->n;
	return passed->n;
}
