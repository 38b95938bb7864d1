/* SPDX-License-Identifier: BSD-2-Clause */
/* perf's records of processes: forks, exits, names, executable mappings; all CPUs */
#ifndef PMCSTAT_SIDEBAND_H
#define PMCSTAT_SIDEBAND_H

#include "bpf/queue.h"

struct perf_event_header;

/**
 * struct sideband_record - what the queues have of SAMPLER_PERF
 * @stamp: tsc is CLOCK_MONOTONIC
 * @perf:  the record of perf; struct perf_event_header
 */
struct sideband_record {
	struct ring_stamp stamp;
	unsigned char	perf[];
};

/**
 * struct sideband - a ring of perf on each CPU
 * @page: the mapped ring, NULL: the CPU is offline
 * @lost: records that the kernel had no room for
 * @records: taken from the rings
 */
struct sideband {
	unsigned int	ncpu;
	int		*fd;
	void		**page;
	uint64_t	*lost;
	uint64_t	records;
};

/* 0, or -1 with errno; the records begin at once */
int sideband_open(struct sideband *s, unsigned int ncpu);
void sideband_stop(struct sideband *s);
/* After everything has been taken: @lost has all losses. */
void sideband_settle(struct sideband *s);
void sideband_close(struct sideband *s);
/* Moves the records of @cpu to queue @i, as far as it has room; 1: all of them */
int sideband_take(struct sideband *s, unsigned int cpu, struct queues *q,
		  unsigned int i);

#endif /* PMCSTAT_SIDEBAND_H */
