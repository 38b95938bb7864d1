/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the parts of pmclog_era: the layouts of all eras, and numbers.
 *
 * Writers of all eras emit a record word by word, so a layout is the sequence
 * of its fields.  The offset of a field depends on the length of an address.  No
 * record has this length, so it is derived from records whose length or contents
 * allow only one.
 */
#ifndef PMCLOG_ERA_PARTS_H
#define PMCLOG_ERA_PARTS_H

#include "pmclog_era.h"
#include "pmclog_wire.h"

#define NSEC_PER_SEC	1000000000ULL

#define I386_INIT_LEN	104U	/* i386's struct timespec has 8 bytes */

enum kind {
	END,
	WORD,		/* 32 bits */
	DOUBLE,		/* 64 bits, low word first */
	LONG,		/* 32 bits, signed; 64 in our record */
	ADDR,
	SKIP,		/* an unused word */
	NAME,		/* a string in @size bytes */
	PATH,		/* a string to the end */
	PCS,		/* addresses to the end */
};

/* @to: offset in our record */
struct move {
	uint8_t kind;
	uint8_t size;
	uint16_t to;
};

/* @len: length of our record without the parts of PATH and PCS */
struct layout {
	uint8_t type;
	uint16_t len;
	const struct move *moves;
};

/* Types of records with headers of 12 bytes whose numbers differ from ours. */
enum { A_CLOSELOG, A_DROPNOTIFY, A_INITIALIZE, A_PCSAMPLE = 4 };

/* pmclog_era_layout.c: by type; no @moves: no such record exists */
#define NTYPES	(PMCLOG_T_PROC_CREATE + 1U)
extern const struct layout pmclog_era_headers12[NTYPES];
extern const struct layout pmclog_era_headers16[NTYPES];
/* variants that replace some of these */
extern const struct layout pmclog_era_no_fields;
extern const struct layout pmclog_era_exec_entry;
extern const struct layout pmclog_era_init_i386;
extern const struct layout pmclog_era_name_rate;

/* pmclog_era_word.c: the length of an address */
#define ENOUGH_VOTES	8
void pmclog_era_note_word(struct pmclog_session *s);
void pmclog_era_count_votes(struct pmclog_session *s, const unsigned char *p,
			    uint32_t len, uint32_t type);

static inline bool old_header(const struct pmclog_session *s)
{
	return s->format.era == PMCLOG_ERA_A;
}

static inline uint32_t rd32(const struct pmclog_session *s,
			    const unsigned char *p)
{
	return pmclog_era_header(s, p);
}

static inline uint64_t rd64(const struct pmclog_session *s,
			    const unsigned char *p)
{
	return (uint64_t)rd32(s, p + 4) << 32 | rd32(s, p);
}

static inline uint32_t word_size(const struct pmclog_session *s)
{
	return s->votes < 0 ? 4 : 8;
}

static inline uint64_t rd_addr(const struct pmclog_session *s,
			       const unsigned char *p)
{
	return word_size(s) == 4 ? rd32(s, p) : rd64(s, p);
}

/* Whether the word at @p may be (the low word of) the address of a mapping */
static inline bool page(const struct pmclog_session *s, const unsigned char *p)
{
	return !(rd32(s, p) & 0xFFF);
}

#endif /* PMCLOG_ERA_PARTS_H */
