/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of all records, for dump and for the padding check of verify. */
#ifndef READER_RECORD_H
#define READER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/pmclog.h>

#include "log/rec.h"

enum field_kind {
	FIELD_U32,
	FIELD_S32,
	FIELD_X32,
	FIELD_U64,
	FIELD_S64,
	FIELD_X64,
	FIELD_PROT,		/* u32 of PROT_* bits */
	FIELD_CAUSE,		/* u32, enum pmclog_drop_cause */
	FIELD_MACHINE,		/* u32, ELF e_machine */
	FIELD_BYTES,		/* u32 length, u32 pad, then @size bytes */
	FIELD_NAME,		/* string in a field of @size bytes */
	FIELD_TAIL,		/* the first string at the record's end */
	FIELD_TAIL2,		/* the second string at the record's end */
	FIELD_PAD,		/* u32, 0 */
	FIELD_CHAIN,		/* cpuflags, number of pcs */
	FIELD_PCS,		/* number of pcs up to the record's end */
	/* from here on not always shown */
	FIELD_DATA,		/* u32 length, u32, then as many bytes */
	FIELD_SNAPSHOT,		/* u32, enum pmclog_snapshot_cause */
	FIELD_ENDS,		/* u8, how a user chain ends */
	/* of a DETAIL; @size is the bit in "has" that says it is there */
	FIELD_HAD_U32,
	FIELD_HAD_X64,
	FIELD_HAD_SOURCE,	/* u64, perf_mem_data_src */
	FIELD_BRANCHES,		/* number of branches up to the record's end */
};

/*
 * @plain: printed without its name in text, as FreeBSD's pmcstat does; the
 *         order is its order too
 */
struct field {
	const char *name;
	uint16_t offset;
	uint8_t kind;
	uint8_t size;
	uint8_t plain;
};

/* @word: FreeBSD's word for the type, or the extension's name */
struct layout {
	const char *word;
	const struct field *fields;
	size_t nfields;
};

/* NULL for a record whose layout is unknown. */
const struct layout *record_layout(const struct pmclog_rec *rec);
/* Is it of a kind that this reader does not know, as in a log of a newer recorder? */
bool record_is_unknown(const struct pmclog_rec *rec);
/* Bytes of each kind of field, without those of @size */
extern const unsigned char field_sizes[FIELD_BRANCHES + 1];
static inline size_t field_size(const struct field *f)
{
	bool sized = f->kind == FIELD_BYTES || f->kind == FIELD_NAME;

	return field_sizes[f->kind] + (sized ? f->size : 0);
}

/* Is the field inside the record? */
static inline bool field_present(const struct field *f, const struct pmclog_rec *rec)
{
	return f->offset + field_size(f) <= rec->len;
}

uint64_t field_value(const struct field *f, const struct pmclog_rec *rec);
/* A string field; its length in *@n. */
const char *field_string(const struct field *f, const struct pmclog_rec *rec,
			 size_t *n);
/* FIELD_BYTES, FIELD_DATA */
const unsigned char *field_bytes(const struct field *f,
				 const struct pmclog_rec *rec, size_t *n);

/* Number of the pcs that end the record, from *@at on; 0 if it has none. */
uint32_t record_pcs(const struct pmclog_rec *rec, size_t *at);
/* Where the record has a PMC id; 0: it has none. */
size_t record_pmcid_at(const struct pmclog_rec *rec);
/* How the chain of a USERCHAIN ends, as in struct sample.ends. */
uint8_t record_ends(const struct pmclog_rec *rec);
/*
 * The account of a CLOSELOG; false if it has none.  Older accounts are shorter:
 * the numbers they lack are 0.
 */
bool record_account(const struct pmclog_rec *rec, struct pmclog_account *a);
void record_account_add(struct pmclog_account *sum,
			const struct pmclog_account *a);
/* Does the account have causes of cut chains, and chains that came later? */
bool record_account_has_cuts(const struct pmclog_rec *rec);

/*
 * The flags of a PMCALLOCATEDYN or PMCALLOCATE, without those bits that are other flags
 * in FreeBSD's records.
 */
uint32_t record_pmc_flags(const struct pmclog_rec *rec);

/* "x86_64" for 62; NULL when we have no name */
const char *machine_name(uint32_t machine);
/* @machine: 0: not known; FreeBSD logs only the CPU, old versions neither */
bool machine_is_x86(uint32_t machine, const char *cpuid);
/* "full" for PMCLOG_DROP_FULL; NULL */
const char *cause_name(uint32_t cause);
/* "depth" for PMCLOG_CUT_DEPTH; NULL */
const char *cut_name(uint32_t cause);
/* "whole" for bit 0 of struct sample.ends, and so on; NULL */
const char *end_name(unsigned int bit);
/* "asked" for PMCLOG_SNAPSHOT_ASKED; NULL */
const char *snapshot_name(uint32_t cause);

#endif /* READER_RECORD_H */
