// SPDX-License-Identifier: BSD-2-Clause
/*
 * script2log FILE [NS]: makes a log from lines of text on standard input.  The log
 * begins NS nanoseconds later than others.
 *
 *	event NAME PERIOD [PMCID]
 *	proc PID NAME			thread TID PID NAME
 *	mapin PID START PATH		(its extent is not told)
 *	map PID START LEN OFFSET PATH	unmap PID START END
 *	fork PID PID	exec PID PATH [BASE DYN]	exit PID
 *	sample COUNT PID PC...		from user mode if the first pc is
 *	late COUNT TID PID PC...	likewise; the user chain follows
 *	since, always			user chains are for samples from now on, or
 *					for all
 *	userchain TID PID PC...		threadexit TID
 *	ends [WORD]...			how the chains do that follow: whole, tables,
 *					depth, user, kernel, table; none: not told
 *	pmc PMCID			for the samples that follow
 *	tid TID				the same; 0: the process' first thread
 *	cpu CPU				the same
 *	at NS				the clock, from the log's beginning
 *	file MAJOR MINOR INODE		what is mapped by the maps that follow
 *	wall SECONDS			since 1970, when the log began
 *	clock NS [REAL [RAW]]		CLOCK_MONOTONIC at the log's present clock, and
 *					the wall clock (as by INITIALIZE)
 *	attach PMCID PID PATH		detach PMCID PID
 *	csw PMCID PID TID VALUE		exitval PMCID PID VALUE
 *	host RELEASE NODE		kernel ADDR SYMBOL
 *	machine NUMBER			of the host before it, as in ELF files
 *	unwind				the event before it is by unwind tables
 *	module START LEN NAME [PATH]	buildid HEX NAME
 *	section ADDR MODULE NAME
 *	rate CPU EXPECTED ACHIEVED	drop CAUSE COUNT
 *	tracepoint NAME CONFIG [PMCID]	an event with fields
 *	fields CONFIG TEXT		of a tracepoint: lines of its format file
 *	raw HEX [SIZE]			the fields of the sample before it
 *	hardware			the event before it asks for branches and accesses
 *	nanoseconds			the event before it counts them
 *	detail [mem SOURCE] [weight N] [addr ADDR] [hidden N] [branch FROM TO FLAGS]...
 *					of the sample before it
 *	recording ON NPMC SKEW		snapshot CAUSE PID STATUS WHEN SINCE
 *	freq NAME RATE [PMCID]		an event sampled so often a second
 *	period N			for the samples that follow of PMC and CPU
 *	again				another log begins, as after a rotation
 *	discarded COUNT			samples that were not written when the log ended
 *	cut				the log ends here, not closed
 *
 * Numbers may be sums: 0x1000+32.  \xHH stands for a byte in any word.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/hwpmc.h>

#include "loggen.h"

#define WORDS	700

static uint32_t pmcid = LG_PMC;
static uint32_t tid, cpu, last_tid;
static uint64_t begin;
static size_t last_host;
static bool cut;

static uint64_t num(const char *s)
{
	uint64_t v = 0;
	char *end;

	while (s && *s) {
		v += strtoull(s, &end, 0);
		if (end == s || (*end && *end != '+'))
			errx(2, "number \"%s\"", s);
		s = *end ? end + 1 : end;
	}
	return v;
}

static void unescape(char *s)
{
	char *to = s;
	unsigned int v;

	for (; *s; s++) {
		if (s[0] == '\\' && sscanf(s, "\\x%2x", &v) == 1 && v) {
			*to++ = (char)v;
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Records are 4-aligned, so their structures can't be used as such. */
static void set32(unsigned char *record, size_t off, uint32_t v)
{
	memcpy(record + off, &v, sizeof(v));
}

/* That of the first one can. */
static struct pmclog_initialize *first(struct loggen *g)
{
	return (void *)g->buf;
}

/* @n of them */
static const uint64_t *pcs_of(char **w, size_t n)
{
	static uint64_t pcs[WORDS];

	while (n--)
		pcs[n] = num(w[n]);
	return pcs;
}

static uint64_t since;
static uint32_t ends;

