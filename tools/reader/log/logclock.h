/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One clock for all logs of a stream.
 *
 * Each log has a clock of its own, with any origin and any rate.  The clock of
 * the first log is that of the stream.  Timestamps of later logs are converted
 * to it by the wall clock time in every INITIALIZE.
 */
#ifndef READER_LOGCLOCK_H
#define READER_LOGCLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "log/rec.h"

/**
 * struct logclock - clock of the stream, and of the current log
 * @freq, @begin, @sec, @nsec: of the first log, and its wall clock at @begin
 * @moved: the current log is a later one: its @from is the stream's @to, and
 *	   one of its ticks is @scale ticks of the stream
 */
struct logclock {
	uint64_t freq, begin;
	int64_t sec, nsec;
	bool moved;
	uint64_t from, to;
	double scale;
};

/* The first log begins, with INITIALIZE. */
void logclock_first(struct logclock *c, const struct pmclog_rec *init);
/* Another log begins; @end: the latest timestamp so far. */
void logclock_next(struct logclock *c, const struct pmclog_rec *init,
		   uint64_t end);

/* Converts a timestamp of the current log to the stream's clock. */
static inline uint64_t logclock_at(const struct logclock *c, uint64_t tsc)
{
	double moved;

	if (!c->moved)
		return tsc;
	if (c->scale == 1)
		return c->to + (tsc - c->from);
	moved = (double)(int64_t)(tsc - c->from) * c->scale;
	/* timestamps of a damaged log are arbitrary, and so is this result */
	if (!(moved > -0x1p62 && moved < 0x1p62))
		return c->to;
	return c->to + (uint64_t)(int64_t)moved;
}

#endif /* READER_LOGCLOCK_H */
