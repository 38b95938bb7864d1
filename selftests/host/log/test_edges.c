// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the iterator makes of single records that are odd, last or missing:
 * those that a reader must get, whatever is around them, and what it is told.
 */
#include <string.h>

#include "loggen_era.h"
#include "reading.h"
#include "tap.h"

/* The log of the test that runs */
static struct loggen g;

#define LONG_PATH \
	"/a/path/that/makes/a/record/so/long/that/what/follows/it/is/looked/at/" \
	"before/it/is/believed/as/its/length/may/be/what/is/damaged/in/it/as/" \
	"has/been/seen/in/logs/of/this/kind/and/of/others"

static struct seen read_from(size_t from, bool resync)
{
	return read_mem(g.buf + from, g.len - from, resync);
}

/* A newer version's record is no reason to lose the one before it. */
static void test_unknown_behind(void)
{
	struct seen got;

	lg_begin(&g);
	lg_map_in(&g, 5, 0x400000, LONG_PATH);
	lg_record(&g, 21, 24);
	lg_fork(&g, 1, 2);
	lg_exit(&g, 2);
	got = read_from(0, true);
	ok(got.status == PMCLOG_ITER_EOF && got.n == 5 && !got.gaps,
	   "a long record before one of an unknown type");
}

static void test_fed_end(void)
{
	struct pmclog_iter *it = pmclog_iter_new();
	struct seen got = { 0 };

	lg_begin(&g);
	lg_fork(&g, 1, 2);
	lg_close(&g);
	pmclog_iter_resync(it);
	abort_if(pmclog_iter_feed(it, g.buf, g.len));
	drain(it, &got);
	ok(got.status == PMCLOG_ITER_MORE && got.last == PMCLOG_T_CLOSELOG &&
	   got.stored == g.len, "what is fed ends with our CLOSELOG");
	pmclog_iter_close(it);
}

/* Without INITIALIZE; all else is there. */
static void test_headless(const char *name)
{
	struct seen got;
	struct era e;
	size_t from;

	lg_start(&g);
	abort_if(era_named(&e, &g, name));
	era_init(&e);
	from = g.len;
	era_fork(&e, 1, 2);
	era_exit(&e, 2);
	got = read_from(from, true);
	ok(got.status == PMCLOG_ITER_EOF && got.n == 2 &&
	   got.gaps == 1 && !got.first && !got.bytes,
	   "%s: two records and no INITIALIZE", name);
	got = read_from(from + 4, true);
	ok(got.n < 2, "%s: not without its first word", name);
}

/* Of a length that no version has: it does not say what follows. */
static void test_odd_init(void)
{
	struct pmclog_initialize *init;
	struct seen got;

	lg_begin(&g);
	init = lg_record(&g, PMCLOG_T_INITIALIZE, 1028);
	init->version = PMCLOG_VERSION;
	lg_fork(&g, 1, 2);
	got = read_from(0, false);
	ok(got.status == PMCLOG_ITER_ERROR && got.n == 1 &&
	   !strcmp(got.error, "INITIALIZE of an unknown length"),
	   "an INITIALIZE that begins nothing");
	got = read_from(0, true);
	ok(got.status == PMCLOG_ITER_EOF && got.n == 2 &&
	   got.bytes == 1028, "and it can be skipped");
}

#define CONTEXT0	0x80000000, 5, 5, 1, 1
#define CHAIN1		0xC0000001, 1, 0
#define SAMPLE(context, chain)	0, 0x1234, (context) << 16 | (chain)

/* The first sample's chain was in what is lost. */
static void test_passed_over(void)
{
	static const uint32_t sound[] = {
		SAMPLE(0, 7), CONTEXT0, CHAIN1, SAMPLE(0, 1), SAMPLE(0, 1),
	};
	static const uint32_t faulty[] = {
		SAMPLE(0, 7), CONTEXT0, CHAIN1, SAMPLE(0, 1), SAMPLE(2000, 1),
	};
	const uint32_t n = sizeof(sound) / sizeof(sound[0]);
	struct seen got;
	size_t len;

	lg_begin(&g);
	len = g.len;
	lg_samples(&g, 3, sound, n);
	len = g.len - len;
	lg_fork(&g, 1, 2);
	got = read_from(0, true);
	ok(got.status == PMCLOG_ITER_EOF && got.n == 4 && got.gaps == 1 &&
	   got.bytes == PMCLOG_PACK_SAMPLE_LEN && got.stored == g.len,
	   "the second sample has the pack's length when the first is lost");

	lg_begin(&g);
	lg_samples(&g, 3, faulty, n);
	lg_fork(&g, 1, 2);
	lg_exit(&g, 2);
	lg_exit(&g, 3);
	got = read_from(0, true);
	ok(got.status == PMCLOG_ITER_EOF && got.n == 5 && got.gaps == 1 &&
	   got.bytes == len, "no byte of a pack is skipped twice");
}

/*
 * A record too short for the addresses that those before it have: it says that
 * they are shorter, but saying so again makes it no truer.
 */
static void test_asked_again(void)
{
	struct pmclog_iter *it = pmclog_iter_new();
	unsigned int i, differ = 0;
	struct seen got = { 0 };
	struct era e;

	lg_start(&g);
	abort_if(era_named(&e, &g, "C-le-64"));
	era_init(&e);
	era_map_in(&e, 7, 0x2F4B12345000, "/usr/lib/x.so");
	era_map_in(&e, 7, 0x2F4B12346000, "/usr/lib/y.so");
	e.word = 4;
	era_map_out(&e, 7, 0x8000, 0x9000);
	abort_if(pmclog_iter_feed(it, g.buf, g.len));
	drain(it, &got);
	for (i = 0; i < 20; i++) {
		differ += got.status != PMCLOG_ITER_ERROR || got.n != 3 ||
			  strcmp(got.error, "record too short for its type") ||
			  pmclog_iter_format(it)->word != 8;
		drain(it, &got);
	}
	ok(!differ, "a faulty record stays faulty");
	pmclog_iter_close(it);
}

int main(void)
{
	test_unknown_behind();
	test_fed_end();
	test_headless("C-le-64");
	test_headless("C-be-32");
	test_headless("A-le-64");
	test_odd_init();
	test_passed_over();
	test_asked_again();
	return done();
}
