/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jitdump files: what a just-in-time compiler made, and when.
 *
 * Where code was at run time something else may be later, but in the file each
 * piece has a place of its own.  So an address at a moment becomes an offset in
 * the file, and frames have that one, as those of a program have.
 */
#ifndef READER_JITDUMP_H
#define READER_JITDUMP_H

#include <sys/types.h>

#include "elf/symtab.h"

#define JITDUMP_CODES	(2U << 20)	/* of one file */

/**
 * struct jitcode - a piece of code
 * @addr:  where it was when it was made, @size bytes
 * @off:   of its bytes in the file
 * @lines: of what tells its lines, @nlines bytes there; 0: nothing does
 */
struct jitcode {
	const char *name;
	uint64_t addr, off, lines;
	uint32_t size, nlines;
};

/**
 * struct jitrange - @code is at [start, end) from a moment on
 * @reach: the highest end in the part of the table that it is the middle of
 * @turn:  its rank by time; of ranges that overlap the highest one counts
 */
struct jitrange {
	uint64_t start, end, reach;
	uint32_t code, turn;
};

/**
 * struct jitturn - a range comes to be
 * @time:   by the dump's clock
 * @shared: it overlaps another one: an address may mean something else now
 */
struct jitturn {
	uint64_t time;
	bool shared;
};

/**
 * struct jitdump - what was read of a file
 * @swap:    it is of the other byte order
 * @ticks:   its times are a processor's, which nothing relates to the log's
 * @lead:    what addresses of lines have too much
 * @machine: ELF's number for it; 0: it does not say
 * @code:    in the order of the file
 * @range:   by start; @turn: by time; @nrange of each
 */
struct jitdump {
	bool swap, ticks;
	uint32_t lead, machine;
	struct jitcode *code;
	uint32_t ncode, capcode;
	struct jitrange *range;
	uint32_t nrange, caprange;
	struct jitturn *turn;
	struct arena names;
};

/* of a file that may become one */
extern const char jitdump_empty[];

/* Reads all of a file; NULL, or why it can't be used. */
const char *jitdump_read(struct jitdump *d, int fd);
void jitdump_free(struct jitdump *d);

/* How many ranges there are at a moment of its clock. */
uint32_t jitdump_turns(const struct jitdump *d, uint64_t time);
/* Does an address mean something else after turn @to than after @from? */
bool jitdump_turned(const struct jitdump *d, uint32_t from, uint32_t to);
/*
 * An address as an offset in the file, after so many turns; 0: no code.  Where
 * there was none yet it is that of the first that comes.
 */
uint64_t jitdump_place(const struct jitdump *d, uint32_t turns, uint64_t addr);
/* The functions, by offset. */
void jitdump_names(const struct jitdump *d, struct symtab *t);
/* The piece of code that is there in the file, or NULL. */
const struct jitcode *jitdump_code(const struct jitdump *d, uint64_t off);

/* lines of a piece of code: from @addr on, as it was when it was made */
struct jitline {
	uint64_t addr;
	uint32_t line;
	const char *file;
};

/**
 * struct jitlines - all of them, by address
 * @text: what the names of files are in
 */
struct jitlines {
	struct jitline *line;
	uint32_t n, cap;
	unsigned char *text;
};

/* False: the dump has no lines for this code. */
bool jitlines_read(struct jitlines *l, const struct jitdump *d,
		   const struct jitcode *c, int fd);
/* The line of an address, or NULL. */
const struct jitline *jitlines_find(const struct jitlines *l, uint64_t addr);
void jitlines_free(struct jitlines *l);

#endif /* READER_JITDUMP_H */
