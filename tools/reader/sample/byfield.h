/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples told apart by the value of one field of their tracepoints. */
#ifndef READER_BYFIELD_H
#define READER_BYFIELD_H

#include "base/strtab.h"
#include "log/fields.h"

/* Some fields never have the same value twice: so many are told apart. */
#define BYFIELD_VALUES	65536U
#define BYFIELD_MAX	256U	/* bytes of a value that count */
#define BYFIELD_OTHERS	"[others]"

/**
 * struct byfield - which field, and what was seen of it
 * @name: as it was asked for; NULL: none was
 * @seen: by hash: values that are told apart
 */
struct byfield {
	const char *name;
	struct idtab seen;
	uint32_t n;
};

/*
 * A value as text, of *@n bytes, until the next call: what is text is as it is
 * there, other things are as they are shown.
 */
const char *byfield_text(const struct tp_field *field,
			 const struct tp_raw *raw, size_t *n);
/* String number of the value; 0: the sample has no such field. */
uint32_t byfield_value(struct byfield *t, struct strtab *str,
		       const struct tp_format *f, const struct tp_raw *raw);
void byfield_free(struct byfield *t);

#endif /* READER_BYFIELD_H */
