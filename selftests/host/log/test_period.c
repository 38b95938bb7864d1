// SPDX-License-Identifier: BSD-2-Clause
/* When a PERIOD precedes a sample: the module's own code. */
#include <inttypes.h>
#include <stdlib.h>

#include "sample/period.h"
#include "tap.h"

static void test_code(void)
{
	bool exact = true, close = true, some = true;
	u64 p, back;
	u32 bits;

	for (p = 1; p < 1 << 20; p++)
		exact &= period_decode(period_code(p)) == p;
	for (bits = 20; bits < 58; bits++) {
		p = (1ULL << bits) + (1ULL << (bits / 2)) + 1;
		back = period_decode(period_code(p));
		close &= back <= p && p - back <= p >> 25;
		some &= period_code(p) != 0;
	}
	ok(exact, "periods of 20 bits are exact");
	ok(close, "longer ones are exact to 25 bits");
	ok(some && period_code(0), "no code is 0");
	ok(period_decode(period_code(~0ULL)) == PERIOD_MAX,
	   "a period that cannot be becomes the longest");
}

struct run {
	struct period_logged l;
	u64	sum, logged;		/* of the samples', and of the PERIODs' */
	u64	longest;
	unsigned int records;
	bool	near;
};

static void sample(struct run *r, u64 period, u32 epoch)
{
	u64 off;

	r->records += period_log(&r->l, period, epoch);
	off = period > r->l.period ? period - r->l.period : r->l.period - period;
	r->near &= off <= r->l.period / PERIOD_TOLERANCE;
	r->sum += period;
	r->logged += r->l.period;
	if (period > r->longest)
		r->longest = period;
}

static void expect_sums(struct run *r, const char *what)
{
	s64 off = (s64)(r->sum - r->logged);

	ok(r->near && off == r->l.ahead && period_size(off) <= 3 * r->longest,
	   "%s: each is near, and the sum is right", what);
	printf("# %u records, sum %" PRIu64 ", %" PRId64 " off\n", r->records,
	     (uint64_t)r->sum, (int64_t)off);
}

static u64 around(u64 middle, unsigned int percent)
{
	u64 width = middle * percent / 100;

	return middle - width + (u64)rand() % (2 * width + 1);
}

static void test_runs(void)
{
	struct run same = { .near = true }, noisy = same, rising = same,
		   lower = same, wild = same, again = same, tiny = same, shorter = same, before = same;
	int i;

	srand(1);
	for (i = 0; i < 10000; i++) {
		sample(&same, 123456, 1);
		sample(&noisy, around(1000000, 6), 1);
		sample(&rising, 1000 + (u64)i * 10, 1);
		/* the first is not like the others */
		sample(&lower, i ? 1000000 : 1100000, 1);
		sample(&wild, 1ULL << rand() % 40, 1);
		sample(&again, 5000, (u32)i / 100);
		/* what the long periods were ahead by is nothing to the short ones */
		sample(&shorter, i < 5000 ? around(1000000000, 6) : 1000,
		       i < 5000 ? 1 : 2);
		if (i == 5000)
			before = shorter;
		sample(&tiny, 1 + (u64)rand() % 3, 1);
	}
	expect_sums(&same, "one period");
	ok(same.records == 1, "one period is one record");
	expect_sums(&noisy, "a period with noise");
	ok(noisy.records < 1000, "noise makes few records");
	expect_sums(&rising, "a rising period");
	ok(rising.records < 200, "a rising one makes one for each eighth");
	expect_sums(&lower, "all shorter than the first");
	ok(lower.records < 2500, "... makes few records");
	expect_sums(&wild, "any periods");
	expect_sums(&again, "many epochs");
	ok(again.records == 100, "each epoch has its own");
	ok(shorter.logged - before.logged == 4999 * 1000,
	   "an epoch of short periods after one of long ones");
	expect_sums(&tiny, "one to three events");
}

int main(void)
{
	test_code();
	test_runs();
	return done();
}
