// SPDX-License-Identifier: BSD-2-Clause
/* pmclog(3): events, states, feeding. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <pmclog.h>

#include "loggen.h"
#include "tap.h"

/* The log of the test that runs */
static struct loggen g;

/* Reads on to the next event of @type; what came between is skipped. */
static bool next_of(void *ps, struct pmclog_ev *ev, enum pmclog_type type)
{
	ev->pl_state = PMCLOG_ERROR;
	while (!pmclog_read(ps, ev))
		if (ev->pl_type == type)
			return ev->pl_state == PMCLOG_OK &&
			       ev->pl_data && ev->pl_len >= 16 &&
			       ((unsigned char *)ev->pl_data)[2] == type;
	return false;
}

static void *open_fed(void)
{
	void *ps = pmclog_open(PMCLOG_FD_NONE);

	abort_if(!ps || pmclog_feed(ps, (char *)g.buf, g.len));
	return ps;
}

static void test_system_events(void *ps, struct pmclog_ev *ev)
{
	ok(next_of(ps, ev, PMCLOG_TYPE_INITIALIZE) && ev->pl_offset == 0 &&
	   ev->pl_count == 1 && ev->pl_len == 112 &&
	   ev->pl_u.pl_i.pl_version == PMC_VERSION &&
	   ev->pl_u.pl_i.pl_arch == PMC_CPU_GENERIC &&
	   ev->pl_u.pl_i.pl_tsc_freq == 1000000000 &&
	   ev->pl_u.pl_i.pl_ts.tv_sec == 1767225600 &&
	   !strcmp(ev->pl_u.pl_i.pl_cpuid, "GenuineIntel-6-8F-8"),
	   "INITIALIZE");
	ok(next_of(ps, ev, PMCLOG_TYPE_USERDATA) && ev->pl_offset == 112 &&
	   ev->pl_count == 2 && ev->pl_u.pl_u.pl_userdata == PMCLOG_EXT_COOKIE,
	   "an extension is USERDATA, and has its own offset");
	ok(next_of(ps, ev, PMCLOG_TYPE_MAP_IN) &&
	   ev->pl_u.pl_mi.pl_pid == -1 &&
	   ev->pl_u.pl_mi.pl_start == 0xffffffff81000000ULL &&
	   !strcmp(ev->pl_u.pl_mi.pl_pathname, "[kernel]"), "MAP_IN");
	ok(next_of(ps, ev, PMCLOG_TYPE_PMCALLOCATEDYN) &&
	   ev->pl_u.pl_ad.pl_pmcid == LG_PMC &&
	   ev->pl_u.pl_ad.pl_event == 0x20000 &&
	   ev->pl_u.pl_ad.pl_flags ==
		(PMC_F_CALLCHAIN | PMC_F_USERCALLCHAIN) &&
	   !strcmp(ev->pl_u.pl_ad.pl_evname, "cpu-clock"), "PMCALLOCATEDYN");
	ok(next_of(ps, ev, PMCLOG_TYPE_PROC_CREATE) &&
	   ev->pl_u.pl_pc.pl_pid == 1000 && !ev->pl_u.pl_pc.pl_flags &&
	   !strcmp(ev->pl_u.pl_pc.pl_pcomm, "bash"), "PROC_CREATE");
	ok(next_of(ps, ev, PMCLOG_TYPE_PROCFORK) &&
	   ev->pl_u.pl_f.pl_oldpid == 1000 && ev->pl_u.pl_f.pl_newpid == 1001,
	   "PROCFORK");
	ok(next_of(ps, ev, PMCLOG_TYPE_PROCEXEC) &&
	   ev->pl_u.pl_x.pl_pid == 1001 &&
	   ev->pl_u.pl_x.pl_pmcid == PMC_ID_INVALID &&
	   ev->pl_u.pl_x.pl_baseaddr == 0x7ffff7fc0000ULL &&
	   ev->pl_u.pl_x.pl_dynaddr == 0x555555555000ULL &&
	   !strcmp(ev->pl_u.pl_x.pl_pathname, "/usr/bin/gzip"), "PROCEXEC");
	ok(next_of(ps, ev, PMCLOG_TYPE_THR_CREATE) &&
	   ev->pl_u.pl_tc.pl_tid == 1002 && ev->pl_u.pl_tc.pl_pid == 1001 &&
	   !strcmp(ev->pl_u.pl_tc.pl_tdname, "worker"), "THR_CREATE");
	ok(next_of(ps, ev, PMCLOG_TYPE_USERDATA) &&
	   ev->pl_u.pl_u.pl_userdata == 0xCAFE, "USERDATA");
}

