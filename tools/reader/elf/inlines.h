/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inlined functions by address.
 *
 * The first look-up in a compile unit notes its functions; the first look-up in
 * a function notes the ranges of what was inlined into it.  (libdw's own
 * look-up walks the unit again for each address, and misses some.)
 */
#ifndef READER_INLINES_H
#define READER_INLINES_H

#include "elf/lines.h"
#include "elf/segs.h"

#define INLINES_MAX	64	/* levels at one address */

/**
 * struct inline_scope - a function, or one that was inlined into it
 * @parent:    the scope it was inlined into; SEGS_NONE for the function itself
 * @name:      string number of the raw name
 * @call_file, @call_line: source position of the inlined call
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
 * struct inline_func - a function; scope 0 is the function itself
 * @segs: scope numbers by address
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
 * @segs: function numbers by address
 * @deep: nested functions were looked for too
 */
struct inline_unit {
	struct inline_func *func;
	uint32_t n, cap;
	struct segs segs;
	bool loaded, deep;
};

struct inlines {
	struct lines l;
	struct inline_unit *unit;	/* by unit number in struct lines */
	uint64_t ranges, work;		/* ranges and DIEs read; bounded */
};

/**
 * struct src_frame - one level of inlining at an address
 * @func: raw name, NULL: not known
 * @file: path, NULL: not known
 * @line: 0: not known
 */
struct src_frame {
	const char *func, *file;
	int line;
};

/* False if the file has no line information. */
bool inlines_open(struct inlines *x, const struct image_root *root,
		  const char *path);
/*
 * Finds the frames at @addr, the innermost first; returns their number, at most
 * INLINES_MAX, or 0 if none is known.  Strings are valid until inlines_close().
 */
uint32_t inlines_find(struct inlines *x, uint64_t addr,
		      struct src_frame frame[INLINES_MAX]);
void inlines_close(struct inlines *x);

#endif /* READER_INLINES_H */
