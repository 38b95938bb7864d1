// SPDX-License-Identifier: BSD-2-Clause
#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/lines.h"

/* Overlapping tables could be read many times, and rows are large. */
#define WORK_MAX(l)	(4 * (uint64_t)(l)->sect.line.n)
#define ROWS_MAX	(32U << 20)
/* A unit can have few bytes, and many units can share a list of ranges. */
#define UNITS_MAX	(1U << 20)
#define RANGES_MAX	(8U << 20)

static void add_unit(struct lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	GROW(l->unit, l->n, l->cap);
	l->unit[l->n] = (struct line_unit){ .die = dwarf_dieoffset(die) };
	while (l->ranges < RANGES_MAX &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		l->ranges++;
		segs_add(&l->units, start, end, l->n);
	}
	l->n++;
}

/* Not every compiler writes .debug_aranges, so the units are read. */
static bool load(struct lines *l, const struct image_root *root)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	bool alt;

	image_inflate(&l->im);
	l->dw = dwarf_begin_elf(l->im.elf, DWARF_C_READ, NULL);
	if (!l->dw)
		return false;
	alt = altfile_open(&l->alt, l->dw, &l->im, root);
	while (alt && l->n < UNITS_MAX &&
	       !dwarf_get_units(l->dw, unit, &unit, NULL, NULL, &die, NULL))
		add_unit(l, &die);
	if (l->units.n) {
		segs_sort(&l->units);
		linetab_sections(&l->sect, l->im.elf);
		die_strings_add(&l->strings, l->im.elf);
		if (l->alt.dw)
			die_strings_add(&l->strings, l->alt.im.elf);
		return true;
	}
	dwarf_end(l->dw);
	altfile_close(&l->alt);
	l->dw = NULL;
	l->n = 0;
	return false;
}

bool lines_open(struct lines *l, const struct image_root *root,
		const char *path)
{
	struct image debug;
	const char *why;

	memset(l, 0, sizeof(*l));
	strtab_init(&l->str);
	if (!image_open(&l->im, root, path, &why)) {
		lines_close(l);
		return false;
	}
	if (load(l, root))
		return true;
	if (image_open_debug(&debug, &l->im, root, path)) {
		image_close(&l->im);
		l->im = debug;
		if (load(l, root))
			return true;
	}
	lines_close(l);
	return false;
}

static struct line_unit *loaded(struct lines *l, uint32_t number)
{
	struct line_unit *u = &l->unit[number];
	Dwarf_Attribute attr;
	Dwarf_Word off;
	Dwarf_Die die;

	if (u->loaded)
		return u;
	u->loaded = true;
	if (l->work > WORK_MAX(l) || l->rows > ROWS_MAX ||
	    !dwarf_offdie(l->dw, u->die, &die) ||
	    dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &attr), &off))
		return u;
	l->work += linetab_load(&u->tab, &l->sect, off);
	l->rows += u->tab.n;
	if (u->tab.nfile)
		u->path = xcalloc(u->tab.nfile, sizeof(*u->path));
	return u;
}

/* Of a part of a path, with the byte that follows it */
static size_t part_size(const char *s)
{
	return s ? strnlen(s, PATH_MAX) + 1 : 0;
}

/*
 * File names are relative to the compiler's working directory.  NULL: not known, or
 * longer than any path; thousands of files can be in one directory of a megabyte.
 */
static char *full_path(struct lines *l, const struct line_unit *u,
		       uint32_t file)
{
	const char *dir, *name, *comp_dir = NULL;
	Dwarf_Die die;

	if (!linetab_file(&u->tab, file, &dir, &name))
		return NULL;
	if (*name == '/')
		dir = NULL;
	else if (!dir || *dir != '/')
		comp_dir = dwarf_offdie(l->dw, u->die, &die) ?
			   die_string(&l->strings, &die, DW_AT_comp_dir) : NULL;
	if (part_size(comp_dir) + part_size(dir) + part_size(name) > PATH_MAX)
		return NULL;
	return xasprintf("%s%s%s%s%s", comp_dir ? comp_dir : "",
			 comp_dir ? "/" : "", dir ? dir : "", dir ? "/" : "",
			 name);
}

const char *lines_path(struct lines *l, uint32_t unit, uint32_t file)
{
	struct line_unit *u = loaded(l, unit);
	char *path;

	if (file >= u->tab.nfile)
		return NULL;
	if (!u->path[file]) {
		path = full_path(l, u, file);
		if (!path)
			return NULL;
		u->path[file] = strtab_id(&l->str, path);
		free(path);
	}
	return strtab_str(&l->str, u->path[file]);
}

bool lines_in_unit(struct lines *l, uint32_t unit, uint64_t addr,
		   const char **file, int *line)
{
	const struct line_row *row = linetab_find(&loaded(l, unit)->tab, addr);

	*file = NULL;
	*line = 0;
	if (!row)
		return false;
	*file = lines_path(l, unit, row->file);
	if (*file && row->line <= INT32_MAX)
		*line = (int)row->line;
	return *line;
}

bool lines_find(struct lines *l, uint64_t addr, const char **file, int *line)
{
	uint32_t unit = segs_find(&l->units, addr);

	return unit != SEGS_NONE && lines_in_unit(l, unit, addr, file, line);
}

void lines_close(struct lines *l)
{
	uint32_t i;

	if (l->dw)
		dwarf_end(l->dw);
	altfile_close(&l->alt);
	image_close(&l->im);
	for (i = 0; i < l->n; i++) {
		linetab_free(&l->unit[i].tab);
		free(l->unit[i].path);
	}
	free(l->unit);
	segs_free(&l->units);
	die_strings_free(&l->strings);
	strtab_free(&l->str);
	memset(l, 0, sizeof(*l));
	l->im.fd = -1;
}
