// SPDX-License-Identifier: BSD-2-Clause
/* The whole logs that several tests use. */
#include <string.h>

#include <linux/hwpmc.h>
#include <linux/perf_event.h>

#include <pmclog_wire.h>

#include "loggen.h"
#include "loggen_era.h"

#define KERNEL	0xffffffff81000000ULL
#define TEXT	0x555555555000ULL

static void make_small(struct loggen *g)
{
	lg_init(g);
	lg_allocatedyn(g, LG_PMC, "cpu-clock", 1000000, -2);
	lg_map_in(g, 100, TEXT, "/bin/true");
	lg_mapping(g, 100, TEXT, 0x3000, 0x1000);
	lg_chain(g, 100, LG_PMC, 0, PMCLOG_CC_USERSPACE, 1, TEXT + 0x40);
	lg_close(g);
}

static void kernel_map(struct loggen *g)
{
	lg_host(g, "6.12.57+deb13-cloud-amd64", "debian");
	lg_clock(g);
	lg_kernel(g, KERNEL + 0x1000, "register_kprobe");
	lg_map_in(g, PMCLOG_PID_KERNEL, KERNEL, "[kernel]");
	lg_mapping(g, PMCLOG_PID_KERNEL, KERNEL, 0x1400000, 0);
	lg_buildid(g, 20, "[kernel]");
	lg_map_in(g, PMCLOG_PID_KERNEL, 0xffffffffc0200000ULL, "ext4");
	lg_module(g, 0xffffffffc0200000ULL, 0x90000, "ext4");
	lg_section(g, 0xffffffffc0200000ULL, "ext4", ".text");
	lg_section(g, 0xffffffffc0280000ULL, "ext4", ".init.text");
}

/* One of FreeBSD's, which counts in a process. */
static void process_mode(struct loggen *g, uint32_t pid)
{
	const uint32_t pmcid = 0xFFF30F07U;

	LG_RECORD(g, PMCALLOCATE, wire_allocate, .pmcid = pmcid, .event = 0x7001,
		  .flags = 0xC, .rate = 65536);
	lg_attach(g, pmcid, pid, "/usr/bin/sleep");
	lg_csw(g, pmcid, pid, pid + 1, 0x123456789AULL);
	lg_detach(g, pmcid, pid);
	lg_procexit(g, pmcid, pid, 99999999999ULL);
}

/* A tracepoint with its fields, and one of whose fields nothing is told. */
static void tracepoints(struct loggen *g, uint32_t pid)
{
	static const struct {
		uint16_t type;
		uint8_t flags, preempt;
		int32_t pid;
		char comm[8];
		int64_t delta;
		uint64_t ptr;
		uint32_t loc;
		char path[12];
	} __attribute__((packed)) raw = {
		317, 1, 0, 1000, "a b", -5, KERNEL, 12 << 16 | 36, "/bin/true",
	};
	const uint32_t told = 0xFFF00F02, untold = 0xFFF00F03;

	lg_tracepoint(g, told, "test:told", 317);
	lg_tracepoint(g, untold, "test:untold", 318);
	lg_fields(g, 317,
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\t"
		"signed:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:s64 delta;\toffset:16;\tsize:8;\tsigned:1;\n"
		"\tfield:void * ptr;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] path;\toffset:32;\tsize:4;\t"
		"signed:0;\n");
	lg_recording(g, 1, 2, 1234);
	lg_chain(g, pid, told, 0, 0, 2, KERNEL + 0x1234);
	lg_raw(g, told, pid + 1, &raw, sizeof(raw), sizeof(raw));
	lg_chain(g, pid, told, 0, 0, 2, KERNEL + 0x1234);
	lg_raw(g, told, pid + 1, &raw, 26, sizeof(raw));
	lg_chain(g, pid, untold, 0, 0, 2, KERNEL + 0x1234);
	lg_raw(g, untold, pid + 1, &raw, 5, 5);
	lg_recording(g, 0, 2, 0);
	lg_snapshot(g, PMCLOG_SNAPSHOT_EXIT, PMCLOG_PMCID_NONE, pid, 0x100,
		    g->tsc - 2 * g->step, g->tsc - 9 * g->step);
}

