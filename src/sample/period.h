/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Periods of PMCs that sample at a rate.  Perf chooses the period; a sample carries
 * its own through the ring, and the writer thread logs a PERIOD when it has changed.
 *
 * The header depends on nothing else in the module: pmcstat --bpf and tests in user
 * space use it as well.
 */
#ifndef HWPMC_PERIOD_H
#define HWPMC_PERIOD_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
#ifdef __bpf__
/* It has no such instruction, and clang 14 crashes in the attempt. */
static inline u32 fls64(u64 n)
{
	u32 bits = 1, half;

	for (half = 32; half; half /= 2)
		if (n >> half) {
			n >>= half;
			bits += half;
		}
	return bits;
}
#else
#define fls64(n)	(64U - (u32)__builtin_clzll(n))
#endif
#endif

/* A code is a number of PERIOD_BITS, and above it the number of bits to shift it. */
#define PERIOD_BITS	26
/* more events than a counter has between two samples */
#define PERIOD_MAX	(1ULL << 58)

/* Any context.  Not 0; the code of a long period is up to 2^-25 of it too small. */
static inline u32 period_code(u64 period)
{
	u64 p = !period ? 1 : period < PERIOD_MAX ? period : PERIOD_MAX;
	u32 bits = fls64(p);
	u32 shift = bits > PERIOD_BITS ? bits - PERIOD_BITS : 0;

	return shift << PERIOD_BITS | (u32)(p >> shift);
}

static inline u64 period_decode(u32 code)
{
	return (u64)(code & ((1U << PERIOD_BITS) - 1)) << (code >> PERIOD_BITS);
}

/**
 * struct period_logged - the last PERIOD of a PMC and CPU
 * @period: its period; 0: there is none
 * @epoch:  of the log when it was written, see struct log_told
 * @ahead:  events that the samples since had in excess of @period
 */
struct period_logged {
	u64	period;
	u32	epoch;
	s64	ahead;
};

/* A PERIOD differs from the period of its samples by one in so many, at most. */
#define PERIOD_TOLERANCE	8
/* periods that @ahead may reach before another PERIOD reduces it */
#define PERIOD_AHEAD		2

static inline u64 period_size(s64 n)
{
	return n < 0 ? -(u64)n : (u64)n;
}

/*
 * period_log - does a PERIOD have to precede a sample of @period?
 *
 * If so, the record has l->period.  The sum of all differences between the samples'
 * periods and the PERIODs' stays below three of the longest periods: a PERIOD is up to
 * a sixteenth longer or shorter than the sample's, to reduce it.  It begins at 0 in each
 * epoch: what is long there may be short here.
 */
static inline bool period_log(struct period_logged *l, u64 period, u32 epoch)
{
	s64 off = (s64)(period - l->period), ahead = l->ahead + off, lean, most;

	if (l->period && l->epoch == epoch &&
	    period_size(off) <= l->period / PERIOD_TOLERANCE &&
	    (period_size(ahead) <= PERIOD_AHEAD * l->period ||
	     period_size(ahead) < period_size(l->ahead))) {
		l->ahead = ahead;
		return false;
	}
	if (l->epoch != epoch)
		l->ahead = 0;
	most = (s64)(period / (2 * PERIOD_TOLERANCE));
	lean = l->ahead < -most ? -most : l->ahead > most ? most : l->ahead;
	l->period = period + (u64)lean;
	l->epoch = epoch;
	l->ahead -= lean;
	return true;
}

#endif /* HWPMC_PERIOD_H */
