// SPDX-License-Identifier: BSD-2-Clause
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/imagecheck.h"

/*
 * The headers of sections can be a hole of the file, and libelf needs 268 bytes for each.
 * Only object files with a section for each function have nearly as many.
 */
#define HEADERS_MAX	65536U

/**
 * struct head - the beginning of an ELF file
 * @first: the header of section 0, which has the numbers that are too large for @file
 */
struct head {
	unsigned char file[sizeof(Elf64_Ehdr)], first[sizeof(Elf64_Shdr)];
};

static bool peek(const struct image_bytes *b, uint64_t at, void *to, size_t n)
{
	if (b->fd >= 0)
		return at <= INT64_MAX &&
		       pread(b->fd, to, n, (off_t)at) == (ssize_t)n;
	if (at > b->len || n > b->len - at)
		return false;
	memcpy(to, (const char *)b->mem + at, n);
	return true;
}

/* A number of @n bytes, in the file's byte order */
static uint64_t number(const struct head *h, const unsigned char *at, size_t n)
{
	bool big = h->file[EI_DATA] == ELFDATA2MSB;
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < n; i++)
		v = v << 8 | at[big ? i : n - 1 - i];
	return v;
}

#define PLACE(part, type, member)					\
	((part) + offsetof(type, member)), sizeof(((type *)0)->member)
/* @member of a header, which is @part of @h */
#define NUMBER(h, part, type, member)					\
	((h)->file[EI_CLASS] == ELFCLASS64 ?				\
	 number(h, PLACE((h)->part, Elf64_##type, member)) :		\
	 number(h, PLACE((h)->part, Elf32_##type, member)))

const char *imagecheck_head(const struct image_bytes *b)
{
	struct head h = { 0 };
	uint64_t at, sections, segments;

	/* a header of 32 bits is shorter, but no program is as short */
	if (!peek(b, 0, h.file, sizeof(h.file)) ||
	    memcmp(h.file, ELFMAG, SELFMAG))
		return "not an ELF file";
	at = NUMBER(&h, file, Ehdr, e_shoff);
	sections = NUMBER(&h, file, Ehdr, e_shnum);
	segments = NUMBER(&h, file, Ehdr, e_phnum);
	if (!at || !peek(b, at, h.first, h.file[EI_CLASS] == ELFCLASS64 ?
			 sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return NULL;
	if (!sections)
		sections = NUMBER(&h, first, Shdr, sh_size);
	if (segments == PN_XNUM)
		segments = NUMBER(&h, first, Shdr, sh_info);
	return sections > HEADERS_MAX || segments > HEADERS_MAX ?
	       "has more than 65,536 sections or segments" : NULL;
}

/*
 * libelf keeps each section that is read in memory: hundreds of them may be the same
 * bytes of the file, which may have holes.  Sections that do not overlap have no more
 * bytes than the file.
 */
static bool sections_overlap(int fd, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	uint64_t left;
	struct stat st;

	if (fstat(fd, &st) || st.st_size < 0)
		return true;
	left = (uint64_t)st.st_size;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		if (sh.sh_size > left)
			return true;
		left -= sh.sh_size;
	}
	return false;
}

const char *imagecheck_sections(const struct image_bytes *b, Elf *elf)
{
	/* what is in memory is not copied */
	return b->fd >= 0 && sections_overlap(b->fd, elf) ?
	       "its sections overlap" : NULL;
}
