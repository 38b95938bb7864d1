// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "log/wallclock.h"

#define NSEC_PER_SEC	1000000000

int64_t ticks_ns(int64_t ticks, uint64_t freq)
{
	int64_t rate = (int64_t)freq;
	double ns;

	if (!freq || freq == NSEC_PER_SEC)
		return ticks;
	if (rate < 0)
		return 0;
	ns = (double)(ticks / rate) * 1e9;
	if (ns > 9e18 || ns < -9e18)
		return 0;
	return ticks / rate * NSEC_PER_SEC +
	       (int64_t)((double)(ticks % rate) * 1e9 / (double)rate);
}

static void append(struct wallclock *w, uint64_t tsc, int64_t real)
{
	/*
	 * Of too many, the newest replaces the one before it: what follows is
	 * still right, and most is asked of the present.
	 */
	if (w->n == WALLCLOCK_MAX)
		w->n--;
	APPEND(w->at, w->n, w->cap) = (struct wall_moment){ .tsc = tsc, .real = real };
}

void wallclock_begin(struct wallclock *w, uint64_t freq, uint64_t tsc,
		     int64_t sec, int64_t nsec)
{
	int64_t real;

	w->n = 0;
	w->latest = 0;
	w->freq = freq;
	w->begun = sec && !__builtin_mul_overflow(sec, NSEC_PER_SEC, &real) &&
		   !__builtin_add_overflow(real, nsec, &real);
	if (w->begun)
		append(w, tsc, real);
}

static int64_t from(const struct wallclock *w, const struct wall_moment *m,
		    uint64_t tsc)
{
	int64_t ns = ticks_ns((int64_t)(tsc - m->tsc), w->freq);

	return __builtin_add_overflow(m->real, ns, &ns) ? 0 : ns;
}

/* Does the last moment tell this time, too? */
static bool agrees(const struct wallclock *w, uint64_t tsc, int64_t real)
{
	int64_t told, apart;

	if (!w->n)
		return false;
	told = from(w, &w->at[w->n - 1], tsc);
	return !__builtin_sub_overflow(real, told, &apart) &&
	       apart <= WALLCLOCK_AGREE && apart >= -WALLCLOCK_AGREE;
}

void wallclock_add(struct wallclock *w, uint64_t header, uint64_t tsc,
		   uint64_t real)
{
	uint64_t second = w->freq ? w->freq : NSEC_PER_SEC;

	/*
	 * The clocks are read when the record is written, with the time of the
	 * record before it: that can be long ago, but not later.  One second is
	 * for records that are not quite in order.
	 */
	if (!real || real > INT64_MAX ||
	    (tsc < header && header - tsc > second))
		return;
	/* One that is later than a younger record was damaged. */
	while (w->n > w->begun && w->at[w->n - 1].tsc > tsc)
		w->n--;
	if (w->n && w->at[w->n - 1].tsc > tsc)
		return;
	w->latest = tsc;
	if (!agrees(w, tsc, (int64_t)real))
		append(w, tsc, (int64_t)real);
}

void wallclock_next(struct wallclock *w)
{
	w->n = w->begun;
	w->latest = 0;
}

void wallclock_free(struct wallclock *w)
{
	free(w->at);
	*w = (struct wallclock){ 0 };
}

/* The last moment that is not later; before the first: that one. */
static const struct wall_moment *find(const struct wallclock *w, uint64_t tsc)
{
	uint32_t n = w->n;

	/* nearly always asked of the present */
	if (w->at[n - 1].tsc > tsc)
		n = SEARCH(n - 1, i, w->at[i].tsc <= tsc);
	return &w->at[n ? n - 1 : 0];
}

int64_t wallclock_at(const struct wallclock *w, uint64_t tsc)
{
	return w->n ? from(w, find(w, tsc), tsc) : 0;
}
