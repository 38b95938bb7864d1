/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own samples, to compare with: perf_event_open() and its buffer.
 */
#ifndef TEST_PERFRING_H
#define TEST_PERFRING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_RING_DEPTH	512

struct perf_ring {
	int		fd;
	void		*base;
	uint64_t	lost;
};

/* a sample, its kernel part */
struct perf_chain {
	uint32_t	pid;
	uint32_t	tid;
	unsigned int	npc;
	uint64_t	pc[PERF_RING_DEPTH];
};

/* Samples @cpu by an event, @hz times a second; false: not possible here. */
bool perf_ring_begin(struct perf_ring *r, int cpu, uint32_t type,
		     uint64_t config, unsigned int hz);
/* No more samples: those that are there stay. */
void perf_ring_stop(struct perf_ring *r);
/* The next sample, false at the end of what is there now. */
bool perf_ring_next(struct perf_ring *r, struct perf_chain *c);
void perf_ring_end(struct perf_ring *r);

#endif /* TEST_PERFRING_H */
