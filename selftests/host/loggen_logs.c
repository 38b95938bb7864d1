// SPDX-License-Identifier: BSD-2-Clause
/* The whole logs that several tests use. */
#include <string.h>

#include <pmclog_wire.h>

#include "loggen.h"

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

/* Records of process modes, which have no maker of their own. */
static void process_mode(struct loggen *g, uint32_t pid)
{
	const char *path = "/usr/bin/sleep";
	struct pmclog_wire_proccsw csw;
	struct pmclog_wire_procexit exit_;
	struct pmclog_wire_attach at;
	struct pmclog_wire_detach de;
	struct pmclog_wire_allocate al;
	const uint32_t pmcid = 0xFFF30F07U;
	unsigned char *p;

#define STORE(rec, type)						\
	do {								\
		p = lg_record(g, type, sizeof(rec));			\
		memcpy(&(rec).h, p, sizeof((rec).h));			\
		memcpy(p, &(rec), sizeof(rec));				\
	} while (0)

	memset(&al, 0, sizeof(al));
	al.pmcid = pmcid;
	al.event = 0x7001;
	al.flags = 0xC;
	al.rate = 65536;
	STORE(al, PMCLOG_T_PMCALLOCATE);
	p = lg_strings(g, PMCLOG_T_PMCATTACH, sizeof(at), 1, &path);
	memcpy(&at.h, p, sizeof(at.h));
	at.pmcid = pmcid;
	at.pid = pid;
	memcpy(p, &at, sizeof(at));
	memset(&csw, 0, sizeof(csw));
	csw.value = 0x123456789AULL;
	csw.pmcid = pmcid;
	csw.pid = pid;
	csw.tid = pid + 1;
	STORE(csw, PMCLOG_T_PROCCSW);
	memset(&de, 0, sizeof(de));
	de.pmcid = pmcid;
	de.pid = pid;
	STORE(de, PMCLOG_T_PMCDETACH);
	memset(&exit_, 0, sizeof(exit_));
	exit_.pmcid = pmcid;
	exit_.pid = pid;
	exit_.value = 99999999999ULL;
	STORE(exit_, PMCLOG_T_PROCEXIT);
}

/* Every type of record and of extension. */
static void make_full(struct loggen *g)
{
	uint32_t pid = 1000;
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

int lg_make(struct loggen *g, const char *name)
{
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
	} else {
		return -1;
	}
	return 0;
}
