/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the BPF programs, and takes their records from the ring buffers. */
#ifndef PMCSTAT_SAMPLER_LOAD_H
#define PMCSTAT_SAMPLER_LOAD_H

#include "bpf/events.h"
#include "bpf/queue.h"
#include "bpf/sampler.h"

struct ring_buffer;
struct sampler_bpf;

/**
 * struct sampler - the programs and their rings
 * @object:  one for each row, NULL for a PMC that counts
 * @ring:    one for each CPU, NULL: the CPU was offline
 * @cpu:     mapped: @ncpu of them
 * @count:   mapped: for each CPU, @rows of them
 * @gate:    mapped: 1: samples are let through
 */
struct sampler {
	unsigned int	ncpu;
	uint32_t	rows;
	uint32_t	ring_size;
	struct sampler_bpf **object;
	struct ring_buffer **ring;
	struct taker	*taker;
	struct sampler_cpu *cpu;
	struct sampler_count *count;
	uint64_t	*gate;
};

/* @other_pid: another process that is left out, or 0; ends the program on failure */
void sampler_open(struct sampler *s, const struct options *o, unsigned int ncpu,
		  int other_pid);
/* 0, or -1 with errno: @queue takes the records of this CPU from now on */
int sampler_add_ring(struct sampler *s, unsigned int cpu, struct queues *q,
		     unsigned int queue);
/* Samples @e by the program of @row, and enables it; 0, or -1 with errno */
int sampler_attach(struct sampler *s, uint32_t row, struct event *e);
void sampler_detach(struct event *e);

enum take {
	TAKE_ALL,	/* no program has run meanwhile: the queue has everything */
	TAKE_SOME,
	TAKE_FULL,	/* the queue has no room */
};

enum take sampler_take(struct sampler *s, unsigned int cpu);
/* For poll(2): readable when a quarter of the ring of a CPU is used; -1: no ring */
int sampler_poll_fd(const struct sampler *s, unsigned int cpu);
void sampler_close(struct sampler *s);

#endif /* PMCSTAT_SAMPLER_LOAD_H */
