// SPDX-License-Identifier: BSD-2-Clause
/* The time of day by CLOCK records, real ones and wild ones. */
#include <stdlib.h>
#include <time.h>

#include "log/wallclock.h"
#include "rnd.h"
#include "tap.h"

#define NS	1000000000LL
#define HOUR	(3600 * NS)
#define BEGIN	(1000 * NS)		/* the log's clock */
#define SEC	1767225600LL		/* since 1970, then */
#define REAL	(SEC * NS + 5)

static struct wallclock begun(void)
{
	struct wallclock w = { 0 };

	wallclock_begin(&w, NS, BEGIN, SEC, 5);
	return w;
}

static void add(struct wallclock *w, int64_t at, int64_t real)
{
	wallclock_add(w, (uint64_t)(BEGIN + at), (uint64_t)(BEGIN + at),
		      (uint64_t)(REAL + real));
}

/* Is the time of day @real, both from the beginning? */
static bool is(const struct wallclock *w, int64_t at, int64_t real)
{
	return wallclock_at(w, (uint64_t)(BEGIN + at)) == REAL + real;
}

static bool jumps(void)
{
	struct wallclock w = begun();
	bool good = is(&w, 9 * NS, 9 * NS) && is(&w, -NS, -NS);

	add(&w, 0, 0);
	add(&w, 10 * NS, 10 * NS + HOUR);
	add(&w, 20 * NS, 20 * NS - HOUR);
	good &= w.n == 3 && is(&w, 10 * NS - 1, 10 * NS - 1) &&
		is(&w, 10 * NS, 10 * NS + HOUR) &&
		is(&w, 15 * NS, 15 * NS + HOUR) &&
		is(&w, 20 * NS, 20 * NS - HOUR) &&
		is(&w, 99 * NS, 99 * NS - HOUR);
	wallclock_free(&w);
	return good;
}

/*
 * A week of a CLOCK each minute; the log's clock is slow by millionths.  How
 * many are kept?
 */
static uint32_t week(int64_t millionths)
{
	struct wallclock w = begun();
	int64_t at, drift, worst = 0;
	uint32_t n;

	for (at = 0; at < 168 * HOUR; at += 60 * NS) {
		drift = at / 1000000 * millionths;
		add(&w, at, at + drift);
		drift = wallclock_at(&w, (uint64_t)(BEGIN + at)) - REAL - at -
			drift;
		worst = llabs(drift) > worst ? llabs(drift) : worst;
	}
	n = worst <= WALLCLOCK_AGREE ? w.n : UINT32_MAX;
	wallclock_free(&w);
	return n;
}

static bool unknown(void)
{
	struct wallclock w = { 0 };
	bool good = !wallclock_at(&w, 0) && !wallclock_at(&w, UINT64_MAX);

	wallclock_begin(&w, NS, BEGIN, 0, 7);
	good &= !wallclock_at(&w, BEGIN);
	wallclock_begin(&w, NS, BEGIN, INT64_MAX, 7);
	good &= !wallclock_at(&w, BEGIN);
	/* by the first CLOCK, then, before it as well */
	add(&w, 10 * NS, 10 * NS);
	good &= is(&w, 3 * NS, 3 * NS) && is(&w, 13 * NS, 13 * NS);
	wallclock_free(&w);
	return good;
}

static bool damaged(void)
{
	struct wallclock w = begun();
	bool good;

	add(&w, 10 * NS, 10 * NS + HOUR);
	/* no time of day */
	wallclock_add(&w, BEGIN + 11 * NS, BEGIN + 11 * NS, 0);
	wallclock_add(&w, BEGIN + 12 * NS, BEGIN + 12 * NS, 1ULL << 63);
	/* read before the record */
	wallclock_add(&w, BEGIN + 13 * NS, 7, 7);
	good = w.n == 2 && is(&w, 14 * NS, 14 * NS + HOUR);
	/* read in the far future: until the next one */
	wallclock_add(&w, BEGIN + 15 * NS, BEGIN + HOUR, 7);
	good &= is(&w, 16 * NS, 16 * NS + HOUR) && w.n == 3;
	add(&w, 17 * NS, 17 * NS - HOUR);
	good &= is(&w, 17 * NS, 17 * NS - HOUR) && w.n == 3 &&
		is(&w, 2 * HOUR, HOUR);
	wallclock_free(&w);
	return good;
}

