// SPDX-License-Identifier: BSD-2-Clause
/* The record iterator: finds records in the bytes read. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pmclog_check.h"
#include "pmclog_iter_parts.h"
#include "pmclog_resync.h"

/* Each step to the next header is a cache miss: prefetch this far ahead. */
#define PREFETCH	4096
#define LINE		64U

/*
 * A record of up to this length is returned without a look at the bytes after it.
 * Nothing follows the last record, CLOSELOG, and a feeding caller would wait for it.
 */
#define SURE_LEN	sizeof(struct pmclog_closelog)

/* No record to return; the caller tries again. */
#define AGAIN		((enum pmclog_iter_status)3)

void pmclog_iter_raw(struct pmclog_iter *it)
{
	it->raw = 1;
}

const struct pmclog_format *pmclog_iter_format(const struct pmclog_iter *it)
{
	return &it->session.format;
}

const char *pmclog_iter_error(const struct pmclog_iter *it, uint64_t *offset)
{
	if (offset)
		*offset = it->error ? it->error_offset :
			  it->offset + (it->held ? it->end - it->p : 0);
	return it->error ? it->error : "no error";
}

/* Called with less than a record in the window; RECORD: it has more bytes now. */
static enum pmclog_iter_status refill(struct pmclog_iter *it)
{
	enum pmclog_iter_status status = pmclog_iter_more(it);

	return status == PMCLOG_ITER_EOF ? pmclog_iter_at_end(it) : status;
}

static void leave_pack(struct pmclog_iter *it)
{
	pmclog_iter_step(it, it->inside);
	it->inside = 0;
}

/* The current pack. */
static const unsigned char *in_pack(const struct pmclog_iter *it)
{
	return it->source == SOURCE_WINDOW ? it->buf : it->p;
}

/* A sample cannot be made; if its chain was in skipped bytes, skips the sample. */
static enum pmclog_iter_status no_sample(struct pmclog_iter *it,
					 const char *error)
{
	if (!it->resync || !pmclog_pack_pass(it->pack, in_pack(it), it->inside))
		return pmclog_iter_damaged(it, error);
	/* count them like the first bytes of the pack: a pack has one gap */
	pmclog_iter_count_gap(it, it->gap_end > it->offset ? it->gap_end :
			      it->offset, PMCLOG_PACK_SAMPLE_LEN);
	if (!pmclog_pack_left(it->pack))
		leave_pack(it);
	return AGAIN;
}

/* Returns the next sample of the current pack. */
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
		return pmclog_iter_fail(it, "out of memory");
	pmclog_pack_begin(it->pack, rec->data);
	it->inside = len;
	it->owed = len;
	return unpack(it, rec);
}

/*
 * A word that is not a header of this log may be the first word of another log, of
 * another era or byte order.
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

/* Reads the header of the record at @p.  Returns NULL, or why it is invalid. */
static inline const char *header_at(const struct pmclog_iter *it,
				    const unsigned char *p, uint32_t *header)
{
	const char *error;

	*header = pmclog_era_header(&it->session, p);
	error = pmclog_check_header(*header, it->session.hdr_len);
	return error ? first_word(it, p, header, error) : NULL;
}

/* Copies the record at p to the buffer, where it cannot change. */
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
 * A record that has to be converted, or with which another log begins.  The first
 * record of any era begins a log, whatever its type in this era.
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
	/* the record may be read again, but must begin a session only once */
	if (error && !it->resync) {
		before.out = it->session.out;
		it->session = before;
	}
	return error;
}

/*
 * A damaged length may cover a large part of the log.  The length of a long record
 * is wrong if no other record follows.
 */
static enum pmclog_iter_status look_behind(struct pmclog_iter *it, uint32_t len)
{
	enum pmclog_iter_status status;

	while ((size_t)(it->end - it->p) < len + PMCLOG_RESYNC_AHEAD) {
		status = pmclog_iter_more(it);
		if (status == PMCLOG_ITER_MORE)
			return status;
		if (status != PMCLOG_ITER_RECORD)
			break;	/* an error in later bytes is found again */
	}
	/* the log was cut meanwhile, perhaps within this record */
	if ((size_t)(it->end - it->p) < len)
		return AGAIN;
	if (pmclog_resync_header(&it->session, it->p + len,
				 it->end - it->p - len))
		return PMCLOG_ITER_RECORD;
	return pmclog_iter_damaged(it, "record of a wrong length");
}

/*
 * Bytes from read(2) are still in a cache.  Mapped bytes are not: prefetch as many
 * lines as the iterator advances by, because any of them may begin a record.
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
				return pmclog_iter_damaged(it, error);
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
			pmclog_check_any(rec->data, rec->len, rec->type);
	if (error)
		return pmclog_iter_damaged(it, error);
	rec->tsc = pmclog_get64(rec->data + offsetof(struct pmclog_hdr, tsc));
	rec->offset = it->offset;
	rec->stored = len;
	rec->pack = 0;
	if (!it->raw && pmclog_iter_ext_subtype(rec) == PMCLOG_EXT_SAMPLES)
		return enter_pack(it, len, rec);
	rec->serial = ++it->serial;
	pmclog_iter_step(it, len);
	return PMCLOG_ITER_RECORD;
}

static inline enum pmclog_iter_status next_sound(struct pmclog_iter *it,
						 struct pmclog_rec *rec)
{
	enum pmclog_iter_status status;

	if (it->lost) {
		status = pmclog_iter_go_on(it);
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
	for (;;) {
		status = next_record(it, rec);
		if (status == AGAIN ||
		    (status == PMCLOG_ITER_ERROR &&
		     pmclog_iter_cut_here(it) == PMCLOG_ITER_RECORD))
			continue;
		if (status != PMCLOG_ITER_ERROR || !it->resync || !it->damaged)
			return status;
		status = pmclog_iter_recover(it);
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
}

enum pmclog_iter_status pmclog_iter_next(struct pmclog_iter *it,
					 struct pmclog_rec *rec)
{
	enum pmclog_iter_status status = next_sound(it, rec);

	if (status != PMCLOG_ITER_ERROR)
		it->error = NULL;	/* of an earlier call, or of what was skipped */
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
 * The length of a sample that begins at @p, if it is easy to recognise; else 0, and
 * pmclog_iter_next() reads the record.
 */
static inline uint32_t sample_len(const unsigned char *p)
{
	uint32_t len = pmclog_get32(p) - PMCLOG_HEADER(PMCLOG_T_CALLCHAIN, 0);

	/* the memory at @p may change: use the value that is checked */
	__asm__ volatile("" : "+r" (len));
	return len >= sizeof(struct pmclog_callchain) &&
	       len <= PMCLOG_RESYNC_LEN && !(len % sizeof(uint64_t)) ? len : 0;
}

/* A sample that another sample follows is valid: it needs no other check. */
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
	pmclog_iter_step(it, p - it->p);
	it->serial += passed->n;
	return passed->n;
}
