/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables of a few rows, and their ioctls.
 */
#ifndef TEST_TABLE_H
#define TEST_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/hwpmc.h>
#include <linux/hwpmc_unwind.h>

/* A table of one rule for all code, and the end */
struct small {
	struct hwpmc_unwind_table head;
	struct hwpmc_unwind_rule rule[2];
	uint32_t	pc[2];
	uint16_t	number[2];
};

/* Of functions without a frame */
extern const struct hwpmc_unwind_rule usual;

struct small small_table(struct hwpmc_unwind_rule rule);
/* One of that many rows, at least two, of six bytes each; free() it. */
void *rows_table(uint32_t rows, size_t *len);
/* A quarter of a megabyte that is right; free() it. */
void *big_table(size_t *len);

/* UNWINDNEXT and UNWINDTABLE for object @id: 0, or -errno */
int table_next(int dev, struct hwpmc_unwindnext *n);
int table_give(int dev, uint32_t id, const void *table, size_t len);

#endif /* TEST_TABLE_H */
