// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses format files of tracepoints.
 *
 * The contents are not trusted: an invalid line is no field, and the position
 * of a field's bytes is checked for every sample.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pmclog.h>

#include "base/mem.h"
#include "log/fields.h"

/* ------------------------------------------------------------------------
 * One line:	field:unsigned char prev_comm[16];	offset:8; ...
 */

/* a part of a line */
struct span {
	const char *s, *end;
};

static struct span trim(struct span t)
{
	while (t.s < t.end && isspace((unsigned char)*t.s))
		t.s++;
	while (t.s < t.end && isspace((unsigned char)t.end[-1]))
		t.end--;
	return t;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Removes the last word of @t and returns it; may be empty. */
static struct span last_word(struct span *t)
{
	struct span w;

	*t = trim(*t);
	w.s = w.end = t->end;
	while (w.s > t->s && is_word(w.s[-1]))
		w.s--;
	t->end = w.s;
	return w;
}

static bool same_word(struct span w, const char *name)
{
	size_t n = strlen(name);

	return (size_t)(w.end - w.s) == n && !memcmp(w.s, name, n);
}

static bool has_word(struct span t, const char *name)
{
	struct span w;

	while (t.s < t.end) {
		w = last_word(&t);
		if (same_word(w, name))
			return true;
		if (w.s == w.end && t.s < t.end)
			t.end--;
	}
	return false;
}

/* Removes @word from the start of @t; false if it is not there. */
static bool begins_with(struct span *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->s) < n || memcmp(t->s, word, n))
		return false;
	t->s += n;
	return true;
}

/* The number after @key; false if there is none that fits into 16 bits. */
static bool number(struct span t, const char *key, uint16_t *v)
{
	const char *at = memmem(t.s, (size_t)(t.end - t.s), key, strlen(key));
	uint32_t n = 0;

	if (!at)
		return false;
	at += strlen(key);
	if (at == t.end || !isdigit((unsigned char)*at))
		return false;
	for (; at < t.end && isdigit((unsigned char)*at); at++) {
		n = n * 10 + (uint32_t)(*at - '0');
		if (n > UINT16_MAX)
			return false;
	}
	*v = (uint16_t)n;
	return true;
}

/* Bytes of an integer of that type, on a machine of 64 bits; 0: unknown. */
static uint8_t size_of_type(struct span type)
{
	static const struct {
		const char *word;
		uint8_t size;
	} words[] = {
		{ "long", 8 }, { "char", 1 }, { "bool", 1 }, { "short", 2 },
		{ "int", 4 }, { "unsigned", 4 },
		{ "u8", 1 }, { "s8", 1 }, { "__u8", 1 }, { "__s8", 1 },
		{ "u16", 2 }, { "s16", 2 }, { "__u16", 2 }, { "__s16", 2 },
		{ "__le16", 2 }, { "__be16", 2 }, { "u32", 4 }, { "s32", 4 },
		{ "__u32", 4 }, { "__s32", 4 }, { "__le32", 4 },
		{ "__be32", 4 }, { "u64", 8 }, { "s64", 8 }, { "__u64", 8 },
		{ "__s64", 8 }, { "__le64", 8 }, { "__be64", 8 },
		{ "uint8_t", 1 }, { "uint16_t", 2 }, { "uint32_t", 4 },
		{ "uint64_t", 8 }, { "size_t", 8 }, { "pid_t", 4 },
	};
	size_t i;

	for (i = 0; i < nitems(words); i++)
		if (has_word(type, words[i].word))
			return words[i].size;
	return 0;
}

