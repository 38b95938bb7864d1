/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types, limits and flag values that <pmc.h> and <pmclog.h> share.  Names are
 * FreeBSD's, so that programs written for its libpmc compile unchanged.
 */
#ifndef PMC_TYPES_H
#define PMC_TYPES_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

typedef uint32_t	pmc_id_t;
typedef uint64_t	pmc_value_t;
typedef int32_t		lwpid_t;
/* 64 bits everywhere: a 32-bit program may read a 64-bit machine's log */
typedef uint64_t	uintfptr_t;

#define PMC_VERSION_MAJOR	0x0A
#define PMC_VERSION_MINOR	0x00
#define PMC_VERSION_PATCH	0x0000
#define PMC_VERSION		0x0A000000

#define PMC_NAME_MAX		64	/* with the NUL */
#define PMC_CPUID_LEN		64
#define PMC_CALLCHAIN_DEPTH_MAX	512
#ifndef MAXCOMLEN
#define MAXCOMLEN		19	/* without the NUL */
#endif

#define PMC_ID_INVALID		(~(pmc_id_t)0)
#define PMC_CPU_ANY		(-1)
#define PMC_CPU_ALL		(-2)	/* not in FreeBSD: every online CPU */

enum pmc_mode {
	PMC_MODE_SS = 0,
	PMC_MODE_SC = 1,
	PMC_MODE_TS = 2,
	PMC_MODE_TC = 3,
};

#define PMC_MODE_FIRST		PMC_MODE_SS
#define PMC_MODE_LAST		PMC_MODE_TC
#define PMC_IS_COUNTING_MODE(M)	((M) == PMC_MODE_SC || (M) == PMC_MODE_TC)
#define PMC_IS_SAMPLING_MODE(M)	((M) == PMC_MODE_SS || (M) == PMC_MODE_TS)
#define PMC_IS_SYSTEM_MODE(M)	((M) == PMC_MODE_SS || (M) == PMC_MODE_SC)
#define PMC_IS_VIRTUAL_MODE(M)	((M) == PMC_MODE_TS || (M) == PMC_MODE_TC)

enum pmc_class {
	PMC_CLASS_SOFT = 0x0F,
};

enum pmc_cputype {
	PMC_CPU_GENERIC = 0x400,
};

#define PMC_ID_TO_CPU(id)	(((uint32_t)(id) >> 20) & 0xFFFU)
#define PMC_ID_TO_MODE(id)	((enum pmc_mode)(((uint32_t)(id) >> 16) & 0xFU))
#define PMC_ID_TO_CLASS(id) \
	((enum pmc_class)(((uint32_t)(id) >> 8) & 0xFFU))
#define PMC_ID_TO_ROWINDEX(id)	((uint32_t)(id) & 0xFFU)

#define PMC_F_DESCENDANTS	0x00000002
#define PMC_F_LOG_PROCCSW	0x00000004
#define PMC_F_LOG_PROCEXIT	0x00000008
#define PMC_F_NEWVALUE		0x00000010
#define PMC_F_OLDVALUE		0x00000020
#define PMC_F_CALLCHAIN		0x00000080
#define PMC_F_USERCALLCHAIN	0x00000100
#define PMC_F_EV_PMU		0x00000200
#define PMC_F_EXCLUDE_IDLE	0x01000000	/* not in FreeBSD */
#define PMC_F_RAW		0x02000000	/* not in FreeBSD: tracepoint fields */
#define PMC_F_INCLUDE_OWNER	0x04000000	/* not in FreeBSD: PMC_MODE_SS only */
#define PMC_F_UNWIND		0x10000000	/* not in FreeBSD: pmc_owner_unwind() */
#define PMC_F_FREQ		0x20000000	/* not in FreeBSD: samples a second */
#define PMC_F_BRANCH		0x40000000	/* not in FreeBSD: branches of samples */
#define PMC_F_DATA		0x80000000U	/* not in FreeBSD: accesses to memory */

#define PMC_CC_F_USERSPACE	0x01
#define PMC_CC_F_MULTIPART	0x02

#endif /* PMC_TYPES_H */
