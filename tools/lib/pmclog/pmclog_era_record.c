// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conversion of records of any era to our layout.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pmclog_era_parts.h"
#include "pmclog_multi.h"

/* A header of 12 bytes keeps only these bits of the nanoseconds. */
#define NSEC_MASK	0x0FFFFFFFU

#define OUT_SIZE	65536U

static const struct layout *known_layout(const struct pmclog_session *s,
					 uint32_t type)
{
	const struct layout *l = old_header(s) ? pmclog_era_headers12 : pmclog_era_headers16;

	return type < NTYPES && l[type].moves ? &l[type] : NULL;
}

bool pmclog_era_knows(const struct pmclog_session *s, uint32_t type)
{
	return known_layout(s, type) != NULL;
}

static uint64_t clock_of(const struct pmclog_session *s,
			 const unsigned char *p)
{
	if (!old_header(s))
		return rd64(s, p + offsetof(struct pmclog_hdr, tsc));
	return rd32(s, p + 4) * NSEC_PER_SEC + (rd32(s, p + 8) & NSEC_MASK);
}

/*
 * Before version 10 the record had one address.  The version does not tell exactly
 * which records do.  The place where the path begins does: the address of a mapping
 * does not look like a path.
 */
static bool one_base(const struct pmclog_session *s, const unsigned char *p,
		     uint32_t len)
{
	uint32_t at = offsetof(struct pmclog_procexec, base) + word_size(s);

	return len < at + word_size(s) + 4 || !page(s, p + at);
}

/* A string of at least one character at @p, cut at @end. */
static bool is_name(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *q = p;

	while (q < end && *q >= ' ' && *q < 0x7F)
		q++;
	return q > p && (q == end || !*q);
}

/*
 * FreeBSD's kernel puts the rate in front of the name.  A rate has zeros in its
 * high bytes, so the bytes before them are not a name if another name follows.
 */
static bool rate_before_name(const unsigned char *p, uint32_t len)
{
	const uint32_t at = offsetof(struct pmclog_pmcallocatedyn, name);

	return len < sizeof(struct pmclog_pmcallocatedyn) &&
	       memchr(p + at, '\0', 8) &&
	       is_name(p + at + 8, p + PMCLOG_PMCALLOCATEDYN_BASE);
}

/* The length that @moves need, without a part of variable length at the end. */
static uint32_t fixed_len(const struct pmclog_session *s,
			  const struct move *m)
{
	uint32_t len = s->hdr_len;

	for (; m->kind != END; m++)
		switch (m->kind) {
		case WORD:
		case LONG:
		case SKIP:
			len += 4;
			break;
		case DOUBLE:
			len += 8;
			break;
		case ADDR:
			len += word_size(s);
			break;
		case NAME:
			len += m->size;
			break;
		}
	return len;
}

static const struct layout *layout_of(const struct pmclog_session *s,
				      const unsigned char *p, uint32_t len,
				      uint32_t type)
{
	const struct layout *l = known_layout(s, type);

	if (!l || old_header(s))
		return l;
	if (type == PMCLOG_T_PROCEXEC && len >= fixed_len(s, pmclog_era_exec_entry.moves) &&
	    one_base(s, p, len))
		return &pmclog_era_exec_entry;
	if (type == PMCLOG_T_INITIALIZE && len == I386_INIT_LEN)
		return &pmclog_era_init_i386;
	if (type == PMCLOG_T_PMCALLOCATEDYN &&
	    len >= PMCLOG_PMCALLOCATEDYN_BASE && rate_before_name(p, len))
		return &pmclog_era_name_rate;
	return l;
}

static void put64(unsigned char *to, uint64_t v)
{
	memcpy(to, &v, sizeof(v));
}

static const char *put_path(struct pmclog_rec *rec, unsigned char *to,
			    const unsigned char *p, const unsigned char *end)
{
	const unsigned char *nul = memchr(p, '\0', end - p);
	uint32_t n;

	if (!nul)
		return "string not terminated";
	n = (uint32_t)(nul - p) + 1;
	if (n > OUT_SIZE - 4 - rec->len)
		return "string too long";
	memcpy(to, p, n);
	memset(to + n, 0, -n & 3);
	rec->len += (n + 3) & ~3U;
	return NULL;
}

static const char *put_pcs(const struct pmclog_session *s,
			   struct pmclog_rec *rec, unsigned char *to,
			   const unsigned char *p, const unsigned char *end)
{
	uint32_t word = word_size(s);

	if ((uint32_t)(end - p) % word)
		return "call chain with a part of a pc";
	if ((uint32_t)(end - p) / word > (OUT_SIZE - rec->len) / 8 - 1)
		return "call chain of too many pcs";
	for (; p < end; p += word, to += 8, rec->len += 8)
		put64(to, rd_addr(s, p));
	return NULL;
}

/* The pcs of a sample that may have other parts than its chain. */
static const char *put_chain(const struct pmclog_session *s,
			     struct pmclog_rec *rec, unsigned char *to,
			     const unsigned char *p, const unsigned char *end)
{
	unsigned char *flags = s->out +
			       offsetof(struct pmclog_callchain, cpuflags);
	uint32_t cpuflags = pmclog_get32(flags);

	if (!(cpuflags & PMCLOG_CC_MULTIPART) || old_header(s))
		return put_pcs(s, rec, to, p, end);
	if (!pmclog_multi_pcs(&p, &end, word_size(s)))
		return "sample of more parts than it has room for";
	cpuflags &= ~PMCLOG_CC_MULTIPART;
	memcpy(flags, &cpuflags, sizeof(cpuflags));
	return put_pcs(s, rec, to, p, end);
}

