// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: tables of any ELF file; what comes of it the module takes. */
#include <stdlib.h>

#include "fuzz.h"
#include "libpmc_unwind.h"
#include "../../src/unwind_table.h"

/* Rows are found by looking at each; those of short tables are few enough. */
static void look_up(const struct unwind_table *t)
{
	u32 i;

	for (i = 0; i < t->nrows && i < 4096; i++) {
		const struct hwpmc_unwind_rule *r =
			unwind_table_find(t, t->pc[i]);

		if (r != (t->rules[t->rule[i]].cfa == HWPMC_CFA_NONE ? NULL :
			  &t->rules[t->rule[i]]))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmc_unwind u;
	struct unwind_table t;

	if (pmc_unwind_compile_image(data, size, &u))
		return 0;
	if (unwind_table_check(&t, u.table, u.len, EM_X86_64) &&
	    unwind_table_check(&t, u.table, u.len, EM_AARCH64))
		abort();
	look_up(&t);
	pmc_unwind_free(&u);
	return 0;
}
