/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time of day at a moment of a log.
 *
 * The log's clock stands still while the machine is suspended, runs on when the
 * wall clock is set, and is not slewed.  So ticks since the log's beginning do
 * not tell the time of day: CLOCK records do, from each to the next.
 */
#ifndef READER_WALLCLOCK_H
#define READER_WALLCLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Six weeks, if each CLOCK is kept; a hostile log may have millions */
#define WALLCLOCK_MAX	65536U
/* CLOCK records that agree so well are not kept */
#define WALLCLOCK_AGREE	1000000		/* ns */

struct wall_moment {
	uint64_t tsc;
	int64_t real;		/* ns since 1970 */
};

/**
 * struct wallclock - moments on both clocks, sorted by the log's clock
 * @freq:   ticks per second; 0: they are nanoseconds
 * @begun:  the first moment is that of INITIALIZE
 * @latest: the last CLOCK record, whether kept or not; 0: none
 */
struct wallclock {
	struct wall_moment *at;
	uint32_t n, cap;
	uint64_t freq;
	bool begun;
	uint64_t latest;
};

/* INITIALIZE, at @tsc; @sec is 0 if it does not know the time of day. */
void wallclock_begin(struct wallclock *w, uint64_t freq, uint64_t tsc,
		     int64_t sec, int64_t nsec);
/*
 * A CLOCK record: its moment on both clocks, and @header, the time of the
 * record, which is not later.
 */
void wallclock_add(struct wallclock *w, uint64_t header, uint64_t tsc,
		   uint64_t real);
/*
 * Another log of the stream follows.  It was put on the stream's clock by the
 * time in INITIALIZE, so nothing that the CLOCK records until now say holds for
 * it.
 */
void wallclock_next(struct wallclock *w);
void wallclock_free(struct wallclock *w);

/* Nanoseconds since 1970; 0: not known. */
int64_t wallclock_at(const struct wallclock *w, uint64_t tsc);

/* Ticks in nanoseconds; 0 if there are too many. */
int64_t ticks_ns(int64_t ticks, uint64_t freq);

#endif /* READER_WALLCLOCK_H */
