// SPDX-License-Identifier: GPL-2.0-only
/*
 * WRITELOG: records that are mostly as they must be.
 *
 * One operation makes several calls, each with a few records of which one may have
 * a fault: a call takes microseconds, a program a good part of a second.
 */
#include <string.h>
#include <sys/mman.h>
#include <linux/hwpmc.h>

#include "calls.h"

#define RECORDS		16		/* of a call */
#define RECORD_ROOM	4400		/* more than PMCLOG_RECORD_MAX */

static const struct {
	uint8_t	subtype;		/* 0: MAP_IN */
	uint8_t	fixed;			/* bytes before the strings */
	uint8_t	strings;
} kinds[] = {
	{ 0, sizeof(struct pmclog_map_in), 1 },
	{ PMCLOG_EXT_KERNEL, sizeof(struct pmclog_ext_kernel), 1 },
	{ PMCLOG_EXT_MODULE, sizeof(struct pmclog_ext_module), 1 },
	{ PMCLOG_EXT_SECTION, sizeof(struct pmclog_ext_section), 2 },
	{ PMCLOG_EXT_BUILDID, sizeof(struct pmclog_ext_buildid), 1 },
	{ PMCLOG_EXT_FIELDS, sizeof(struct pmclog_ext_fields), 1 },
	{ PMCLOG_EXT_RATE, sizeof(struct pmclog_ext_rate), 0 },
};

/* What can be wrong with a record: its length, its strings, or what is fixed. */
enum fault {
	FAULT_NONE,
	FAULT_MAGIC,
	FAULT_SPARE,
	FAULT_TYPE,
	FAULT_COOKIE,
	FAULT_VERSION,
	FAULT_SUBTYPE,
	FAULT_WORD,			/* the last one that is fixed */
	FAULT_ID,			/* more of a build id than there is */
	FAULT_HEADER_ONLY,
	FAULT_FIXED_ONLY,
	FAULT_SHORT,			/* of what is fixed, too */
	FAULT_LESS,			/* the header says so */
	FAULT_MORE,
	FAULT_ODD,
	FAULT_ZERO,
	FAULT_ENDS_LESS,		/* one string less than there has to be */
	FAULT_ENDS_NONE,
	FAULT_ENDS_MORE,
	FAULT_PADDING,			/* is not zero */
	FAULT_LONG_PADDING,
	FAULT_CUT,			/* bytes that the call does not have */
	FAULT_BEHIND,			/* bytes of no record behind the last one */
	FAULTS
};

/* Bytes of each string: all lengths modulo 4, and the longest record. */
static unsigned int string_bytes(unsigned int k, uint8_t length)
{
	unsigned int most = PMCLOG_RECORD_MAX - kinds[k].fixed;

	if (length < 200)
		return 1 + length % 40;
	return (most - 4 + length % 9) / (kinds[k].strings ?: 1);
}

/* As it must be; returns its bytes. */
static uint32_t make_record(void *buf, unsigned int k, unsigned int bytes)
{
	unsigned int i, n = kinds[k].strings, len;
	struct pmclog_map_in *m = buf;
	struct pmclog_ext *e = buf;
	char *s = (char *)buf + kinds[k].fixed;

	len = (kinds[k].fixed + n * bytes + 3) & ~3U;
	memset(buf, 0, len);
	memset(s, 'n', n * bytes);
	for (i = 1; i <= n; i++)
		s[i * bytes - 1] = '\0';
	if (!kinds[k].subtype) {
		m->h.header = PMCLOG_HEADER(PMCLOG_T_MAP_IN, len);
		m->pid = PMCLOG_PID_KERNEL;
		m->start = 0xFFFF800000100000ULL;
		return len;
	}
	e->h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, len);
	e->cookie = PMCLOG_EXT_COOKIE;
	e->subtype = kinds[k].subtype;
	if (e->subtype == PMCLOG_EXT_BUILDID)
		((struct pmclog_ext_buildid *)buf)->len = bytes % 21;
	return len;
}

static void set_length(struct pmclog_ext *e, uint32_t len)
{
	e->h.header = (e->h.header & ~0xFFFFU) | (len & 0xFFFF);
}

