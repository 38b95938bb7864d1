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
/* DWARF is compressed to a third or a sixth, zeros to a thousandth or less. */
#define UNPACKED_FEW	((uint64_t)64 << 20)	/* bytes that any file may have */
#define UNPACKED_RATIO	32

/**
 * struct head - headers of an ELF file
 * @file: the first one, which tells the byte order and the class
 * @part: that of a section, or of what is compressed in it
 */
struct head {
	unsigned char file[sizeof(Elf64_Ehdr)], part[sizeof(Elf64_Shdr)];
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
	/* section 0 has the numbers that are too large for the first header */
	at = NUMBER(&h, file, Ehdr, e_shoff);
	sections = NUMBER(&h, file, Ehdr, e_shnum);
	segments = NUMBER(&h, file, Ehdr, e_phnum);
	if (!at || !peek(b, at, h.part, h.file[EI_CLASS] == ELFCLASS64 ?
			 sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return NULL;
	if (!sections)
		sections = NUMBER(&h, part, Shdr, sh_size);
	if (segments == PN_XNUM)
		segments = NUMBER(&h, part, Shdr, sh_info);
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

/* bytes of the compressed sections of a file, before and after */
struct growth {
	uint64_t packed, unpacked;
};

static void add_growth(struct growth *g, uint64_t packed, uint64_t unpacked)
{
	g->packed += packed;
	if (__builtin_add_overflow(g->unpacked, unpacked, &g->unpacked))
		g->unpacked = UINT64_MAX;
}

static bool grows_much(const struct growth *g)
{
	return g->unpacked > UNPACKED_FEW && g->unpacked / UNPACKED_RATIO > g->packed;
}

/* libelf decompresses any of them, also one with names. */
static void add_compressed(struct growth *g, const struct image_bytes *b, Elf *elf)
{
	Elf_Scn *scn = NULL;
	struct head h = { 0 };
	GElf_Shdr sh;
	size_t head;

	peek(b, 0, h.file, sizeof(h.file));
	head = h.file[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_COMPRESSED)
			add_growth(g, sh.sh_size,
				   peek(b, sh.sh_offset, h.part, head) ?
				   NUMBER(&h, part, Chdr, ch_size) : UINT64_MAX);
}

/* "ZLIB" and the size, the first byte first, in any file */
#define GNU_MAGIC	"ZLIB"

/* The older form, in which a section is compressed if its name says so */
static void add_gnu_compressed(struct growth *g, const struct image_bytes *b, Elf *elf)
{
	const struct head big = { .file[EI_DATA] = ELFDATA2MSB };
	unsigned char head[sizeof(GNU_MAGIC) - 1 + sizeof(uint64_t)];
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
				   elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && !strncmp(name, ".zdebug", 7) &&
		    peek(b, sh.sh_offset, head, sizeof(head)) &&
		    !memcmp(head, GNU_MAGIC, sizeof(GNU_MAGIC) - 1))
			add_growth(g, sh.sh_size, number(&big, head + sizeof(GNU_MAGIC) - 1,
							 sizeof(uint64_t)));
	}
}

const char *imagecheck_sections(const struct image_bytes *b, Elf *elf)
{
	struct growth g = { 0 };

	/* what is in memory is not copied */
	if (b->fd >= 0 && sections_overlap(b->fd, elf))
		return "its sections overlap";
	add_compressed(&g, b, elf);
	/* the names of sections may be compressed */
	if (!grows_much(&g))
		add_gnu_compressed(&g, b, elf);
	return grows_much(&g) ? "its compressed sections are too large" : NULL;
}
