// SPDX-License-Identifier: BSD-2-Clause
/*
 * script2log FILE: makes a log from lines of text on standard input.
 *
 *	event NAME PERIOD [PMCID]
 *	proc PID NAME			thread TID PID NAME
 *	mapin PID START PATH		(its extent is not told)
 *	map PID START LEN OFFSET PATH	unmap PID START END
 *	fork PID PID	exec PID PATH	exit PID
 *	sample COUNT PID PC...		from user mode if the first pc is
 *	pmc PMCID			for the samples that follow
 *	host RELEASE NODE		kernel ADDR SYMBOL
 *	module START LEN NAME		buildid HEX NAME
 *	rate CPU EXPECTED ACHIEVED	drop CAUSE COUNT
 *	cut				the log ends here, not closed
 *
 * Numbers may be sums: 0x1000+32.  \xHH stands for a byte in any word.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loggen.h"

#define WORDS	700

static uint32_t pmcid = LG_PMC;
static bool cut;

static uint64_t num(const char *s)
{
	uint64_t v = 0;
	char *end;

	while (s && *s) {
		v += strtoull(s, &end, 0);
		if (end == s || (*end && *end != '+')) {
			fprintf(stderr, "script2log: number \"%s\"\n", s);
			exit(2);
		}
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

static void sample(struct loggen *g, char **w, int n)
{
	size_t npc = (size_t)n - 3, fixed = sizeof(struct pmclog_callchain), i;
	uint64_t count = num(w[1]), pc;

	while (count--) {
		unsigned char *c = lg_record(g, PMCLOG_T_CALLCHAIN,
					     fixed + npc * 8);

		set32(c, offsetof(struct pmclog_callchain, pid),
		      (uint32_t)num(w[2]));
		set32(c, offsetof(struct pmclog_callchain, tid),
		      (uint32_t)num(w[2]));
		set32(c, offsetof(struct pmclog_callchain, pmcid), pmcid);
		set32(c, offsetof(struct pmclog_callchain, cpuflags),
		      npc && !(num(w[3]) >> 63));
		for (i = 0; i < npc; i++) {
			pc = num(w[3 + i]);
			memcpy(c + fixed + i * 8, &pc, 8);
		}
		g->account.overflows++;
		g->account.committed++;
		g->account.written++;
	}
}

static void buildid(struct loggen *g, const char *hex, const char *name)
{
	size_t fixed = sizeof(struct pmclog_ext_buildid);
	size_t len = fixed + strlen(name) + 1;
	unsigned char *b = lg_ext(g, PMCLOG_EXT_BUILDID, (len + 3) & ~3UL);
	unsigned int v, i;

	for (i = 0; i < 32 && sscanf(hex + 2 * i, "%2x", &v) == 1; i++)
		b[offsetof(struct pmclog_ext_buildid, id) + i] =
			(unsigned char)v;
	set32(b, offsetof(struct pmclog_ext_buildid, len), i);
	strcpy((char *)b + fixed, name);
}

static bool process_line(struct loggen *g, char **w, int n)
{
	if (!strcmp(w[0], "proc") && n == 3)
		lg_proc_create(g, (uint32_t)num(w[1]), w[2]);
	else if (!strcmp(w[0], "thread") && n == 4)
		lg_thr_create(g, (uint32_t)num(w[1]), (uint32_t)num(w[2]),
			      w[3]);
	else if (!strcmp(w[0], "fork") && n == 3)
		lg_fork(g, (uint32_t)num(w[1]), (uint32_t)num(w[2]));
	else if (!strcmp(w[0], "exec") && n == 3)
		lg_exec(g, (uint32_t)num(w[1]), PMCLOG_PMCID_NONE, 0, 0, w[2]);
	else if (!strcmp(w[0], "exit") && n == 2)
		lg_exit(g, (uint32_t)num(w[1]));
	else if (!strcmp(w[0], "unmap") && n == 4)
		lg_map_out(g, (uint32_t)num(w[1]), num(w[2]), num(w[3]));
	else if (!strcmp(w[0], "mapin") && n == 4)
		lg_map_in(g, (uint32_t)num(w[1]), num(w[2]), w[3]);
	else if (!strcmp(w[0], "map") && n == 6) {
		lg_map_in(g, (uint32_t)num(w[1]), num(w[2]), w[5]);
		lg_mapping(g, (uint32_t)num(w[1]), num(w[2]), num(w[3]),
			   num(w[4]));
	} else
		return false;
	return true;
}

static bool other_line(struct loggen *g, char **w, int n)
{
	if (!strcmp(w[0], "event") && n >= 3) {
		pmcid = n > 3 ? (uint32_t)num(w[3]) : LG_PMC;
		lg_allocatedyn(g, pmcid, w[1], num(w[2]), -2);
	} else if (!strcmp(w[0], "pmc") && n == 2)
		pmcid = (uint32_t)num(w[1]);
	else if (!strcmp(w[0], "sample") && n >= 3)
		sample(g, w, n);
	else if (!strcmp(w[0], "host") && n == 3)
		lg_host(g, w[1], w[2]);
	else if (!strcmp(w[0], "kernel") && n == 3)
		lg_kernel(g, num(w[1]), w[2]);
	else if (!strcmp(w[0], "module") && n == 4) {
		lg_map_in(g, PMCLOG_PID_KERNEL, num(w[1]), w[3]);
		lg_module(g, num(w[1]), num(w[2]), w[3]);
	} else if (!strcmp(w[0], "buildid") && n == 3)
		buildid(g, w[1], w[2]);
	else if (!strcmp(w[0], "rate") && n == 4)
		lg_rate(g, pmcid, (uint32_t)num(w[1]), num(w[2]), num(w[3]));
	else if (!strcmp(w[0], "drop") && n == 3)
		lg_drop(g, pmcid, 0, (uint32_t)num(w[1]), num(w[2]));
	else if (!strcmp(w[0], "cut") && n == 1)
		cut = true;
	else
		return false;
	return true;
}

static void line(struct loggen *g, char *s)
{
	char *w[WORDS];
	int n = 0, i;

	for (s = strtok(s, " \t\n"); s && n < WORDS; s = strtok(NULL, " \t\n"))
		w[n++] = s;
	if (!n || *w[0] == '#')
		return;
	for (i = 0; i < n; i++)
		unescape(w[i]);
	if (process_line(g, w, n) || other_line(g, w, n))
		return;
	fprintf(stderr, "script2log: line \"%s\" with %d words\n", w[0], n);
	exit(2);
}

int main(int argc, char **argv)
{
	struct loggen g;
	char *s = NULL;
	size_t cap = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: script2log FILE <SCRIPT\n");
		return 2;
	}
	lg_start(&g);
	lg_init(&g);
	while (!cut && getline(&s, &cap, stdin) > 0)
		line(&g, s);
	free(s);
	if (!cut)
		lg_close(&g);
	lg_write(&g, argv[1]);
	lg_free(&g);
	return 0;
}
