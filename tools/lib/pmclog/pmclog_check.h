/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the structure of a single record.  Private to the library. */
#ifndef PMCLOG_CHECK_H
#define PMCLOG_CHECK_H

#include <stdint.h>

/*
 * Checks a record of @len bytes at @p, whose header has a valid magic and length.
 * Returns NULL, or a message.
 */
const char *pmclog_check_record(const unsigned char *p, uint32_t len,
				uint32_t type);

/*
 * Checks @header, the first word of a record whose header has @min bytes.
 * Returns NULL, or a message.
 */
const char *pmclog_check_header(uint32_t header, uint32_t min);

#endif /* PMCLOG_CHECK_H */
