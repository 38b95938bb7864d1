// SPDX-License-Identifier: BSD-2-Clause
/*
 * A damaged log continues at a header of the session that is followed by others, or
 * where another log begins.
 *
 * Each byte is examined once as the start of a header, and for a header at most two
 * more are examined.  So the work is proportional to the number of bytes.
 */
#include <string.h>

#include "pmclog_check.h"
#include "pmclog_resync.h"

#define IN_A_ROW	3
#define HEADER_SIZE	sizeof(uint32_t)

/* in 1995; no log is older */
#define FIRST_SECOND	800000000U

enum answer { NO, YES, MORE };

/* 0, or the length of a record that may begin at @p. */
static uint32_t record_len(const struct pmclog_session *s,
			   const unsigned char *p)
{
	uint32_t header = pmclog_era_header(s, p);

	if (pmclog_check_header(header, s->hdr_len) ||
	    PMCLOG_HEADER_LEN(header) > PMCLOG_RESYNC_LEN ||
	    !pmclog_era_knows(s, PMCLOG_HEADER_TYPE(header)))
		return 0;
	return PMCLOG_HEADER_LEN(header);
}

bool pmclog_resync_header(const struct pmclog_session *s,
			  const unsigned char *p, size_t left)
{
	uint32_t header;

	if (left < HEADER_SIZE)
		return true;
	/* of any type: a type added by a newer version is not damage */
	header = pmclog_era_header(s, p);
	return (!pmclog_check_header(header, s->hdr_len) &&
		PMCLOG_HEADER_LEN(header) <= PMCLOG_RESYNC_LEN) ||
	       pmclog_era_begins(p, left);
}

/* Whether records begin at @p; the last one may be cut by the end of the log. */
static enum answer records_at(const struct pmclog_session *s,
			      const unsigned char *p, size_t left, bool last)
{
	uint32_t i, len;

	if (pmclog_era_begins(p, left))
		return YES;
	for (i = 0; i < IN_A_ROW; i++, p += len, left -= len) {
		if (!left && i)
			return last ? YES : MORE;
		if (left < HEADER_SIZE)
			return last ? NO : MORE;
		len = record_len(s, p);
		if (!len)
			return i && pmclog_era_begins(p, left) ? YES : NO;
		if (left < len && last)
			return i ? YES : NO;
		if (left < len)
			return MORE;
	}
	return YES;
}

/* The next byte that is the first or last of headers, in either byte order. */
static const unsigned char *next_magic(const unsigned char *p,
				       const unsigned char *end)
{
	return p < end ? memchr(p, PMCLOG_MAGIC, end - p) : NULL;
}

/* The first header at or after @p. */
static const unsigned char *find(const struct pmclog_session *s,
				 const unsigned char *p,
				 const unsigned char *end, bool last,
				 enum answer *answer)
{
	const unsigned char *m, *at;
	int i;

	for (m = next_magic(p, end); m; m = next_magic(m + 1, end)) {
		/* a header of a little-endian log ends here, or one begins */
		for (i = 3; i >= 0; i -= 3) {
			if (m - p < i)
				continue;
			at = m - i;
			*answer = records_at(s, at, end - at, last);
			if (*answer != NO)
				return at;
		}
	}
	*answer = NO;
	return end;
}

size_t pmclog_resync(const struct pmclog_session *s, const unsigned char *p,
		     size_t left, bool bad, bool last, bool *found)
{
	const unsigned char *end = p + left, *at;
	enum answer answer = NO;
	uint32_t len;

	/* perhaps only the contents are wrong, not the length */
	len = !bad || left < HEADER_SIZE ? 0 : record_len(s, p);
	if (len && len < left)
		answer = records_at(s, p + len, left - len, last);
	else if (len && !last)
		answer = MORE;
	*found = answer == YES;
	if (answer != NO)
		return *found ? len : 0;
	if (bad && left)
		p++;
	at = find(s, p, end, last, &answer);
	*found = answer == YES;
	if (answer == NO && !last && end - p >= (ptrdiff_t)HEADER_SIZE)
		at = end - (HEADER_SIZE - 1);	/* a part of a header may have arrived */
	else if (answer == NO && !last)
		at = p;
	return at - (end - left);
}

/*
 * Headers of 12 bytes have the seconds of the wall clock, on the same day in all
 * records checked, and cut nanoseconds.  Other headers have 0 or the low word of a
 * clock there.
 */
static bool same_day(const struct pmclog_session *s, const unsigned char *p,
		     size_t left)
{
	uint32_t i, len, sec, first = 0;

	for (i = 0; i < IN_A_ROW; i++, p += len, left -= len) {
		if (!left && i)
			return true;
		len = left < s->hdr_len ? 0 : record_len(s, p);
		if (!len || len > left)
			return false;
		sec = pmclog_era_header(s, p + 4);
		first = i ? first : sec;
		if (sec < FIRST_SECOND || sec - first + 86400 > 2 * 86400 ||
		    pmclog_era_header(s, p + 8) >> 28)
			return false;
	}
	return true;
}

bool pmclog_resync_start(struct pmclog_session *s, const unsigned char *p,
			 size_t left, size_t *skip)
{
	struct pmclog_session guess, best;
	size_t n, least = left;
	bool found, old;
	int i;

	for (i = 0; i < 4; i++) {
		/* old headers first: they also look like new ones */
		old = i < 2;
		pmclog_era_guess(&guess, old, i & 1);
		n = pmclog_resync(&guess, p, left, false, true, &found);
		if (!found || n >= least ||
		    (old && !same_day(&guess, p + n, left - n)))
			continue;
		least = n;
		best = guess;
	}
	if (least == left)
		return false;
	*skip = least;
	if (!pmclog_era_begins(p + least, left - least))
		*s = best;
	return true;
}
