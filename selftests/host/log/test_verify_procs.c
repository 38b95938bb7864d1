// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify knows the PMCs that were announced, and the processes that they
 * are attached to.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <linux/hwpmc.h>

#include "expect_verify.h"

/* The last record names PMC 0x77, which nobody announced. */
static void expect_unannounced(void)
{
	size_t at = g.last;

	lg_close(&g);
	expect(at, "PMC 0x77 was not announced before");
}

static void test_wire_pmc(unsigned int type, size_t len, size_t offset)
{
	const uint32_t pmcid = 0x77;

	begin();
	memcpy((char *)lg_record(&g, type, len) + offset, &pmcid, 4);
	expect_unannounced();
}

#define UNANNOUNCED(make)	(begin(), make, expect_unannounced())

static void test_announced(void)
{
	size_t at;

	UNANNOUNCED(lg_chain(&g, PID, 0x77, 0, 0, 1, START));
	UNANNOUNCED(lg_drop(&g, 0x77, 0, PMCLOG_DROP_FULL, 1));
	UNANNOUNCED(lg_rate(&g, 0x77, 0, 1, 1));
	UNANNOUNCED(lg_exec(&g, PID, 0x77, 0, 0, "/bin/x"));
	test_wire_pmc(PMCLOG_T_PMCATTACH, 28, 16);
	test_wire_pmc(PMCLOG_T_PMCDETACH, 24, 16);
	test_wire_pmc(PMCLOG_T_PROCCSW, 40, 24);
	test_wire_pmc(PMCLOG_T_PROCEXIT, 32, 16);

	/* the next log starts without PMCs */
	begin();
	lg_close(&g);
	lg_init(&g);
	at = g.len;
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_close(&g);
	expect(at, "PMC 0xfff00f00 was not announced before");
}

#define TC	0xFFF30F01U	/* process counting, row 1 */
#define TS	0xFFF20F02U

static void begin_procs(void)
{
	size_t at;

	begin();
	at = g.len;
	lg_allocatedyn(&g, TC, "page-faults", 0, -1);
	SET(at, pmclog_pmcallocatedyn, flags,
	    HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT);
	lg_allocatedyn(&g, TS, "task-clock", 1000000, -1);
	lg_attach(&g, TC, PID, "/bin/x");
	lg_attach(&g, TS, PID, "/bin/x");
}

/* @g's last record names a stranger, which is wrong unless process records were lost. */
static void expect_stranger(const char *fmt, bool lost)
{
	size_t at = g.last, end;
	char want[256];

	if (lost)
		lg_drop(&g, PMCLOG_PMCID_NONE, 0, PMCLOG_DROP_FULL, 1);
	end = g.len;
	lg_close(&g);
	snprintf(want, sizeof(want), fmt, at);
	if (lost)
		snprintf(want, sizeof(want), "ok: 9 records, %s, 0 dropped, 3 PMCs, "
			 "0.000 s, 1 process record dropped\n",
			 strstr(fmt, "sample") ? "1 sample" : "0 samples");
	expect_either(end, lost ? NULL : want, want);
}

#define STRANGER(make, fmt) do {			\
	begin_procs();				\
	make;						\
	expect_stranger(fmt, false);		\
	begin_procs();				\
	make;						\
	expect_stranger(fmt, true);			\
} while (0)

static void test_processes(void)
{
	begin_procs();
	lg_fork(&g, PID, PID + 1);
	lg_exec(&g, PID + 1, TC, 0, 0, "/bin/y");
	lg_csw(&g, TC, PID + 1, PID + 1, 7);
	lg_chain(&g, PID, TS, 0, 0, 1, START);
	lg_chain(&g, PMCLOG_PID_KERNEL, TS, 0, 0, 1, START);
	lg_detach(&g, TS, PID);
	lg_procexit(&g, TC, PID + 1, 7);
	lg_procexit(&g, TC, PID, 7);
	lg_close(&g);
	expect_ok("ok: 15 records, 2 samples, 0 dropped, 3 PMCs, 0.000 s\n");

	STRANGER(lg_chain(&g, PID + 1, TS, 0, 0, 1, START), "sample at offset "
		 "%zu of pid 101, which PMC 0xfff20f02 is not attached to");
	STRANGER(lg_csw(&g, TC, PID + 1, PID + 1, 7), "PROCCSW at offset "
		 "%zu of pid 101, which PMC 0xfff30f01 is not attached to");
	STRANGER(lg_procexit(&g, TC, PID + 1, 7), "PROCEXIT at offset "
		 "%zu of pid 101, which PMC 0xfff30f01 is not attached to");
	STRANGER(lg_detach(&g, TC, PID + 1), "PMCDETACH at offset "
		 "%zu of pid 101, which PMC 0xfff30f01 is not attached to");
	STRANGER(lg_exec(&g, PID + 1, TS, 0, 0, "/bin/y"), "PROCEXEC at offset "
		 "%zu of pid 101, which PMC 0xfff20f02 is not attached to");
}