static void test_samples(void *ps, struct pmclog_ev *ev)
{
	const struct pmclog_ev_callchain *cc = &ev->pl_u.pl_cc;

	ok(next_of(ps, ev, PMCLOG_TYPE_CALLCHAIN) && cc->pl_npc == 1 &&
	   !PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(cc->pl_cpuflags) &&
	   cc->pl_pc[0] == 0xffffffff81001234ULL, "CALLCHAIN in the kernel");
	ok(next_of(ps, ev, PMCLOG_TYPE_CALLCHAIN) && cc->pl_npc == 2 &&
	   cc->pl_pid == 1001 && cc->pl_tid == 1002 &&
	   cc->pl_pmcid == LG_PMC && !cc->pl_cpuflags2 &&
	   PMC_CALLCHAIN_CPUFLAGS_TO_CPU(cc->pl_cpuflags) == 1 &&
	   PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(cc->pl_cpuflags) &&
	   cc->pl_pc[1] == 0x555555556010ULL, "CALLCHAIN in user mode");
	ok(ev->pl_ts.tv_sec == 1767225601 && ev->pl_ts.tv_nsec == 24000,
	   "wall clock carries into the next second");
	ok(next_of(ps, ev, PMCLOG_TYPE_DROPNOTIFY) &&
	   ev->pl_u.pl_dn.pl_pmcid == LG_PMC && ev->pl_u.pl_dn.pl_cpu == 1 &&
	   ev->pl_u.pl_dn.pl_ndropped == 12, "DROPNOTIFY");
}

static void test_process_events(void *ps, struct pmclog_ev *ev)
{
	ok(next_of(ps, ev, PMCLOG_TYPE_PMCALLOCATE) &&
	   ev->pl_u.pl_a.pl_pmcid == 0xFFF30F07U &&
	   ev->pl_u.pl_a.pl_rate == 65536 && ev->pl_u.pl_a.pl_flags == 0xC &&
	   !strcmp(ev->pl_u.pl_a.pl_evname, "0x7001"), "PMCALLOCATE");
	ok(next_of(ps, ev, PMCLOG_TYPE_PMCATTACH) &&
	   ev->pl_u.pl_t.pl_pmcid == 0xFFF30F07U &&
	   ev->pl_u.pl_t.pl_pid == 1001 &&
	   !strcmp(ev->pl_u.pl_t.pl_pathname, "/usr/bin/sleep"), "PMCATTACH");
	ok(next_of(ps, ev, PMCLOG_TYPE_PROCCSW) &&
	   ev->pl_u.pl_c.pl_pmcid == 0xFFF30F07U &&
	   ev->pl_u.pl_c.pl_pid == 1001 && ev->pl_u.pl_c.pl_tid == 1002 &&
	   ev->pl_u.pl_c.pl_value == 0x123456789AULL, "PROCCSW");
	ok(next_of(ps, ev, PMCLOG_TYPE_PMCDETACH) &&
	   ev->pl_u.pl_d.pl_pmcid == 0xFFF30F07U &&
	   ev->pl_u.pl_d.pl_pid == 1001, "PMCDETACH");
	ok(next_of(ps, ev, PMCLOG_TYPE_PROCEXIT) &&
	   ev->pl_u.pl_e.pl_pmcid == 0xFFF30F07U &&
	   ev->pl_u.pl_e.pl_pid == 1001 &&
	   ev->pl_u.pl_e.pl_value == 99999999999ULL, "PROCEXIT");
	ok(next_of(ps, ev, PMCLOG_TYPE_MAP_OUT) &&
	   ev->pl_u.pl_mo.pl_pid == 1001 &&
	   ev->pl_u.pl_mo.pl_start == 0x555555555000ULL &&
	   ev->pl_u.pl_mo.pl_end == 0x555555567000ULL, "MAP_OUT");
	ok(next_of(ps, ev, PMCLOG_TYPE_THR_EXIT) &&
	   ev->pl_u.pl_te.pl_tid == 1002, "THR_EXIT");
	ok(next_of(ps, ev, PMCLOG_TYPE_SYSEXIT) &&
	   ev->pl_u.pl_se.pl_pid == 1001, "SYSEXIT");
}

