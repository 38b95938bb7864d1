/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts a record to an event of pmclog(3).  Private to the library. */
#ifndef PMCLOG_DECODE_H
#define PMCLOG_DECODE_H

#include <stdint.h>
#include <time.h>

#include <pmclog.h>

#include "pmclog_iter.h"

/* A log's clock: @wall is the wall clock time at @tsc. */
struct pmclog_clock {
	uint64_t tsc;
	uint64_t freq;
	struct timespec wall;
};

void pmclog_clock_set(struct pmclog_clock *clock,
		      const struct pmclog_rec *rec);
struct timespec pmclog_clock_wall(const struct pmclog_clock *clock,
				  uint64_t tsc);

/* Fills ev->pl_u.  Returns -1 if the event has no room for the record. */
int pmclog_decode(struct pmclog_ev *ev, const struct pmclog_rec *rec);

#endif /* PMCLOG_DECODE_H */
