// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmclog verify finds an account that does not balance, or is of another log.
 */
#include "expect_verify.h"

/* Ends the log, with @delta in a field of its account; where the account is */
static size_t close_with(size_t field, int delta)
{
	unsigned char *p;
	size_t at = g.len;
	uint64_t v;

	lg_close(&g);
	p = g.buf + at + offsetof(struct pmclog_closelog, account) + field;
	memcpy(&v, p, 8);
	v += delta;
	memcpy(p, &v, 8);
	return at;
}

/* A log of 3 samples and 4 drops, whose account changes by @delta. */
static void test_account(size_t field, int delta, const char *what)
{
	begin();
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	lg_drop(&g, LG_PMC, 0, PMCLOG_DROP_CONTENDED, 4);
	lg_drop(&g, PMCLOG_PMCID_NONE, 0, PMCLOG_DROP_FULL, 5);
	expect(close_with(field, delta), what);
}

#define A(field) offsetof(struct pmclog_account, field)

static void test_accounts(void)
{
	const size_t dropped = A(dropped);

	test_account(A(overflows), 1, "account: 8 overflows, but 7 committed, "
		     "dropped or filtered");
	test_account(A(filtered), 1, "account: 7 overflows, but 8 committed, "
		     "dropped or filtered");
	test_account(dropped, 1, "account: 7 overflows, but 8 committed, "
		     "dropped or filtered");
	test_account(dropped + 24, -1, "account: 7 overflows, but "
		     "18446744073709551615 committed, dropped or filtered");
	test_account(A(written), -1, "account: 3 committed, but 2 written, "
		     "discarded or in rings");
	test_account(A(discarded), 1, "account: 3 committed, but 4 written, "
		     "discarded or in rings");
	test_account(A(in_rings), 1, "account: 3 committed, but 4 written, "
		     "discarded or in rings");
	test_account(A(proc_dropped), 1, "account: 6 process records dropped, "
		     "but 5 by the DROPNOTIFYs");

	/* laws kept, but the log tells another story */
	begin();
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	g.account.overflows++;
	g.account.committed++;
	g.account.written++;
	lg_close(&g);
	expect_last("account: 2 samples written, but 1 are in the log");

	begin();
	g.account.overflows += 2;
	g.account.dropped[PMCLOG_DROP_NORING] = 2;
	lg_close(&g);
	expect_last("account: 2 dropped (noring), but 0 by the DROPNOTIFYs");

	EXPECT_WRONG(lg_record(&g, PMCLOG_T_CLOSELOG, 16), "CLOSELOG without an account");
}

/* A log of a chain left for later, and of one that came, with that account. */
static void test_cut(size_t field, int delta, const char *what)
{
	static const uint64_t pc[] = { START, START + 16 };

	begin();
	lg_chain(&g, PID, LG_PMC, 0, PMCLOG_CC_USERSPACE | PMCLOG_CC_USERLATE,
		 1, START);
	lg_userchain(&g, PID, g.tsc - g.step, 2, pc);
	g.account.cut = 1;
	g.account.cut_by[PMCLOG_CUT_DEPTH] = 1;
	g.account.cut_by[PMCLOG_CUT_USER] = 1;
	expect_either(close_with(field, delta), what,
		      "ok: 5 records, 1 sample, 0 dropped, 1 PMC, 0.000 s\n");
}

/* What modules wrote before they told why chains are cut. */
static void test_old_account(int cut, int discarded, const char *what)
{
	const size_t len = offsetof(struct pmclog_closelog, account.cut_by);
	const uint32_t header = PMCLOG_HEADER(PMCLOG_T_CLOSELOG, len);
	size_t at;

	begin();
	lg_chain(&g, PID, LG_PMC, 0, 0, 1, START);
	g.account.cut = cut;
	g.account.written -= discarded;
	g.account.discarded = discarded;
	at = g.len;
	lg_close(&g);
	memcpy(g.buf + at, &header, sizeof(header));
	g.len = at + len;
	expect_either(at, what, "ok: 4 records, 1 sample, 0 dropped, 1 PMC, 0.000 s\n");
}

static void test_cuts(void)
{
	test_cut(A(cut), 0, NULL);
	test_cut(A(cut), 1, NULL);
	test_cut(A(late_answered), 1, NULL);
	test_cut(A(cut), 2, "account: 3 chains cut, but 2 for a cause");
	test_cut(A(cut_by[PMCLOG_CUT_USER]), 1, "account: 1 chains cut, but 2 "
		 "for one cause");
	test_cut(A(late), 1, "account: 2 chains left for later, but 1 are in "
		 "the log");
	test_cut(A(late), -1, "account: 0 chains left for later, but 1 are in "
		 "the log");
	test_cut(A(late_answered), -1, "account: 0 chains came later, but 1 "
		 "are in the log");
}

/* What samples say of their chains, against what the account does. */
static void test_cut_samples(void)
{
	size_t at;
	int said;

	for (said = 1; said <= 3; said++) {
		begin();
		lg_chain(&g, PID, LG_PMC, 0, PMCLOG_CC_USERSPACE |
			 PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH), 1, START);
		lg_chain(&g, PID, LG_PMC, 0, PMCLOG_CC_USERSPACE |
			 PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH), 1, START);
		g.account.cut = said;
		g.account.cut_by[PMCLOG_CUT_DEPTH] = said;
		at = g.len;
		lg_close(&g);
		if (said < 2)
			expect(at, "account: 1 chains cut (depth), but 2 "
			       "are in the log");
		else
			expect_ok("ok: 5 records, 2 samples, 0 dropped, "
				  "1 PMC, 0.000 s\n");
	}
}

int main(void)
{
	test_accounts();
	test_old_account(1, 0, NULL);
	test_old_account(0, 1, "account: 0 samples written, but 1 are in the log");
	test_cuts();
	test_cut_samples();
	return verify_done();
}
