/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables: is a table valid, and what is its rule for a place?  Plain C,
 * for the module and for user space: unwind_table.c.
 */
#ifndef HWPMC_UNWIND_TABLE_H
#define HWPMC_UNWIND_TABLE_H

#include "unwind_shim.h"

/* View of a table: parts of one piece of memory, which does not change. */
struct unwind_table {
	const struct hwpmc_unwind_rule *rules;
	const u32	*pc;
	const u16	*rule;
	u32		nrows;
	u32		nrules;
};

int hwpmc_unwind_table_check(struct unwind_table *t, const void *data,
			     size_t len, u16 machine);
const struct hwpmc_unwind_rule *
hwpmc_unwind_table_find(const struct unwind_table *t, u32 pc);

#endif /* HWPMC_UNWIND_TABLE_H */
