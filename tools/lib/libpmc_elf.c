/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of a program or library, and where they are in its file.  Not by
 * libelf: a small library should be all that recording takes.  Files are not
 * trusted, and read, not mapped: they may shrink.
 */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpmc_event.h"

#define TABLE_MAX	(1UL << 30)

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define OUR_ENDIAN	ELFDATA2LSB
#else
#define OUR_ENDIAN	ELFDATA2MSB
#endif

/**
 * struct elf - a file
 * @wide: of 64 bits
 * @phdr, @shdr: tables, as the file has them
 */
struct elf {
	int		fd;
	int		wide;
	size_t		nphdr;
	size_t		nshdr;
	unsigned char	*phdr;
	unsigned char	*shdr;
};

/* A field of a table's row, whatever the width of the file */
#define FIELD(elf, row, type, field)					\
	((elf)->wide ? (uint64_t)((const Elf64_##type *)(row))->field :	\
		       (uint64_t)((const Elf32_##type *)(row))->field)
#define SIZE(elf, type) \
	((elf)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static int refuse(void)
{
	errno = ENOEXEC;
	return -1;
}

/* A part of the file and a NUL; NULL when it is not all there */
static void *read_part(const struct elf *e, uint64_t offset, uint64_t len)
{
	unsigned char *part;
	struct stat st;
	size_t done = 0;
	ssize_t n;

	if (fstat(e->fd, &st) || len > TABLE_MAX ||
	    offset > (uint64_t)st.st_size ||
	    len > (uint64_t)st.st_size - offset) {
		refuse();
		return NULL;
	}
	part = malloc(len + 1);
	if (!part)
		return NULL;
	while (done < len) {
		n = pread(e->fd, part + done, len - done,
			  (off_t)(offset + done));
		if (n <= 0) {
			free(part);
			refuse();
			return NULL;
		}
		done += (size_t)n;
	}
	part[len] = '\0';
	return part;
}

/* Some devices do something when they are opened. */
static int open_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	return S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) :
	       refuse();
}

static int read_header(struct elf *e)
{
	unsigned char *h = read_part(e, 0, EI_NIDENT), *full;
	int ok;

	if (!h)
		return -1;
	ok = !memcmp(h, ELFMAG, SELFMAG) && h[EI_DATA] == OUR_ENDIAN &&
	     (h[EI_CLASS] == ELFCLASS32 || h[EI_CLASS] == ELFCLASS64);
	e->wide = h[EI_CLASS] == ELFCLASS64;
	free(h);
	full = ok ? read_part(e, 0, SIZE(e, Ehdr)) : NULL;
	if (!full)
		return refuse();
	e->nphdr = FIELD(e, full, Ehdr, e_phnum);
	e->nshdr = FIELD(e, full, Ehdr, e_shnum);
	if (FIELD(e, full, Ehdr, e_phentsize) == SIZE(e, Phdr))
		e->phdr = read_part(e, FIELD(e, full, Ehdr, e_phoff),
				    e->nphdr * SIZE(e, Phdr));
	if (FIELD(e, full, Ehdr, e_shentsize) == SIZE(e, Shdr))
		e->shdr = read_part(e, FIELD(e, full, Ehdr, e_shoff),
				    e->nshdr * SIZE(e, Shdr));
	free(full);
	return e->phdr ? 0 : refuse();
}

/* What is loaded at an address; 0: nothing of the file */
static int offset_of(const struct elf *e, uint64_t addr, uint64_t *offset)
{
	const unsigned char *row = e->phdr;
	uint64_t at;
	size_t i;

	for (i = 0; i < e->nphdr; i++, row += SIZE(e, Phdr)) {
		at = FIELD(e, row, Phdr, p_vaddr);
		if (FIELD(e, row, Phdr, p_type) != PT_LOAD ||
		    !(FIELD(e, row, Phdr, p_flags) & PF_X) || addr < at ||
		    addr - at >= FIELD(e, row, Phdr, p_filesz))
			continue;
		*offset = addr - at + FIELD(e, row, Phdr, p_offset);
		return 1;
	}
	return 0;
}

struct visitor {
	void	(*each)(void *arg, const char *name, uint64_t offset,
			int global);
	void	*arg;
};

static void visit(const struct elf *e, const unsigned char *sym,
		  const char *names, size_t len, const struct visitor *v)
{
	uint64_t name = FIELD(e, sym, Sym, st_name), offset;
	unsigned int info = (unsigned int)FIELD(e, sym, Sym, st_info);

	if (ELF64_ST_TYPE(info) != STT_FUNC || name >= len || !names[name] ||
	    FIELD(e, sym, Sym, st_shndx) == SHN_UNDEF ||
	    !offset_of(e, FIELD(e, sym, Sym, st_value), &offset))
		return;
	v->each(v->arg, names + name, offset,
		ELF64_ST_BIND(info) != STB_LOCAL);
}

static void visit_table(const struct elf *e, const unsigned char *row,
			const struct visitor *v)
{
	uint64_t link = FIELD(e, row, Shdr, sh_link), n, i, len;
	unsigned char *syms, *names = NULL;
	const unsigned char *strings;

	if (link >= e->nshdr ||
	    FIELD(e, row, Shdr, sh_entsize) != SIZE(e, Sym))
		return;
	strings = e->shdr + link * SIZE(e, Shdr);
	len = FIELD(e, strings, Shdr, sh_size);
	n = FIELD(e, row, Shdr, sh_size) / SIZE(e, Sym);
	syms = read_part(e, FIELD(e, row, Shdr, sh_offset),
			 n <= TABLE_MAX ? n * SIZE(e, Sym) : ~0ULL);
	if (syms)
		names = read_part(e, FIELD(e, strings, Shdr, sh_offset), len);
	for (i = 0; names && i < n; i++)
		visit(e, syms + i * SIZE(e, Sym), (const char *)names, len, v);
	free(syms);
	free(names);
}

int pmc_elf_functions(const char *path, void (*each)(void *arg,
		      const char *name, uint64_t offset, int global),
		      void *arg)
{
	struct visitor v = { each, arg };
	struct elf e = { .fd = open_file(path) };
	int status;
	size_t i;

	if (e.fd < 0)
		return -1;
	status = read_header(&e);
	for (i = 0; !status && e.shdr && i < e.nshdr; i++) {
		const unsigned char *row = e.shdr + i * SIZE(&e, Shdr);
		uint64_t type = FIELD(&e, row, Shdr, sh_type);

		if (type == SHT_SYMTAB || type == SHT_DYNSYM)
			visit_table(&e, row, &v);
	}
	free(e.phdr);
	free(e.shdr);
	close(e.fd);
	if (status)
		errno = ENOEXEC;
	return status;
}
