/* SPDX-License-Identifier: GPL-2.0-only */
/* How many events the samples of a PMC with HWPMC_F_FREQ stand for. */
#ifndef TEST_PERIODS_H
#define TEST_PERIODS_H

#include "logfile.h"

/**
 * struct periods
 * @now:     by CPU: the last PERIOD
 * @without: samples before the first PERIOD of their CPU
 * @sum:     of the samples' periods
 * @records: PERIODs
 */
struct periods {
	uint64_t	now[LOG_MAX_CPU];
	uint64_t	samples;
	uint64_t	without;
	uint64_t	sum;
	uint64_t	longest;
	uint64_t	records;
};

/* Takes a PERIOD of the PMC over into @p->now; others change nothing. */
void periods_note(struct periods *p, uint32_t pmcid,
		  const struct pmclog_rec *rec);
void periods_look(struct log *log, uint32_t pmcid, struct periods *p);

#endif /* TEST_PERIODS_H */
