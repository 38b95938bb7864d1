// SPDX-License-Identifier: BSD-2-Clause
/*
 * The eras of the format: detection at the start of a session.
 */
#include <stddef.h>
#include <string.h>

#include "pmclog_era_parts.h"
#include "pmclog_zstd.h"

#define A_HEADER	12U
#define A_INIT_LEN	20U	/* INITIALIZE */
#define INIT_MAX	1024U	/* no INITIALIZE is longer */

uint32_t pmclog_era_first(const unsigned char *p, bool *swap)
{
	uint32_t header = pmclog_get32(p), type, len;

	*swap = PMCLOG_HEADER_MAGIC(header) != PMCLOG_MAGIC;
	if (*swap)
		header = __builtin_bswap32(header);
	if (PMCLOG_HEADER_MAGIC(header) != PMCLOG_MAGIC)
		return 0;
	type = PMCLOG_HEADER_TYPE(header);
	len = PMCLOG_HEADER_LEN(header);
	if ((type == A_INITIALIZE && len == A_INIT_LEN) ||
	    (type == PMCLOG_T_INITIALIZE && !(len % 4) &&
	     (len == I386_INIT_LEN ||
	      (len >= sizeof(struct pmclog_initialize) && len <= INIT_MAX))))
		return header;
	return 0;
}

static enum pmclog_era era_of(uint32_t version, uint32_t hdr_len)
{
	uint32_t major = version >> 24;

	if (hdr_len == A_HEADER)
		return major >= 1 && major <= 5 ? PMCLOG_ERA_A :
						  PMCLOG_ERA_NONE;
	if (major >= 6 && major <= 9)
		return PMCLOG_ERA_B;
	/* old version with this header: an old log converted by us and stored */
	return major >= 1 && major <= 11 ? PMCLOG_ERA_C : PMCLOG_ERA_NONE;
}

bool pmclog_era_begins(const unsigned char *p, size_t left)
{
	struct pmclog_session s = { 0 };
	uint32_t header, hdr_len;

	if (left < A_INIT_LEN)
		return false;
	header = pmclog_era_first(p, &s.swap);
	hdr_len = PMCLOG_HEADER_LEN(header) == A_INIT_LEN ?
		  A_HEADER : sizeof(struct pmclog_hdr);
	return header && era_of(rd32(&s, p + hdr_len), hdr_len) !=
			 PMCLOG_ERA_NONE;
}

/* A header in either byte order; 0: not a header. */
static uint32_t any_header(const unsigned char *p)
{
	uint32_t header = pmclog_get32(p);

	if (PMCLOG_HEADER_MAGIC(header) != PMCLOG_MAGIC)
		header = __builtin_bswap32(header);
	return PMCLOG_HEADER_MAGIC(header) == PMCLOG_MAGIC ? header : 0;
}

bool pmclog_era_window(const unsigned char *p)
{
	uint32_t header = any_header(p), type = PMCLOG_HEADER_TYPE(header);
	uint32_t len = PMCLOG_HEADER_LEN(header);

	return header && !(len % 4) &&
	       ((type == PMCLOG_T_INITIALIZE && len <= INIT_MAX) ||
		(type == A_INITIALIZE && len > A_INIT_LEN));
}

/* recognised by the first file name in it */
bool pmclog_era_archive(const unsigned char *p)
{
	return !memcmp(p, "pmcl", 4);
}

static const char *other_compression(const unsigned char *p)
{
	if (!memcmp(p, "\037\213", 2))
		return "compressed by gzip: read it through gzip -dc";
	if (!memcmp(p, "\3757zX", 4))
		return "compressed by xz: read it through xz -dc";
	/* in memory or fed; from a descriptor it is decompressed */
	if (pmclog_zstd_magic(p))
		return "compressed by zstd: read it through zstd -dc";
	if (!memcmp(p, "BZh", 3))
		return "compressed by bzip2: read it through bzip2 -dc";
	return NULL;
}

const char *pmclog_era_refuse(const unsigned char *p)
{
	uint32_t header = any_header(p);
	const char *other = other_compression(p);

	if (pmclog_era_archive(p))
		return "an archive: unpack it with tar xf, and name its "
		       "directory";
	if (other)
		return other;
	if (!header)
		return "not a pmclog";
	if (PMCLOG_HEADER_TYPE(header) == PMCLOG_T_INITIALIZE &&
	    PMCLOG_HEADER_LEN(header) % 4)
		return "record length not a multiple of 4";
	if (pmclog_era_window(p))
		return "log of FreeBSD 12 while it was made (2018), "
		       "whose records nobody knows";
	return "no INITIALIZE at the start";
}

/* Only our module has a nanosecond clock and this CPU type; it is little-endian. */
static bool looks_ours(const struct pmclog_session *s, const unsigned char *p)
{
	return !s->swap && s->format.version == PMCLOG_VERSION &&
	       s->format.freq == NSEC_PER_SEC &&
	       rd32(s, p + offsetof(struct pmclog_initialize, cputype)) ==
			PMCLOG_CPUTYPE_GENERIC;
}

const char *pmclog_era_begin(struct pmclog_session *s, const unsigned char *p,
			     uint32_t len, bool swap)
{
	struct pmclog_session new = { .swap = swap, .out = s->out };

	new.hdr_len = len == A_INIT_LEN ? A_HEADER : sizeof(struct pmclog_hdr);
	new.format.version = rd32(&new, p + new.hdr_len);
	new.format.era = era_of(new.format.version, new.hdr_len);
	if (new.format.era == PMCLOG_ERA_NONE)
		return "log of an unknown version";
	new.format.big_endian = swap;
	new.format.freq = NSEC_PER_SEC;
	if (!old_header(&new))
		new.format.freq = rd64(&new, p + offsetof(
				       struct pmclog_initialize, tsc_freq));
	new.format.ours = looks_ours(&new, p);
	if (new.format.ours)
		new.votes = ENOUGH_VOTES;
	else if (len == I386_INIT_LEN)
		new.votes = -ENOUGH_VOTES;
	pmclog_era_note_word(&new);
	*s = new;
	return NULL;
}

void pmclog_era_guess(struct pmclog_session *s, bool old, bool swap)
{
	memset(s, 0, sizeof(*s));
	s->swap = swap;
	s->hdr_len = old ? A_HEADER : sizeof(struct pmclog_hdr);
	s->format.era = old ? PMCLOG_ERA_A : PMCLOG_ERA_C;
	s->format.version = old ? 0x03010000 : PMCLOG_VERSION;
	s->format.freq = old ? NSEC_PER_SEC : 0;
	s->format.big_endian = swap;
	pmclog_era_note_word(s);
}

bool pmclog_era_other(const struct pmclog_session *s, uint32_t header,
		      bool swap)
{
	uint32_t first = old_header(s) ? A_INITIALIZE : PMCLOG_T_INITIALIZE;

	return s->format.era != PMCLOG_ERA_NONE && swap == s->swap &&
	       PMCLOG_HEADER_TYPE(header) != first;
}
