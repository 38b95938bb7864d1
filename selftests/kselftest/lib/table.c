// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dev.h"
#include "table.h"

#ifdef __aarch64__
#define MACHINE		EM_AARCH64
#else
#define MACHINE		EM_X86_64
#endif

struct small small_table(struct hwpmc_unwind_rule rule)
{
	return (struct small){
		.head = {
			.magic = HWPMC_UNWIND_MAGIC,
			.version = HWPMC_UNWIND_VERSION,
			.machine = MACHINE, .nrows = 2, .nrules = 2,
		},
		.rule = { { 0 }, rule },
		.pc = { 0, UINT32_MAX },
		.number = { 1, 0 },
	};
}

const struct hwpmc_unwind_rule usual = {
	.cfa = HWPMC_CFA_SP, .cfa_offset = 16,
	.ra = HWPMC_AT_CFA, .ra_offset = -8,
};

void *rows_table(uint32_t rows, size_t *len)
{
	const struct small few = small_table(usual);
	struct hwpmc_unwind_table *head;
	uint16_t *number;
	uint32_t i, *pc;

	*len = sizeof(few.head) + sizeof(few.rule) +
	       rows * (sizeof(*pc) + sizeof(*number));
	head = calloc(1, *len);
	memcpy(head, &few, sizeof(few.head) + sizeof(few.rule));
	head->nrows = rows;
	pc = (void *)((char *)(head + 1) + sizeof(few.rule));
	number = (void *)(pc + rows);
	for (i = 0; i < rows; i++) {
		pc[i] = i;
		number[i] = i < rows - 1;
	}
	return head;
}

#define BIG_ROWS	40000U

void *big_table(size_t *len)
{
	return rows_table(BIG_ROWS, len);
}

int table_next(int dev, struct hwpmc_unwindnext *n)
{
	memset(n, 0, sizeof(*n));
	return dev_ioctl(dev, HWPMC_IOC_UNWINDNEXT, n);
}

int table_give(int dev, uint32_t id, const void *table, size_t len)
{
	return DEV_ASK(dev, UNWINDTABLE, unwindtable, .id = id, .fd = -1,
		       .data = (uintptr_t)table, .len = len);
}
