/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs as the kernels of FreeBSD have written them, of all eras. */
#ifndef LOGGEN_ERA_H
#define LOGGEN_ERA_H

#include <stdbool.h>

#include "loggen.h"

/**
 * struct era - a writer
 * @era:  'A', 'B' or 'C'
 * @big:  words are big-endian
 * @word: bytes of an address, 8 or 4
 * @i386: struct timespec has 8 bytes
 * @rate: PMCALLOCATEDYN has the rate in front of the name, as the kernel has it
 * @freq: of the clock
 * @start: of the record made last
 */
struct era {
	struct loggen *g;
	char era;
	bool big;
	int word;
	bool i386;
	bool rate;
	uint64_t freq;
	size_t start;
};

#define ERA_SEC		1767225600ULL
#define ERA_FREQ	1000000000ULL
#define ERA_KERNEL	0xC0400000U	/* where i386 has it */
#define ERA_TEXT	0x08048000U

void era_init(struct era *e);
void era_allocatedyn(struct era *e, uint32_t pmcid, const char *name,
		     uint64_t rate);
void era_exec(struct era *e, uint32_t pid, uint32_t pmcid, uint64_t base,
	      uint64_t dyn, const char *path);
void era_fork(struct era *e, uint32_t oldpid, uint32_t newpid);
void era_exit(struct era *e, uint32_t pid);
void era_map_in(struct era *e, uint32_t pid, uint64_t start, const char *path);
void era_map_out(struct era *e, uint32_t pid, uint64_t start, uint64_t end);
void era_chain(struct era *e, uint32_t pid, uint32_t pmcid, uint32_t cpuflags,
	       unsigned int n, const uint64_t *pc);
/* Only in the first logs. */
void era_pcsample(struct era *e, uint32_t pid, uint64_t pc, uint32_t pmcid,
		  uint32_t user);

/*
 * A writer by its name: "C-le-64", "A-be-32", "B-le-i386" and so on; -1: no
 * such one.
 */
int era_named(struct era *e, struct loggen *g, const char *name);
/* A session with every record that the era has, and @samples samples. */
void era_session(struct era *e, unsigned int samples);

#endif /* LOGGEN_ERA_H */
