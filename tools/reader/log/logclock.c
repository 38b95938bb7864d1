// SPDX-License-Identifier: BSD-2-Clause
#include <linux/pmclog.h>

#include "log/logclock.h"

#define NSEC_PER_SEC	1000000000
#define APART_MAX	(10LL * 365 * 86400)	/* or the wall clock is wrong */

#define U64(field)	REC64(init, initialize, field)

void logclock_first(struct logclock *c, const struct pmclog_rec *init)
{
	c->freq = U64(tsc_freq);
	c->begin = init->tsc;
	c->sec = (int64_t)U64(ts_sec);
	c->nsec = (int64_t)U64(ts_nsec);
}

void logclock_next(struct logclock *c, const struct pmclog_rec *init,
		   uint64_t end)
{
	int64_t sec = (int64_t)U64(ts_sec), nsec = (int64_t)U64(ts_nsec);
	uint64_t freq = U64(tsc_freq);
	double apart, ticks;

	c->moved = true;
	c->from = init->tsc;
	c->scale = freq && c->freq ? (double)c->freq / (double)freq : 1;
	/* without a wall clock: directly after the previous log */
	c->to = end;
	if (!c->sec || !sec || !c->freq)
		return;
	apart = (double)sec - (double)c->sec +
		((double)nsec - (double)c->nsec) / NSEC_PER_SEC;
	ticks = apart * (double)c->freq;
	if (apart >= 0 && apart < APART_MAX && ticks < 0x1p62)
		c->to = c->begin + (uint64_t)ticks;
}
