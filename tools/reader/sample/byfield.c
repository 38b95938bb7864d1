// SPDX-License-Identifier: BSD-2-Clause
#include "sample/byfield.h"

static void no_sink(struct out *o, const char *p, size_t n)
{
	(void)o;
	(void)p;
	(void)n;
}

static uint32_t value_id(struct byfield *t, struct strtab *str, const char *s,
			 size_t n)
{
	uint64_t hash = hash_bytes(s, n, 1);
	uint32_t more = (uint32_t)hash_bytes(s, n, 2);

	if (idtab_find_exact(&t->seen, hash, more) == IDTAB_NONE) {
		if (t->n == BYFIELD_VALUES)
			return strtab_id(str, BYFIELD_OTHERS);
		idtab_add_exact(&t->seen, hash, more, t->n++);
	}
	return strtab_id_len(str, s, n);
}

const char *byfield_text(const struct tp_field *field,
			 const struct tp_raw *raw, size_t *n)
{
	static struct out text = { .sink = no_sink };
	struct tp_value v = tp_value(field, raw);

	if (v.n > BYFIELD_MAX) {
		v.n = BYFIELD_MAX - BYFIELD_MAX % field->each;
		v.cut = true;
	}
	if (v.there && field->kind == TP_TEXT) {
		*n = v.n;
		return (const char *)v.p;
	}
	text.n = 0;
	tp_put(&text, field, &v);
	*n = text.n;
	return text.buf;
}

uint32_t byfield_value(struct byfield *t, struct strtab *str,
		       const struct tp_format *f, const struct tp_raw *raw)
{
	const struct tp_field *field = f ? tp_field(f, t->name) : NULL;
	const char *s;
	size_t n;

	if (!field || !raw->data)
		return 0;
	s = byfield_text(field, raw, &n);
	return value_id(t, str, s, n);
}

void byfield_free(struct byfield *t)
{
	idtab_free(&t->seen);
}
