/* SPDX-License-Identifier: BSD-2-Clause */
/* How long something takes: seconds, and those of the process. */
#ifndef SECONDS_H
#define SECONDS_H

#include <time.h>

static inline double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

static inline double cpu_now(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

#endif /* SECONDS_H */
