/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the flat profile: counts by function, command and group. */
#ifndef READER_REPORT_ROWS_H
#define READER_REPORT_ROWS_H

#include "commands/report/report.h"

/**
 * struct row - a row of the table
 * @self, @total: weights
 * @samples: the number of those in @self
 * @comm:  string number, 0 if rows are not grouped by command
 * @group: of struct groups
 * @func:  represents all functions of the row
 */
struct row {
	uint64_t self, total, samples;
	uint32_t comm, group, func;
};

/* @weight: of all rows */
struct table {
	struct row *row;
	uint32_t n, cap;
	uint64_t weight;
};

/*
 * Makes the rows of an event.  @key: by frame, the function that represents it.
 * The caller frees the rows.
 */
void report_rows(struct table *t, const struct report *r, uint32_t event,
		 const uint32_t *key);

#endif /* READER_REPORT_ROWS_H */