static void userchain(struct loggen *g, char **w, int n)
{
	size_t npc = (size_t)n - 3;

	LG_EXT_TAILED(g, USERCHAIN, userchain, pcs_of(w + 3, npc), 8 * npc,
		      .tid = num(w[1]), .pid = num(w[2]), .e.flags = ends >> 8,
		      .first = since);
	g->account.late_answered++;
}

static void count_cuts(struct loggen *g)
{
	int i, n = 0;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++) {
		if (!(ends & PMCLOG_CC_CUT(i)))
			continue;
		g->account.cut_by[i]++;
		n++;
	}
	g->account.cut += n > 0;
}

static void sample(struct loggen *g, uint32_t flags, char **w, int n)
{
	size_t npc = (size_t)n - 4;
	const uint64_t *pcs = pcs_of(w + 4, npc);
	uint64_t count = num(w[1]);

	last_tid = tid ? tid : num(w[2]);
	if (npc && !(pcs[0] >> 63))
		flags |= PMCLOG_CC_USERSPACE;
	while (count--) {
		lg_sample(g, num(w[3]), last_tid, pmcid,
			  PMCLOG_CC_CPUFLAGS(cpu, flags | ends), npc, pcs);
		count_cuts(g);
	}
}

static void set_ends(char **w, int n)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} words[] = {
		{ "whole", PMCLOG_CC_WHOLE },
		{ "tables", PMCLOG_CC_TABLES },
		{ "depth", PMCLOG_CC_CUT(PMCLOG_CUT_DEPTH) },
		{ "user", PMCLOG_CC_CUT(PMCLOG_CUT_USER) },
		{ "kernel", PMCLOG_CC_CUT(PMCLOG_CUT_KERNEL) },
		{ "table", PMCLOG_CC_CUT(PMCLOG_CUT_TABLE) },
	};
	size_t i;

	for (ends = 0; --n;)
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (!strcmp(w[n], words[i].word))
				ends |= words[i].flag;
}

/* An event made last is what @flags say. */
static void set_flags(struct loggen *g, uint32_t flags)
{
	set32(g->buf + g->len - sizeof(struct pmclog_pmcallocatedyn),
	      offsetof(struct pmclog_pmcallocatedyn, flags),
	      HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN | flags);
}

/* As many bytes as there are, up to @most; their number */
static uint32_t bytes(const char *hex, unsigned char *to, uint32_t most)
{
	unsigned int v;
	uint32_t n;

	for (n = 0; n < most && sscanf(hex + 2 * n, "%2x", &v) == 1; n++)
		to[n] = v;
	return n;
}

static void buildid(struct loggen *g, const char *hex, const char *name)
{
	unsigned char id[32];
	uint32_t len = bytes(hex, id, sizeof(id));
	size_t at = g->len;

	lg_buildid(g, len, name);
	memcpy(g->buf + at + offsetof(struct pmclog_ext_buildid, id), id, len);
}

/* What was there may have been more. */
static void raw(struct loggen *g, const char *hex, const char *size)
{
	static unsigned char data[32768];
	uint32_t len = bytes(hex, data, sizeof(data));

	lg_raw(g, pmcid, last_tid, data, len, size ? num(size) : len);
}

static void detail(struct loggen *g, char **w, int n)
{
	struct pmclog_ext_detail d = { .pmcid = pmcid, .tid = last_tid };
	static struct pmclog_branch b[WORDS / 4];
	uint32_t nb = 0;
	int i;

	for (i = 1; i < n; i += 2) {
		if (!strcmp(w[i], "mem")) {
			d.has |= PMCLOG_DETAIL_SOURCE;
			d.source = num(w[i + 1]);
		} else if (!strcmp(w[i], "weight")) {
			d.has |= PMCLOG_DETAIL_WEIGHT;
			d.weight = num(w[i + 1]);
		} else if (!strcmp(w[i], "addr")) {
			d.has |= PMCLOG_DETAIL_ADDR;
			d.addr = num(w[i + 1]);
		} else if (!strcmp(w[i], "hidden")) {
			d.has |= PMCLOG_DETAIL_BRANCHES;
			d.hidden = num(w[i + 1]);
		} else {
			d.has |= PMCLOG_DETAIL_BRANCHES;
			b[nb++] = (struct pmclog_branch){
				num(w[i + 1]), num(w[i + 2]), num(w[i + 3]),
			};
			i += 2;
		}
	}
	lg_detail(g, &d, b, nb);
}

