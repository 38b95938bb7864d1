/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of an ELF file, from its DWARF or that of its debug file. */
#ifndef READER_LINES_H
#define READER_LINES_H

#include <elfutils/libdw.h>

#include "base/strtab.h"
#include "elf/altfile.h"
#include "elf/diestring.h"
#include "elf/imagefile.h"
#include "elf/linetab.h"
#include "elf/segs.h"

/**
 * struct line_unit - a compile unit
 * @path: by file number: string number of its path, 0: not looked up yet
 */
struct line_unit {
	Dwarf_Off die;
	struct linetab tab;
	uint32_t *path;
	bool loaded;
};

/**
 * struct lines - line information of a file
 * @units: compile units by address; they do not overlap, except at 0, where
 *         linkers leave discarded code
 * @work: bytes of tables read, @rows: rows kept, @ranges: ranges read; all are
 *        bounded
 */
struct lines {
	struct image im;
	Dwarf *dw;
	struct altfile alt;
	struct die_strings strings;
	struct line_sections sect;
	struct line_unit *unit;
	uint32_t n, cap;
	struct segs units;
	struct strtab str;
	uint64_t work, rows, ranges;
};

/* False if the file has no line information. */
bool lines_open(struct lines *l, const struct image_root *root,
		const char *path);
/* *@file is valid until lines_close(). */
bool lines_find(struct lines *l, uint64_t addr, const char **file, int *line);
void lines_close(struct lines *l);

/* As lines_find() in a known unit; *@line may be 0 with *@file set. */
bool lines_in_unit(struct lines *l, uint32_t unit, uint64_t addr,
		   const char **file, int *line);
/* Path of a file of a unit, NULL: not known. */
const char *lines_path(struct lines *l, uint32_t unit, uint32_t file);

#endif /* READER_LINES_H */
