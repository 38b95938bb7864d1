/* SPDX-License-Identifier: BSD-2-Clause */
/* How user chains end, for readers of records that keep no profile. */
#ifndef READER_ENDS_LOG_H
#define READER_ENDS_LOG_H

#include <pmclog_iter.h>

#include "ends.h"
#include "late.h"

/**
 * struct ends_log
 * @ends: by the caller's number of an event; the command is 0
 * @late: samples whose user chain comes later
 * @x86:  the machine that recorded is one
 */
struct ends_log {
	struct ends ends;
	struct late late;
	bool x86;
};

void ends_log_init(struct ends_log *t);
void ends_log_free(struct ends_log *t);
/* A CALLCHAIN of an event that call chains were asked for of. */
void ends_log_sample(struct ends_log *t, const struct pmclog_rec *rec,
		     uint32_t event);
/* Any other record. */
void ends_log_record(struct ends_log *t, const struct pmclog_rec *rec);

#endif /* READER_ENDS_LOG_H */