static void test_events(void)
{
	struct pmclog_ev ev;
	size_t count;
	void *ps;

	lg_make(&g, "full");
	ps = open_fed();
	test_system_events(ps, &ev);
	test_samples(ps, &ev);
	test_process_events(ps, &ev);
	while (!pmclog_read(ps, &ev))
		;
	count = ev.pl_count;
	ok(ev.pl_state == PMCLOG_EOF && ev.pl_type == PMCLOG_TYPE_CLOSELOG,
	   "CLOSELOG is the end");
	ok(pmclog_read(ps, &ev) == -1 && ev.pl_state == PMCLOG_REQUIRE_DATA &&
	   ev.pl_count == count, "behind it the parser wants data");
	pmclog_close(ps);
}

static void test_two_logs(void)
{
	struct pmclog_ev ev;
	void *ps;
	int fd;

	lg_make(&g, "twice");
	fd = lg_file(g.buf, g.len);
	ps = pmclog_open(fd);
	while (!pmclog_read(ps, &ev))
		;
	ok(ev.pl_state == PMCLOG_EOF && ev.pl_count == 5, "the first log ends");
	ok(!pmclog_read(ps, &ev) && ev.pl_type == PMCLOG_TYPE_INITIALIZE &&
	   ev.pl_offset == 572 && ev.pl_count == 6,
	   "reading on gives the second");
	while (!pmclog_read(ps, &ev))
		;
	ev.pl_count = 0;
	ok(pmclog_read(ps, &ev) == -1 && ev.pl_state == PMCLOG_EOF &&
	   !ev.pl_data && !ev.pl_len && !ev.pl_type && !ev.pl_offset &&
	   !ev.pl_ts.tv_sec && ev.pl_count == 65,
	   "then the file ends");
	pmclog_close(ps);
	close(fd);
}

static void test_truncated(void)
{
	struct pmclog_ev ev;
	void *ps;
	int fd;

	lg_make(&g, "small");
	fd = lg_file(g.buf, 130);
	ps = pmclog_open(fd);
	ok(!pmclog_read(ps, &ev) && pmclog_read(ps, &ev) == -1 &&
	   ev.pl_state == PMCLOG_ERROR && ev.pl_offset == 112 &&
	   ev.pl_count == 1, "a cut record is an error, with its offset");
	ok(pmclog_read(ps, &ev) == -1 && ev.pl_state == PMCLOG_ERROR,
	   "and stays one");
	ok(pmclog_feed(ps, (char *)g.buf, 1) == -1 && errno == EINVAL,
	   "a parser of a file can't be fed");
	pmclog_close(ps);
	close(fd);
}

