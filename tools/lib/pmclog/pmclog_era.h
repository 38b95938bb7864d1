/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The eras of the format: detection, and conversion to our layout.
 *
 * A session begins with an INITIALIZE.  If its records have another layout, byte
 * order or word size than <linux/pmclog.h>, they are converted to that layout, so
 * that no other code has to know the others.  Private to the library.
 */
#ifndef PMCLOG_ERA_H
#define PMCLOG_ERA_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include "pmclog_iter.h"

/**
 * struct pmclog_session - how the records since the last INITIALIZE are read
 * @format:  its known properties; no era: no INITIALIZE yet
 * @special: a bit for each type (modulo 32) that pmclog_era_record() must convert
 * @hdr_len: bytes of a header
 * @swap:    words are in the other byte order
 * @votes:   for addresses of 8 (positive) or 4 (negative) bytes
 * @out:     buffer for converted records
 */
struct pmclog_session {
	struct pmclog_format format;
	uint32_t special;
	uint32_t hdr_len;
	bool swap;
	int votes;
	unsigned char *out;
};

/*
 * The first word of an INITIALIZE of any era if @p may be one, in our byte
 * order, *@swap if it was in the other; else 0.
 */
uint32_t pmclog_era_first(const unsigned char *p, bool *swap);
/* Whether a session of any era begins at @p, with @left bytes. */
bool pmclog_era_begins(const unsigned char *p, size_t left);
/* Whether a log of 2018 begins at @p, whose format is not supported. */
bool pmclog_era_window(const unsigned char *p);
/* Whether a tar file of pmclog archive begins at @p: the log is a file in it. */
bool pmclog_era_archive(const unsigned char *p);
/* Why the word at @p, the start of a stream, is not the first of a log. */
const char *pmclog_era_refuse(const unsigned char *p);
/*
 * Begins a session with the INITIALIZE of @len bytes at @p.  Returns NULL, or why
 * the record is invalid; then @s is unchanged.
 */
const char *pmclog_era_begin(struct pmclog_session *s, const unsigned char *p,
			     uint32_t len, bool swap);
/*
 * Begins a session whose INITIALIZE is missing: with headers of 12 bytes if @old,
 * in the other byte order if @swap.
 */
void pmclog_era_guess(struct pmclog_session *s, bool old, bool swap);
/*
 * Converts the record of @len bytes and @type at @p to our layout.  Sets the data,
 * len and type of @rec; the data is valid until the next call.  Returns NULL, or
 * what is wrong with the record.
 */
const char *pmclog_era_record(struct pmclog_session *s, const unsigned char *p,
			      uint32_t len, uint32_t type,
			      struct pmclog_rec *rec);
/* Whether @header is that of a record other than INITIALIZE in this session. */
bool pmclog_era_other(const struct pmclog_session *s, uint32_t header,
		      bool swap);
/* Whether records of the session may have this type. */
bool pmclog_era_knows(const struct pmclog_session *s, uint32_t type);
void pmclog_era_free(struct pmclog_session *s);

/* Sets @s to no session: no word is the header of a record. */
static inline void pmclog_era_none(struct pmclog_session *s)
{
	s->hdr_len = UINT32_MAX;
	s->special = UINT32_MAX;
}

static inline bool pmclog_era_special(const struct pmclog_session *s,
				      uint32_t type)
{
	return s->special >> (type & 31) & 1;
}

static inline uint32_t pmclog_era_header(const struct pmclog_session *s,
					 const unsigned char *p)
{
	uint32_t header = pmclog_get32(p);

	/* the memory at @p may change: callers use the value that they check */
	__asm__ volatile("" : "+r" (header));
	return s->swap ? __builtin_bswap32(header) : header;
}

#endif /* PMCLOG_ERA_H */
