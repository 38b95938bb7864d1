// SPDX-License-Identifier: BSD-2-Clause
/*
 * Logs as the kernels of FreeBSD have written them.  Every offset here is
 * written out as the format's description has it, from the start of the record;
 * where two are given, of 8 and of 4 bytes an address.
 */
#include <string.h>

#include "loggen_era.h"

#define AT(wide, narrow)	(e->word == 8 ? (wide) : (narrow))
#define OLD			(e->era == 'A')

/* of the record made last */
static unsigned char *field(struct era *e, size_t offset)
{
	return e->g->buf + e->start + offset;
}

static void w32(struct era *e, size_t offset, uint32_t v)
{
	unsigned char *p = field(e, offset);
	int i;

	for (i = 0; i < 4; i++)
		p[e->big ? 3 - i : i] = (unsigned char)(v >> 8 * i);
}

/* The low word comes first on every machine. */
static void w64(struct era *e, size_t offset, uint64_t v)
{
	w32(e, offset, (uint32_t)v);
	w32(e, offset + 4, (uint32_t)(v >> 32));
}

static void addr(struct era *e, size_t offset, uint64_t v)
{
	if (e->word == 8)
		w64(e, offset, v);
	else
		w32(e, offset, (uint32_t)v);
}

/* Padding is what the buffer held before: FreeBSD does not clear it. */
static void record(struct era *e, unsigned int type, size_t len)
{
	uint64_t now = e->g->tsc;

	e->start = e->g->len;
	memset(lg_room(e->g, len), 0xA5, len);
	w32(e, 0, 0xEE000000U | type << 16 | (uint32_t)len);
	if (OLD) {
		w32(e, 4, (uint32_t)(now / 1000000000));
		w32(e, 8, (uint32_t)(now % 1000000000) & 0x0FFFFFFF);
	} else {
		w64(e, 8, now);
	}
	e->g->tsc += e->g->step;
}

static size_t padded(const char *s)
{
	return (strlen(s) + 1 + 3) & ~(size_t)3;
}

static void string(struct era *e, size_t offset, const char *s)
{
	memcpy(field(e, offset), s, strlen(s) + 1);
}

static void name(struct era *e, size_t offset, size_t size, const char *s)
{
	memset(field(e, offset), 0, size);
	memcpy(field(e, offset), s, strlen(s));
}

/* A record that the era has not takes its time all the same. */
static bool missing(struct era *e)
{
	if (OLD)
		e->g->tsc += e->g->step;
	return OLD;
}

void era_init(struct era *e)
{
	if (OLD) {
		record(e, 2, 20);
		w32(e, 12, 0x03010000);
		w32(e, 16, 0x8D);
		return;
	}
	record(e, 3, e->i386 ? 104 : 112);
	w32(e, 16, e->era == 'B' ? 0x09030000 : 0x0A000000);
	w32(e, 20, 0x8D);
	w64(e, 24, e->freq);
	if (e->i386) {
		w32(e, 32, ERA_SEC);
		w32(e, 36, 5000);
	} else {
		w64(e, 32, ERA_SEC);
		w64(e, 40, 5000);
	}
	name(e, e->i386 ? 40 : 48, 64, "GenuineIntel-6-2A-7");
}

static void era_close(struct era *e)
{
	if (OLD)
		record(e, 0, 12);
	else
		record(e, 1, 16);
}

static void era_drop(struct era *e)
{
	if (OLD)
		record(e, 1, 12);
	else
		record(e, 2, 16);
}

void era_pcsample(struct era *e, uint32_t pid, uint64_t pc, uint32_t pmcid,
		  uint32_t user)
{
	record(e, 4, AT(32, 28));
	w32(e, 12, pid);
	addr(e, 16, pc);
	w32(e, AT(24, 20), pmcid);
	w32(e, AT(28, 24), user);
}

static void era_allocate(struct era *e, uint32_t pmcid, uint32_t event,
			 uint64_t rate)
{
	record(e, 5, OLD ? 24 : 40);
	w32(e, OLD ? 12 : 16, pmcid);
	w32(e, OLD ? 16 : 20, event);
	w32(e, OLD ? 20 : 24, 0x180);
	if (!OLD)
		w64(e, 32, rate);
}

