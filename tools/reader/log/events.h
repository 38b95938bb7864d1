/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a log, with their counts of samples and losses. */
#ifndef READER_EVENTS_H
#define READER_EVENTS_H

#include <linux/hwpmc.h>
#include <linux/pmclog.h>

#include "base/strtab.h"

/**
 * struct event - PMCs that were configured alike
 * @name:    string number
 * @rate:    period (sampling) or initial count; with HWPMC_F_FREQ: samples a
 *	     second, the most of all descriptions
 * @samples: samples in the log that are wanted
 * @left_out: samples that are not wanted
 * @kernel:  of @samples, those taken in kernel mode
 * @pmcid:   id of the PMC, if each PMC is an event of its own
 * @lost:    by cause, from the DROPNOTIFY records
 * @session: number of the last session that has it, see struct events
 * @untold:  a log with this event does not record losses
 * @first, @last: clock of the first and of the last sample
 * With HWPMC_F_FREQ:
 * @rate_least: the fewest samples a second of all descriptions
 * @weight:  sum of the periods of @samples; @kernel_weight: of @kernel
 * @least, @most: shortest and longest of these periods
 * @guessed: of @samples, those without a PERIOD in the log
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
	uint64_t rate_least;
	uint64_t weight, kernel_weight;
	uint64_t least, most;
	uint64_t guessed;
};

struct event_pmc {
	uint32_t pmcid;
	uint32_t event;
};

/**
 * struct event_rate - the latest RATE record of a PMC on a CPU
 *
 * Its numbers are since the PMC was allocated, and only grow, through all logs of a
 * recording.
 * @event:     of the PMC, UINT32_MAX: it was not announced
 * @recording: number of its recording in the stream
 * @session:   number of the log
 */
struct event_rate {
	uint32_t pmcid, cpu;
	uint32_t event, recording, session;
	uint64_t expected, achieved, throttled, enabled, running;
};

/**
 * struct events
 * @apart:   every PMC is an event of its own
 * @session: number of the current log of the stream
 * @recording: number of its recording, of which the stream may have several logs
 * @weight:  of all events that are sampled at a rate
 */
struct events {
	bool apart;
	uint32_t session, recording;
	uint64_t weight;
	struct event *event;
	uint32_t n, cap;
	struct event_pmc *pmc;
	uint32_t npmc, cappmc;
	struct event_rate *rate;
	uint32_t nrate, caprate;
	uint32_t last;		/* PMC looked up last */
	struct idtab eventtab, pmctab, ratetab;
	uint64_t lost_procs;	/* process records: all, and by cause */
	uint64_t lost_procs_by[PMCLOG_DROP_NCAUSE];
};

/*
 * @want: name, flags, rate, config and type are filled in.  A PMC whose rate is changed,
 * as by a budget, stays the same event.
 */
void events_announce(struct events *t, uint32_t pmcid,
		     const struct event *want);
/* Number of a PMC's event; an event is made for an unannounced PMC. */
uint32_t events_look_up(struct events *t, struct strtab *str, uint32_t pmcid);
static inline uint32_t events_of(struct events *t, struct strtab *str, uint32_t pmcid)
{
	if (t->npmc && t->pmc[t->last].pmcid == pmcid)
		return t->pmc[t->last].event;
	return events_look_up(t, str, pmcid);
}

void events_rate(struct events *t, const struct event_rate *r);
/* The current log ends without a record of what was lost. */
void events_untold(struct events *t);
/* Sum over the recordings, PMCs and CPUs of an event; false if nothing was logged. */
bool events_sum_rate(const struct events *t, uint32_t event,
		     struct event_rate *sum);
/* Do both count the same thing, on whatever PMC, and at whatever rate? */
bool event_same(const struct event *a, const struct event *b);
/* Is the event sampled at a rate, so that each sample has its own period? */
static inline bool event_is_freq(const struct event *e)
{
	return e->flags & HWPMC_F_FREQ;
}

/* What its shares are of: events if it is sampled at a rate, else samples. */
uint64_t event_weight(const struct event *e);
/*
 * Counts the period of a wanted sample, which was counted as such already.
 * Returns its weight: 1 if the sum of all weights would be too large for 64 bits,
 * as in a damaged log.
 */
uint64_t events_weigh(struct events *t, uint32_t event, uint64_t period,
		      bool kernel);
/* Does the event count nanoseconds? */
bool event_is_clock(const struct event *e);
uint64_t event_lost(const struct event *e);
void events_free(struct events *t);

#endif /* READER_EVENTS_H */
