// SPDX-License-Identifier: BSD-2-Clause
/* The fields of tracepoints, as text and as JSON. */
#include <string.h>

#include "base/json.h"
#include "log/fields.h"

/* A double holds all integers up to this one exactly. */
#define EXACT_MAX	(1ULL << 53)

static uint64_t number(const struct tp_field *f, const unsigned char *p)
{
	uint64_t v = 0;
	int i;

	for (i = f->each; i--;)
		v = v << 8 | p[i];
	return v;
}

static int64_t extended(const struct tp_field *f, uint64_t v)
{
	int unused = 64 - 8 * f->each;

	return (int64_t)(v << unused) >> unused;
}

static void put_number(struct out *o, const struct tp_field *f,
		       const unsigned char *p)
{
	uint64_t v = number(f, p);

	if (f->hex)
		out_hex(o, v);
	else if (f->sign)
		out_s64(o, extended(f, v));
	else
		out_u64(o, v);
}

/* Can the text be printed without quotes, and still be unambiguous? */
static bool is_plain(const char *s, size_t n)
{
	size_t i;

	if (!n || strchr("?[", *s))
		return false;
	for (i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"'\\=,;", s[i]))
			return false;
	return true;
}

static void put_string(struct out *o, const struct tp_value *v)
{
	const char *s = (const char *)v->p;

	if (is_plain(s, v->n) && !v->cut)
		out_bytes(o, s, v->n);
	else
		out_quoted(o, s, v->n);
	if (v->cut)
		out_str(o, "...");
}

static void put_numbers(struct out *o, const struct tp_field *f,
			const struct tp_value *v)
{
	size_t i;

	out_char(o, '[');
	for (i = 0; i < v->n; i += f->each) {
		if (i)
			out_char(o, ',');
		put_number(o, f, v->p + i);
	}
	out_str(o, v->cut ? "...]" : "]");
}

void tp_put(struct out *o, const struct tp_field *f, const struct tp_value *v)
{
	if (!v->there) {
		out_char(o, '?');
	} else if (f->kind == TP_TEXT) {
		put_string(o, v);
	} else if (f->kind == TP_BYTES) {
		out_hexbytes(o, v->p, v->n);
		if (v->cut)
			out_str(o, "...");
	} else if (f->array) {
		put_numbers(o, f, v);
	} else {
		put_number(o, f, v->p);
	}
}

/*
 * Fields do not share bytes, except in a hostile log: there all fields may be
 * the same long bytes.  So the total is limited.
 */
static bool next_value(const struct tp_format *t, uint32_t *i, bool common,
		       const struct tp_raw *raw, size_t *shown,
		       struct tp_value *v)
{
	for (; *i < t->n && t->field[*i].common && !common; ++*i)
		;
	if (*i == t->n)
		return false;
	*v = tp_value(&t->field[*i], raw);
	*shown += v->n;
	if (*shown > 2 * (size_t)raw->len)
		v->there = false;
	return true;
}

void tp_put_text(struct out *o, const struct tp_format *f,
		 const struct tp_raw *raw, bool common)
{
	const char *blank = "";
	struct tp_value v;
	size_t shown = 0;
	uint32_t i;

	if (!f) {
		out_str(o, "raw=");
		out_hexbytes(o, raw->data, raw->len);
		blank = " ";
	}
	for (i = 0; f && next_value(f, &i, common, raw, &shown, &v); i++) {
		out_str(o, blank);
		out_str(o, f->field[i].name);
		out_char(o, '=');
		tp_put(o, &f->field[i], &v);
		blank = " ";
	}
	if (raw->size > raw->len)
		out_printf(o, "%s[%u of %u bytes]", blank, raw->len, raw->size);
}

/* Larger numbers become strings: many programs keep only 53 bits. */
static void json_number(struct out *o, const struct tp_field *f,
			const unsigned char *p)
{
	uint64_t v = number(f, p), size = v;
	bool quoted;

	if (f->sign && extended(f, v) < 0)
		size = -(uint64_t)extended(f, v);
	quoted = f->hex || size > EXACT_MAX;
	if (quoted)
		out_char(o, '"');
	put_number(o, f, p);
	if (quoted)
		out_char(o, '"');
}

static void json_value(struct out *o, const struct tp_field *f,
		       const struct tp_value *v)
{
	size_t i;

	if (!v->there) {
		out_str(o, "null");
	} else if (f->kind == TP_TEXT) {
		json_text(o, (const char *)v->p, v->n);
	} else if (f->kind == TP_BYTES) {
		out_char(o, '"');
		out_hexbytes(o, v->p, v->n);
		out_char(o, '"');
	} else if (!f->array) {
		json_number(o, f, v->p);
	} else {
		out_char(o, '[');
		for (i = 0; i < v->n; i += f->each) {
			if (i)
				out_char(o, ',');
			json_number(o, f, v->p + i);
		}
		out_char(o, ']');
	}
}

void tp_put_json(struct out *o, const struct tp_format *f,
		 const struct tp_raw *raw, bool common)
{
	struct tp_value v;
	size_t shown = 0;
	uint32_t i, n = 0;

	out_char(o, '{');
	if (!f) {
		out_str(o, "\"raw\":\"");
		out_hexbytes(o, raw->data, raw->len);
		out_char(o, '"');
	}
	for (i = 0; f && next_value(f, &i, common, raw, &shown, &v); i++) {
		if (n++)
			out_char(o, ',');
		json_text(o, f->field[i].name, strlen(f->field[i].name));
		out_char(o, ':');
		json_value(o, &f->field[i], &v);
	}
	if (raw->size > raw->len)
		out_printf(o, "%s\"fields_cut\":%u", f && !n ? "" : ",",
			   raw->size - raw->len);
	out_char(o, '}');
}