static void test_feeding(void)
{
	struct pmclog_ev ev;
	size_t i, n = 0;
	void *ps = pmclog_open(PMCLOG_FD_NONE);

	lg_make(&g, "small");
	ok(pmclog_read(ps, &ev) == -1 && ev.pl_state == PMCLOG_REQUIRE_DATA,
	   "a new parser wants data");
	ok(pmclog_feed(ps, (char *)g.buf, -1) == -1 && errno == EINVAL,
	   "a negative length is refused");
	ok(!pmclog_feed(ps, NULL, 0) && pmclog_read(ps, &ev) == -1 &&
	   ev.pl_state == PMCLOG_REQUIRE_DATA, "no bytes may be fed");
	ok(!pmclog_feed(ps, (char *)g.buf, 232) &&
	   pmclog_feed(ps, (char *)g.buf, 1) == -1 && errno == EBUSY,
	   "feeding before all was read is refused");
	ok(!pmclog_read(ps, &ev) && pmclog_feed(ps, (char *)g.buf, 1) == -1 &&
	   errno == EBUSY, "also when a part was read");
	ok(!pmclog_read(ps, &ev) && !pmclog_feed(ps, (char *)g.buf, 0),
	   "until all was read");
	for (i = 232; i < g.len; i++) {
		if (pmclog_feed(ps, (char *)g.buf + i, 1))
			break;
		while (!pmclog_read(ps, &ev))
			n++;
	}
	ok(i == g.len && n == 3, "byte by byte");
	ok(ev.pl_state == PMCLOG_EOF && !pmclog_feed(ps, (char *)g.buf, (int)g.len) &&
	   !pmclog_read(ps, &ev) && ev.pl_type == PMCLOG_TYPE_INITIALIZE,
	   "another log after the end of one");
	pmclog_close(ps);
	pmclog_close(NULL);
}

/* What fits the format but not the event. */
static void test_limits(void)
{
	static char path[5001];
	struct pmclog_ev ev;
	off_t at;
	void *ps;

	memset(path, 'p', sizeof(path) - 1);
	lg_begin(&g);
	lg_record(&g, PMCLOG_T_DROPNOTIFY, 16);
	lg_exit(&g, 1);
	lg_map_in(&g, 0, 0, path);
	lg_chain(&g, 1, LG_PMC, 0, 0, PMC_CALLCHAIN_DEPTH_MAX, 0);
	lg_chain(&g, 1, LG_PMC, 0, 0, PMC_CALLCHAIN_DEPTH_MAX + 1, 0);
	lg_exit(&g, 1);
	ps = open_fed();
	ok(next_of(ps, &ev, PMCLOG_TYPE_DROPNOTIFY) &&
	   !ev.pl_u.pl_dn.pl_pmcid && !ev.pl_u.pl_dn.pl_ndropped,
	   "a DROPNOTIFY without our fields");
	ok(next_of(ps, &ev, PMCLOG_TYPE_MAP_IN) &&
	   strlen(ev.pl_u.pl_mi.pl_pathname) == PATH_MAX - 1,
	   "a path too long is cut");
	ok(!pmclog_read(ps, &ev) &&
	   ev.pl_u.pl_cc.pl_npc == PMC_CALLCHAIN_DEPTH_MAX, "512 pcs");
	at = ev.pl_offset + ev.pl_len;
	ok(pmclog_read(ps, &ev) == -1 && ev.pl_state == PMCLOG_ERROR &&
	   ev.pl_count == 5 && ev.pl_offset == at, "513 pcs are an error");
	ev.pl_offset = 0;
	ok(pmclog_read(ps, &ev) == -1 && ev.pl_state == PMCLOG_ERROR &&
	   ev.pl_offset == at, "which stays");
	pmclog_close(ps);

	lg_begin(&g);
	lg_chain(&g, 1, LG_PMC, 0, 0, PMC_CALLCHAIN_DEPTH_MAX + 1, 0);
	ps = open_fed();
	ok(!pmclog_read(ps, &ev) && pmclog_read(ps, &ev) == -1 && ev.pl_state == PMCLOG_ERROR &&
	   pmclog_feed(ps, (char *)g.buf, 1) == -1 && errno == EBUSY,
	   "and nothing can be fed after it");
	pmclog_close(ps);
}

