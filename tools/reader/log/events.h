/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a log, and what became of their samples. */
#ifndef READER_EVENTS_H
#define READER_EVENTS_H

#include <linux/pmclog.h>

#include "base/strtab.h"

/**
 * struct event - PMCs that were asked for the same thing
 * @name:    string number
 * @rate:    period (sampling) or initial count
 * @samples: in the log, and wanted
 * @left_out: more that were not wanted
 * @kernel:  of these, taken in kernel mode
 * @pmcid:   of the PMC, where events are kept apart
 * @lost:    by cause, from the DROPNOTIFY records
 * @session: the last that it is of, as struct events counts them
 * @untold:  a log that has it does not tell what was lost
 * @first, @last: clock of the first and of the last sample
 */
struct event {
	uint32_t name;
	uint32_t flags;
	uint64_t rate, config;
	uint32_t type;
	uint32_t pmcid;
	uint64_t samples, left_out, kernel;
	uint64_t lost[PMCLOG_DROP_NCAUSE];
	uint32_t session;
	bool untold;
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

/**
 * struct events
 * @apart:   every PMC is an event of its own
 * @session: which of the logs that follow each other we are in
 */
struct events {
	bool apart;
	uint32_t session;
	struct event *event;
	uint32_t n, cap;
	struct event_pmc *pmc;
	uint32_t npmc, cappmc;
	struct event_rate *rate;
	uint32_t nrate, caprate;
	uint32_t last;		/* PMC asked for last */
	struct idtab eventtab, pmctab, ratetab;
	uint64_t lost_procs;	/* process records */
};

/* @want: name, flags, rate, config and type are filled in */
void events_announce(struct events *t, uint32_t pmcid,
		     const struct event *want);
/* Number of the event a PMC belongs to; unannounced PMCs get one. */
uint32_t events_of(struct events *t, struct strtab *str, uint32_t pmcid);
void events_rate(struct events *t, const struct event_rate *r);
/* The log that we are in ends, and does not tell what was lost. */
void events_untold(struct events *t);
/* Sum over the PMCs and CPUs of an event; false if nothing was logged. */
bool events_sum_rate(const struct events *t, uint32_t event,
		     struct event_rate *sum);
/* They count the same, whichever PMC does. */
bool event_same(const struct event *a, const struct event *b);
/* It counts nanoseconds. */
bool event_is_clock(const struct event *e);
uint64_t event_lost(const struct event *e);
void events_free(struct events *t);

#endif /* READER_EVENTS_H */
