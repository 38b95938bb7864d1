// SPDX-License-Identifier: BSD-2-Clause
/*
 * Packed samples: what the module's code packs the library unpacks, sample for
 * sample; and every fault of a pack is found.
 */
#include "log/pack_code.h"
#include "reading.h"
#include "rnd.h"
#include "tap.h"

/* The log of the test that runs, and what became of it */
static struct loggen g, packed;

/* ------------------------------------------------------------------------
 * There and back
 */
static bool same_record(const struct pmclog_rec *a, const struct pmclog_rec *b)
{
	return a->len == b->len && a->type == b->type && a->tsc == b->tsc &&
	       a->serial == b->serial && !memcmp(a->data, b->data, a->len);
}

/* All that the log has comes out of @packed, which is read to its last byte. */
static bool equal(void)
{
	struct pmclog_iter *a = pmclog_iter_mem(g.buf, g.len);
	struct pmclog_iter *b = pmclog_iter_mem(packed.buf, packed.len);
	enum pmclog_iter_status sa, sb;
	struct pmclog_rec x, y;
	uint64_t stored = 0;
	bool good = true;

	do {
		sa = pmclog_iter_next(a, &x);
		sb = pmclog_iter_next(b, &y);
		good = sa == sb;
		if (!good)
			printf("# %s\n", pmclog_iter_error(b, NULL));
		if (good && sa == PMCLOG_ITER_RECORD) {
			good = same_record(&x, &y);
			stored += y.stored;
		}
	} while (good && sa == PMCLOG_ITER_RECORD);
	pmclog_iter_close(a);
	pmclog_iter_close(b);
	return good && sa == PMCLOG_ITER_EOF && stored == packed.len;
}

/* Packs are as long as they may be, and no longer. */
static bool bounded(size_t *packs, size_t *plain)
{
	struct pmclog_iter *it = pmclog_iter_mem(packed.buf, packed.len);
	struct pmclog_rec rec;
	bool good = true;

	*packs = *plain = 0;
	pmclog_iter_raw(it);
	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD) {
		*plain += rec.type == PMCLOG_T_CALLCHAIN;
		if (pmclog_iter_ext_subtype(&rec) != PMCLOG_EXT_SAMPLES)
			continue;
		++*packs;
		good &= rec.len <= PMCLOG_PACK_MAX && !rec.pack;
	}
	good &= !strcmp(pmclog_iter_error(it, NULL), "no error");
	pmclog_iter_close(it);
	return good;
}

static void test_log(const char *what, unsigned int depth)
{
	size_t packs, left;
	bool good;

	lg_start(&packed);
	lg_pack(&packed, &g, depth);
	ok(equal(), "%s: what was packed comes out", what);
	good = bounded(&packs, &left);
	ok(good && packs,
	   "%s: %zu bytes are %zu, in %zu packs, %zu samples not packed", what,
	   g.len, packed.len, packs, left);
}

static void test_made(const char *name, unsigned int depth)
{
	lg_make(&g, name);
	test_log(name, depth);
}

/*
 * Random chains: of @calls pcs at each depth, so that they have much or little
 * in common, in @tasks contexts, up to @deep pcs.
 */
static void random_log(unsigned int n, unsigned int calls,
		       unsigned int tasks, unsigned int deep)
{
	static const uint64_t halves[] = {
		0x555555554000ULL, 0xffffffff81000000ULL, 0x7fffffffff00ULL, 0,
	};
	uint64_t pcs[PMCLOG_CHAIN_MAX];
	unsigned int i, k, len;

	lg_begin(&g);
	for (i = 0; i < n; i++) {
		len = 1 + rnd(rnd(4) ? 1 + deep / 8 : deep);
		for (k = 0; k < len; k++)
			pcs[k] = halves[rnd(16) ? 0 : rnd(4)] + 64 * k +
				 16 * rnd(calls);
		pcs[0] += rnd(1 << 20);
		g.step = rnd(50) ? rnd(100000) : rnd(2) ? 0x7FFFFFFF :
			  0x80000000;
		/* now and then any PMC, for contexts that share a slot */
		lg_stack(&g, rnd(tasks), rnd(8) ? LG_PMC + rnd(3) : rnd(1ULL << 32),
			 rnd(8), rnd(2), len, pcs);
		if (!rnd(400))
			lg_exit(&g, 7);
		if (!rnd(3000)) {
			lg_close(&g);
			lg_init(&g);
		}
	}
	lg_close(&g);
}

