/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jitdump files: the code that a just-in-time compiler made, and when.
 *
 * Memory of JIT code is reused at run time, but in the file each piece has an
 * offset of its own.  So the reader converts an address at a point in time to
 * that offset, which the frame stores, as frames of a program do.
 */
#ifndef READER_JITDUMP_H
#define READER_JITDUMP_H


#include "elf/symtab.h"

#define JITDUMP_CODES	(2U << 20)	/* of one file */

/**
 * struct jitcode - a piece of code
 * @addr:  its address when it was made, @size bytes
 * @off:   offset of its bytes in the file
 * @lines: offset of its line table, @nlines bytes; 0: none
 */
struct jitcode {
	const char *name;
	uint64_t addr, off, lines;
	uint32_t size, nlines;
};

/**
 * struct jitrange - @code is at [start, end) from some time on
 * @reach: the highest end in the part of the table whose middle it is
 * @turn:  its rank by time; of overlapping ranges the highest one is valid
 */
struct jitrange {
	uint64_t start, end, reach;
	uint32_t code, turn;
};

/**
 * struct jitturn - a range is added
 * @time:   by the dump's clock
 * @shared: it overlaps another range, so the meaning of an address may change
 */
struct jitturn {
	uint64_t time;
	bool shared;
};

/**
 * struct jitdump - the contents of a file
 * @swap:    the file has the other byte order
 * @ticks:   its times are of a CPU clock that can't be related to the log's
 * @lead:    constant to subtract from the addresses of lines
 * @machine: ELF machine number; 0: not known
 * @code:    in the order of the file
 * @range:   sorted by start; @turn: sorted by time; @nrange of each
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

/* the error for a file that may become a jitdump later */
extern const char jitdump_empty[];

/* Reads all of a file; NULL, or why it can't be used. */
const char *jitdump_read(struct jitdump *d, int fd);
void jitdump_free(struct jitdump *d);

/* Number of ranges at a time of the dump's clock. */
uint32_t jitdump_turns(const struct jitdump *d, uint64_t time);
/* Does the meaning of any address change between turns @from and @to? */
bool jitdump_turned(const struct jitdump *d, uint32_t from, uint32_t to);
/*
 * Converts an address to an offset in the file after @turns turns; 0: no code.
 * If no code was there yet, the first code that comes there is used.
 */
uint64_t jitdump_place(const struct jitdump *d, uint32_t turns, uint64_t addr);
/* Adds the functions, by offset. */
void jitdump_names(const struct jitdump *d, struct symtab *t);
/* The piece of code at offset @off of the file, or NULL. */
const struct jitcode *jitdump_code(const struct jitdump *d, uint64_t off);

/* a line of a piece of code, from @addr on, as the code was made */
struct jitline {
	uint64_t addr;
	uint32_t line;
	const char *file;
};

/**
 * struct jitlines - all lines of a piece of code, sorted by address
 * @text: memory of the file names
 */
struct jitlines {
	struct jitline *line;
	uint32_t n, cap;
	unsigned char *text;
};

/* False: the dump has no lines for this code. */
bool jitlines_read(struct jitlines *l, const struct jitdump *d,
		   const struct jitcode *c, int fd);
/* The line at an address, or NULL. */
const struct jitline *jitlines_find(const struct jitlines *l, uint64_t addr);
void jitlines_free(struct jitlines *l);

#endif /* READER_JITDUMP_H */