static const char *move_fields(const struct pmclog_session *s,
			       const struct move *m, const unsigned char *p,
			       const unsigned char *end,
			       struct pmclog_rec *rec)
{
	unsigned char *to;
	uint32_t v;

	p += s->hdr_len;
	for (; m->kind != END; m++) {
		to = s->out + m->to;
		switch (m->kind) {
		case WORD:
			v = rd32(s, p);
			memcpy(to, &v, sizeof(v));
			/* fall through */
		case SKIP:
			p += 4;
			break;
		case DOUBLE:
			put64(to, rd64(s, p));
			p += 8;
			break;
		case LONG:
			put64(to, (uint64_t)(int32_t)rd32(s, p));
			p += 4;
			break;
		case ADDR:
			put64(to, rd_addr(s, p));
			p += word_size(s);
			break;
		case NAME:
			/* a string without a NUL loses its last character */
			memcpy(to, p, strnlen((const char *)p, m->size - 1U));
			p += m->size;
			break;
		case PATH:
			return put_path(rec, to, p, end);
		case PCS:
			return put_chain(s, rec, to, p, end);
		}
	}
	return NULL;
}

/* INITIALIZE with such a header has no clock: the clock is the wall clock. */
static void old_clock(const struct pmclog_session *s, uint64_t clock)
{
	put64(s->out + offsetof(struct pmclog_initialize, tsc_freq),
	      NSEC_PER_SEC);
	put64(s->out + offsetof(struct pmclog_initialize, ts_sec),
	      clock / NSEC_PER_SEC);
	put64(s->out + offsetof(struct pmclog_initialize, ts_nsec),
	      clock % NSEC_PER_SEC);
}

/* Such a sample does not have its CPU. */
static void old_sample(const struct pmclog_session *s)
{
	unsigned char *flags = s->out +
			       offsetof(struct pmclog_callchain, cpuflags);
	uint32_t user = pmclog_get32(flags) ? PMCLOG_CC_USERSPACE : 0;

	memcpy(flags, &user, sizeof(user));
}

static const char *make_record(struct pmclog_session *s,
			       const struct layout *l, const unsigned char *p,
			       uint32_t len, uint32_t type,
			       struct pmclog_rec *rec)
{
	struct pmclog_hdr h = { 0, 0, clock_of(s, p) };
	const char *error;

	if (!s->out)
		s->out = malloc(OUT_SIZE);
	if (!s->out)
		return "out of memory";
	if (len < fixed_len(s, l->moves))
		return "record too short for its type";
	memset(s->out, 0, l->len);
	rec->len = l->len;
	rec->type = l->type;
	rec->data = s->out;
	error = move_fields(s, l->moves, p, p + len, rec);
	if (error)
		return error;
	if (old_header(s) && type == A_INITIALIZE)
		old_clock(s, h.tsc);
	if (old_header(s) && type == A_PCSAMPLE)
		old_sample(s);
	h.header = PMCLOG_HEADER(rec->type, rec->len);
	memcpy(s->out, &h, sizeof(h));
	return NULL;
}

/* Whether the record already has our layout. */
static bool as_it_is(const struct pmclog_session *s, const struct layout *l,
		     const unsigned char *p, uint32_t len, uint32_t type)
{
	if (s->swap || old_header(s) || word_size(s) == 4)
		return false;
	if (!l || l != &pmclog_era_headers16[type])
		return !l;
	return type != PMCLOG_T_CALLCHAIN || len < l->len ||
	       !(pmclog_get32(p + offsetof(struct pmclog_callchain,
					   cpuflags)) & PMCLOG_CC_MULTIPART);
}

/* FreeBSD's logs have no extension records, and no data after a name. */
static bool only_ours(const unsigned char *p, uint32_t len, uint32_t type)
{
	if (type == PMCLOG_T_PMCALLOCATEDYN)
		return len >= sizeof(struct pmclog_pmcallocatedyn);
	return type == PMCLOG_T_USERDATA && len > sizeof(struct pmclog_userdata) &&
	       pmclog_get32(p + offsetof(struct pmclog_ext, cookie)) ==
			PMCLOG_EXT_COOKIE;
}

static void note_ours(struct pmclog_session *s, const unsigned char *p,
		      uint32_t len, uint32_t type)
{
	if (s->format.era != PMCLOG_ERA_C || !only_ours(p, len, type))
		return;
	s->format.ours = 1;
	if (!s->format.freq)
		s->format.freq = NSEC_PER_SEC;	/* if it is unknown */
	s->votes = ENOUGH_VOTES;
	pmclog_era_note_word(s);
}

const char *pmclog_era_record(struct pmclog_session *s, const unsigned char *p,
			      uint32_t len, uint32_t type,
			      struct pmclog_rec *rec)
{
	const struct layout *l;
	const char *error;

	if (!s->format.ours) {
		/* the shortest record that can vote has three words, or four */
		if (len >= (old_header(s) ? 24U : 32U))
			pmclog_era_count_votes(s, p, len, type);
		if (!s->swap && !old_header(s))
			note_ours(s, p, len, type);
	}
	l = layout_of(s, p, len, type);
	if (as_it_is(s, l, p, len, type)) {
		rec->data = p;
		rec->len = len;
		rec->type = type;
		return NULL;
	}
	error = make_record(s, l ? l : &pmclog_era_no_fields, p, len, type, rec);
	if (!l && !error) {
		/* must not have a number that has a meaning in our records */
		rec->type = type < NTYPES ? 4 : type;
		s->out[2] = (unsigned char)rec->type;
	}
	return error;
}

void pmclog_era_free(struct pmclog_session *s)
{
	free(s->out);
	s->out = NULL;
}
