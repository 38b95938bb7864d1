/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of the writer thread: between main.c, of user space, and load.c. */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define WRITER_CPUS	1024	/* at most */
#define LOAD_FRAMES	19
#define LOAD_PROGRAMS	6
#define LOAD_SAMPLES	256	/* of a program */

/* the samples of a program, one after the other */
struct program {
	__u64 pc[LOAD_SAMPLES][LOAD_FRAMES];
};

/**
 * struct run - one log
 * @programs: LOAD_PROGRAMS of them
 * @rings:    one for each CPU
 * @batch:    samples that each pass of the thread finds in a ring
 * @passes:   that take them
 * @packed:   the log is packed
 * @alone:    each CPU has processes with addresses of their own; else all CPUs have
 *	threads of the same six processes
 * @out, @room: memory for the log
 * Results:
 * @size:     bytes of the log
 * @samples, @records: put into the rings: samples and process records
 * @sum:      of the samples' chains and threads, see load_sum()
 */
struct run {
	const struct program *programs;
	unsigned int rings;
	unsigned int batch;
	unsigned int passes;
	bool packed;
	bool alone;
	unsigned char *out;
	size_t room;

	size_t size;
	__u64 samples;
	__u64 records;
	__u64 sum;
};

/* depends on each frame, its place, and the order of the samples of a thread */
static inline __u64 load_sum(__u64 tsc, __u32 tid, const __u64 *pc,
				unsigned int n)
{
	__u64 sum = tsc ^ tid;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum = sum * 31 + pc[i];
	return sum;
}

/* load.c: before the first run; begins a log, runs the thread, and ends the log */
void load_begin(void);
void load_run(struct run *r);

/* main.c: the thread begins to work on its rings, and has done its work */
void measure_begin(void);
void measure_end(void);
/* memory, all zero and aligned to a cache line; does not return without it */
void *measure_alloc(size_t size);
void measure_free(void *p);

#endif /* WRITER_H */