/* Every type of record and of extension. */
static void make_full(struct loggen *g)
{
	static const uint64_t late[] = {
		KERNEL + 0x1234, TEXT + 0x1000, TEXT + 0x1400, TEXT + 0x2000,
	};
	uint32_t pid = 1000;
	uint64_t first;
	int i;

	lg_init(g);
	kernel_map(g);
	lg_allocatedyn(g, LG_PMC, "cpu-clock", 1000000, -2);
	lg_allocatedyn(g, 0x00100F01, "page-faults", 0, 0);
	lg_proc_create(g, pid, "bash");
	lg_thr_create(g, pid, pid, "bash");
	lg_map_in(g, pid, TEXT, "/usr/bin/bash");
	lg_mapping(g, pid, TEXT, 0xde000, 0x2f000);
	lg_fork(g, pid, pid + 1);
	lg_exec(g, pid + 1, PMCLOG_PMCID_NONE, 0x7ffff7fc0000ULL, TEXT,
		"/usr/bin/gzip");
	lg_map_in(g, pid + 1, TEXT, "/usr/bin/gzip");
	lg_mapping(g, pid + 1, TEXT, 0x12000, 0x3000);
	lg_proc_create(g, pid + 1, "gzip");
	lg_thr_create(g, pid + 2, pid + 1, "worker");
	lg_userdata(g, 0xCAFE);
	for (i = 0; i < 8; i++)
		lg_chain(g, pid + i % 2, LG_PMC, i % 2,
			 i % 4 ? PMCLOG_CC_USERSPACE : 0, 1 + i,
			 i % 4 ? TEXT + 0x1000 : KERNEL + 0x1234);
	first = g->tsc;
	lg_stack(g, pid, LG_PMC, 0, PMCLOG_CC_USERLATE, 2, late);
	lg_userchain(g, pid, first, 3, late + 1);
	tracepoints(g, pid);
	lg_drop(g, LG_PMC, 1, PMCLOG_DROP_FULL, 12);
	lg_drop(g, LG_PMC, 0, PMCLOG_DROP_NESTED, 1);
	lg_drop(g, PMCLOG_PMCID_NONE, 0, PMCLOG_DROP_FULL, 3);
	process_mode(g, pid + 1);
	lg_map_out(g, pid + 1, TEXT, TEXT + 0x12000);
	lg_thr_exit(g, pid + 2);
	lg_exit(g, pid + 1);
	lg_rate(g, LG_PMC, 0, 12, 10);
	lg_rate(g, LG_PMC, 1, 12, 11);
	lg_clock(g);
	g->account.overflows += 2;
	g->account.filtered = 2;
	g->account.proc_committed = 14;
	g->account.made = 20;
	g->account.cut = 1;
	g->account.cut_by[PMCLOG_CUT_DEPTH] = 1;
	g->account.throttled = 2;
	lg_close(g);
}

/* Strings that are no good for terminals, JSON or shells. */
static void make_strings(struct loggen *g)
{
	static const char *const paths[] = {
		"", "/tmp/a b", "/tmp/\"quoted\"\\", "/tmp/new\nline\ttab\r",
		"/tmp/\033[2J\033]0;title\007", "/tmp/\x7f\xc2\x9b" "31m",
		"/tmp/caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7",
		"/tmp/bad\xff\xfe\xc3", "/tmp/over\xc0\xafslash",
		"/tmp/half\xed\xa0\x80", "/tmp/\xf4\x90\x80\x80",
		"/tmp/rtl\xe2\x80\xaegpj.exe", "/tmp/x (deleted)",
	};
	size_t i;

	lg_init(g);
	lg_allocatedyn(g, LG_PMC, "ev\"\\\x01\xff", 1, -2);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		lg_map_in(g, 1 + i, 0x1000, paths[i]);
	lg_proc_create(g, 7, "nineteen.characters");
	lg_thr_create(g, 8, 7, "\xf0\x9f\x90");
	lg_close(g);
}

static void make_samples(struct loggen *g, unsigned int n)
{
	unsigned int i;

	lg_init(g);
	lg_allocatedyn(g, LG_PMC, "cpu-clock", 1000000, -2);
	for (i = 0; i < n; i++)
		lg_chain(g, 100 + i % 50, LG_PMC, i % 4,
			 i % 3 ? PMCLOG_CC_USERSPACE : 0, 1 + i % 20, TEXT);
	lg_close(g);
}

/* Callers that return, and all that the writer of packs has to tell apart. */
static void make_stacks(struct loggen *g)
{
	uint64_t pcs[60];
	unsigned int i, n;

	lg_init(g);
	lg_allocatedyn(g, LG_PMC, "cpu-clock", 1000000, -2);
	lg_allocatedyn(g, 0x00100F01, "page-faults", 1, 0);
	for (i = 0; i < 60; i++)
		pcs[i] = (i < 4 ? KERNEL : TEXT) + 0x1000 * (60 - i);
	for (i = 0; i < 60; i++) {
		n = i % 7 ? 20 : 3 + i % 13;
		pcs[60 - n] += 4;	/* goes on in the same function */
		if (i % 11 == 0)
			pcs[60 - n + 1 + i % 2] ^= 0x100;	/* or another */
		lg_stack(g, 100 + i % 3, i % 5 ? LG_PMC : 0x00100F01, i % 2,
			 i % 4 ? PMCLOG_CC_USERSPACE : 0, n, pcs + 60 - n);
		if (i % 20 == 19)
			lg_drop(g, LG_PMC, 1, PMCLOG_DROP_FULL, 2);
		if (i == 30)
			g->tsc += 3000000000ULL;	/* too far for a pack */
	}
	lg_close(g);
}

static void pack(struct loggen *g, void (*make)(struct loggen *plain))
{
	struct loggen plain = { 0 };

	lg_start(&plain);
	make(&plain);
	lg_pack(g, &plain, 32);
	lg_free(&plain);
}

/*
 * Two threads on two CPUs: of the first thread 30 samples of 1,000 cycles and 10
 * of 2,000, of the second 30 of 15,000.  A PERIOD is between samples of one pack.
 */
