/* SPDX-License-Identifier: BSD-2-Clause */
/* How the call chain of a sample ends, according to its record. */
#ifndef READER_CHAIN_END_H
#define READER_CHAIN_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/pmclog.h>

/* struct sample.ends: the bits of PMCLOG_CC_* without the gaps between them */
#define END_WHOLE	0x01U
#define END_TABLES	0x02U
#define END_CUT(cause)	(0x04U << (cause))
#define END_CUT_USER_PART	(END_CUT(PMCLOG_CUT_DEPTH) | \
				 END_CUT(PMCLOG_CUT_USER) | \
				 END_CUT(PMCLOG_CUT_TABLE))
#define ENDS		0x40U	/* ways to end */
/* A log with none of these does not say which chains are whole: BPF says cuts only. */
#define END_TELLS	(END_WHOLE | END_TABLES)

/* From cpuflags, or from a USERCHAIN's flags shifted left by 8. */
static inline uint8_t ends_of(uint32_t cpuflags)
{
	return (uint8_t)((cpuflags >> 8 & 0x03) | (cpuflags >> 10 & 0x3c));
}

/* A chain that waits for its user part counts as cut until that part comes. */
static inline uint8_t ends_late(uint8_t ends)
{
	return (ends & ~END_WHOLE) | END_CUT(PMCLOG_CUT_USER);
}

/* The ends of a chain whose user part came later, with @answer. */
static inline uint8_t ends_answered(uint8_t ends, uint8_t answer)
{
	return answer | (ends & END_CUT(PMCLOG_CUT_KERNEL));
}

/* Does a chain of @n pcs have a user part besides the kernel's? */
static inline bool ends_has_user(uint32_t cpuflags, const unsigned char *pc,
				 uint32_t n)
{
	return n && (cpuflags & PMCLOG_CC_USERSPACE ||
		     !(pc[(size_t)n * 8 - 1] >> 7));
}

#endif /* READER_CHAIN_END_H */
