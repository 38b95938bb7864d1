/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The eras of the format, told apart and turned into ours.
 *
 * A session is what an INITIALIZE begins.  Its records of another layout, byte
 * order or word size than <linux/pmclog.h> has are made anew in that layout, so
 * that nobody else needs to know of others.  Private to the library.
 */
#ifndef PMCLOG_ERA_H
#define PMCLOG_ERA_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include "pmclog_iter.h"

/**
 * struct pmclog_session - how the records since the last INITIALIZE are read
 * @format:  what is known of it; no era: there was no INITIALIZE yet
 * @special: bit of each type (modulo 32) that pmclog_era_record() has to see
 * @hdr_len: bytes of a header
 * @swap:    words are in the other byte order
 * @votes:   for 8 (positive) and 4 (negative) bytes an address
 * @out:     where records are made
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
/* Whether @p, with @left bytes, is where a session of any era begins. */
bool pmclog_era_begins(const unsigned char *p, size_t left);
/* It is where a log of 2018 begins that is not read. */
bool pmclog_era_window(const unsigned char *p);
/* A tar of pmclog archive begins there: its log is one of several files. */
bool pmclog_era_archive(const unsigned char *p);
/* Why the word at @p, where a stream begins, is not the first of a log. */
const char *pmclog_era_refuse(const unsigned char *p);
/*
 * Begins a session with the INITIALIZE of @len bytes at @p.  NULL, or why it
 * is none: then nothing has changed.
 */
const char *pmclog_era_begin(struct pmclog_session *s, const unsigned char *p,
			     uint32_t len, bool swap);
/*
 * A session whose INITIALIZE is missing: with headers of 12 bytes if @old, in
 * the other byte order if @swap.
 */
void pmclog_era_guess(struct pmclog_session *s, bool old, bool swap);
/*
 * The record of @len bytes and @type at @p as one of ours: sets @rec's data,
 * len and type; valid until the next one.  NULL, or what is wrong with it.
 */
const char *pmclog_era_record(struct pmclog_session *s, const unsigned char *p,
			      uint32_t len, uint32_t type,
			      struct pmclog_rec *rec);
/* In this session @header is of another record than INITIALIZE. */
bool pmclog_era_other(const struct pmclog_session *s, uint32_t header,
		      bool swap);
/* A type that records of the session may have. */
bool pmclog_era_knows(const struct pmclog_session *s, uint32_t type);
void pmclog_era_free(struct pmclog_session *s);

/* There is none yet: no word is the header of a record. */
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

	return s->swap ? __builtin_bswap32(header) : header;
}

#endif /* PMCLOG_ERA_H */
