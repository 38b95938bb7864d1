// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify finds each fault of a record, and of their order, at its offset.
 */
#include <linux/hwpmc.h>

#include "expect_verify.h"

#define CLOSE	sizeof(struct pmclog_closelog)

static void test_sound(void)
{
	lg_make(&g, "small");
	expect_ok("ok: 6 records, 1 sample, 0 dropped, 1 PMC, 0.000 s\n");
	lg_make(&g, "full");
	expect_ok("ok: 61 records, 12 samples, 13 dropped, 5 PMCs, 0.000 s,"
		  " 3 process records dropped\n");
	lg_make(&g, "twice");
	expect_ok("ok: 67 records, 13 samples, 13 dropped, 6 PMCs, 0.000 s,"
		  " 3 process records dropped, 2 logs in one\n");
}

/* Packs are looked into. */
static void test_packed(void)
{
	struct loggen plain;
	int i;

	lg_make(&g, "packed");
	expect_ok("ok: 67 records, 60 samples, 6 dropped, 2 PMCs, 3.000 s\n");
	for (i = 0; i < 3; i++) {
		size_t offset;

		begin();
		offset = g.len;
		lg_chain(&g, PID, LG_PMC, 0, 0, 3, START);
		lg_chain(&g, PID, LG_PMC + (i == 1), 0, 0, 3, START);
		if (i == 2)
			g.tsc -= 1500;
		g.account.written -= i == 0;
		g.account.discarded += i == 0;
		lg_close(&g);
		plain = g;
		g = (struct loggen){ 0 };
		lg_start(&g);
		lg_pack(&g, &plain, 20);
		lg_free(&plain);
		/* the pack: two contexts where there are two PMCs */
		expect(i == 1 ? offset :
		       offset + sizeof(struct pmclog_ext_samples) + 20 + 28 +
		       24, i == 0 ? "account: 1 samples written, but 2 are in "
		       "the log" : i == 1 ? "PMC 0xfff00f01 was not announced "
		       "before" : "time goes back from 1000000003000 to "
		       "1000000002500");
	}
}

/* Counts start anew with each log, sums do not. */
static void test_sums(void)
{
	int i;

	lg_start(&g);
	for (i = 0; i < 2; i++) {
		lg_init(&g);
		lg_allocatedyn(&g, LG_PMC, "cpu-clock", 1000000, -2);
		lg_allocatedyn(&g, LG_PMC, "cpu-clock", 1000000, -2);
		g.tsc += 1250000000;
		lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
		lg_drop(&g, LG_PMC, 0, PMCLOG_DROP_FULL, 2);
		lg_drop(&g, PMCLOG_PMCID_NONE, 0, PMCLOG_DROP_FULL, 3);
		lg_close(&g);
	}
	expect_ok("ok: 14 records, 2 samples, 4 dropped, 2 PMCs, 2.500 s,"
		  " 6 process records dropped, 2 logs in one\n");
}

static void test_ends(void)
{
	lg_start(&g);
	lg_make(&g, "small");
	g.len = 0;
	expect(0, "empty, no INITIALIZE");

	lg_make(&g, "small");
	g.len -= 4;
	expect(g.len + 4 - CLOSE, "truncated record");

	lg_make(&g, "small");
	g.len -= CLOSE;
	expect(g.len, "no CLOSELOG: the log was cut");

	lg_make(&g, "twice");
	g.len -= CLOSE;
	expect(g.len, "no CLOSELOG: the log was cut");

	begin();
	lg_close(&g);
	lg_exit(&g, 1);
	expect_last("record after CLOSELOG");

	EXPECT_WRONG(lg_init(&g), "INITIALIZE without a CLOSELOG before it");
}

static void test_order(void)
{
	begin();
	lg_exit(&g, 1);
	g.tsc -= 2000;
	lg_exit(&g, 1);
	expect_last("time goes back from 1000000002000 to 1000000001000");

	lg_start(&g);
	g.step = 0;
	lg_init(&g);
	lg_exit(&g, 1);
	lg_close(&g);
	expect_ok("ok: 3 records, 0 samples, 0 dropped, 0 PMCs, 0.000 s\n");
}

