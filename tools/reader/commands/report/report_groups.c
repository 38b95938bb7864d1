// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups that get one row.  Samples are grouped by the addresses of their branches while
 * the log is read; which functions these are in is known at its end.
 */
#include <stdlib.h>

#include "commands/report/report.h"

/* The function that stands for the one of a frame, + 1; @frame: as in struct hw_keys */
static uint32_t func_of(const struct report *r, uint32_t frame)
{
	return frame ? r->same[r->a.p.frames.frame[frame - 1].func] + 1 : 0;
}

void report_groups(struct report *r)
{
	const struct groups *t = &r->a.p.groups;
	struct group *key = xcalloc((size_t)t->n + 1, sizeof(*key));
	struct idtab tab = { 0 };
	uint32_t i;

	r->same_group = xcalloc((size_t)t->n + 1, sizeof(*r->same_group));
	for (i = 0; i < t->n; i++) {
		uint64_t hash;

		key[i] = t->group[i];
		key[i].hw.from = func_of(r, key[i].hw.from);
		key[i].hw.to = func_of(r, key[i].hw.to);
		hash = hash_bytes(&key[i], sizeof(key[i]), 0);
		r->same_group[i] = IDTAB_FIND(&tab, hash, key, e, !memcmp(e, &key[i], sizeof(*e)));
		if (r->same_group[i] == IDTAB_NONE)
			idtab_add(&tab, hash, r->same_group[i] = i);
	}
	idtab_free(&tab);
	free(key);
}
