/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One clock for all logs of a stream.
 *
 * Each log has a clock of its own, which counts from anywhere, at any rate.
 * The first one's is that of the stream; the others' moments are moved to where
 * they belong by the wall clock that every INITIALIZE has.
 */
#ifndef READER_LOGCLOCK_H
#define READER_LOGCLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <pmclog_iter.h>

/**
 * struct logclock - of the stream, and of the log that we are in
 * @freq, @begin, @sec, @nsec: of the first log, and its wall clock at @begin
 * @moved: we are in another one: its @from is the stream's @to, and a tick of
 *	   its is @scale of the stream's
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
/* Another one begins; @end: the latest moment so far. */
void logclock_next(struct logclock *c, const struct pmclog_rec *init,
		   uint64_t end);

/* A moment of the log that we are in on the stream's clock. */
static inline uint64_t logclock_at(const struct logclock *c, uint64_t tsc)
{
	double moved;

	if (!c->moved)
		return tsc;
	if (c->scale == 1)
		return c->to + (tsc - c->from);
	moved = (double)(int64_t)(tsc - c->from) * c->scale;
	/* clocks of a log may be of any bytes, and so may what they give */
	if (!(moved > -0x1p62 && moved < 0x1p62))
		return c->to;
	return c->to + (uint64_t)(int64_t)moved;
}

#endif /* READER_LOGCLOCK_H */
