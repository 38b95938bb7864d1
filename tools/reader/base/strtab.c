// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "base/strtab.h"

uint32_t strtab_id_len(struct strtab *t, const char *s, size_t len)
{
	uint64_t hash = hash_bytes(s, len, 0);
	uint32_t id = IDTAB_FIND(&t->tab, hash, t->str, e,
				 !strncmp(*e, s, len) && !(*e)[len]);
	char *copy;

	if (id != IDTAB_NONE)
		return id;
	copy = arena_alloc(&t->mem, len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	GROW(t->str, t->n, t->cap);
	t->str[t->n] = copy;
	idtab_add(&t->tab, hash, t->n);
	return t->n++;
}

uint32_t strtab_id(struct strtab *t, const char *s)
{
	return strtab_id_len(t, s, strlen(s));
}

void strtab_init(struct strtab *t)
{
	memset(t, 0, sizeof(*t));
	strtab_id(t, "");
}

void strtab_free(struct strtab *t)
{
	free(t->str);
	idtab_free(&t->tab);
	arena_free(&t->mem);
}
