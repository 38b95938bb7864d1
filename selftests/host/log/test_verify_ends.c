// SPDX-License-Identifier: BSD-2-Clause
/* pmclog verify of what records say of how call chains end. */

#include "expect_verify.h"

#define KERNEL	0xffffffff81000000

static void test_chain(uint32_t flags, uint64_t pc, const char *what)
{
	size_t at;

	begin();
	at = g.len;
	lg_chain(&g, PID, LG_PMC, 0, flags, 1, pc);
	g.account.cut = g.account.cut_by[PMCLOG_CUT_DEPTH] =
		g.account.cut_by[PMCLOG_CUT_USER] =
		g.account.cut_by[PMCLOG_CUT_KERNEL] =
		g.account.cut_by[PMCLOG_CUT_TABLE] = 1;
	lg_close(&g);
	expect_either(at, what, "ok: 4 records, 1 sample, 0 dropped, 1 PMC, 0.000 s\n");
}

static void test_chains(void)
{
	const uint32_t user = PMCLOG_CC_USERSPACE;
	const uint32_t whole = user | PMCLOG_CC_WHOLE;

	test_chain(whole | PMCLOG_CC_TABLES, START, NULL);
	test_chain(PMCLOG_CC_WHOLE, START, NULL);
	test_chain(whole | PMCLOG_CC_CUT(PMCLOG_CUT_KERNEL), START, NULL);
	test_chain(user | PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH) |
		   PMCLOG_CC_CUT(PMCLOG_CUT_TABLE), START, NULL);
	test_chain(user | PMCLOG_CC_USERLATE |
		   PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH), START, NULL);
	test_chain(PMCLOG_CC_CUT(PMCLOG_CUT_KERNEL), KERNEL, NULL);
	test_chain(whole | PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH), START,
		   "call chain is whole, and cut for depth");
	test_chain(whole | PMCLOG_CC_CUT(PMCLOG_CUT_USER), START,
		   "call chain is whole, and cut for user");
	test_chain(whole | PMCLOG_CC_CUT(PMCLOG_CUT_TABLE), START,
		   "call chain is whole, and cut for table");
	test_chain(user | PMCLOG_CC_USERLATE | PMCLOG_CC_CUT(PMCLOG_CUT_USER),
		   START, "call chain that is cut for user, and comes later");
	test_chain(PMCLOG_CC_WHOLE, KERNEL,
		   "call chain that is whole without a user part");
	test_chain(whole | 0x0400, START,
		   "call chain with undefined flags 0x400");
	test_chain(whole | 0x0800, START,
		   "call chain with undefined flags 0x800");
}

static void test_userchain(uint32_t flags, const char *what)
{
	static const uint64_t pc[] = { START, START + 16 };
	size_t at;

	begin();
	lg_chain(&g, PID, LG_PMC, 0, PMCLOG_CC_USERSPACE | PMCLOG_CC_USERLATE,
		 1, START);
	at = g.len;
	lg_userchain(&g, PID, g.tsc - g.step, 2, pc);
	g.buf[at + offsetof(struct pmclog_ext, flags)] =
		(unsigned char)(flags >> 8);
	lg_close(&g);
	expect_either(at, what, "ok: 5 records, 1 sample, 0 dropped, 1 PMC, 0.000 s\n");
}

static void test_userchains(void)
{
	test_userchain(0, NULL);
	test_userchain(PMCLOG_CC_WHOLE | PMCLOG_CC_TABLES, NULL);
	test_userchain(PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH) |
		       PMCLOG_CC_CUT(PMCLOG_CUT_USER), NULL);
	test_userchain(PMCLOG_CC_WHOLE | PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH),
		       "user chain is whole, and cut for depth");
	test_userchain(PMCLOG_CC_CUT(PMCLOG_CUT_KERNEL),
		       "user chain that is cut for kernel");
	test_userchain(PMCLOG_CC_WHOLE | 0x0400,
		       "user chain with undefined flags 0x4");
}

int main(void)
{
	test_chains();
	test_userchains();
	return verify_done();
}
