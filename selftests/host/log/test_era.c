// SPDX-License-Identifier: BSD-2-Clause
/*
 * What tells eras and machines apart, record by record, and what is odd in one
 * of them.
 */
#include <string.h>

#include <pmclog.h>
#include <pmclog_iter.h>

#include "loggen_era.h"
#include "tap.h"

/* The log being made, and its last record as the library reads it. */
static struct loggen g;
static struct era e;
static struct pmclog_rec rec;
static struct pmclog_format f;

static void start(const char *name)
{
	lg_start(&g);
	abort_if(era_named(&e, &g, name));
}

static void begin(const char *name)
{
	start(name);
	era_init(&e);
}

/* The last record of the log, with the format it was found to have. */
static const char *last(void)
{
	static struct pmclog_iter *it;
	enum pmclog_iter_status status;

	pmclog_iter_close(it);
	it = pmclog_iter_mem(g.buf, g.len);
	do {
		status = pmclog_iter_next(it, &rec);
	} while (status == PMCLOG_ITER_RECORD && rec.offset + rec.stored < g.len);
	f = *pmclog_iter_format(it);
	return status == PMCLOG_ITER_RECORD ? NULL :
					      pmclog_iter_error(it, NULL);
}

static const char *text(size_t offset)
{
	return (const char *)rec.data + offset;
}

static uint64_t pc(unsigned int i)
{
	return pmclog_get64(rec.data + 32 + 8 * i);
}

/* A record that alone has to tell how long an address is. */
static void test_exec(const char *name, bool as_next, uint64_t base,
		      uint64_t dyn, const char *path)
{
	begin(name);
	/* the layout of the other era under the version of this one */
	if (as_next)
		e.era = e.era == 'B' ? 'C' : 'B';
	era_exec(&e, 7, PMCLOG_PMCID_NONE, base, dyn, path);
	if (e.era == 'B')
		dyn = 0;
	ok(!last() && f.word == e.word &&
	   PMCLOG_FIELD32(&rec, struct pmclog_procexec, pid) == 7 &&
	   PMCLOG_FIELD32(&rec, struct pmclog_procexec, pmcid) ==
		PMCLOG_PMCID_NONE &&
	   PMCLOG_FIELD64(&rec, struct pmclog_procexec, base) == base &&
	   PMCLOG_FIELD64(&rec, struct pmclog_procexec, dyn) == dyn &&
	   !strcmp(text(40), path),
	   "%s%s: exec of %s", name, as_next ? ", the other layout" : "",
	   path);
}

static void test_map(const char *name, uint64_t start, const char *path)
{
	begin(name);
	era_map_in(&e, 7, start, path);
	ok(!last() && f.word == e.word &&
	   PMCLOG_FIELD64(&rec, struct pmclog_map_in, start) == start &&
	   !strcmp(text(32), path), "%s: map-in of %s", name, path);
}

static void test_map_out(const char *name)
{
	begin(name);
	era_map_out(&e, 7, 0x8000, 0x9000);
	ok(!last() && f.word == e.word &&
	   PMCLOG_FIELD64(&rec, struct pmclog_map_out, end) == 0x9000,
	   "%s: map-out", name);
}

static void test_chain(const char *name, unsigned int n, const uint64_t *pcs)
{
	begin(name);
	era_chain(&e, 7, 1, 0x30001, n, pcs);
	ok(!last() && f.word == e.word && rec.len == 32 + 8 * n &&
	   PMCLOG_FIELD32(&rec, struct pmclog_callchain, cpuflags) == 0x30001 &&
	   pc(0) == pcs[0] && pc(n - 1) == pcs[n - 1],
	   "%s: chain of %u", name, n);
}

static void test_words(const char *name, bool wide)
{
	static const uint64_t low[] = { 0xC0812344, 0xC0912344, 0x8048120,
					0x8049120 };
	static const uint64_t high[] = { 0xFFFFFFFF80812344,
					 0xFFFFFFFF80912344, 0x2F4B08048120,
					 0x8049120 };
	const uint64_t *pcs = wide ? high : low;
	unsigned int n;

	for (n = 1; n <= 4; n++)
		test_chain(name, n, pcs);
	test_map(name, wide ? 0x2F4B12345000 : 0x12345000, "/usr/lib/x.so");
	test_map(name, wide ? 0xFFFFFFFF80200000 : 0xC0400000, "kernel");
	test_map(name, 0x1000, "/a");
	test_map(name, 0x1000, "/usr");
	test_map_out(name);
	if (*name == 'A')
		return;
	test_exec(name, false, 0x28050000, 0x8048000, "/bin/sh");
	test_exec(name, false, 0x28050000, 0, "/sh");
	test_exec(name, false, 0, 0, "/sbin/init");
	if (wide)
		test_exec(name, true, 0x2F4B12345060, 0x2F4B00000000, "/bin/sh");
	if (wide)
		test_exec(name, true, 0x28050060, 0x8048000, "/usr/bin/x");
}

