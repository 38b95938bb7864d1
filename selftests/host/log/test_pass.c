// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples that are passed over: what is handed out beside them is what it is
 * without that, and what is told of them is what they say.
 */
#define KEEP_ITEMS
#include "moving.h"
#include "reading.h"
#include "rnd.h"
#include "tap.h"

/* The log of the test that runs */
static struct loggen g;

#define WINDOWS	40	/* of time, for each log */

/* steps of up to @step bytes; the whole log, if that is 0 */
static ssize_t next_window(void *ctx, uint64_t offset, const unsigned char **p)
{
	struct moving *m = ctx;

	return moving_on(m, offset, m->step ? 1 + rnd(m->step) : m->len, p);
}

/* A sample is passed over where another follows. */
static bool next_is_before(const struct item *it)
{
	uint64_t tsc;

	memcpy(&tsc, g.buf + it->offset + it->len +
		     offsetof(struct pmclog_hdr, tsc), sizeof(tsc));
	return tsc < it->tsc;
}

/* @n records of @all from the one with index @at on are those passed over. */
static bool rightly_passed(const struct seen *all, size_t at,
			   const struct pmclog_passed *passed, uint64_t from,
			   uint64_t to)
{
	uint64_t latest = 0, i;

	if (at + passed->n > all->n)
		return false;
	for (i = at; i < at + passed->n; i++) {
		const struct item *it = &all->item[i];

		if (it->type != PMCLOG_T_CALLCHAIN ||
		    it->pmcid != passed->pmcid ||
		    (it->tsc >= from && it->tsc < to))
			return false;
		if (it->tsc > latest && !next_is_before(it))
			latest = it->tsc;
	}
	return latest == passed->latest;
}

/* How many were passed over; -1: something was wrong. */
static int64_t read_passing(const struct seen *all, struct pmclog_iter *it,
			    uint64_t from, uint64_t to)
{
	struct seen r = { 0 };
	struct pmclog_passed passed;
	struct pmclog_rec rec;
	struct item item;
	int64_t n = 0;
	size_t at = 0;
	bool good = true;

	while (good && (r.status = pmclog_iter_next(it, &rec)) ==
		       PMCLOG_ITER_RECORD) {
		item = item_of(&rec);
		good = at < all->n &&
		       !memcmp(&item, &all->item[at], sizeof(item));
		at++;
		while (good && pmclog_iter_pass(it, from, to, &passed)) {
			good = rightly_passed(all, at, &passed, from, to);
			at += passed.n;
			n += passed.n;
		}
	}
	see_end(&r, it);
	good = good && at == all->n && r.status == all->status &&
	       r.error_offset == all->error_offset && !strcmp(r.error, all->error) &&
	       r.gaps == all->gaps && r.first == all->first &&
	       r.bytes == all->bytes;
	return good ? n : -1;
}

/* Of memory if @step is negative, else of windows. */
static struct pmclog_iter *open_log(struct moving *m, int step, bool resync)
{
	struct pmclog_iter *it;

	*m = (struct moving){ .buf = g.buf, .len = g.len,
			      .step = step > 0 ? (size_t)step : 0 };
	it = step < 0 ? pmclog_iter_mem(g.buf, g.len) :
			pmclog_iter_window(next_window, m);
	if (resync)
		pmclog_iter_resync(it);
	return it;
}

/* Passed over in all, of windows of time anywhere; -1: something was wrong. */
static int64_t pass_over(int step, bool resync)
{
	struct pmclog_iter *it;
	struct seen all;
	uint64_t a, b;
	int64_t n, sum = 0;
	struct moving m;
	int i;

	/* what of a damaged log is seen at once may matter */
	all = read_all(open_log(&m, resync ? -1 : step, resync), resync);
	free(m.copy);
	for (i = 0; all.n && sum >= 0 && i < WINDOWS; i++) {
		a = i ? all.item[rnd(all.n)].tsc : 0;
		b = i ? all.item[rnd(all.n)].tsc : 0;
		it = open_log(&m, step, resync);
		n = read_passing(&all, it, a < b ? a : b, a < b ? b : a);
		sum = n < 0 ? -1 : sum + n;
		pmclog_iter_close(it);
		free(m.copy);
	}
	seen_free(&all);
	return sum;
}

static void test_log(const char *name, bool some)
{
	int64_t n;

	lg_make(&g, name);
	n = pass_over(-1, false);
	ok(some ? n > 0 : n == 0, "%s: %lld samples passed over", name,
	   (long long)n);
	ok(pass_over(0, false) >= 0, "%s: of memory that may change", name);
	ok(pass_over(3000, false) >= 0, "%s: and that moves", name);
	ok(pass_over(-1, true) >= 0, "%s: where damage is skipped", name);
}

/* Bytes anywhere are changed, the first record's not. */
static void test_damage(const char *name)
{
	int64_t n, sum = 0, bad = 0;
	int i, k;

	for (i = 0; i < 60; i++) {
		lg_make(&g, name);
		for (k = 0; k < 4; k++)
			g.buf[112 + rnd(g.len - 112)] ^= 1 << rnd(8);
		n = pass_over(-1, true);
		bad += n < 0;
		sum += n;
		bad += pass_over(0, true) < 0;
		bad += pass_over(-1, false) < 0;
	}
	ok(!bad && sum > 0, "%s, damaged: %lld passed over", name,
	   (long long)sum);
}

/* Of the word that a sample begins with, and of another's, any bit counts. */
static void test_headers(void)
{
	size_t at, from;
	int64_t bad = 0;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		lg_begin(&g);
		lg_allocatedyn(&g, LG_PMC, "cpu-clock", 1000000, -2);
		from = g.len;
		lg_chain(&g, 1, LG_PMC, 0, 0, 2, 0x1000);
		at = g.len;
		lg_chain(&g, 1, LG_PMC, 0, 0, 2, 0x1000);
		lg_chain(&g, 1, LG_PMC, 0, 0, 2, 0x1000);
		lg_close(&g);
		at = bit < 32 ? at : from;
		g.buf[at + bit % 32 / 8] ^= 1 << bit % 8;
		bad += pass_over(-1, false) < 0;
		bad += pass_over(-1, true) < 0;
	}
	ok(!bad, "each bit of a header wrong");
}

/* Half a pc is a fault, which is for who reads records. */
static void test_half(void)
{
	size_t at;

	lg_begin(&g);
	lg_allocatedyn(&g, LG_PMC, "cpu-clock", 1000000, -2);
	lg_chain(&g, 1, LG_PMC, 0, 0, 2, 0x1000);
	at = g.len;
	lg_record(&g, PMCLOG_T_CALLCHAIN, 36);
	memcpy(g.buf + at + 16, g.buf + at - 32, 16);
	lg_chain(&g, 1, LG_PMC, 0, 0, 2, 0x1000);
	lg_chain(&g, 1, LG_PMC, 0, 0, 2, 0x1000);
	lg_close(&g);
	ok(pass_over(-1, false) >= 0 && pass_over(-1, true) >= 0,
	   "a sample with half a pc");
}

int main(void)
{
	test_log("small", false);
	test_log("full", true);
	test_log("stacks", true);
	test_log("long", true);
	test_log("twice", true);
	test_log("packed", false);
	test_log("strings", false);
	test_damage("stacks");
	test_damage("full");
	test_headers();
	test_half();
	return done();
}
