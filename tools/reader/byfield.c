// SPDX-License-Identifier: BSD-2-Clause
#include "byfield.h"

#define VALUE_MAX	256U	/* bytes of it that count */

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

uint32_t byfield_value(struct byfield *t, struct strtab *str,
		       const struct tp_format *f, const struct tp_raw *raw)
{
	static struct out text = { .sink = no_sink };
	const struct tp_field *field = f ? tp_field(f, t->name) : NULL;
	struct tp_value v;

	if (!field || !raw->data)
		return 0;
	v = tp_value(field, raw);
	if (v.n > VALUE_MAX) {
		v.n = VALUE_MAX - VALUE_MAX % field->each;
		v.cut = true;
	}
	if (v.there && field->kind == TP_TEXT)
		return value_id(t, str, (const char *)v.p, v.n);
	text.n = 0;
	tp_put(&text, field, &v);
	return value_id(t, str, text.buf, text.n);
}

void byfield_free(struct byfield *t)
{
	idtab_free(&t->seen);
}