/* Where the name of an event begins depends on who wrote it. */
static void test_name(const char *name, bool rate_first, uint64_t rate,
		      const char *event)
{
	char want[64];
	bool good;

	begin(name);
	e.rate = rate_first;
	era_allocatedyn(&e, 0x123, event, rate);
	/* 56 bytes are there, and a NUL is needed */
	snprintf(want, rate_first ? 56 : sizeof(want), "%s", event);
	good = !last() && !strcmp(text(32), want) &&
	       PMCLOG_FIELD32(&rec, struct pmclog_pmcallocatedyn, pmcid) ==
			0x123 &&
	       rec.len == (rate_first ? 104 : 96);
	if (good && rate_first)
		good = pmclog_get64(rec.data + 96) == rate;
	ok(good, "%s: %s %s", name, event, rate_first ? "behind its rate" :
							"alone");
}

static void test_names(const char *name)
{
	static const char sixty[] = "A.name.of.sixty.characters.as.no.event."
				    "of.FreeBSD.has.ever.0";

	test_name(name, true, 1000, "PAGE_FAULT.ALL");
	test_name(name, true, 0, "cycles");
	/* whose bytes are characters: "@B\17", "AB", "ABCDE" */
	test_name(name, true, 1000000, "cycles");
	test_name(name, true, 0x4241, "x");
	test_name(name, true, 0x4544434241, "cycles");
	test_name(name, true, 65536, sixty);
	test_name(name, false, 0, "x");
	test_name(name, false, 0, "LOCK.FAILED");
	test_name(name, false, 0, sixty);
}

#define PARTS(a, an, b, bn) \
	((a) | (an) << 8 | (uint64_t)(b) << 16 | (uint64_t)(bn) << 24)

static void test_parts(const char *what, unsigned int n, const uint64_t *words,
		       unsigned int npc, uint64_t first, const char *error)
{
	const char *got;
	bool good;

	begin("C-le-64");
	era_chain(&e, 7, 1, 0x50002, n, words);
	got = last();
	if (error)
		good = got && !strcmp(got, error);
	else
		good = !got && rec.len == 32 + 8 * npc &&
		       PMCLOG_FIELD32(&rec, struct pmclog_callchain,
				      cpuflags) == 0x50000 &&
		       (!npc || pc(0) == first);
	ok(good, "%s", what);
}

static void test_multipart(void)
{
	static const char room[] = "sample of more parts than it has room for";
	uint64_t w[16] = { PARTS(3, 9, 1, 3), 1, 0xFFFFFFFF81234567 };

	w[10] = 0xFFFFFFFF80000010;
	w[12] = 0xFFFFFFFF80000030;
	test_parts("a chain behind what the hardware tells", 13, w, 3, w[10],
		   NULL);
	w[0] = PARTS(3, 9, 0, 0);
	test_parts("without one, where the operation was", 10, w, 1, w[2],
		   NULL);
	w[0] = PARTS(2, 4, 0, 0);
	w[3] = 0x4000;
	test_parts("or the fetch", 5, w, 1, 0x4000, NULL);
	w[0] = PARTS(9, 2, 1, 1);
	test_parts("a part of an unknown kind", 4, w, 1, 0x4000, NULL);
	w[0] = 0;
	test_parts("no parts", 3, w, 0, 0, NULL);
	w[0] = PARTS(3, 9, 1, 3);
	test_parts("fewer words than the parts have", 9, w, 0, 0, room);
	test_parts("not even the parts' lengths", 0, w, 0, 0, room);
}

