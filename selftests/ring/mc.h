/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What ring_mc.c (the machine) and mc_code.c (what runs on it) want of each
 * other.
 */
#ifndef MC_H
#define MC_H

#include <stdbool.h>
#include <stdint.h>

#define MC_CPUS		2
#define MC_LEVELS	3		/* process, IRQ, NMI */

/**
 * struct mc_scenario - what is tried
 * @cpus: CPUs that produce; the consumer has one of its own
 * @process: records of each CPU's process context
 * @irqs, @nmis: interrupts of each CPU, at any point, or none
 * @passes: of the consumer
 * @switches: how often a thread may lose its CPU to another one between two
 *	operations (that what it wrote is seen late is not counted)
 */
struct mc_scenario {
	const char	*name;
	unsigned int	cpus, process, irqs, nmis, passes, switches;
};

/* mc_code.c */
void mc_reset(const struct mc_scenario *s);
void mc_process(unsigned int cpu);
void mc_interrupt(unsigned int cpu, unsigned int level);
void mc_consumer(void);
void mc_finish(void);

/* ring_mc.c */
void mc_plain(void *at, unsigned long len);	/* memory that is not atomic */
void mc_point(void);			/* something may happen here */
unsigned int mc_level(void);
uint64_t mc_clock(void);
void mc_seen(unsigned int what);	/* for the record */
void mc_fail(const char *what) __attribute__((noreturn));

enum { MC_QUIET, MC_BUSY, MC_LATER, MC_FULL, MC_PAD, MC_NESTED, MC_EMITTED, MC_NSEEN };

#endif /* MC_H */
