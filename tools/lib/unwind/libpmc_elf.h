/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs and libraries as ELF files: their parts, and where these are loaded.
 */
#ifndef LIBPMC_ELF_H
#define LIBPMC_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct elf - a file, or an image of one in memory
 * @fd: the file, or -1
 * @image: the image in memory, or NULL
 * @size: size of file or image when opened; a file that is shorter now is not read
 * @wide: it has 64 bits
 * @machine, @type: EM_*, ET_*
 * @phdr, @shdr: tables in the format of the file; @shdr may be NULL
 */
struct elf {
	int		fd;
	const unsigned char *image;
	uint64_t	size;
	int		wide;
	unsigned int	machine;
	unsigned int	type;
	size_t		nphdr;
	size_t		nshdr;
	unsigned char	*phdr;
	unsigned char	*shdr;
	size_t		names;
};

/* A field of a table's row, for files of 32 and 64 bits */
#define FIELD(elf, row, type, field)					\
	((elf)->wide ? (uint64_t)((const Elf64_##type *)(row))->field :	\
		       (uint64_t)((const Elf32_##type *)(row))->field)
#define SIZE(elf, type) \
	((elf)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

/*
 * 0, or -1 with errno: ENOEXEC if it is not an ELF file of this machine's byte
 * order.  The caller closes @e->fd; pmc_elf_close() frees the rest.
 */
int pmc_elf_read(struct elf *e, int fd);
int pmc_elf_read_image(struct elf *e, const void *image, size_t size);
void pmc_elf_close(struct elf *e);

/*
 * A part of the file and a NUL; the caller frees it.  NULL with errno: ENOEXEC if the
 * file does not have all of it; else it cannot be read now (EIO, ESTALE, ENOMEM, ...).
 */
void *pmc_elf_part(const struct elf *e, uint64_t offset, uint64_t len);

/*
 * The contents of a section, inflated if compressed; otherwise like pmc_elf_part().
 * ENOEXEC: the section cannot be inflated.
 * @row: result of pmc_elf_section()
 */
void *pmc_elf_contents(const struct elf *e, const unsigned char *row,
		       uint64_t *len);

/* The row of a section.  NULL with errno: ENOEXEC if there is none; others as above */
const unsigned char *pmc_elf_section(const struct elf *e, const char *name);

/* The row of the first segment of a type, or NULL */
const unsigned char *pmc_elf_segment(const struct elf *e, uint32_t type);

/*
 * Stores the offset in the file of the byte loaded at @addr.  0: no part of the file
 * is loaded there.  @code: search only executable segments
 */
int pmc_elf_offset(const struct elf *e, uint64_t addr, int code,
		   uint64_t *offset);
/* The same for all segments; @end: the end of the segment in the file */
int pmc_elf_offset_end(const struct elf *e, uint64_t addr, uint64_t *offset,
		       uint64_t *end);

#endif
