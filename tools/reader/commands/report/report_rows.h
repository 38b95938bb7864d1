/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the flat profile: what was counted for whom. */
#ifndef READER_REPORT_ROWS_H
#define READER_REPORT_ROWS_H

#include "commands/report/report.h"

/**
 * struct row - of the table
 * @comm:  string number, 0 if commands are not told apart
 * @group: of struct groups
 * @func:  stands for all that are not told apart from it
 */
struct row {
	uint64_t self, total;
	uint32_t comm, group, func;
};

struct table {
	struct row *row;
	uint32_t n, cap;
	uint64_t samples;
};

/*
 * Of an event; @key: by frame, the function that stands for it.  The caller
 * frees the rows.
 */
void report_rows(struct table *t, const struct report *r, uint32_t event,
		 const uint32_t *key);

#endif /* READER_REPORT_ROWS_H */