static struct {
	uint32_t major, minor;
	uint64_t ino;
} mapped = { 8, 1, 4711 };

static void map(struct loggen *g, char **w)
{
	lg_map_in(g, num(w[1]), num(w[2]), w[5]);
	LG_EXT(g, MAPPING, mapping, .pid = num(w[1]), .prot = PROT_READ | PROT_EXEC,
	       .start = num(w[2]), .len = num(w[3]), .offset = num(w[4]),
	       .dev_major = mapped.major, .dev_minor = mapped.minor, .ino = mapped.ino);
}

static void file(char **w)
{
	mapped.major = num(w[1]);
	mapped.minor = num(w[2]);
	mapped.ino = num(w[3]);
}

static void clocks(struct loggen *g, char **w, int n)
{
	const struct pmclog_initialize *init = first(g);

	LG_EXT(g, CLOCK, clock, .mono = num(w[1]),
	       .real = n > 2 ? num(w[2]) : (uint64_t)init->ts_sec * 1000000000 +
					   (uint64_t)init->ts_nsec + (g->tsc - begin),
	       .raw = n > 3 ? num(w[3]) : g->tsc);
}

/* That of an event is of the samples that follow, too. */
static uint32_t pmc_of(char **w, int n)
{
	return pmcid = n > 3 ? num(w[3]) : LG_PMC;
}

/* A line that begins with @word and has @least to @most words makes this. */
#define LINE(word, least, most, ...)					\
	if (!strcmp(w[0], word) && n >= (least) && n <= (most)) {	\
		__VA_ARGS__;						\
		return true;						\
	}

static bool process_line(struct loggen *g, char **w, int n)
{
	LINE("proc", 3, 3, lg_proc_create(g, num(w[1]), w[2]))
	LINE("thread", 4, 4, lg_thr_create(g, num(w[1]), num(w[2]), w[3]))
	LINE("threadexit", 2, 2, lg_thr_exit(g, num(w[1])))
	LINE("fork", 3, 3, lg_fork(g, num(w[1]), num(w[2])))
	LINE("exec", 3, 3, lg_exec(g, num(w[1]), PMCLOG_PMCID_NONE, 0, 0, w[2]))
	LINE("exec", 5, 5, lg_exec(g, num(w[1]), PMCLOG_PMCID_NONE, num(w[3]), num(w[4]), w[2]))
	LINE("exit", 2, 2, lg_exit(g, num(w[1])))
	LINE("unmap", 4, 4, lg_map_out(g, num(w[1]), num(w[2]), num(w[3])))
	LINE("mapin", 4, 4, lg_map_in(g, num(w[1]), num(w[2]), w[3]))
	LINE("map", 6, 6, map(g, w))
	LINE("file", 4, 4, file(w))
	LINE("attach", 4, 4, lg_attach(g, num(w[1]), num(w[2]), w[3]))
	LINE("detach", 3, 3, lg_detach(g, num(w[1]), num(w[2])))
	LINE("csw", 5, 5, lg_csw(g, num(w[1]), num(w[2]), num(w[3]), num(w[4])))
	LINE("exitval", 4, 4, lg_procexit(g, num(w[1]), num(w[2]), num(w[3])))
	return false;
}

static bool event_line(struct loggen *g, char **w, int n)
{
	LINE("event", 3, WORDS, lg_allocatedyn(g, pmc_of(w, n), w[1], num(w[2]), -2))
	LINE("tracepoint", 3, WORDS, lg_tracepoint(g, pmc_of(w, n), w[1], num(w[2])))
	LINE("freq", 3, WORDS, lg_freq(g, pmc_of(w, n), w[1], num(w[2])))
	LINE("unwind", 1, 1, set_flags(g, HWPMC_F_UNWIND))
	LINE("hardware", 1, 1, set_flags(g, HWPMC_F_BRANCH | HWPMC_F_DATA))
	LINE("nanoseconds", 1, 1,
	     memset(g->buf + g->len - sizeof(struct pmclog_pmcallocatedyn) +
		    offsetof(struct pmclog_pmcallocatedyn, config), 0, 8))
	LINE("fields", 3, 3, lg_fields(g, num(w[1]), w[2]))
	LINE("pmc", 2, 2, pmcid = num(w[1]))
	LINE("tid", 2, 2, tid = num(w[1]))
	LINE("cpu", 2, 2, cpu = num(w[1]))
	LINE("period", 2, 2, lg_period(g, pmcid, cpu, num(w[1])))
	LINE("rate", 4, 4, lg_rate(g, pmcid, num(w[1]), num(w[2]), num(w[3])))
	LINE("drop", 3, 3, lg_drop(g, pmcid, 0, num(w[1]), num(w[2])))
	return false;
}