static void test_init(void)
{
	begin();
	SET(0, pmclog_initialize, tsc_freq, 2400000000);
	expect(112, "the clock does not count nanoseconds");

	begin();
	SET(0, pmclog_initialize, ts_nsec, 1000000000);
	expect(0, "wall clock with more than a second of nanoseconds");

	begin();
	SET(112, pmclog_pmcallocatedyn, name[0], 0);
	memset(g.buf + 112 + 32, 0, 64);
	expect(112, "PMC without a name");

	lg_begin(&g);
	lg_record(&g, PMCLOG_T_PMCALLOCATEDYN, 96);
	expect(112, "PMCALLOCATEDYN without rate and config");
}

static void test_chains(void)
{
	EXPECT_WRONG(lg_chain(&g, PID, LG_PMC, 0, 0, 0, START), "call chain without a pc");
	EXPECT_WRONG(lg_chain(&g, PID, LG_PMC, 0, 0, 513, START),
		     "call chain of 513 pcs, more than 512");

	begin();
	lg_chain(&g, PID, LG_PMC, 0, 0, 512, START);
	lg_close(&g);
	expect_ok("ok: 4 records, 1 sample, 0 dropped, 1 PMC, 0.000 s\n");
}

static void test_drops(void)
{
	size_t at;

	begin();
	at = g.len;
	lg_record(&g, PMCLOG_T_DROPNOTIFY, 16);
	lg_exit(&g, 1);		/* must not be taken for its padding */
	expect(at, "DROPNOTIFY without a count");

	EXPECT_WRONG(lg_drop(&g, LG_PMC, 0, PMCLOG_DROP_NCAUSE, 1),
		     "DROPNOTIFY with unknown cause 4");
	EXPECT_WRONG(lg_drop(&g, LG_PMC, 0, 0, 0), "DROPNOTIFY of nothing");

	begin();
	at = g.len;
	lg_drop(&g, LG_PMC, 0, 0, 1);
	SET(at, pmclog_dropnotify, first, 2000000000000ULL);
	expect(at, "DROPNOTIFY whose last is before its first");
}

static void test_maps(void)
{
	static char path[1100];

	EXPECT_WRONG(lg_map_out(&g, PID, START, START),
		     "MAP_OUT from 0x555555555000 to 0x555555555000");

	memset(path, 'x', 1023);
	begin();
	lg_map_in(&g, PID, START, path);
	lg_close(&g);
	expect_ok("ok: 4 records, 0 samples, 0 dropped, 1 PMC, 0.000 s\n");

	memset(path, 'x', 1024);
	EXPECT_WRONG(lg_map_in(&g, PID, START, path),
		     "room for a path of 1028 bytes, more than 1024");
	EXPECT_WRONG(lg_exec(&g, PID, LG_PMC, 0, 0, path),
		     "room for a path of 1028 bytes, more than 1024");
	EXPECT_WRONG(lg_record(&g, PMCLOG_T_PMCATTACH, 24 + 1028),
		     "room for a path of 1028 bytes, more than 1024");
}

static void test_mappings(void)
{
	static const char lost[] = "MAPPING without its MAP_IN before it";
	const uint64_t high = UINT64_MAX - 0xFFF;

	EXPECT_WRONG(lg_mapping(&g, PID, START, 1, 0), lost);
	EXPECT_WRONG((lg_map_in(&g, PID + 1, START, "/x"), lg_mapping(&g, PID, START, 1, 0)),
		     lost);
	EXPECT_WRONG((lg_map_in(&g, PID, START + 0x1000, "/x"),
		      lg_mapping(&g, PID, START, 1, 0)), lost);
	EXPECT_WRONG((lg_map_in(&g, PID, START, "/x"), lg_close(&g), lg_init(&g),
		      lg_mapping(&g, PID, START, 1, 0)), lost);
	EXPECT_WRONG((lg_map_in(&g, PID, START, "/x"), lg_mapping(&g, PID, START, 0, 0)),
		     "mapping of 0x0 bytes at 0x555555555000");
	EXPECT_WRONG((lg_map_in(&g, PID, high, "/x"), lg_mapping(&g, PID, high, 0x1000, 0),
		      lg_mapping(&g, PID, high, 0x1001, 0)),
		     "mapping of 0x1001 bytes at 0xfffffffffffff000");
	EXPECT_WRONG(lg_buildid(&g, 33, "x"), "build-id of 33 bytes");
}

