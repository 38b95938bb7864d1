/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of an ELF file, from its DWARF or that of its debug file. */
#ifndef READER_LINES_H
#define READER_LINES_H

#include <elfutils/libdw.h>

#include "base/strtab.h"
#include "elf/altfile.h"
#include "elf/imagefile.h"
#include "elf/linetab.h"

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

/* a compile unit has code in [start, end) */
struct line_range {
	uint64_t start, end;
	uint32_t unit;
};

/**
 * struct lines - line information of a file
 * @work: bytes of tables read, @rows: rows kept, @ranges: ranges read; all are
 *        bounded
 */
struct lines {
	struct image im;
	Dwarf *dw;
	struct altfile alt;
	struct line_sections sect;
	struct line_unit *unit;
	uint32_t n, cap;
	struct line_range *range;	/* sorted */
	size_t nrange, caprange;
	struct strtab str;
	uint64_t work, rows, ranges;
};

#define LINES_NONE	UINT32_MAX

/* False if the file has no line information. */
bool lines_open(struct lines *l, const struct image_root *root,
		const char *path);
/* *@file is valid until lines_close(). */
bool lines_find(struct lines *l, uint64_t addr, const char **file, int *line);
void lines_close(struct lines *l);

/* Number of the unit with code at @addr, or LINES_NONE. */
uint32_t lines_unit(const struct lines *l, uint64_t addr);
/* As lines_find() in a known unit; *@line may be 0 with *@file set. */
bool lines_in_unit(struct lines *l, uint32_t unit, uint64_t addr,
		   const char **file, int *line);
/* Path of a file of a unit, NULL: not known. */
const char *lines_path(struct lines *l, uint32_t unit, uint32_t file);

#endif /* READER_LINES_H */