static bool sample_line(struct loggen *g, char **w, int n)
{
	/* the process' first thread */
	LINE("sample", 3, WORDS,
	     memmove(w + 3, w + 2, sizeof(*w) * (size_t)(n - 2)), sample(g, 0, w, n + 1))
	LINE("late", 4, WORDS, sample(g, PMCLOG_CC_USERLATE, w, n))
	LINE("ends", 1, WORDS, set_ends(w, n))
	LINE("since", 1, 1, since = g->tsc)
	LINE("always", 1, 1, since = 0)
	LINE("userchain", 3, WORDS, userchain(g, w, n))
	LINE("raw", 2, 3, raw(g, w[1], n > 2 ? w[2] : NULL))
	LINE("detail", 3, WORDS, detail(g, w, n))
	return false;
}

static bool other_line(struct loggen *g, char **w, int n)
{
	LINE("host", 3, 3, last_host = g->len, lg_host(g, w[1], w[2]))
	LINE("machine", 2, 2, set32(g->buf + last_host,
				    offsetof(struct pmclog_ext_host, machine), num(w[1])))
	LINE("kernel", 3, 3, lg_kernel(g, num(w[1]), w[2]))
	LINE("section", 4, 4, lg_section(g, num(w[1]), w[2], w[3]))
	LINE("module", 4, 5, lg_map_in(g, PMCLOG_PID_KERNEL, num(w[1]), w[n - 1]),
	     lg_module(g, num(w[1]), num(w[2]), w[3]))
	LINE("buildid", 3, 3, buildid(g, w[1], w[2]))
	LINE("at", 2, 2, g->tsc = begin + num(w[1]))
	LINE("wall", 2, 2, first(g)->ts_sec = num(w[1]))
	LINE("clock", 2, 4, clocks(g, w, n))
	LINE("recording", 4, 4, lg_recording(g, num(w[1]), num(w[2]), num(w[3])))
	LINE("snapshot", 6, 6,
	     lg_snapshot(g, num(w[1]), PMCLOG_PMCID_NONE, num(w[2]), num(w[3]),
			 begin + num(w[4]), begin + num(w[5])))
	LINE("again", 1, 1, lg_close(g), lg_init(g))
	LINE("discarded", 2, 2, g->account.discarded = num(w[1]))
	LINE("cut", 1, 1, cut = true)
	return false;
}

static void line(struct loggen *g, char *s)
{
	char *w[WORDS + 1];
	int n = 0, i;

	for (s = strtok(s, " \t\n"); s && n < WORDS; s = strtok(NULL, " \t\n"))
		w[n++] = s;
	if (!n || *w[0] == '#')
		return;
	for (i = 0; i < n; i++)
		unescape(w[i]);
	if (process_line(g, w, n) || event_line(g, w, n) || sample_line(g, w, n) ||
	    other_line(g, w, n))
		return;
	errx(2, "line \"%s\" with %d words", w[0], n);
}

/* The wall clock of INITIALIZE, too */
static void later(struct loggen *g, uint64_t ns)
{
	struct pmclog_initialize *init = first(g);

	init->ts_nsec += ns;
	init->ts_sec += init->ts_nsec / 1000000000;
	init->ts_nsec %= 1000000000;
}

int main(int argc, char **argv)
{
	static struct loggen g;
	char *s = NULL;
	size_t cap = 0;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: script2log FILE [NS] <SCRIPT\n");
		return 2;
	}
	lg_start(&g);
	if (argc > 2)
		g.tsc += num(argv[2]);
	lg_init(&g);
	if (argc > 2)
		later(&g, num(argv[2]));
	begin = g.tsc - g.step;
	while (!cut && getline(&s, &cap, stdin) > 0)
		line(&g, s);
	free(s);
	if (!cut)
		lg_close(&g);
	lg_write(&g, argv[1]);
	return 0;
}
