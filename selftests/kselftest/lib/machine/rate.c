// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "rate.h"

#define ROUNDS	5
#define NFAULTS	64
#define TRIES	5
#define TAKEN	3	/* the second longest of them */
#define DEAR_NS	1000000
#define SHARE	8	/* of a CPU: a timer's interrupt costs as much again */
#define MOST	3	/* for a test that needs many samples, and waits for them */

/* The shortest of some rounds of page faults: whoever else ran is not in it. */
static uint64_t faults_ns(void)
{
	size_t page = sysconf(_SC_PAGESIZE), i;
	uint64_t best = UINT64_MAX, ns;
	int round;
	char *p;

	for (round = 0; round < ROUNDS; round++) {
		p = mmap(NULL, NFAULTS * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 0;
		ns = now_ns();
		for (i = 0; i < NFAULTS; i++)
			((volatile char *)p)[i * page] = 1;
		ns = now_ns() - ns;
		munmap(p, NFAULTS * page);
		if (ns < best)
			best = ns;
	}
	return best;
}

/* What a sample with call chains costs, in nanoseconds; 0: that was not to be seen. */
static uint64_t measure_ns(void)
{
	int dev = dev_open(), file = temp_file();
	uint64_t without = faults_ns(), with = 0;

	if (!dev_configure(dev, file) &&
	    !dev_run_on(dev, pmc_process_faults(0), 0, NULL))
		with = faults_ns();
	close(dev);
	close(file);
	return with > without ? (with - without) / NFAULTS : 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * The second longest of some measurements: on a busy host some see nothing, or too
 * little, and one may see too much.  Nothing is not a sample that costs nothing: a
 * machine that is asked for more than it bears does nothing else any more, and its test
 * never ends.
 */
static uint64_t sample_ns(void)
{
	uint64_t ns[TRIES];
	int i;

	for (i = 0; i < TRIES; i++)
		ns[i] = measure_ns();
	qsort(ns, TRIES, sizeof(ns[0]), by_size);
	if (!ns[TAKEN])
		ns[TAKEN] = DEAR_NS;
	fprintf(stderr, "# a sample costs %llu ns\n", (unsigned long long)ns[TAKEN]);
	return ns[TAKEN];
}

static unsigned int hz_for(unsigned int share, unsigned int want)
{
	static uint64_t cost;
	uint64_t hz;

	if (!cost)
		cost = sample_ns();
	hz = 1000000000ULL / share / cost;
	return hz < 10 ? 10 : hz < want ? hz : want;
}

unsigned int affordable_hz(unsigned int want)
{
	return hz_for(SHARE, want);
}

unsigned int bearable_hz(unsigned int want)
{
	return hz_for(MOST, want);
}
