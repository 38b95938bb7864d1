// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a damaged log goes on: at a header of the session that is followed by
 * others, or where another log begins.
 *
 * Every byte is looked at for a header once, and a header leads to at most two
 * more, so the work is bounded by the bytes.
 */
#include <string.h>

#include "pmclog_check.h"
#include "pmclog_resync.h"

#define IN_A_ROW	3
#define HEADER_SIZE	sizeof(uint32_t)

/* of 1995: before that there was nothing to log */
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
	/* of any type: what a version added is no sign of damage */
	header = pmclog_era_header(s, p);
	return (!pmclog_check_header(header, s->hdr_len) &&
		PMCLOG_HEADER_LEN(header) <= PMCLOG_RESYNC_LEN) ||
	       pmclog_era_begins(p, left);
}

/* Whether records begin at @p; the end of the log may cut the last one. */
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

/* The next byte that headers have as their first or last: in either order. */
static const unsigned char *next_magic(const unsigned char *p,
				       const unsigned char *end)
{
	return p < end ? memchr(p, PMCLOG_MAGIC, end - p) : NULL;
}

/* The first header at @p or behind it; all of them are looked at from there. */
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

	/* maybe only what is in it is wrong, not its length */
	len = !bad || left < HEADER_SIZE ? 0 : record_len(s, p);
	if (len && len < left)
		answer = records_at(s, p + len, left - len, last);
	*found = answer == YES;
	if (answer != NO)
		return *found ? len : 0;
	if (bad && left)
		p++;
	at = find(s, p, end, last, &answer);
	*found = answer == YES;
	if (answer == NO && !last && end - p >= (ptrdiff_t)HEADER_SIZE)
		at = end - (HEADER_SIZE - 1);	/* a header may have come in part */
	else if (answer == NO && !last)
		at = p;
	return at - (end - left);
}

/*
 * Headers of 12 bytes have the seconds of the wall clock, here the same day's,
 * and cut nanoseconds where others have nothing, or the low word of a clock.
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
		/* the old ones first: they look like others as well */
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