/* A user chain of @n pcs, the last one @last, @ahead of its time. */
static void test_userchain(unsigned int n, uint64_t last, uint64_t ahead,
			   const char *what)
{
	uint64_t pc[PMCLOG_CHAIN_MAX + 1];
	unsigned int i;
	size_t at;

	for (i = 0; i < n; i++)
		pc[i] = START + 16 * i;
	if (n)
		pc[n - 1] = last;
	begin();
	at = g.len;
	lg_userchain(&g, PID, g.tsc + ahead, n, pc);
	lg_close(&g);
	expect_either(at, what, "ok: 4 records, 0 samples, 0 dropped, 1 PMC, 0.000 s\n");
}

static void test_userchains(void)
{
	test_userchain(1, START, 0, NULL);
	test_userchain(1, 0xffffffffff600000ULL, 0, NULL);
	test_userchain(0, 0, 0, "user chain without a pc");
	test_userchain(2, 0xffffffff81000000ULL, 0,
		       "user chain through 0xffffffff81000000");
	test_userchain(2, START, 1, "user chain for samples from 1000000002001,"
		       " but it is 1000000002000");
	test_userchain(PMCLOG_CHAIN_MAX + 1, START, 0,
		       "user chain of 513 pcs, more than 512");
	EXPECT_WRONG(lg_ext(&g, PMCLOG_EXT_USERCHAIN, sizeof(struct pmclog_ext_userchain) + 12),
		     "user chain with a part of a pc");
}

/* A sample with @len of @size bytes of @pmc behind it. */
static size_t raw_sample(uint32_t pmc, uint32_t len,
			 uint32_t size)
{
	static const unsigned char data[PMCLOG_RAW_MAX + 4] = { 1 };
	size_t at;

	begin();
	lg_tracepoint(&g, LG_PMC + 1, "test:point", 300);
	lg_chain(&g, PID, LG_PMC + 1, 0, PMCLOG_CC_USERSPACE, 1, START);
	at = g.len;
	lg_raw(&g, pmc, PID + 1, data, len, size);
	return at;
}

static void expect_raw(uint32_t pmc, uint32_t len, uint32_t size,
		       const char *what)
{
	size_t at = raw_sample(pmc, len, size);

	lg_close(&g);
	expect_either(at, what, "ok: 6 records, 1 sample, 0 dropped, 2 PMCs, 0.000 s\n");
}

static void test_raw(void)
{
	static const char behind[] = "RAW that is not right behind its sample";
	size_t at;

	expect_raw(LG_PMC + 1, 20, 20, NULL);
	expect_raw(LG_PMC + 1, 5, 20, NULL);
	expect_raw(LG_PMC + 1, 0, 0, NULL);
	expect_raw(LG_PMC + 1, PMCLOG_RAW_MAX, 5000, NULL);
	expect_raw(LG_PMC + 1, PMCLOG_RAW_MAX + 4, 5000,
		   "RAW of 1028 bytes, more than 1024");
	expect_raw(LG_PMC + 1, 20, 19, "RAW with 20 bytes of 19");
	expect_raw(LG_PMC, 20, 20, behind);
	at = raw_sample(LG_PMC + 1, 20, 20);
	g.buf[at + offsetof(struct pmclog_ext_raw, tid)]++;
	expect(at, behind);
	at = raw_sample(LG_PMC + 1, 20, 20);
	g.buf[at + offsetof(struct pmclog_hdr, tsc)]++;
	expect(at, behind);
	/* one each */
	raw_sample(LG_PMC + 1, 20, 20);
	lg_raw(&g, LG_PMC + 1, PID + 1, "", 1, 1);
	expect_last(behind);
	at = raw_sample(LG_PMC + 1, 6, 6);
	g.buf[g.len - 1] = 1;
	expect(at, "padding of raw's data is not 0");
	at = raw_sample(LG_PMC + 1, 8, 8);
	g.buf[at + offsetof(struct pmclog_ext_raw, len)] = 9;
	expect(at, "raw data longer than its record");
}

/* A sample of a PMC with @flags, and @d with @n branches behind it */
static size_t detail_sample(uint32_t flags,
			    struct pmclog_ext_detail d, uint32_t n)
{
	static const struct pmclog_branch b[PMCLOG_BRANCH_MAX + 1] = {
		{ START, START + 8, PMCLOG_BRANCH_MISPRED },
	};
	size_t at;

	begin();
	lg_hardware(&g, LG_PMC + 1, "cycles", flags);
	lg_chain(&g, PID, LG_PMC + 1, 0, PMCLOG_CC_USERSPACE, 1, START);
	at = g.len;
	d.pmcid = LG_PMC + 1;
	d.tid = PID + 1;
	lg_detail(&g, &d, b, n);
	return at;
}

