/* SPDX-License-Identifier: BSD-2-Clause */
/* From a record to an event of pmclog(3).  Private to the library. */
#ifndef PMCLOG_DECODE_H
#define PMCLOG_DECODE_H

#include <stdint.h>
#include <time.h>

#include <pmclog.h>

#include "pmclog_iter.h"

/* A log's clock: @wall was the time when the counter stood at @tsc. */
struct pmclog_clock {
	uint64_t tsc;
	uint64_t freq;
	struct timespec wall;
};

void pmclog_clock_set(struct pmclog_clock *clock,
		      const struct pmclog_rec *rec);
struct timespec pmclog_clock_wall(const struct pmclog_clock *clock,
				  uint64_t tsc);

/* Fills ev->pl_u.  -1 when the event can't hold the record. */
int pmclog_decode(struct pmclog_ev *ev, const struct pmclog_rec *rec);

#endif /* PMCLOG_DECODE_H */