/* FreeBSD's programs may read the first pc of any sample, or up to a 0. */
static void test_no_pcs(void)
{
	static const uint64_t zeros[PMC_CALLCHAIN_DEPTH_MAX];
	struct pmclog_ev ev;
	void *ps;

	lg_begin(&g);
	lg_chain(&g, 1, LG_PMC, 0, 0, 9, 0x1000);
	lg_chain(&g, 1, LG_PMC, 0, 0, 0, 0);
	ps = open_fed();
	memset(&ev, 0xAA, sizeof(ev));
	ok(next_of(ps, &ev, PMCLOG_TYPE_CALLCHAIN) && ev.pl_u.pl_cc.pl_npc == 9 &&
	   ev.pl_u.pl_cc.pl_pc[8] &&
	   !memcmp(ev.pl_u.pl_cc.pl_pc + 9, zeros, sizeof(zeros) - 9 * sizeof(zeros[0])),
	   "zeros behind the pcs");
	ok(next_of(ps, &ev, PMCLOG_TYPE_CALLCHAIN) && !ev.pl_u.pl_cc.pl_npc &&
	   !memcmp(ev.pl_u.pl_cc.pl_pc, zeros, sizeof(zeros)), "a sample without pcs");
	pmclog_close(ps);
}

/* Sets a 64-bit field of the INITIALIZE record. */
static void set_init(size_t offset, uint64_t v)
{
	memcpy(g.buf + offset, &v, sizeof(v));
}

static struct timespec time_at(uint64_t freq, uint64_t sec, uint64_t nsec,
			       uint64_t tsc0, uint64_t tsc)
{
	struct pmclog_ev ev;
	void *ps;

	lg_start(&g);
	g.tsc = tsc0;
	lg_init(&g);
	g.tsc = tsc;
	lg_exit(&g, 1);
	set_init(offsetof(struct pmclog_initialize, tsc_freq), freq);
	set_init(offsetof(struct pmclog_initialize, ts_sec), sec);
	set_init(offsetof(struct pmclog_initialize, ts_nsec), nsec);
	ps = open_fed();
	pmclog_read(ps, &ev);
	abort_if(pmclog_read(ps, &ev));
	pmclog_close(ps);
	return ev.pl_ts;
}

static void test_clock(void)
{
	struct timespec ts;

	ts = time_at(3000000000ULL, 100, 500000000, 3000, 3000000003000ULL);
	ok(ts.tv_sec == 1100 && ts.tv_nsec == 500000000, "a 3 GHz clock");
	ts = time_at(3, 100, 500000000, 0, 1);
	ok(ts.tv_sec == 100 && ts.tv_nsec == 833333333, "a 3 Hz clock");
	ts = time_at(1000000000, 100, 5, 1000, 0);
	ok(ts.tv_sec == 99 && ts.tv_nsec == 999999005, "before INITIALIZE");
	ts = time_at(1000000000, 100, 5, 2000000000, 0);
	ok(ts.tv_sec == 98 && ts.tv_nsec == 5, "whole seconds before it");
	ts = time_at(0, 100, 5, 0, 1000);
	ok(ts.tv_sec == 100 && ts.tv_nsec == 5, "a clock of no frequency");
	ts = time_at(1, UINT64_MAX >> 1, 999999999, 0, UINT64_MAX);
	ok(ts.tv_nsec == 999999999, "more seconds than there are");
	ts = time_at(UINT64_MAX, 1, UINT64_MAX, 0, UINT64_MAX - 1);
	ok(ts.tv_nsec >= 0 && ts.tv_nsec < 1000000000, "wild frequency");
}

int main(void)
{
	test_events();
	test_two_logs();
	test_truncated();
	test_feeding();
	test_limits();
	test_no_pcs();
	test_clock();
	return done();
}
