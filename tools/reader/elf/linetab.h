/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line table of a compile unit (DWARF 2 to 5), for look-ups by address.
 *
 * libdw would keep every row with all its columns; of those only the changes
 * of file and line are of use here, which is a third of the memory and time.
 */
#ifndef READER_LINETAB_H
#define READER_LINETAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

struct line_bytes {
	const unsigned char *p;
	size_t n;
};

/* the sections that line tables are made of */
struct line_sections {
	struct line_bytes line, str, line_str;
	bool swap;		/* the file has the other byte order */
};

/* valid from @addr up to the next row */
struct line_row {
	uint64_t addr;
	uint32_t file, line;
};

/* contiguous rows: [start, end) */
struct line_seq {
	uint64_t start, end;
	uint32_t row, n;
};

struct line_file {
	const char *name;
	uint32_t dir;
};

struct linetab {
	struct line_row *row;
	uint32_t n, cap;
	struct line_seq *seq;	/* sorted */
	uint32_t nseq, capseq;
	const char **dir;
	uint32_t ndir, capdir;
	struct line_file *file;	/* by the file number of rows and DIEs */
	uint32_t nfile, capfile;
};

/* Call it after libdw has opened @elf: libdw decompresses the sections. */
void linetab_sections(struct line_sections *s, Elf *elf);
/* Loads the table at @offset of .debug_line, empty if bad; bytes read. */
size_t linetab_load(struct linetab *t, const struct line_sections *s,
		    uint64_t offset);
/* NULL: the table has no row for @addr. */
const struct line_row *linetab_find(const struct linetab *t, uint64_t addr);
/* Directory (or NULL) and name of a file; false: no such file. */
bool linetab_file(const struct linetab *t, uint32_t file, const char **dir,
		  const char **name);
void linetab_free(struct linetab *t);

#endif /* READER_LINETAB_H */
