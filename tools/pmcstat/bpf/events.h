/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf events of a PMC: one on each CPU, or in each thread of its processes. */
#ifndef PMCSTAT_EVENTS_H
#define PMCSTAT_EVENTS_H

#include "pmcstat.h"

/**
 * struct event - a perf event
 * @cpu: -1: of a thread, and of what it starts
 * @link: libbpf's, if the event samples: it has a descriptor of its own
 */
struct event {
	int		fd;
	int		cpu;
	struct bpf_link	*link;
};

struct events {
	struct event	*event;
	size_t		n;
};

/*
 * 0, or -1 with errno.  events_of_cpus() opens the events of a system mode, on @cpu or
 * on all CPUs that are online; events_of_process() those of a process: ESRCH if it has
 * ended.  Events are disabled.
 */
int events_of_cpus(struct events *e, struct counter *c, unsigned int ncpu);
int events_of_process(struct events *e, struct counter *c, int pid);
void events_enable(const struct events *e);
void events_disable(const struct events *e);
/* The sum over the events from @first on, @n of them */
int events_read(const struct events *e, size_t first, size_t n,
		struct pmc_reading *r);
void events_close(struct events *e);

#endif /* PMCSTAT_EVENTS_H */
