/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes whose stacks, registers and code are hostile to an unwinder, and
 * unwind tables made at random.  The same seed makes the same choices.
 */
#ifndef TEST_WILD_H
#define TEST_WILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rng.h"

/* A multiple of all page sizes. */
#define WILD_BLOCK	(64UL << 10)

/*
 * Stacks of wild processes, at the same addresses in each.  Stacks and
 * registers are full of addresses in there.  Nothing there is ever executable,
 * so no chain leads there.
 */
#define WILD_STACKS	0x600000000UL
#define WILD_NSTACKS	16
#define WILD_STACKS_END	(WILD_STACKS + WILD_NSTACKS * WILD_BLOCK)

/* Their code: parts of the files; the last ones are mapped at times only. */
#define WILD_CODE	0x700000000UL
#define WILD_NCODE	12
#define WILD_NGHOSTS	4

#define WILD_FILES	6
#define WILD_FILE_SIZE	(2 * WILD_BLOCK)

/* Writes the files of code; a descriptor for one of them. */
bool wild_files_make(void);
void wild_files_remove(void);
int wild_file_open(unsigned int n);

/*
 * A wild process: does not return.  After some steps it exits, or becomes
 * another one.
 */
void wild_process(uint64_t seed);
/* To be called first in a program: is it a wild process that has been exec'ed? */
void wild_process_if_asked(void);

/* Registers that code of a wild process has while it runs */
struct wild_regs {
	uint64_t	saved_sp;
	uint64_t	count;		/* rounds */
	uint64_t	touch;		/* address that each round writes to */
	uint64_t	sp;
	uint64_t	fp;
	uint64_t	reg[26];
};

/* Runs with these registers at a random place of the code that is mapped. */
void wild_run(struct rng *r, struct wild_regs *regs);
/* Maps, replaces or removes some of the code. */
void wild_code_begin(struct rng *r);
void wild_code_change(struct rng *r);

/* A word that leads to code in @code of 100 cases; 100: that is mapped. */
uint64_t wild_word(struct rng *r, unsigned int code);

#define WILD_TABLE_MAX	(64UL << 10)

/*
 * Random tables for the files, in @to of WILD_TABLE_MAX bytes; their length.  One
 * of @odd rules is none that a compiler makes.  The second form may be wrong
 * somewhere.
 */
size_t wild_table(struct rng *r, void *to, unsigned int odd);
size_t wild_table_mutant(struct rng *r, void *to, unsigned int odd);
/* What linux/hwpmc_unwind.h says of a table. */
bool wild_table_is_valid(const void *table, size_t len);

#endif /* TEST_WILD_H */
