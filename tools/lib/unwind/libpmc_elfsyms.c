// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions of a program or library, and where they are in its file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpmc_elf.h"
#include "libpmc_event.h"

#define SYMBOLS_MAX	(1UL << 30)

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
	    !pmc_elf_offset(e, FIELD(e, sym, Sym, st_value), 1, &offset))
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
	syms = pmc_elf_part(e, FIELD(e, row, Shdr, sh_offset),
			 n <= SYMBOLS_MAX ? n * SIZE(e, Sym) : ~0ULL);
	if (syms)
		names = pmc_elf_part(e, FIELD(e, strings, Shdr, sh_offset), len);
	for (i = 0; names && i < n; i++)
		visit(e, syms + i * SIZE(e, Sym), (const char *)names, len, v);
	free(syms);
	free(names);
}

/* Some devices do something when they are opened. */
static int open_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	if (S_ISREG(st.st_mode))
		return open(path, O_RDONLY | O_CLOEXEC);
	errno = ENOEXEC;
	return -1;
}

int pmc_elf_functions(const char *path, void (*each)(void *arg,
		      const char *name, uint64_t offset, int global),
		      void *arg)
{
	struct visitor v = { each, arg };
	int fd = open_file(path), status, seen_symtab = 0, seen_dynsym = 0;
	struct elf e;
	size_t i;

	if (fd < 0)
		return -1;
	status = pmc_elf_read(&e, fd);
	for (i = 0; !status && e.shdr && i < e.nshdr; i++) {
		const unsigned char *row = e.shdr + i * SIZE(&e, Shdr);
		uint64_t type = FIELD(&e, row, Shdr, sh_type);

		/* a file has one of each; a hostile one has 65535, of 1 GB */
		if ((type == SHT_SYMTAB && !seen_symtab++) ||
		    (type == SHT_DYNSYM && !seen_dynsym++))
			visit_table(&e, row, &v);
	}
	pmc_elf_close(&e);
	close(fd);
	if (status)
		errno = ENOEXEC;
	return status;
}
