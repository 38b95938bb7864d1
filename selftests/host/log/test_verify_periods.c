// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify finds samples of a PMC that samples at a rate without their
 * period, and periods that make no sense.
 */
#include <stdbool.h>

#include "expect_verify.h"

#define CLOCK	0xFFF00F01U	/* a PMC with a fixed period */
#define OTHER	0xFFF00F02U

/* A log of two CPUs with both kinds of PMC. */
static void begin_freq(void)
{
	lg_begin(&g);
	lg_host(&g, "6.12", "debian");
	lg_freq(&g, LG_PMC, "cycles", 4000);
	lg_allocatedyn(&g, CLOCK, "cpu-clock", 1000000, -2);
}

static void sample(uint32_t pmcid, uint32_t cpu)
{
	lg_chain(&g, PID, pmcid, cpu, PMCLOG_CC_USERSPACE, 1, START);
}

/* A PERIOD alone. */
static void test_period(uint32_t pmcid, uint32_t cpu, uint64_t period,
			const char *what)
{
	size_t at;

	begin_freq();
	at = g.len;
	lg_period(&g, pmcid, cpu, period);
	lg_close(&g);
	expect_either(at, what, "ok: 6 records, 0 samples, 0 dropped, 2 PMCs, 0.000 s\n");
}

static void test_periods(void)
{
	test_period(LG_PMC, 0, 1, NULL);
	test_period(LG_PMC, 1, UINT64_MAX, NULL);
	test_period(LG_PMC, 1, 0, "PERIOD of 0 events");
	test_period(LG_PMC, 2, 1000, "PERIOD of CPU 2, but there are 2");
	test_period(CLOCK, 0, 1000, "PERIOD of PMC 0xfff00f01, which does not "
		    "sample at a rate");
	test_period(OTHER, 0, 1000, "PMC 0xfff00f02 was not announced before");
}

/* Samples of PMC @pmcid on CPU @cpu, after a PERIOD of LG_PMC on CPU 0. */
static void test_sample(uint32_t pmcid, uint32_t cpu, const char *what)
{
	size_t at;

	begin_freq();
	lg_freq(&g, OTHER, "instructions", 4000);
	lg_period(&g, LG_PMC, 0, 1000);
	sample(LG_PMC, 0);
	at = g.len;
	sample(pmcid, cpu);
	sample(pmcid, cpu);
	lg_close(&g);
	expect_either(at, what, "ok: 10 records, 3 samples, 0 dropped, 3 PMCs, 0.000 s\n");
}

static void test_samples(void)
{
	test_sample(LG_PMC, 0, NULL);
	test_sample(CLOCK, 1, NULL);
	test_sample(LG_PMC, 1, "sample of PMC 0xfff00f00 on CPU 1 without a "
		    "PERIOD before it");
	test_sample(OTHER, 0, "sample of PMC 0xfff00f02 on CPU 0 without a "
		    "PERIOD before it");
}

/* A second log has no periods yet. */
static void test_rotation(bool restated)
{
	size_t at;

	begin_freq();
	lg_period(&g, LG_PMC, 0, 1000);
	sample(LG_PMC, 0);
	lg_close(&g);
	lg_init(&g);
	lg_freq(&g, LG_PMC, "cycles", 4000);
	if (restated)
		lg_period(&g, LG_PMC, 0, 1000);
	at = g.len;
	sample(LG_PMC, 0);
	lg_close(&g);
	if (!restated)
		expect(at, "sample of PMC 0xfff00f00 on CPU 0 without a "
		       "PERIOD before it");
	else
		expect_ok("ok: 12 records, 2 samples, 0 dropped, 3 PMCs, "
			  "0.000 s, 2 logs in one\n");
}

/* Without a HOST the number of CPUs is not known. */
static void test_no_host(void)
{
	begin();
	lg_freq(&g, OTHER, "cycles", 4000);
	lg_period(&g, OTHER, 77, 1000);
	sample(OTHER, 77);
	lg_close(&g);
	expect_ok("ok: 6 records, 1 sample, 0 dropped, 2 PMCs, 0.000 s\n");
}

int main(void)
{
	test_periods();
	test_samples();
	test_rotation(true);
	test_rotation(false);
	test_no_host();
	return verify_done();
}
