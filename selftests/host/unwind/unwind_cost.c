// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_cost FILE...: what the tables of programs and libraries cost, and what they
 * cannot tell.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../src/unwind/unwind_table.h"
#include "libpmc_cfi.h"
#include "libpmc_elf.h"
#include "libpmc_unwind.h"
#include "scratch.h"
#include "seconds.h"

#define NREGS	(HWPMC_CFA_REGS - HWPMC_CFA_REG)

/* Of the functions in .eh_frame, in bytes of code */
struct share {
	u64	all;
	u64	none;		/* a rule cannot tell it */
	u64	reg[NREGS];	/* by that register, of an innermost frame */
	u64	ra_reg;		/* the return address is in a register */
	u64	fp_lost;
	u64	end, from;	/* the function; the last row */
	struct hwpmc_unwind_rule rule;
};

/* The last row is for what is up to here. */
static void add(struct share *s, u64 to)
{
	const struct hwpmc_unwind_rule *r = &s->rule;
	u64 len = to - s->from;

	s->all += len;
	s->from = to;
	if (r->cfa == HWPMC_CFA_NONE) {
		s->none += len;
		return;
	}
	if (r->cfa >= HWPMC_CFA_REG)
		s->reg[r->cfa - HWPMC_CFA_REG] += len;
	if (r->ra >= HWPMC_AT_REG)
		s->ra_reg += len;
	else if (r->ra != HWPMC_AT_UNDEFINED && r->fp == HWPMC_AT_UNDEFINED)
		s->fp_lost += len;
}

static int on_function(void *arg, uint64_t start, uint64_t end)
{
	struct share *s = arg;

	add(s, s->end);
	s->from = start;
	s->end = end;
	return 0;
}

static int on_row(void *arg, uint64_t addr, const struct hwpmc_unwind_rule *rule)
{
	struct share *s = arg;

	add(s, addr);
	s->rule = *rule;
	return 0;
}

static void read_shares(int fd, struct share *s)
{
	struct cfi_sink sink = { on_function, on_row, s };
	struct cfi_section frames = { 0 };
	const unsigned char *row;
	struct elf e;

	if (pmc_elf_read(&e, fd))
		return;
	row = pmc_elf_section(&e, ".eh_frame");
	if (row) {
		frames.addr = FIELD(&e, row, Shdr, sh_addr);
		frames.len = FIELD(&e, row, Shdr, sh_size);
		frames.machine = e.machine;
		frames.data = pmc_elf_part(&e, FIELD(&e, row, Shdr, sh_offset),
					   frames.len);
	}
	if (frames.data)
		pmc_cfi_walk(&frames, &sink);
	add(s, s->end);
	free((void *)frames.data);
	pmc_elf_close(&e);
}

static void print_shares(const struct share *s)
{
	unsigned int i;

	printf("  %llu bytes of code: no rule for %llu, "
	       "return address in a register %llu, frame pointer lost %llu",
	       (unsigned long long)s->all, (unsigned long long)s->none,
	       (unsigned long long)s->ra_reg, (unsigned long long)s->fp_lost);
	for (i = 0; i < NREGS; i++)
		if (s->reg[i])
			printf(", by register %u %llu", i,
			       (unsigned long long)s->reg[i]);
	printf("\n");
}

/* As a recording has it, a second time */
static double from_cache(int fd)
{
	struct pmc_unwind u = { 0 };
	double seconds = 0;
	int i;

	for (i = 0; i < 2; i++) {
		seconds = cpu_now();
		if (pmc_unwind_of(fd, &u))
			return 0;
		seconds = cpu_now() - seconds;
		pmc_unwind_free(&u);
	}
	return seconds;
}

static int cost(const char *path)
{
	const char *name = strrchr(path, '/');
	int fd = open(path, O_RDONLY), status;
	struct pmc_unwind u = { 0 };
	struct share s = { 0 };
	struct unwind_table t;
	double seconds = cpu_now();

	if (fd < 0 || pmc_unwind_compile(fd, &u)) {
		fprintf(stderr, "%s: no table\n", path);
		close(fd);
		return 1;
	}
	seconds = cpu_now() - seconds;
	status = hwpmc_unwind_table_check(&t, u.table, u.len,
		((struct hwpmc_unwind_table *)u.table)->machine);
	if (status)
		fprintf(stderr, "%s: the module would refuse it\n", path);
	else
		printf("%s: %.1f ms, %.2f ms from the cache, %u rows, %u rules, "
		       "%.1f kB, %.2f bytes a row\n",
		       name ? name + 1 : path, seconds * 1e3,
		       from_cache(fd) * 1e3, t.nrows, t.nrules,
		       (double)u.len / 1024, (double)u.len / t.nrows);
	read_shares(fd, &s);
	print_shares(&s);
	pmc_unwind_free(&u);
	close(fd);
	return status != 0;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	scratch_make();
	for (i = 1; i < argc; i++)
		status |= cost(argv[i]);
	scratch_end();
	return status;
}
