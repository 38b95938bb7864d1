/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of tracepoints: decodes the bytes of a PMCLOG_EXT_RAW by the lines
 * of the tracepoint's format file, which are in a PMCLOG_EXT_FIELDS.
 *
 * Numbers are in the byte order of the recorded machine.  That is little-endian
 * in all our logs.
 */
#ifndef READER_FIELDS_H
#define READER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idtab.h"
#include "base/out.h"
#include "log/rec.h"

#define TP_FIELDS_MAX	256	/* fields of a tracepoint; more are ignored */

enum tp_kind {
	TP_NUMBER,
	TP_TEXT,		/* characters, up to a NUL or the field's end */
	TP_BYTES,		/* something else */
};

/* where a field's bytes are */
enum tp_place {
	TP_HERE,
	TP_LOC,			/* length << 16 | offset is here */
	TP_REL,			/* the same; offset 0 is behind these 4 bytes */
};

/**
 * struct tp_field - one field
 * @each: bytes of a number; the field has several numbers if @array
 * @hex:  the field is an address
 * @common: the field is one that all tracepoints have
 */
struct tp_field {
	const char *name;
	uint16_t offset, size;
	uint8_t kind, place, each;
	bool array, sign, hex, common;
};

/* @text: memory of the names */
struct tp_format {
	struct tp_field *field;
	uint32_t n, cap;
	char *text;
};

/* the first @len of @size bytes were recorded */
struct tp_raw {
	const unsigned char *data;
	uint32_t len, size;
};

/**
 * struct tp_value - the value of a field in one sample
 * @there: some of the value was recorded
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

/* the tracepoints of a log, and their PMCs */
struct tracepoints {
	struct tracepoint *tp;
	uint32_t n, cap;
	struct tp_pmc *pmc;
	uint32_t npmc, cappmc;
	struct idtab tab, pmctab;
};

/* To be called for every record, in the log's order. */
void tp_record(struct tracepoints *t, const struct pmclog_rec *r);
/* The format of a tracepoint, or of a PMC's tracepoint; NULL: not known. */
const struct tp_format *tp_lookup(const struct tracepoints *t, uint32_t type,
				  uint64_t config);
const struct tp_format *tp_of(const struct tracepoints *t, uint32_t pmcid);
void tp_free(struct tracepoints *t);

/* Parses the lines of a format file; lines that are no field are skipped. */
struct tp_format *tp_parse(const char *lines);
void tp_format_free(struct tp_format *f);
/* NULL: the format has no field of that name. */
const struct tp_field *tp_field(const struct tp_format *f, const char *name);

/* The bytes of a PMCLOG_EXT_RAW. */
struct tp_raw tp_raw(const struct pmclog_rec *r);
struct tp_value tp_value(const struct tp_field *f, const struct tp_raw *raw);

/* fields_print.c: prints a value without its name */
void tp_put(struct out *o, const struct tp_field *f, const struct tp_value *v);
/*
 * Prints all fields, as name=value separated by blanks or as a JSON object.
 * With @common, the fields that all tracepoints have are printed too.  Without
 * a format the bytes are printed.  The number of missing bytes follows, if any.
 */
void tp_put_text(struct out *o, const struct tp_format *f,
		 const struct tp_raw *raw, bool common);
void tp_put_json(struct out *o, const struct tp_format *f,
		 const struct tp_raw *raw, bool common);

#endif /* READER_FIELDS_H */