static void expect_detail(uint32_t flags, struct pmclog_ext_detail d, uint32_t n,
			  const char *what)
{
	size_t at = detail_sample(flags, d, n);

	lg_close(&g);
	expect_either(at, what, "ok: 6 records, 1 sample, 0 dropped, 2 PMCs, 0.000 s\n");
}

static void test_detail(void)
{
	static const char behind[] = "DETAIL that is not right behind its sample";
	static const char unasked[] =
		"DETAIL with fields that its PMC was not asked for";
	static const char stray[] = "DETAIL with a field that it says it has not";
	const uint32_t both = HWPMC_F_BRANCH | HWPMC_F_DATA;
	const struct pmclog_ext_detail br = { .has = PMCLOG_DETAIL_BRANCHES };
	const struct pmclog_ext_detail mem = { .has = PMCLOG_DETAIL_SOURCE };
	size_t at;

	expect_detail(both, br, 2, NULL);
	expect_detail(both, br, 0, NULL);
	expect_detail(both, mem, 0, NULL);
	expect_detail(HWPMC_F_BRANCH, br, PMCLOG_BRANCH_MAX, NULL);
	expect_detail(HWPMC_F_BRANCH, br, PMCLOG_BRANCH_MAX + 1,
		      "DETAIL of 65 branches, more than 64");
	expect_detail(HWPMC_F_DATA, br, 1, unasked);
	expect_detail(HWPMC_F_BRANCH, mem, 0, unasked);
	expect_detail(both, (struct pmclog_ext_detail){ .has = 16 }, 0, unasked);
	expect_detail(both, mem, 1, stray);
	expect_detail(both, (struct pmclog_ext_detail){ .weight = 1 }, 0, stray);
	expect_detail(both, (struct pmclog_ext_detail){ .source = 1 }, 0, stray);
	expect_detail(both, (struct pmclog_ext_detail){ .addr = 1 }, 0, stray);
	expect_detail(both, (struct pmclog_ext_detail){ .hidden = 1 }, 0, stray);
	at = detail_sample(both, br, 1);
	g.buf[at + offsetof(struct pmclog_ext_detail, tid)]++;
	expect(at, behind);
	at = detail_sample(both, br, 1);
	g.buf[at + offsetof(struct pmclog_hdr, tsc)]++;
	expect(at, behind);
	at = detail_sample(both, br, 1);
	lg_detail(&g, &(struct pmclog_ext_detail){ .pmcid = LG_PMC + 1,
						   .tid = PID + 1 }, NULL, 0);
	expect_last(behind);
	at = detail_sample(both, br, 1);
	g.buf[g.len - 1] = 1;
	expect(at, "branch 0 with unknown flags 0x100000000000001");
	at = detail_sample(both, br, 1);
	g.buf[at + offsetof(struct pmclog_ext_detail, pmcid)] += 9;
	expect(at, "PMC 0xfff00f0a was not announced before");
}

static void test_snapshots(void)
{
	begin();
	lg_recording(&g, 1, 3, 500);
	lg_recording(&g, 0, 3, 500);
	lg_snapshot(&g, PMCLOG_SNAPSHOT_EXIT, PMCLOG_PMCID_NONE, PID, 9, 5, 4);
	lg_close(&g);
	expect_ok("ok: 6 records, 0 samples, 0 dropped, 1 PMC, 0.000 s\n");
	EXPECT_WRONG(lg_recording(&g, 2, 3, 500), "RECORD that is neither on nor off");
	begin();
	lg_snapshot(&g, PMCLOG_SNAPSHOT_PMC, LG_PMC, 0, 0, 5, 4);
	lg_snapshot(&g, PMCLOG_SNAPSHOT_PMC, LG_PMC, 0, 0, 5, 4);
	expect_last("a second SNAPSHOT");
	EXPECT_WRONG(lg_snapshot(&g, 3, LG_PMC, 0, 0, 5, 4), "SNAPSHOT with unknown cause 3");
}

int main(void)
{
	test_sound();
	test_sums();
	test_packed();
	test_ends();
	test_order();
	test_init();
	test_chains();
	test_drops();
	test_maps();
	test_mappings();
	test_userchains();
	test_raw();
	test_detail();
	test_snapshots();
	return verify_done();
}
