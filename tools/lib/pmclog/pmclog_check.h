/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the structure of a single record.  Private to the library. */
#ifndef PMCLOG_CHECK_H
#define PMCLOG_CHECK_H

#include <stdint.h>

#include <linux/pmclog.h>

/*
 * Checks a record of @len bytes at @p, whose header has a valid magic and length.
 * Returns NULL, or a message.
 */
const char *pmclog_check_record(const unsigned char *p, uint32_t len,
				uint32_t type);

/* The same, quick for a sound CALLCHAIN, which most records are. */
static inline const char *pmclog_check_any(const unsigned char *p, uint32_t len,
					   uint32_t type)
{
	const uint32_t fixed = sizeof(struct pmclog_callchain);

	if (type == PMCLOG_T_CALLCHAIN && len >= fixed &&
	    !((len - fixed) % sizeof(uint64_t)))
		return NULL;
	return pmclog_check_record(p, len, type);
}

/*
 * Checks @header, the first word of a record whose header has @min bytes.
 * Returns NULL, or a message.
 */
static inline const char *pmclog_check_header(uint32_t header, uint32_t min)
{
	uint32_t len = PMCLOG_HEADER_LEN(header);

	if (PMCLOG_HEADER_MAGIC(header) != PMCLOG_MAGIC)
		return "bad magic";
	if (len < min)
		return "record shorter than its header";
	if (len % 4)
		return "record length not a multiple of 4";
	return NULL;
}

#endif /* PMCLOG_CHECK_H */