static void test_random(unsigned int n, unsigned int calls, unsigned int tasks,
			unsigned int deep, unsigned int depth)
{
	char what[80];

	snprintf(what, sizeof(what), "%u of %u tasks, %u calls, %u deep", n,
		 tasks, calls, deep);
	random_log(n, calls, tasks, deep);
	test_log(what, depth);
}

/* The deepest there may be, alone in their packs. */
static void test_deep(void)
{
	static uint64_t pcs[PMCLOG_CHAIN_MAX];
	unsigned int i, k;

	lg_begin(&g);
	for (i = 480; i <= PMCLOG_CHAIN_MAX; i++) {
		for (k = 0; k < i; k++)
			pcs[k] = rnd(UINT64_MAX) * k + i;
		lg_stack(&g, i, LG_PMC, 0, 0, i, pcs);
	}
	test_log("480 to 512 pcs", PACK_DEPTH_MAX);
}

/* Zeros, as in tables where nothing has been stored. */
static void test_zeros(void)
{
	static const uint64_t two[] = { 0, 64 }, three[] = { 0, 0, 64 };
	unsigned int i;

	lg_begin(&g);
	for (i = 0; i < 4; i++) {
		lg_stack(&g, 0, 0, 0, 0, 1 + i % 3, i % 3 < 2 ? two : three);
		memset(g.buf + g.len - 8 * (1 + i % 3) - 16, 0, 16);
	}
	test_log("zeros", 128);
}

/* Twenty frames, few chains: what a profile is made of. */
static void test_size(void)
{
	uint64_t pcs[20];
	unsigned int i, k, n = 20000;

	lg_begin(&g);
	for (i = 0; i < n; i++) {
		for (k = 0; k < 20; k++)
			pcs[k] = 0x555555554000ULL + 64 * k;
		pcs[0] += rnd(4096);
		pcs[rnd(3)] += 16 * rnd(30);
		lg_stack(&g, 100, LG_PMC, rnd(4), 1, 20, pcs);
	}
	lg_start(&packed);
	lg_pack(&packed, &g, 128);
	ok(packed.len < 16 * n, "20 frames: %.1f bytes a sample instead of %.1f",
	   (double)packed.len / n, (double)g.len / n);
}

/* ------------------------------------------------------------------------
 * Cut into pieces
 */
/* One record for each piece, so that pieces come in the middle of a pack. */
static uint64_t read_pieces(void)
{
	struct pmclog_iter *it = pmclog_iter_new();
	struct seen s = { 0 };
	struct pmclog_rec rec;
	size_t at, n;

	for (at = 0; at < g.len; at += n) {
		n = 1 + rnd(40);
		if (n > g.len - at)
			n = g.len - at;
		abort_if(pmclog_iter_feed(it, g.buf + at, n));
		if (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD)
			see(&s, &rec);
	}
	drain(it, &s);
	pmclog_iter_close(it);
	return s.sum;
}

static void test_pieces(void)
{
	int i, same = 0;

	lg_make(&g, "packed");
	for (i = 0; i < 50; i++)
		same += read_mem(g.buf, g.len, false).sum == read_pieces();
	ok(same == 50, "fed in pieces while in a pack");
}

/* ------------------------------------------------------------------------
 * Faults
 */
#define CTX(slot)	PMCLOG_PACK_CONTEXT | (slot), 1, 2, LG_PMC, 0
#define CHAIN1(slot)	PMCLOG_PACK_CHAIN | (slot), 1, 0x5555
#define CHAIN3(slot)	PMCLOG_PACK_CHAIN | (slot), 3, 0x5555, 1, 2, 3, 4
#define LIKE(l, slot, n, shared) \
	PMCLOG_PACK_CHAIN | (l) << 11 | (slot), (n) | (shared) << 16, 0x5555
