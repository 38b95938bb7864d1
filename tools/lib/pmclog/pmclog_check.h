/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a single record structurally sound.  Private to the library. */
#ifndef PMCLOG_CHECK_H
#define PMCLOG_CHECK_H

#include <stdint.h>

/*
 * @len bytes at @p are there, and the header's magic and length are sound.
 * NULL, or what is wrong.
 */
const char *pmclog_check_record(const unsigned char *p, uint32_t len,
				uint32_t type);

/*
 * What is wrong with @header as the first word of a record whose header alone
 * has @min bytes, or NULL.
 */
const char *pmclog_check_header(uint32_t header, uint32_t min);

#endif /* PMCLOG_CHECK_H */