/* Returns the bytes that the record has in the call. */
static uint32_t spoil_record(void *buf, unsigned int k, unsigned int bytes,
			     uint32_t len, enum fault fault)
{
	unsigned int text = kinds[k].strings * bytes;
	struct pmclog_ext *e = buf;
	char *s = (char *)buf + kinds[k].fixed;

	switch (fault) {
	case FAULT_MAGIC:
		e->h.header ^= 1U << 24;
		break;
	case FAULT_SPARE:
		e->h.spare = 1;
		break;
	case FAULT_TYPE:
		e->h.header ^= (1 + bytes % 31) << 16;
		break;
	case FAULT_COOKIE:
		e->cookie ^= 1;
		break;
	case FAULT_VERSION:
		e->version = 1;
		break;
	case FAULT_SUBTYPE:
		e->subtype = bytes % 18;
		break;
	case FAULT_WORD:
		s[-4] = 1;
		break;
	case FAULT_ID:
		if (e->subtype == PMCLOG_EXT_BUILDID)
			((struct pmclog_ext_buildid *)buf)->len += 15;
		else
			s[-1] = 1;
		break;
	case FAULT_HEADER_ONLY:
		len = sizeof(struct pmclog_hdr);
		break;
	case FAULT_FIXED_ONLY:
		len = kinds[k].fixed;
		break;
	case FAULT_SHORT:
		len = kinds[k].fixed - 4;
		break;
	case FAULT_LESS:
		set_length(e, len - 4);
		return len;
	case FAULT_MORE:
		set_length(e, len + 4);
		return len;
	case FAULT_ODD:
		set_length(e, len - 2);
		return len;
	case FAULT_ZERO:
		set_length(e, bytes % 8);
		return len;
	case FAULT_ENDS_LESS:
		memset(s + text - (text ? bytes : 0), 'n',
		       len - kinds[k].fixed - text + (text ? bytes : 0));
		break;
	case FAULT_ENDS_NONE:
		memset(s, 'n', len - kinds[k].fixed);
		break;
	case FAULT_ENDS_MORE:
		if (text > 2)
			s[text / 2 - 1] = '\0';
		break;
	case FAULT_PADDING:
		memset(s + text, 'p', len - kinds[k].fixed - text);
		break;
	case FAULT_LONG_PADDING:
		memset((char *)buf + len, 0, 4);
		len += 4;
		break;
	default:
		break;
	}
	set_length(e, len);
	return len;
}

/*
 * @variant: of the operation's calls.  arg[4]: the record with the fault, 0 for the
 * last one; arg[5]: how many calls, and what they differ in
 */
static uint32_t make_records(char *buf, const struct op *op, unsigned int variant)
{
	const uint8_t *b = op->arg;
	unsigned int n = 1 + b[2] % RECORDS, step = b[2] >> 4, i;
	unsigned int spoilt = b[4] ? (b[4] - 1) % n : n - 1;
	enum fault fault = (b[3] + (b[5] & 0x20 ? variant : 0)) % FAULTS;
	uint8_t length = b[1] + (b[5] & 0x40 ? variant : 0);
	uint32_t len = 0, one;

	for (i = 0; i < n; i++) {
		unsigned int k = (b[0] + i * step +
				  (b[5] & 0x10 ? variant : 0)) % SIZE(kinds);
		unsigned int bytes = string_bytes(k, length);

		one = make_record(buf + len, k, bytes);
		if (i == spoilt)
			one = spoil_record(buf + len, k, bytes, one, fault);
		len += one;
	}
	if (fault == FAULT_CUT)
		len -= 1 + b[1] % 4;
	if (fault == FAULT_BEHIND) {
		memset(buf + len, 0, 8);
		len += 1 + b[1] % 8;
	}
	return len;
}

/*
 * arg: the first record's kind; strings' length; how many records, and the step from
 * one's kind to the next's; fault; its record; calls.  HOW_WORD is for the records.
 */
void do_records(const struct op *op)
{
	static _Thread_local char buf[(RECORDS + 1) * RECORD_ROOM];
	struct op plain = *op;
	unsigned int variant;

	plain.how &= ~HOW_WORD;
	for (variant = 0; variant <= op->arg[5] % 16 && !sh->stop; variant++) {
		ARG(hwpmc_writelog, x, .records = (uintptr_t)buf);

		x.a.len = make_records(buf, op, variant);
		if ((op->how & HOW_WORD) && x.a.len >= 64)
			memcpy(buf + word_at(op, x.a.len & ~3U), &op->word, 4);
		if (op->arg[5] & 0x80)
			x.a.len += HWPMC_WRITELOG_MAX;
		io(&plain, HWPMC_IOC_WRITELOG, &x);
	}
}

/* HOW_WORD: of the argument */
void do_userdata(const struct op *op)
{
	ARG(hwpmc_writelog, x, .userdata = op->arg[0],
	    .len = op->arg[1] % 64 * 4, .records = op->arg[2]);

	io(op, HWPMC_IOC_WRITELOG, &x);
}
