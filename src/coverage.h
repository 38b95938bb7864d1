/* SPDX-License-Identifier: GPL-2.0-only */
/* Which code of the module was reached (HWPMC_KCOV=1): see coverage.c. */
#ifndef HWPMC_COVERAGE_H
#define HWPMC_COVERAGE_H

#ifdef HWPMC_KCOV
void hwpmc_coverage_init(void);
void hwpmc_coverage_exit(void);
#else
static inline void hwpmc_coverage_init(void) {}
static inline void hwpmc_coverage_exit(void) {}
#endif

#endif /* HWPMC_COVERAGE_H */
