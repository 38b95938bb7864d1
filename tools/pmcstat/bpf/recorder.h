/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of a recording by BPF: from the rings of the kernel, in the order of time */
#ifndef PMCSTAT_RECORDER_H
#define PMCSTAT_RECORDER_H

#include "bpf/follow.h"
#include "bpf/sampler_load.h"
#include "bpf/sideband.h"

/**
 * struct told - losses that the log has
 * @dropped, @last: by cause; for processes the first one only
 */
struct told_drops {
	uint64_t	dropped[PMCLOG_DROP_NCAUSE];
	uint64_t	last[PMCLOG_DROP_NCAUSE];
};

/**
 * struct recorder - the recording
 * @events:  one for each counter
 * @q:       queues: of the sampler's rings, then of the sideband's
 * @told:    for each CPU and row; @lost: for each CPU, of records of processes
 * @periods: for each CPU and row, what the log has, see periods.c
 * @taken:   samples that the merge has taken
 * @execs_lost: those for which follow_flush() was called
 */
struct recorder {
	struct options	*o;
	unsigned int	ncpu;
	struct events	*events;
	struct sampler	sampler;
	struct sideband	sideband;
	struct queues	q;
	struct followed	procs;
	struct writer	w;
	struct told_drops *told;
	struct told_drops *lost;
	struct period_logged *periods;
	uint64_t	taken;
	uint64_t	execs_lost;
	uint64_t	next_clock;
	struct pmclog_account account;
};

/* The log begins: its first records, and all processes if the system is sampled */
void recorder_begin(struct recorder *r, int fd, int other_pid);
/* Moves what is there to the log; 0, or -1: the log cannot be written */
int recorder_pass(struct recorder *r);
/* The same after the events have been disabled: everything */
void recorder_drain(struct recorder *r);
/* Writes the rates, and CLOSELOG. */
void recorder_end(struct recorder *r);
void recorder_free(struct recorder *r);

/* periods.c: before a sample is written, of a PMC with PMC_F_FREQ or any other */
void periods_sample(struct recorder *r, struct pmclog_callchain *cc, uint64_t tsc);

/* account.c */
void account_drops(struct recorder *r);
void account_sum(struct recorder *r);
void account_rates(struct recorder *r);

#endif /* PMCSTAT_RECORDER_H */