/* The time of a later log is by its own records. */
static bool next_log(void)
{
	struct wallclock w = begun();
	bool good;

	add(&w, 10 * NS, 10 * NS + HOUR);
	wallclock_next(&w);
	good = is(&w, HOUR, HOUR) && is(&w, 0, 0);
	add(&w, HOUR + 10 * NS, HOUR + 9 * NS);
	good &= is(&w, HOUR + 11 * NS, HOUR + 10 * NS) && is(&w, 0, 0);
	wallclock_free(&w);
	return good;
}

/* FreeBSD's clocks have other rates. */
static bool rates(void)
{
	struct wallclock w = { 0 };
	bool good;

	wallclock_begin(&w, 2000000000, 50, SEC, 5);
	good = wallclock_at(&w, 50 + 3000000000) == REAL + 3 * NS / 2;
	wallclock_begin(&w, UINT64_MAX, 50, SEC, 5);
	good &= wallclock_at(&w, 1ULL << 63) == REAL;
	wallclock_begin(&w, 1, 50, SEC, 5);
	good &= wallclock_at(&w, 1ULL << 63) == REAL &&
		wallclock_at(&w, 51) == REAL + NS;
	wallclock_free(&w);
	return good;
}

static uint64_t wild(void)
{
	uint64_t v = rnd(UINT64_MAX);

	switch (rnd(6)) {
	case 0:
		return v;
	case 1:
		return UINT64_MAX - v % 3;
	case 2:
		return v % 3;
	case 3:
		return (1ULL << 63) - 2 + v % 4;
	case 4:
		return (uint64_t)BEGIN + v % (uint64_t)HOUR;
	default:
		return (uint64_t)REAL + v % (uint64_t)HOUR;
	}
}

static bool is_sorted(const struct wallclock *w)
{
	uint32_t i;

	for (i = 1; i < w->n; i++)
		if (w->at[i - 1].tsc > w->at[i].tsc)
			return false;
	return w->n <= WALLCLOCK_MAX && w->cap <= 2 * WALLCLOCK_MAX;
}

/* Is what is found what is found by looking at each? */
static bool found(const struct wallclock *w)
{
	int64_t want, ticks;
	uint64_t tsc = wild();
	uint32_t i = 0;

	while (i + 1 < w->n && w->at[i + 1].tsc <= tsc)
		i++;
	ticks = w->n ? (int64_t)(tsc - w->at[i].tsc) : 0;
	if (!w->n || __builtin_add_overflow(w->at[i].real, ticks, &want))
		want = 0;
	return wallclock_at(w, tsc) == want;
}

static bool any(bool known)
{
	struct wallclock w = { 0 };
	bool good = true;
	uint32_t i;

	if (known)
		w = begun();
	for (i = 0; i < 100000; i++) {
		wallclock_add(&w, wild(), wild(), wild());
		if (i % 1000 == 0)
			good &= found(&w) && is_sorted(&w);
	}
	good &= is_sorted(&w) && (!known || w.at[0].tsc == BEGIN);
	wallclock_free(&w);
	return good;
}

/* In order, and all say something else. */
static bool many(void)
{
	clock_t start = clock();
	struct wallclock w = begun();
	bool good = true;
	int64_t i, real = 0;

	for (i = 1; i <= 3000000; i++) {
		real = (int64_t)rnd((uint64_t)HOUR);
		add(&w, i * 10, real);
		if (i % 10000 == 0)
			good &= found(&w);
	}
	good &= is_sorted(&w) && w.n == WALLCLOCK_MAX &&
		is(&w, i * 10, real + 10) && is(&w, 0, 0);
	wallclock_free(&w);
	/* a second, unless it is quadratic */
	return good && clock() - start < 30 * CLOCKS_PER_SEC;
}

int main(void)
{
	ok(jumps(), "a wall clock that is set, both ways");
	ok(week(0) == 1, "a week without drift is one moment");
	ok(week(1) < 700, "a week of one millionth: hundreds: %u", week(1));
	ok(week(100) < 10100, "of a hundred: one a minute: %u", week(100));
	ok(unknown(), "a log without a time of day");
	ok(damaged(), "damaged records");
	ok(next_log(), "a log that follows another");
	ok(rates(), "other rates");
	ok(any(true) && any(false), "100,000 wild ones");
	ok(many(), "three million in order that are bounded");
	return done();
}
