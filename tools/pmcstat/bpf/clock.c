/* SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>

#include "bpf/clock.h"

#define NS	1000000000ULL
#define TRIES	4

/* Two comparisons: the times of CLOCK_MONOTONIC, and how far the log's is ahead */
static struct {
	uint64_t	mono;
	int64_t		ahead;
} before, after;

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

uint64_t clock_mono(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_raw(void)
{
	return read_clock(CLOCK_MONOTONIC_RAW);
}

/* Of some tries the one that was interrupted least */
uint64_t clock_compare(void)
{
	uint64_t best = UINT64_MAX, from, raw, to;
	int i;

	before = after;
	for (i = 0; i < TRIES; i++) {
		from = clock_mono();
		raw = clock_raw();
		to = clock_mono();
		if (to - from >= best)
			continue;
		best = to - from;
		after.mono = to;
		after.ahead = (int64_t)(raw - (from + best / 2));
	}
	if (!before.mono)
		before = after;
	return after.mono;
}

uint64_t clock_of_log(uint64_t mono)
{
	double share;

	if (mono >= after.mono || after.mono == before.mono)
		return mono + (uint64_t)after.ahead;
	if (mono <= before.mono)
		return mono + (uint64_t)before.ahead;
	share = (double)(mono - before.mono) / (double)(after.mono - before.mono);
	return mono + (uint64_t)(before.ahead +
		(int64_t)((double)(after.ahead - before.ahead) * share));
}