static bool is_number_size(uint32_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

/* The length of an array is often a macro name instead of a number. */
static uint32_t element_size(const struct tp_field *f, struct span type,
			     struct span count)
{
	uint32_t n = 0;

	if (f->place != TP_HERE)
		return f->hex ? 8 : size_of_type(type);
	for (; count.s < count.end && isdigit((unsigned char)*count.s);
	     count.s++)
		if (n <= UINT16_MAX)
			n = n * 10 + (uint32_t)(*count.s - '0');
	if (count.s == count.end && n && f->size % n == 0)
		return f->size / n;
	return f->hex ? 8 : size_of_type(type);
}

static bool is_text(struct span type)
{
	return has_word(type, "char") && !has_word(type, "unsigned") &&
	       !has_word(type, "signed");
}

/* Sets the kind of a field; @count: text in the brackets of an array. */
static void set_kind(struct tp_field *f, struct span type, struct span count)
{
	uint32_t each = f->size;

	f->each = 1;
	f->hex = memchr(type.s, '*', (size_t)(type.end - type.s));
	if (f->array && !f->hex && is_text(type)) {
		f->kind = TP_TEXT;
		return;
	}
	if (f->array)
		each = element_size(f, type, count);
	f->kind = is_number_size(each) ? TP_NUMBER : TP_BYTES;
	if (f->kind == TP_NUMBER)
		f->each = (uint8_t)each;
}

/* Removes "[...]" from the end. */
static bool take_brackets(struct span *t, struct span *inside)
{
	const char *open;

	*t = trim(*t);
	if (t->s == t->end || t->end[-1] != ']')
		return false;
	open = memrchr(t->s, '[', (size_t)(t->end - t->s));
	if (!open)
		return false;
	*inside = trim((struct span){ open + 1, t->end - 1 });
	t->end = open;
	return true;
}

static bool parse_declaration(struct tp_field *f, struct span d,
			      struct span *name)
{
	struct span count = { d.s, d.s };

	f->array = take_brackets(&d, &count);
	*name = last_word(&d);
	d = trim(d);
	if (name->s == name->end || isdigit((unsigned char)*name->s) ||
	    d.s == d.end)
		return false;
	if (begins_with(&d, "__data_loc "))
		f->place = TP_LOC;
	else if (begins_with(&d, "__rel_loc "))
		f->place = TP_REL;
	if (f->place != TP_HERE) {
		/* the brackets belong to the type */
		f->array = take_brackets(&d, &count);
		if (f->size != 4 || !f->array)
			return false;
	}
	set_kind(f, d, count);
	return true;
}

static bool parse_line(struct tp_field *f, struct span line, struct span *name)
{
	const char *semicolon;
	struct span rest;
	uint16_t sign = 0;

	memset(f, 0, sizeof(*f));
	line = trim(line);
	if (!begins_with(&line, "field:"))
		return false;
	semicolon = memchr(line.s, ';', (size_t)(line.end - line.s));
	if (!semicolon)
		return false;
	rest = (struct span){ semicolon, line.end };
	if (!number(rest, "offset:", &f->offset) ||
	    !number(rest, "size:", &f->size) || !f->size)
		return false;
	number(rest, "signed:", &sign);
	f->sign = sign;
	return parse_declaration(f, (struct span){ line.s, semicolon }, name);
}

struct tp_format *tp_parse(const char *lines)
{
	struct tp_format *t = xcalloc(1, sizeof(*t));
	struct span line, name;
	struct tp_field f;
	char *to;

	t->text = to = xmalloc(strlen(lines) + 1);
	for (; *lines && t->n < TP_FIELDS_MAX; lines += *lines == '\n') {
		size_t n = strcspn(lines, "\n");

		line = (struct span){ lines, lines + n };
		lines += n;
		if (!parse_line(&f, line, &name))
			continue;
		n = (size_t)(name.end - name.s);
		f.name = memcpy(to, name.s, n);
		to[n] = '\0';
		to += n + 1;
		f.common = !strncmp(f.name, "common_", 7);
		APPEND(t->field, t->n, t->cap) = f;
	}
	return t;
}

void tp_format_free(struct tp_format *f)
{
	if (!f)
		return;
	free(f->field);
	free(f->text);
	free(f);
}

const struct tp_field *tp_field(const struct tp_format *f, const char *name)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (!strcmp(f->field[i].name, name))
			return &f->field[i];
	return NULL;
}

/* ------------------------------------------------------------------------
 * A field of a sample
 */
struct tp_raw tp_raw(const struct pmclog_rec *r)
{
	return (struct tp_raw){
		.data = r->data + offsetof(struct pmclog_ext_raw, data),
		.len = REC32(r, ext_raw, len),
		.size = REC32(r, ext_raw, size),
	};
}