#define SAMPLE(delta, c, x)	delta, 0x1000, (c) | (x) << 16
#define KNOWN	CTX(5), CHAIN3(9), SAMPLE(0, 9, 5)

static const struct fault {
	const char *error;	/* NULL: there is none */
	uint32_t samples;	/* that the record says it has */
	uint32_t good;		/* that come before the fault */
	uint32_t n;
	uint32_t w[40];
} faults[] = {
#define W(...) sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, { __VA_ARGS__ }
	{ NULL, 1, 1, W(KNOWN) },
	{ NULL, 2, 2, W(KNOWN, SAMPLE(7, 9, 5)) },
	{ NULL, 2, 2, W(KNOWN, LIKE(9, 9, 2, 1), SAMPLE(1, 9, 5)) },
	{ NULL, 2, 2, W(KNOWN, LIKE(9, 2047, 4, 2), 8, 0,
			SAMPLE(1, 2047, 5)) },
	{ NULL, 2, 2, W(KNOWN, CTX(1023), SAMPLE(1, 9, 1023)) },
	{ "pack without samples", 0, 0, W(KNOWN) },
	{ "pack: fewer samples than it says", 2, 1, W(KNOWN) },
	{ "pack: fewer samples than it says", 1, 0, W(CTX(5), CHAIN3(9)) },
	{ "pack: something behind the last sample", 1, 0,
	  W(KNOWN, SAMPLE(1, 9, 5)) },
	{ "pack: something behind the last sample", 1, 0, W(KNOWN, CTX(6)) },
	{ "pack: something behind the last sample", 1, 0, W(KNOWN, 0) },
	{ "pack: sample of a chain that is not defined", 2, 1,
	  W(KNOWN, SAMPLE(1, 8, 5)) },
	{ "pack: sample of a context that is not defined", 2, 1,
	  W(KNOWN, SAMPLE(1, 9, 4)) },
	{ "pack: sample's slot out of range", 2, 1,
	  W(KNOWN, SAMPLE(1, 2048, 5)) },
	{ "pack: sample's slot out of range", 2, 1,
	  W(KNOWN, SAMPLE(1, 9, 1024)) },
	{ "pack: sample cut by the pack's end", 2, 1, W(KNOWN, 1, 2) },
	{ "pack: its time is not the first sample's", 1, 0,
	  W(CTX(5), CHAIN3(9), SAMPLE(1, 9, 5)) },
	{ "pack: context's slot out of range", 2, 1, W(KNOWN, CTX(1024)) },
	{ "pack: context's slot out of range", 2, 1,
	  W(KNOWN, CTX(0x20000000)) },
	{ "pack: context cut by the pack's end", 2, 1,
	  W(KNOWN, PMCLOG_PACK_CONTEXT, 1, 2, 3) },
	{ "pack: chain cut by the pack's end", 2, 1,
	  W(KNOWN, PMCLOG_PACK_CHAIN, 1) },
	{ "pack: chain cut by the pack's end", 2, 1,
	  W(KNOWN, PMCLOG_PACK_CHAIN, 2, 3, 4) },
	{ "pack: chain cut by the pack's end", 2, 1,
	  W(KNOWN, PMCLOG_PACK_CHAIN, 512, 3, 4, 5) },
	{ "pack: chain of no or too many pcs", 2, 1,
	  W(KNOWN, PMCLOG_PACK_CHAIN, 0, 3) },
	{ "pack: chain of no or too many pcs", 2, 1,
	  W(KNOWN, PMCLOG_PACK_CHAIN, 513, 3) },
	{ "pack: chain of no or too many pcs", 2, 1,
	  W(KNOWN, LIKE(9, 8, 0, 2)) },
	{ "pack: chain shares more than there is", 2, 1,
	  W(KNOWN, LIKE(9, 8, 4, 3)) },
	{ "pack: chain shares more than there is", 2, 1,
	  W(KNOWN, LIKE(9, 8, 2, 2)) },
	{ "pack: chain shares more than there is", 2, 1,
	  W(KNOWN, LIKE(8, 7, 2, 1)) },
	{ "pack: chain shares more than there is", 2, 1,
	  W(KNOWN, LIKE(9, 8, 3, 65535)) },
	{ "pack: unknown bits in a chain", 2, 1,
	  W(KNOWN, CHAIN1(1 << 22)) },
};