static void test_old(void)
{
	const char *const names[] = { "A-le-64", "A-be-32" };
	size_t i;

	for (i = 0; i < 2; i++) {
		begin(names[i]);
		era_pcsample(&e, 7, 0xC0801234, 0x123, 1);
		ok(!last() && f.word == e.word &&
		   rec.type == PMCLOG_T_CALLCHAIN && rec.len == 40 &&
		   pc(0) == 0xC0801234 &&
		   PMCLOG_FIELD32(&rec, struct pmclog_callchain, pmcid) ==
			0x123 &&
		   PMCLOG_FIELD32(&rec, struct pmclog_callchain, cpuflags) ==
			PMCLOG_CC_USERSPACE, "%s: PCSAMPLE", names[i]);
		begin(names[i]);
		g.tsc = ERA_SEC * 1000000000 + 999999999;
		era_exit(&e, 7);
		ok(!last() && f.era == PMCLOG_ERA_A &&
		   f.freq == 1000000000 && !f.word && rec.tsc ==
			ERA_SEC * 1000000000 + (999999999 & 0x0FFFFFFF),
		   "%s: nanoseconds are cut", names[i]);
	}
	begin("A-le-64");
	era_exit(&e, 7);
	g.buf[22] = 3;		/* MAPPINGCHANGE */
	ok(!last() && rec.type == 4 && rec.len == 16,
	   "a record of unknown layout is of an unknown type");
}

static void test_clock(void)
{
	start("B-be-64");
	e.freq = 2399999999;
	g.tsc = 0x123456789ABCDEF0;
	era_init(&e);
	ok(!last() && f.freq == 2399999999 && f.big_endian &&
	   f.version == 0x09030000 && f.era == PMCLOG_ERA_B && !f.ours &&
	   rec.tsc == 0x123456789ABCDEF0, "clock and format of INITIALIZE");
	lg_make(&g, "small");
	ok(!last() && f.ours && f.era == PMCLOG_ERA_C &&
	   f.word == 8 && !f.big_endian, "a log of ours");
}

/* pmclog(3) does not know of eras. */
static void test_events(const char *name)
{
	static struct pmclog_ev ev;
	unsigned int samples = 0, user = 0, npc = 0;
	bool map = false, out = false, csw = false, attach = false;
	void *ps = pmclog_open(PMCLOG_FD_NONE);

	lg_make(&g, name);
	abort_if(pmclog_feed(ps, (char *)g.buf, (int)g.len));
	while (!pmclog_read(ps, &ev)) {
		switch (ev.pl_type) {
		case PMCLOG_TYPE_CALLCHAIN:
			samples++;
			user += PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(
					ev.pl_u.pl_cc.pl_cpuflags);
			npc += ev.pl_u.pl_cc.pl_npc;
			break;
		case PMCLOG_TYPE_MAP_IN:
			map |= ev.pl_u.pl_mi.pl_pid == -1 &&
			       ev.pl_u.pl_mi.pl_start == ERA_KERNEL &&
			       !strcmp(ev.pl_u.pl_mi.pl_pathname,
				       "/boot/kernel/kernel");
			break;
		case PMCLOG_TYPE_MAP_OUT:
			out |= ev.pl_u.pl_mo.pl_end == 0x28070000;
			break;
		case PMCLOG_TYPE_PROCCSW:
			csw |= ev.pl_u.pl_c.pl_value == 0x123456789AULL &&
			       ev.pl_u.pl_c.pl_pid == 1001;
			break;
		case PMCLOG_TYPE_PMCATTACH:
			attach |= !strcmp(ev.pl_u.pl_t.pl_pathname,
					  "/no/bin/sh");
			break;
		default:
			break;
		}
	}
	ok(ev.pl_state == PMCLOG_EOF && ev.pl_type == PMCLOG_TYPE_CLOSELOG &&
	   samples == 20 && user == 10 && npc == 77 && map && out && csw &&
	   attach && ev.pl_ts.tv_sec == (time_t)ERA_SEC &&
	   ev.pl_ts.tv_nsec > 5000, "%s: events", name);
	pmclog_close(ps);
}

int main(void)
{
	static const char *const names[] = {
		"A-le-64", "A-be-64", "B-le-64", "B-be-64", "C-le-64",
		"C-be-64", "A-le-32", "A-be-32", "B-le-32", "B-be-32",
		"C-le-32", "C-be-32", "B-le-i386", "C-be-i386",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		test_words(names[i], !strcmp(names[i] + 5, "64"));
		if (*names[i] != 'A')
			test_names(names[i]);
		test_events(names[i]);
	}
	test_multipart();
	test_old();
	test_clock();
	return done();
}
