/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts how user chains end, for commands that do not build a profile. */
#ifndef READER_ENDS_LOG_H
#define READER_ENDS_LOG_H

#include "log/rec.h"
#include "sample/ends.h"
#include "sample/late.h"

/**
 * struct ends_log
 * @ends: by the caller's number of an event; the command is 0
 * @late: samples whose user chain comes later
 * @x86:  the recorded machine is one
 */
struct ends_log {
	struct ends ends;
	struct late late;
	bool x86;
};

void ends_log_init(struct ends_log *t);
void ends_log_free(struct ends_log *t);
/* Does a CALLCHAIN have a user part? */
static inline bool ends_rec_has_user(const struct pmclog_rec *rec,
				     uint32_t flags)
{
	return ends_has_user(flags, rec->data +
			     sizeof(struct pmclog_callchain),
			     (rec->len - sizeof(struct pmclog_callchain)) / 8);
}

/* Adds a CALLCHAIN whose user chain comes later. */
void ends_log_wait(struct ends_log *t, const struct pmclog_rec *rec,
		   uint32_t event);

/* Counts a CALLCHAIN of an event that was recorded with call chains. */
static inline void ends_log_sample(struct ends_log *t,
				   const struct pmclog_rec *rec, uint32_t event)
{
	uint32_t flags = REC32(rec, callchain, cpuflags);
	uint8_t ends = ends_of(flags);

	t->ends.told |= ends & END_TELLS;
	if (!ends_rec_has_user(rec, flags))
		return;
	if (flags & PMCLOG_CC_USERLATE) {
		ends_log_wait(t, rec, event);
		ends = ends_late(ends);
	}
	ends_put(&t->ends, event, 0, ends);
}

/* To be called for any other record. */
void ends_log_record(struct ends_log *t, const struct pmclog_rec *rec);

#endif /* READER_ENDS_LOG_H */