/* Offset of a field's bytes, and how many there should be. */
static bool find(const struct tp_field *f, const struct tp_raw *raw,
		 uint32_t *at, uint32_t *n)
{
	uint32_t word;

	*at = f->offset;
	*n = f->size;
	if (f->place == TP_HERE)
		return *at < raw->len;
	if (*at + 4 > raw->len)
		return false;
	word = pmclog_get32(raw->data + *at);
	*n = word >> 16;
	*at = (f->place == TP_REL ? *at + 4 : 0) + (word & 0xFFFF);
	if (!*n)
		*at = 0;
	return !*n || *at < raw->len;
}

struct tp_value tp_value(const struct tp_field *f, const struct tp_raw *raw)
{
	struct tp_value v = { .p = NULL };
	uint32_t at, n;

	if (!find(f, raw, &at, &n))
		return v;
	v.p = raw->data + at;
	v.n = raw->len - at < n ? raw->len - at : n;
	v.cut = v.n < n;
	if (f->kind == TP_TEXT) {
		n = (uint32_t)strnlen((const char *)v.p, v.n);
		v.cut &= n == v.n;
		v.n = n;
	} else {
		v.n -= v.n % f->each;
	}
	v.there = v.n || !v.cut;
	return v;
}

/* ------------------------------------------------------------------------
 * The tracepoints of a log
 */
static void add_fields(struct tracepoints *t, const struct pmclog_rec *r)
{
	struct tracepoint key = {
		.type = REC32(r, ext_fields, type), .config = REC64(r, ext_fields, config),
	};
	uint32_t id = IDTAB_ID(&t->tab, hash_mix(key.type, key.config), t->tp, t->n, t->cap,
			       &key, e, e->type == key.type && e->config == key.config);

	tp_format_free(t->tp[id].format);
	t->tp[id].format = tp_parse(REC_STR(r, ext_fields, text));
}

static void add_pmc(struct tracepoints *t, const struct pmclog_rec *r)
{
	struct tp_pmc pmc = {
		.pmcid = REC32(r, pmcallocatedyn, pmcid),
	};
	uint32_t id;

	if (r->len < sizeof(struct pmclog_pmcallocatedyn))
		return;
	pmc.type = REC32(r, pmcallocatedyn, type);
	pmc.config = REC64(r, pmcallocatedyn, config);
	id = IDTAB_ID(&t->pmctab, hash_mix(pmc.pmcid, 0), t->pmc, t->npmc, t->cappmc, &pmc,
		      e, e->pmcid == pmc.pmcid);
	t->pmc[id] = pmc;	/* PMC ids are reused */
}

/* A further log in the stream may be of another machine. */
void tp_record(struct tracepoints *t, const struct pmclog_rec *r)
{
	if (r->type == PMCLOG_T_INITIALIZE)
		tp_free(t);
	else if (r->type == PMCLOG_T_PMCALLOCATEDYN)
		add_pmc(t, r);
	else if (pmclog_iter_ext_subtype(r) == PMCLOG_EXT_FIELDS)
		add_fields(t, r);
}

const struct tp_format *tp_lookup(const struct tracepoints *t, uint32_t type,
				  uint64_t config)
{
	uint32_t id = IDTAB_FIND(&t->tab, hash_mix(type, config), t->tp, e,
				 e->type == type && e->config == config);

	return id == IDTAB_NONE ? NULL : t->tp[id].format;
}

const struct tp_format *tp_of(const struct tracepoints *t, uint32_t pmcid)
{
	uint32_t id = IDTAB_FIND(&t->pmctab, hash_mix(pmcid, 0), t->pmc, e, e->pmcid == pmcid);

	return id == IDTAB_NONE ? NULL :
	       tp_lookup(t, t->pmc[id].type, t->pmc[id].config);
}

void tp_free(struct tracepoints *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		tp_format_free(t->tp[i].format);
	free(t->tp);
	free(t->pmc);
	idtab_free(&t->tab);
	idtab_free(&t->pmctab);
	memset(t, 0, sizeof(*t));
}
