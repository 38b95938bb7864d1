/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's clock is CLOCK_MONOTONIC_RAW, which BPF programs cannot read: they, and
 * perf on request, have CLOCK_MONOTONIC.
 */
#ifndef PMCSTAT_CLOCK_H
#define PMCSTAT_CLOCK_H

#include <stdint.h>

uint64_t clock_mono(void);
uint64_t clock_raw(void);
/* Compares the clocks; returns CLOCK_MONOTONIC.  Called now and then. */
uint64_t clock_compare(void);
/* A time of CLOCK_MONOTONIC, since the last but one comparison, in the log's clock */
uint64_t clock_of_log(uint64_t mono);

#endif /* PMCSTAT_CLOCK_H */
