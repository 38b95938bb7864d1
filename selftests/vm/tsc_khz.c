// SPDX-License-Identifier: GPL-2.0-only
/*
 * tsc_khz: prints the frequency of this machine's time stamp counter in kHz;
 * without one it prints nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <x86intrin.h>

struct moment {
	uint64_t ticks;
	uint64_t ns;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * Reads both clocks together: takes the closest of many pairs, because other
 * processes may run in between.
 */
static struct moment read_both(void)
{
	struct moment best = { 0, 0 };
	uint64_t distance = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc(), ns = now(), after = __rdtsc();

		if (after - before < distance) {
			distance = after - before;
			best.ticks = before + distance / 2;
			best.ns = ns;
		}
	}
	return best;
}

int main(void)
{
	struct moment from = read_both(), to;

	usleep(100000);
	to = read_both();
	printf("%.0f\n", (to.ticks - from.ticks) * 1e6 / (to.ns - from.ns));
}
#else
int main(void)
{
}
#endif
