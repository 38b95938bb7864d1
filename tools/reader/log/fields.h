/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of tracepoints: what the bytes of a PMCLOG_EXT_RAW are, by the
 * lines of the tracepoint's format file that a PMCLOG_EXT_FIELDS has.
 *
 * Numbers are in the order of the machine that recorded, which is that of all
 * our logs: little-endian.
 */
#ifndef READER_FIELDS_H
#define READER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmclog_iter.h>

#include "base/idtab.h"
#include "base/out.h"

#define TP_FIELDS_MAX	256	/* more of one tracepoint are left out */

enum tp_kind {
	TP_NUMBER,
	TP_TEXT,		/* characters, up to a NUL or their end */
	TP_BYTES,		/* something else */
};

/* where a field's bytes are */
enum tp_place {
	TP_HERE,
	TP_LOC,			/* length << 16 | offset is here */
	TP_REL,			/* the same, from behind these 4 bytes on */
};

/**
 * struct tp_field - one field
 * @each: bytes of a number; there are several if @array
 * @hex:  it is an address
 * @common: one of those that all tracepoints have
 */
struct tp_field {
	const char *name;
	uint16_t offset, size;
	uint8_t kind, place, each;
	bool array, sign, hex, common;
};

/* @text: what the names are in */
struct tp_format {
	struct tp_field *field;
	uint32_t n, cap;
	char *text;
};

/* @len bytes of the @size that there were */
struct tp_raw {
	const unsigned char *data;
	uint32_t len, size;
};

/**
 * struct tp_value - a field of one sample
 * @there: there is something to show; else it was not recorded
 * @cut:   but not all of it
 */
struct tp_value {
	const unsigned char *p;
	size_t n;
	bool there, cut;
};

struct tracepoint {
	uint32_t type;
	uint64_t config;
	struct tp_format *format;
};

struct tp_pmc {
	uint32_t pmcid, type;
	uint64_t config;
};

/* those that a log has told of, and which PMCs are theirs */
struct tracepoints {
	struct tracepoint *tp;
	uint32_t n, cap;
	struct tp_pmc *pmc;
	uint32_t npmc, cappmc;
	struct idtab tab, pmctab;
};

/* Any record, in the log's order. */
void tp_record(struct tracepoints *t, const struct pmclog_rec *r);
/* The format of a tracepoint, or of a PMC's; NULL: it is not known. */
const struct tp_format *tp_lookup(const struct tracepoints *t, uint32_t type,
				  uint64_t config);
const struct tp_format *tp_of(const struct tracepoints *t, uint32_t pmcid);
void tp_free(struct tracepoints *t);

/* What lines say that are a format's; what is no field is passed over. */
struct tp_format *tp_parse(const char *lines);
void tp_format_free(struct tp_format *f);
/* NULL: it has none of that name. */
const struct tp_field *tp_field(const struct tp_format *f, const char *name);

/* The bytes of a PMCLOG_EXT_RAW. */
struct tp_raw tp_raw(const struct pmclog_rec *r);
struct tp_value tp_value(const struct tp_field *f, const struct tp_raw *raw);

/* fields_print.c: a value alone */
void tp_put(struct out *o, const struct tp_field *f, const struct tp_value *v);
/*
 * All of them, as name=value with blanks between them, or a JSON object; with
 * those that all tracepoints have if @common.  Without a format the bytes.
 * Then how many bytes were not recorded, if some were not.
 */
void tp_put_text(struct out *o, const struct tp_format *f,
		 const struct tp_raw *raw, bool common);
void tp_put_json(struct out *o, const struct tp_format *f,
		 const struct tp_raw *raw, bool common);

#endif /* READER_FIELDS_H */
