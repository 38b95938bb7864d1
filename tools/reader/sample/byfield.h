/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups samples by the value of one field of their tracepoints. */
#ifndef READER_BYFIELD_H
#define READER_BYFIELD_H

#include "base/strtab.h"
#include "log/fields.h"

/* A limit, since some fields have a new value in every sample. */
#define BYFIELD_VALUES	65536U
#define BYFIELD_MAX	256U	/* bytes of a value that are compared */
#define BYFIELD_OTHERS	"[others]"

/**
 * struct byfield - the field to group by, and its values
 * @name: name that the user gave; NULL: no field
 * @seen: by hash: values that have a group
 */
struct byfield {
	const char *name;
	struct idtab seen;
	uint32_t n;
};

/*
 * A value as text of *@n bytes, valid until the next call.  A text field is
 * copied unchanged; other fields are formatted as for output.
 */
const char *byfield_text(const struct tp_field *field,
			 const struct tp_raw *raw, size_t *n);
/* String number of the value; 0: the sample has no such field. */
uint32_t byfield_value(struct byfield *t, struct strtab *str,
		       const struct tp_format *f, const struct tp_raw *raw);
void byfield_free(struct byfield *t);

#endif /* READER_BYFIELD_H */
