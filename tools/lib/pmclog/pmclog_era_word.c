// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the length of an address by votes of the records.
 */
#include <stddef.h>
#include <stdlib.h>

#include "pmclog_era_parts.h"

/* Four bytes that paths begin with, and that are no high word of an address. */
static bool text4(const unsigned char *p)
{
	int i;

	for (i = 0; i < 4; i++)
		if (p[i] < ' ' || p[i] == 0x7F || p[i] == 0xFF)
			return false;
	return p[0] < 0x7F;
}

/*
 * Votes by a path that follows an address at @at.  The address has 4 bytes if there
 * is text where an address of 8 bytes has its high word, or if the record has no
 * room for 8.
 */
static int vote_path(const unsigned char *p, uint32_t len, uint32_t at)
{
	return len < at + 12 || text4(p + at + 4) ? -2 : 2;
}

/* The high words of FreeBSD's addresses, now and earlier. */
static bool high_word(uint32_t v)
{
	return v <= 0xFFFF || v >= 0xFFFF0000 || v == 0xC0000000;
}

static int vote_pcs(const struct pmclog_session *s, const unsigned char *p,
		    uint32_t len, uint32_t at)
{
	int vote = 0;

	if ((len - at) % 8)
		return -2;
	for (; at < len && vote >= 0; at += 8)
		vote = high_word(rd32(s, p + at + 4)) ? 1 : -1;
	return vote;
}

/* pid, pmcid, then one address or two, then the path */
static int vote_exec(const struct pmclog_session *s, const unsigned char *p,
		     uint32_t len)
{
	const uint32_t at = offsetof(struct pmclog_procexec, base);

	if (s->format.era == PMCLOG_ERA_C && len >= at + 12 &&
	    page(s, p + at) && page(s, p + at + 4) &&
	    (len == at + 12 || text4(p + at + 8)))
		return -2;	/* two of 4 bytes */
	return vote_path(p, len, at);
}

static int vote16(const struct pmclog_session *s, const unsigned char *p,
		  uint32_t len, uint32_t type)
{
	switch (type) {
	case PMCLOG_T_MAP_IN:
		return vote_path(p, len, offsetof(struct pmclog_map_in, start));
	case PMCLOG_T_MAP_OUT:
		return len < sizeof(struct pmclog_map_out) ? -2 : 2;
	case PMCLOG_T_PROCEXEC:
		return vote_exec(s, p, len);
	case PMCLOG_T_CALLCHAIN:
		if (rd32(s, p + offsetof(struct pmclog_callchain, cpuflags)) &
		    PMCLOG_CC_MULTIPART)
			return 0;
		return vote_pcs(s, p, len, sizeof(struct pmclog_callchain));
	default:
		return 0;
	}
}

static int vote12(const struct pmclog_session *s, const unsigned char *p,
		  uint32_t len, uint32_t type)
{
	switch (type) {
	case A_PCSAMPLE:
	case PMCLOG_T_MAP_OUT:
		return len < 32 ? -2 : 2;
	case PMCLOG_T_MAP_IN:
		return vote_path(p, len, 16);
	case PMCLOG_T_PROCEXEC:
		/* the PMC's id between them is not text either */
		return vote_path(p, len, 20);
	case PMCLOG_T_CALLCHAIN:
		return vote_pcs(s, p, len, 24);
	default:
		return 0;
	}
}

void pmclog_era_note_word(struct pmclog_session *s)
{
	bool plain = !s->swap && !old_header(s) && s->votes >= 0;

	s->format.word = s->votes ? word_size(s) : 0;
	s->special = UINT32_MAX;
	if (plain)
		s->special = 1U << PMCLOG_T_INITIALIZE |
			     1U << PMCLOG_T_DROPNOTIFY;
	if (plain && !s->format.ours)
		s->special |= 1U << PMCLOG_T_MAP_IN | 1U << PMCLOG_T_MAP_OUT |
			      1U << PMCLOG_T_PROCEXEC |
			      1U << PMCLOG_T_CALLCHAIN |
			      1U << PMCLOG_T_PMCALLOCATEDYN |
			      1U << PMCLOG_T_USERDATA;
}

/* A single record may be damaged: only several votes are conclusive. */
void pmclog_era_count_votes(struct pmclog_session *s, const unsigned char *p,
			    uint32_t len, uint32_t type)
{
	int vote;

	if (abs(s->votes) >= ENOUGH_VOTES)
		return;
	vote = old_header(s) ? vote12(s, p, len, type) :
			       vote16(s, p, len, type);
	if (!vote)
		return;
	s->votes += vote;
	pmclog_era_note_word(s);
}
