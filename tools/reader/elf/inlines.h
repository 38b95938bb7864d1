/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was inlined where.
 *
 * Of a compile unit that is asked for, the functions are noted; of a function
 * that is asked for, the ranges of what was inlined into it.  (libdw's own
 * look-up walks the unit anew for each address, and misses some.)
 */
#ifndef READER_INLINES_H
#define READER_INLINES_H

#include "elf/lines.h"
#include "elf/segs.h"

#define INLINES_MAX	64	/* levels at one address */

/**
 * struct inline_scope - a function, or what was inlined into it
 * @parent:    into which other scope of the function; the function: SEGS_NONE
 * @name:      string number of the raw name
 * @call_file, @call_line: of the call in place of which it stands
 * @known:     the above but @parent were looked up
 */
struct inline_scope {
	Dwarf_Off die;
	uint32_t parent;
	uint32_t name;
	uint32_t call_file, call_line;
	bool known;
};

/**
 * struct inline_func - a function; scope 0 is itself
 * @segs: whose scope an address is in
 */
struct inline_func {
	struct inline_scope *scope;
	uint32_t n, cap;
	struct segs segs;
	Dwarf_Off die;
	bool loaded;
};

/**
 * struct inline_unit - a compile unit
 * @segs: whose function an address is in
 * @deep: functions were looked for inside of others too
 */
struct inline_unit {
	struct inline_func *func;
	uint32_t n, cap;
	struct segs segs;
	bool loaded, deep;
};

struct inlines {
	struct lines l;
	struct inline_unit *unit;	/* by number of struct lines */
	uint64_t ranges, work;		/* ranges and DIEs read; bounded */
};

/**
 * struct src_frame - one level of an address
 * @func: raw name, NULL: not known
 * @file: path, NULL: not known
 * @line: 0: not known
 */
struct src_frame {
	const char *func, *file;
	int line;
};

/* False if nothing tells of lines. */
bool inlines_open(struct inlines *x, const struct image_root *root,
		  const char *path);
/*
 * The innermost first, at most INLINES_MAX; 0: nothing is known of it.  What
 * they point to is valid until it is closed.
 */
uint32_t inlines_find(struct inlines *x, uint64_t addr,
		      struct src_frame frame[INLINES_MAX]);
void inlines_close(struct inlines *x);

#endif /* READER_INLINES_H */
