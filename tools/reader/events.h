/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a log, and what became of their samples. */
#ifndef READER_EVENTS_H
#define READER_EVENTS_H

#include <linux/pmclog.h>

#include "strtab.h"

/**
 * struct event - PMCs that were asked for the same thing
 * @name:    string number
 * @rate:    period (sampling) or initial count
 * @samples: in the log
 * @kernel:  of these, taken in kernel mode
 * @lost:    by cause, from the DROPNOTIFY records
 * @first, @last: clock of the first and of the last sample
 */
struct event {
	uint32_t name;
	uint32_t flags;
	uint64_t rate, config;
	uint32_t type;
	uint64_t samples, kernel;
	uint64_t lost[PMCLOG_DROP_NCAUSE];
	uint64_t first, last;
};

struct event_pmc {
	uint32_t pmcid;
	uint32_t event;
};

/* the latest RATE record of a PMC on a CPU; its numbers only grow */
struct event_rate {
	uint32_t pmcid, cpu;
	uint64_t expected, achieved, throttled, enabled, running;
};

struct events {
	struct event *event;
	uint32_t n, cap;
	struct event_pmc *pmc;
	uint32_t npmc, cappmc;
	struct event_rate *rate;
	uint32_t nrate, caprate;
	uint32_t last;		/* PMC asked for last */
	struct idtab pmctab, ratetab;
	uint64_t lost_procs;	/* process records */
};

/* @want: name, flags, rate, config and type are filled in */
void events_announce(struct events *t, uint32_t pmcid,
		     const struct event *want);
/* Number of the event a PMC belongs to; unannounced PMCs get one. */
uint32_t events_of(struct events *t, struct strtab *str, uint32_t pmcid);
void events_rate(struct events *t, const struct event_rate *r);
/* Sum over the PMCs and CPUs of an event; false if nothing was logged. */
bool events_sum_rate(const struct events *t, uint32_t event,
		     struct event_rate *sum);
uint64_t event_lost(const struct event *e);
void events_free(struct events *t);

#endif /* READER_EVENTS_H */
