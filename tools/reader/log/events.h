/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a log, with their counts of samples and losses. */
#ifndef READER_EVENTS_H
#define READER_EVENTS_H

#include <linux/pmclog.h>

#include "base/strtab.h"

/**
 * struct event - PMCs that were configured alike
 * @name:    string number
 * @rate:    period (sampling) or initial count
 * @samples: samples in the log that are wanted
 * @left_out: samples that are not wanted
 * @kernel:  of @samples, those taken in kernel mode
 * @pmcid:   id of the PMC, if each PMC is an event of its own
 * @lost:    by cause, from the DROPNOTIFY records
 * @session: number of the last session that has it, see struct events
 * @untold:  a log with this event does not record losses
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
 * @session: number of the current log of the stream
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
	uint32_t last;		/* PMC looked up last */
	struct idtab eventtab, pmctab, ratetab;
	uint64_t lost_procs;	/* process records */
};

/* @want: name, flags, rate, config and type are filled in */
void events_announce(struct events *t, uint32_t pmcid,
		     const struct event *want);
/* Number of a PMC's event; an event is made for an unannounced PMC. */
uint32_t events_of(struct events *t, struct strtab *str, uint32_t pmcid);
void events_rate(struct events *t, const struct event_rate *r);
/* The current log ends without a record of what was lost. */
void events_untold(struct events *t);
/* Sum over the PMCs and CPUs of an event; false if nothing was logged. */
bool events_sum_rate(const struct events *t, uint32_t event,
		     struct event_rate *sum);
/* Do both count the same thing, on whatever PMC? */
bool event_same(const struct event *a, const struct event *b);
/* Does the event count nanoseconds? */
bool event_is_clock(const struct event *e);
uint64_t event_lost(const struct event *e);
void events_free(struct events *t);

#endif /* READER_EVENTS_H */
