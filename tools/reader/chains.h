/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains, each once.
 *
 * Two tables: the first maps a chain as it is in the log, with the generation
 * of the address spaces it belongs to, to the second, which holds chains of
 * frames and their counts.  Only the second one has to be kept, so the first
 * is thrown away when it outgrows it: memory follows what is distinct, not how
 * much was sampled or how often programs were started.
 */
#ifndef READER_CHAINS_H
#define READER_CHAINS_H

#include "idtab.h"
#include "mem.h"

/**
 * struct chain - samples that agree in everything that is shown
 * @frames: frame numbers, innermost first
 * @comm:   string number of the command's name
 */
struct chain {
	uint64_t count;
	const uint32_t *frames;
	uint32_t n;
	uint32_t event, comm;
};

/* a chain as logged; the pcs are not aligned */
struct rawchain {
	const unsigned char *pc;
	uint32_t n;
	uint32_t gen, kgen;	/* of the process and of the kernel */
	uint32_t event, comm;
	uint32_t chain;
	uint64_t count;
};

struct chains {
	struct chain *chain;
	uint32_t n, cap;
	struct idtab tab;
	struct arena mem;

	struct rawchain *raw;
	uint32_t nraw, capraw;
	struct idtab rawtab;
	struct arena rawmem;
};

/* Counts one sample; false: not seen before, call chains_add(). */
bool chains_count(struct chains *t, const struct rawchain *key);
/* Counts one sample of a chain whose frames were looked up. */
void chains_add(struct chains *t, const struct rawchain *key,
		const uint32_t *frames, uint32_t n);
/* The counts are complete only after this. */
void chains_finish(struct chains *t);
void chains_free(struct chains *t);

#endif /* READER_CHAINS_H */