/* In memory that ends with the pack, so that a sanitizer sees its end. */
static void test_fault(const struct fault *f)
{
	enum pmclog_iter_status st, again;
	uint64_t at, where = 0;
	struct pmclog_iter *it;
	struct pmclog_rec rec;
	uint32_t good = 0;
	const char *error;
	unsigned char *copy;

	lg_begin(&g);
	at = g.len;
	lg_samples(&g, f->samples, f->w, f->n);
	copy = malloc(g.len);
	memcpy(copy, g.buf, g.len);
	it = pmclog_iter_mem(copy, g.len);
	while ((st = pmclog_iter_next(it, &rec)) == PMCLOG_ITER_RECORD)
		good += rec.type == PMCLOG_T_CALLCHAIN;
	error = pmclog_iter_error(it, &where);
	again = pmclog_iter_next(it, &rec);
	if (f->error)
		ok(st == PMCLOG_ITER_ERROR && again == st && where == at &&
		   !strcmp(error, f->error) && good == f->good &&
		   error == pmclog_iter_error(it, NULL),
		   "fault %td: %s", f - faults, f->error);
	else
		ok(st == PMCLOG_ITER_EOF && good == f->good,
		   "%u samples by hand", good);
	pmclog_iter_close(it);
	free(copy);
}

/* The error of a log with a pack that @tsc, the version and @n words make. */
static const char *error_of(uint64_t tsc, unsigned int version,
			    const uint32_t *w, uint32_t n, bool second_log)
{
	static const uint32_t known[] = { KNOWN };
	static char text[80];
	struct pmclog_iter *it;
	struct pmclog_rec rec;

	lg_begin(&g);
	lg_samples(&g, 1, known, sizeof(known) / 4);
	if (second_log) {
		lg_close(&g);
		lg_init(&g);
	}
	if (tsc)
		g.tsc = tsc;
	lg_samples(&g, 1, w, n);
	g.buf[g.len - 4 * n - sizeof(struct pmclog_ext_samples) +
	      offsetof(struct pmclog_ext, version)] = version;
	it = pmclog_iter_mem(g.buf, g.len);
	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD)
		;
	snprintf(text, sizeof(text), "%s", pmclog_iter_error(it, NULL));
	pmclog_iter_close(it);
	return text;
}

static void test_other_faults(void)
{
	static const uint32_t again[] = { SAMPLE(0, 9, 5) };
	static const uint32_t two[] = { KNOWN, SAMPLE(1, 9, 5) };
	struct pmclog_iter *it;
	struct pmclog_rec rec;

	ok(!strcmp(error_of(0, 0, again, 3, false), "no error"),
	   "a slot lasts from pack to pack");
	ok(strstr(error_of(0, 0, again, 3, true), "chain that is not defined"),
	   "but not from log to log");
	ok(strstr(error_of(0, 1, again, 3, false), "packed in an unknown way"),
	   "packs of another version are not skipped");
	lg_begin(&g);
	g.tsc = UINT64_MAX;
	lg_samples(&g, 2, two, sizeof(two) / 4);
	it = pmclog_iter_mem(g.buf, g.len);
	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD)
		;
	ok(!strcmp(pmclog_iter_error(it, NULL), "pack: time overflows"),
	   "time beyond its end");
	pmclog_iter_close(it);
}

int main(void)
{
	size_t i;

	test_made("small", 128);
	test_made("full", 128);
	test_made("full", 3);
	test_made("stacks", 128);
	test_made("twice", 128);
	test_made("long", 128);
	test_random(20000, 2, 5, 6, 128);
	test_random(20000, 20, 5, 40, 128);
	test_random(20000, 2, 3000, 20, 128);
	test_random(20000, 1000, 5000, 200, 128);
	test_random(3000, 3, 50, 500, PACK_DEPTH_MAX);
	test_deep();
	test_zeros();
	test_size();
	test_pieces();
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		test_fault(&faults[i]);
	test_other_faults();
	return done();
}