void era_allocatedyn(struct era *e, uint32_t pmcid, const char *s,
		     uint64_t rate)
{
	char room[65] = { 0 };

	record(e, 17, OLD ? 88 : 96);
	w32(e, OLD ? 12 : 16, pmcid);
	w32(e, OLD ? 16 : 20, 0x20001);
	w32(e, OLD ? 20 : 24, 0x180);
	if (OLD) {
		name(e, 24, 64, s);
	} else if (!e->rate) {
		name(e, 32, 64, s);
	} else {
		/* its end is where the next record begins */
		w64(e, 32, rate);
		strncpy(room, s, sizeof(room) - 1);
		memcpy(field(e, 40), room, 56);
	}
}

static void era_attach(struct era *e, uint32_t pmcid, uint32_t pid,
		       const char *path)
{
	size_t at = OLD ? 20 : 24;

	record(e, 6, at + padded(path));
	w32(e, OLD ? 12 : 16, pmcid);
	w32(e, OLD ? 16 : 20, pid);
	string(e, at, path);
}

static void era_detach(struct era *e, uint32_t pmcid, uint32_t pid)
{
	record(e, 7, OLD ? 20 : 24);
	w32(e, OLD ? 12 : 16, pmcid);
	w32(e, OLD ? 16 : 20, pid);
}

static void era_csw(struct era *e, uint32_t pmcid, uint32_t pid, uint64_t value)
{
	record(e, 8, OLD ? 28 : 40);
	if (OLD) {
		w32(e, 12, pmcid);
		w64(e, 16, value);
		w32(e, 24, pid);
		return;
	}
	w64(e, 16, value);
	w32(e, 24, pmcid);
	w32(e, 28, pid);
	w32(e, 32, pid + 1);
}

void era_exec(struct era *e, uint32_t pid, uint32_t pmcid, uint64_t base,
	      uint64_t dyn, const char *path)
{
	size_t at = OLD ? AT(28, 24) :
		    e->era == 'B' ? AT(32, 28) : AT(40, 32);

	record(e, 9, at + padded(path));
	w32(e, OLD ? 12 : 16, pid);
	addr(e, OLD ? 16 : 24, base);
	w32(e, OLD ? AT(24, 20) : 20, pmcid);
	if (e->era == 'C')
		addr(e, AT(32, 28), dyn);
	string(e, at, path);
}

static void era_procexit(struct era *e, uint32_t pmcid, uint32_t pid,
			 uint64_t value)
{
	record(e, 10, OLD ? 28 : 32);
	w32(e, OLD ? 12 : 16, pmcid);
	w64(e, OLD ? 16 : 24, value);
	w32(e, OLD ? 24 : 20, pid);
}

void era_fork(struct era *e, uint32_t oldpid, uint32_t newpid)
{
	record(e, 11, OLD ? 20 : 24);
	w32(e, OLD ? 12 : 16, oldpid);
	w32(e, OLD ? 16 : 20, newpid);
}

void era_exit(struct era *e, uint32_t pid)
{
	record(e, 12, OLD ? 16 : 24);
	w32(e, OLD ? 12 : 16, pid);
}

static void era_userdata(struct era *e, uint32_t value)
{
	record(e, 13, OLD ? 16 : 24);
	w32(e, OLD ? 12 : 16, value);
}

void era_map_in(struct era *e, uint32_t pid, uint64_t start, const char *path)
{
	size_t at = OLD ? AT(24, 20) : AT(32, 28);

	record(e, 14, at + padded(path));
	w32(e, OLD ? 12 : 16, pid);
	addr(e, OLD ? 16 : 24, start);
	string(e, at, path);
}

void era_map_out(struct era *e, uint32_t pid, uint64_t start, uint64_t end)
{
	record(e, 15, OLD ? AT(32, 24) : AT(40, 32));
	w32(e, OLD ? 12 : 16, pid);
	addr(e, OLD ? 16 : 24, start);
	addr(e, OLD ? AT(24, 20) : AT(32, 28), end);
}

void era_chain(struct era *e, uint32_t pid, uint32_t pmcid, uint32_t cpuflags,
	       unsigned int n, const uint64_t *pc)
{
	size_t at = OLD ? 24 : 32;
	unsigned int i;

	record(e, 16, at + n * (size_t)e->word);
	w32(e, OLD ? 12 : 16, pid);
	if (!OLD)
		w32(e, 20, pid + 1);
	w32(e, OLD ? 16 : 24, pmcid);
	w32(e, OLD ? 20 : 28, cpuflags);
	for (i = 0; i < n; i++)
		addr(e, at + i * (size_t)e->word, pc[i]);
}

