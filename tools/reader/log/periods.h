/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many events a sample stands for, by PERIOD records.
 *
 * A PERIOD holds for the samples that follow, of its PMC on its CPU, until the
 * next one.  In a log that lacks a PERIOD the last one of the PMC on any CPU
 * is the best estimate.
 */
#ifndef READER_PERIODS_H
#define READER_PERIODS_H

#include "base/idtab.h"
#include "log/rec.h"

/* @period: 0 for none yet */
struct period {
	uint64_t period;
	uint32_t pmcid, cpu;
};

/**
 * struct periods - those in force in the current log
 * @last: the one that was looked up last
 */
struct periods {
	struct period *period;
	uint32_t n, cap, last;
	struct idtab tab;
};

/* Takes a PERIOD record; one of 0 events is not a period. */
void periods_record(struct periods *t, const struct pmclog_rec *r);
/* The period of a PMC on a CPU, 0: there is no PERIOD of it. */
uint64_t periods_of(struct periods *t, uint32_t pmcid, uint32_t cpu);
/* The last one of a PMC on any CPU, or 1. */
uint64_t periods_guess(struct periods *t, uint32_t pmcid);
/* Another log begins. */
void periods_forget(struct periods *t);
void periods_free(struct periods *t);

#endif /* READER_PERIODS_H */
