/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program under ptrace, whose stack is walked twice wherever it stops: with the
 * module's steps and tables of libpmc, and with elfutils' unwinder.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#define TRUTH_FRAMES	512

struct truth;

/**
 * struct truth_chain - a stack, innermost frame first
 * @whole: it ends where the thread begins
 * @end: why it ends, in words
 */
struct truth_chain {
	unsigned int	n;
	bool		whole;
	const char	*end;
	uint64_t	pc[TRUTH_FRAMES];
	bool		exact[TRUTH_FRAMES];	/* not behind a call */
};

/* What comparisons have found; @frames: of elfutils' chains */
struct truth_count {
	unsigned long	stops, frames, same;
	unsigned long	whole;		/* ours, of ... */
	unsigned long	their_whole;
	unsigned long	longer;		/* ours go on where elfutils' end */
	unsigned long	beyond;		/* stops where no table can tell */
	unsigned long	shown;		/* differences */
};

/*
 * A program that has just been executed, its output dropped.  NULL: it cannot be.
 */
struct truth *truth_start(const char *const *argv);
void truth_end(struct truth *t);

/*
 * On to the next stop: after some microseconds (or at a signal of the program's
 * own, which it gets later), after one instruction, or at the next SIGTRAP.  False:
 * it has ended.
 */
bool truth_run(struct truth *t, unsigned int microseconds);
bool truth_step(struct truth *t);
bool truth_until_trap(struct truth *t);
bool truth_at_trap(const struct truth *t);	/* it is at an int3 of its own */

void truth_ours(struct truth *t, struct truth_chain *c);

/* Walks both ways, counts, and prints what is not the same as comments of TAP. */
void truth_compare(struct truth *t, struct truth_count *count);

uint64_t truth_pc(const struct truth *t);
/* The function at an address, or a chain's; "?" for none */
const char *truth_name(struct truth *t, uint64_t pc);
const char *truth_frame_name(struct truth *t, const struct truth_chain *c,
			     unsigned int i);
void truth_show(struct truth *t, const char *title, const struct truth_chain *c);

#endif /* TRUTH_H */