static void era_thr_create(struct era *e, uint32_t tid, uint32_t pid,
			   const char *s)
{
	if (missing(e))
		return;
	record(e, 18, 52);
	w32(e, 16, tid);
	w32(e, 20, pid);
	w32(e, 24, 0);
	name(e, 32, 20, s);
}

static void era_thr_exit(struct era *e, uint32_t tid)
{
	if (missing(e))
		return;
	record(e, 19, 24);
	w32(e, 16, tid);
}

static void era_proc_create(struct era *e, uint32_t pid, const char *s)
{
	if (missing(e))
		return;
	record(e, 20, 44);
	w32(e, 16, pid);
	w32(e, 20, 0);
	name(e, 24, 20, s);
}

int era_named(struct era *e, struct loggen *g, const char *s)
{
	memset(e, 0, sizeof(*e));
	e->g = g;
	e->freq = ERA_FREQ;
	e->rate = true;
	if (strlen(s) < 7 || *s < 'A' || *s > 'C' || s[1] != '-' ||
	    s[4] != '-')
		return -1;
	e->era = *s;
	e->big = s[2] == 'b';
	e->i386 = !strcmp(s + 5, "i386");
	e->word = strcmp(s + 5, "64") ? 4 : 8;
	g->tsc = ERA_SEC * 1000000000 + 5000;
	return e->word == 8 || e->i386 || !strcmp(s + 5, "32") ? 0 : -1;
}

/* The id of a PMC, of all CPUs or of a process, as its version has it. */
static uint32_t era_pmcid(const struct era *e, uint32_t mode, uint32_t class,
			  uint32_t row)
{
	if (OLD)
		return 0xFFU << 24 | mode << 16 | class << 8 | row;
	if (e->era == 'B')
		return 0xFFFU << 20 | mode << 12 | (class & 0xF) << 8 | row;
	return 0xFFFU << 20 | mode << 16 | class << 8 | row;
}

static void processes(struct era *e)
{
	const uint32_t pid = 1000, counting = era_pmcid(e, 3, 7, 2);

	era_proc_create(e, pid, "bash");
	era_thr_create(e, pid + 1, pid, "bash");
	era_map_in(e, pid, ERA_TEXT, "/usr/local/bin/no.bash");
	era_fork(e, pid, pid + 1);
	era_exec(e, pid + 1, PMCLOG_PMCID_NONE, 0x28050000, ERA_TEXT,
		 "/no/bin/sh");
	era_map_in(e, pid + 1, ERA_TEXT, "/no/bin/sh");
	era_map_in(e, pid + 1, 0x28050000, "/libexec/no-elf.so.1");
	era_map_out(e, pid + 1, 0x28050000, 0x28070000);
	era_allocate(e, counting, 0x4C03, 65536);
	era_attach(e, counting, pid + 1, "/no/bin/sh");
	era_csw(e, counting, pid + 1, 0x123456789AULL);
	era_userdata(e, 0xCAFE);
	era_detach(e, counting, pid + 1);
	era_procexit(e, counting, pid + 1, 99999999999ULL);
	era_thr_exit(e, pid + 2);
}

void era_session(struct era *e, unsigned int samples)
{
	uint32_t sampling = era_pmcid(e, 0, 15, 0);
	uint64_t pc[8];
	unsigned int i, j, n;

	era_init(e);
	era_allocatedyn(e, sampling, "PAGE_FAULT.ALL", 1000);
	era_map_in(e, PMCLOG_PID_KERNEL, ERA_KERNEL, "/boot/kernel/kernel");
	era_map_in(e, PMCLOG_PID_KERNEL, ERA_KERNEL + 0x2000000, "if_em.ko");
	processes(e);
	for (i = 0; i < samples; i++) {
		n = 1 + i % 7;
		for (j = 0; j < n; j++)
			pc[j] = (i & 1 ? ERA_TEXT : ERA_KERNEL) + 0x1000 +
				16 * (j + i % 7);
		era_chain(e, 1000 + (i >> 1 & 1), sampling,
			  (i % 3) << 16 | (i & 1), n, pc);
	}
	era_drop(e);
	era_exit(e, 1001);
	era_close(e);
}