/* A child has the PMCs that descend, an exited process has none. */
static void test_inheritance(void)
{
	begin_procs();
	lg_fork(&g, PID, PID + 1);
	lg_chain(&g, PID + 1, TS, 0, 0, 1, START);
	expect_stranger("sample at offset %zu of pid 101, which "
			"PMC 0xfff20f02 is not attached to", false);

	begin_procs();
	lg_procexit(&g, TC, PID, 7);
	lg_csw(&g, TC, PID, PID, 7);
	expect_stranger("PROCCSW at offset %zu of pid 100, which "
			"PMC 0xfff30f01 is not attached to", false);
}

#define WRONG(make, what)	(begin_procs(), make, expect_last(what))

static void test_process_pmcs(void)
{
	size_t at;

	WRONG(lg_attach(&g, LG_PMC, PID, "/bin/x"), "PMCATTACH of a PMC of the system");
	WRONG(lg_csw(&g, LG_PMC, PID, PID, 7), "value of a process by a PMC of the system");
	WRONG(lg_csw(&g, TS, PID, PID, 7),
	      "PROCCSW of PMC 0xfff20f02, which does not log it");
	WRONG(lg_procexit(&g, TS, PID, 7),
	      "PROCEXIT of PMC 0xfff20f02, which does not log it");

	begin_procs();
	at = g.len;
	lg_procexit(&g, TC, PID, 7);
	SET(at, pmclog_procexit, running, 5000001);
	expect(at, "PROCEXIT of a PMC that ran longer than it was enabled");
}

#define MANY	2500U
#define MANY_KB	65536
#define MANY_PMC(i)	(0x20F00U | ((i) & 0xFFU) | ((i) >> 8) << 20)

/* Of many PMCs all but the odd ones are for descendants. */
static void begin_many(void)
{
	size_t at;
	uint32_t i;

	begin();
	for (i = 0; i < MANY; i++) {
		at = g.len;
		lg_allocatedyn(&g, MANY_PMC(i), "task-clock", 1000000, -1);
		SET(at, pmclog_pmcallocatedyn, flags,
		    i % 2 ? 0 : HWPMC_F_DESCENDANTS);
		lg_attach(&g, MANY_PMC(i), PID, "/bin/x");
	}
}

/* KiB */
static long most_memory(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* What a log can claim takes memory by its length, not by the square of that. */
static void test_many(void)
{
	long before;
	uint32_t i;

	begin_many();
	for (i = 1; i < MANY; i++)
		lg_fork(&g, PID, PID + i);
	lg_chain(&g, PID + MANY / 2, MANY_PMC(MANY - 2), 0, 0, 1, START);
	lg_detach(&g, MANY_PMC(MANY - 2), PID);
	lg_chain(&g, PID + MANY / 2, MANY_PMC(MANY - 2), 0, 0, 1, START);
	lg_close(&g);
	before = most_memory();
	expect_ok("ok: 7505 records, 2 samples, 0 dropped, 2501 PMCs, 0.008 s\n");
	if (most_memory() - before >= MANY_KB) {
		printf("# took %ld KiB\n", most_memory() - before);
		exit(EXIT_FAILURE);
	}

	begin_many();
	lg_fork(&g, PID, PID + 1);
	lg_chain(&g, PID + 1, MANY_PMC(MANY - 1), 0, 0, 1, START);
	expect_stranger("sample at offset %zu of pid 101, which "
			"PMC 0x920fc3 is not attached to", false);

	begin_many();
	lg_detach(&g, MANY_PMC(MANY - 2), PID);
	lg_chain(&g, PID, MANY_PMC(MANY - 2), 0, 0, 1, START);
	expect_stranger("sample at offset %zu of pid 100, which "
			"PMC 0x920fc2 is not attached to", false);
}

int main(void)
{
	test_announced();
	test_processes();
	test_inheritance();
	test_process_pmcs();
	test_many();
	return verify_done();
}