static void make_periods(struct loggen *g)
{
	const uint32_t clock = 0xFFF00F01;
	unsigned int i;

	lg_init(g);
	lg_host(g, "6.12.57+deb13-cloud-amd64", "debian");
	lg_freq(g, LG_PMC, "cycles", 4000);
	lg_allocatedyn(g, clock, "cpu-clock", 1000000, -2);
	lg_proc_create(g, 100, "light");
	lg_proc_create(g, 200, "heavy");
	lg_period(g, LG_PMC, 0, 1000);
	for (i = 0; i < 40; i++) {
		lg_chain(g, 100, LG_PMC, 0, PMCLOG_CC_USERSPACE, 3, TEXT);
		if (i == 4)
			lg_period(g, LG_PMC, 1, 15000);
		if (i >= 10)
			lg_chain(g, 200, LG_PMC, 1, 0, 2, KERNEL + 0x1000);
		if (i == 29)
			lg_period(g, LG_PMC, 0, 2000);
		if (i % 10 == 9)
			lg_chain(g, 200, clock, 1, 0, 2, KERNEL + 0x1000);
	}
	lg_rate(g, LG_PMC, 0, 40, 40);
	lg_rate(g, LG_PMC, 1, 30, 30);
	lg_close(g);
}

/* Samples with branches, with accesses to memory, with both, and with neither. */
static void make_details(struct loggen *g)
{
	const uint32_t pmc = 0xFFF00F04, pid = 100;
	struct pmclog_ext_detail d = {
		.pmcid = pmc, .tid = pid + 1, .hidden = 2,
		.has = PMCLOG_DETAIL_BRANCHES | PMCLOG_DETAIL_SOURCE |
		       PMCLOG_DETAIL_WEIGHT | PMCLOG_DETAIL_ADDR,
		.source = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) |
			  PERF_MEM_S(LVL, L2),
		.weight = 14 | 3ULL << 32, .addr = 0x7ffd00001000,
	};
	const struct pmclog_ext_detail access = {
		.pmcid = pmc, .tid = pid + 1, .has = PMCLOG_DETAIL_SOURCE,
		.source = PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, MISS) |
			  PERF_MEM_S(LVL, LOC_RAM),
	};
	struct pmclog_branch b[PMCLOG_BRANCH_MAX];
	uint32_t i;

	for (i = 0; i < PMCLOG_BRANCH_MAX; i++)
		b[i] = (struct pmclog_branch){
			TEXT + 0x1000 - 16 * i, TEXT + 0x1008 - 16 * i,
			(i % 3 ? i % 3 : 0) | i << 4 | (uint64_t)(i % 16) << 20,
		};
	lg_init(g);
	lg_host(g, "6.12.57+deb13-cloud-amd64", "debian");
	lg_hardware(g, pmc, "cycles:u", HWPMC_F_BRANCH | HWPMC_F_DATA);
	lg_proc_create(g, pid, "light");
	lg_chain(g, pid, pmc, 0, PMCLOG_CC_USERSPACE, 3, TEXT + 0x1010);
	lg_detail(g, &d, b, PMCLOG_BRANCH_MAX);
	lg_chain(g, pid, pmc, 0, PMCLOG_CC_USERSPACE, 3, TEXT + 0x1010);
	lg_detail(g, &d, b, 3);
	lg_chain(g, pid, pmc, 0, PMCLOG_CC_USERSPACE, 1, TEXT + 0x1010);
	lg_chain(g, pid, pmc, 0, PMCLOG_CC_USERSPACE, 1, TEXT + 0x1010);
	lg_detail(g, &access, NULL, 0);
	d.has = PMCLOG_DETAIL_BRANCHES;
	d.hidden = 0;
	d.source = d.weight = d.addr = 0;
	lg_chain(g, pid, pmc, 0, PMCLOG_CC_USERSPACE, 1, TEXT + 0x1010);
	lg_detail(g, &d, b, 0);
	lg_close(g);
}

int lg_make(struct loggen *g, const char *name)
{
	struct era e;

	lg_start(g);
	if (!strcmp(name, "small")) {
		make_small(g);
	} else if (!strcmp(name, "full")) {
		make_full(g);
	} else if (!strcmp(name, "strings")) {
		make_strings(g);
	} else if (!strcmp(name, "twice")) {
		make_small(g);
		g->tsc = 5000;	/* after a reboot */
		make_full(g);
	} else if (!strcmp(name, "long")) {
		make_samples(g, 5000);
	} else if (!strcmp(name, "big")) {
		make_samples(g, 1000000);
	} else if (!strcmp(name, "stacks")) {
		make_stacks(g);
	} else if (!strcmp(name, "packed")) {
		pack(g, make_stacks);
	} else if (!strcmp(name, "rates")) {
		make_periods(g);
	} else if (!strcmp(name, "periods")) {
		pack(g, make_periods);
	} else if (!strcmp(name, "details")) {
		make_details(g);
	} else if (!era_named(&e, g, name)) {
		era_session(&e, 20);
	} else {
		return -1;
	}
	return 0;
}
