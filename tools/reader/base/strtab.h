/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings by number: equal strings have the same number, "" has number 0. */
#ifndef READER_STRTAB_H
#define READER_STRTAB_H

#include "base/idtab.h"
#include "base/mem.h"

struct strtab {
	const char **str;
	uint32_t n, cap;
	struct idtab tab;
	struct arena mem;
};

void strtab_init(struct strtab *t);
uint32_t strtab_id(struct strtab *t, const char *s);
uint32_t strtab_id_len(struct strtab *t, const char *s, size_t len);
void strtab_free(struct strtab *t);

static inline const char *strtab_str(const struct strtab *t, uint32_t id)
{
	return t->str[id];
}

#endif /* READER_STRTAB_H */
