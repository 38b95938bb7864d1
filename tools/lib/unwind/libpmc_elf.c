// SPDX-License-Identifier: BSD-2-Clause
/*
 * ELF files, without libelf, so that recording needs only a small library.  Files are
 * not trusted.  They are read, not mapped, because they may shrink.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpmc_elf.h"
#include "libpmc_inflate.h"

#define PART_MAX	(1UL << 30)
#define NAMES_MAX	(16UL << 20)	/* of sections: read for each that is looked for */
#define INFLATED_MAX	(64UL << 20)	/* a small file may inflate to much more */

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define OUR_ENDIAN	ELFDATA2LSB
#else
#define OUR_ENDIAN	ELFDATA2MSB
#endif

static int refuse(void)
{
	errno = ENOEXEC;
	return -1;
}

/* A file that has become shorter has changed: it can be read again as another file. */
static int read_at(const struct elf *e, unsigned char *to, uint64_t offset,
		   size_t len)
{
	size_t done = 0;
	ssize_t n;

	if (e->image) {
		memcpy(to, e->image + offset, len);
		return 0;
	}
	while (done < len) {
		n = pread(e->fd, to + done, len - done,
			  (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (!n)
			errno = ESTALE;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

void *pmc_elf_part(const struct elf *e, uint64_t offset, uint64_t len)
{
	unsigned char *part;

	if (len > PART_MAX || offset > e->size || len > e->size - offset) {
		refuse();
		return NULL;
	}
	part = malloc(len + 1);
	if (!part)
		return NULL;
	if (read_at(e, part, offset, len)) {
		free(part);
		return NULL;
	}
	part[len] = '\0';
	return part;
}

/* @part: a header and @len bytes after it */
static void *inflate(const struct elf *e, const unsigned char *part,
		     uint64_t len, uint64_t *size)
{
	unsigned int type = (unsigned int)FIELD(e, part, Chdr, ch_type);
	unsigned char *out = NULL;

	*size = FIELD(e, part, Chdr, ch_size);
	if (*size > INFLATED_MAX || !pmc_inflate_fits(type, len, *size)) {
		refuse();
		return NULL;
	}
	out = malloc(*size + 1);
	if (!out || pmc_inflate(type, part + SIZE(e, Chdr), len, out, *size)) {
		free(out);
		return NULL;
	}
	out[*size] = '\0';
	return out;
}

void *pmc_elf_contents(const struct elf *e, const unsigned char *row,
		       uint64_t *len)
{
	void *part, *out = NULL;

	*len = FIELD(e, row, Shdr, sh_size);
	part = pmc_elf_part(e, FIELD(e, row, Shdr, sh_offset), *len);
	if (!part || !(FIELD(e, row, Shdr, sh_flags) & SHF_COMPRESSED))
		return part;
	if (*len >= SIZE(e, Chdr))
		out = inflate(e, part, *len - SIZE(e, Chdr), len);
	else
		refuse();
	free(part);
	return out;
}

static int read_tables(struct elf *e, const unsigned char *h)
{
	e->machine = (unsigned int)FIELD(e, h, Ehdr, e_machine);
	e->type = (unsigned int)FIELD(e, h, Ehdr, e_type);
	e->nphdr = FIELD(e, h, Ehdr, e_phnum);
	e->nshdr = FIELD(e, h, Ehdr, e_shnum);
	e->names = FIELD(e, h, Ehdr, e_shstrndx);
	refuse();		/* rows of another size are no rows */
	if (FIELD(e, h, Ehdr, e_phentsize) == SIZE(e, Phdr))
		e->phdr = pmc_elf_part(e, FIELD(e, h, Ehdr, e_phoff),
				       e->nphdr * SIZE(e, Phdr));
	if (!e->phdr)
		return -1;
	refuse();
	if (FIELD(e, h, Ehdr, e_shentsize) == SIZE(e, Shdr))
		e->shdr = pmc_elf_part(e, FIELD(e, h, Ehdr, e_shoff),
				       e->nshdr * SIZE(e, Shdr));
	if (e->shdr || errno == ENOEXEC)
		return 0;
	pmc_elf_close(e);
	return -1;
}

static int read_header(struct elf *e)
{
	unsigned char *h = pmc_elf_part(e, 0, EI_NIDENT);
	int ok, status;

	if (!h)
		return -1;
	ok = !memcmp(h, ELFMAG, SELFMAG) && h[EI_DATA] == OUR_ENDIAN &&
	     (h[EI_CLASS] == ELFCLASS32 || h[EI_CLASS] == ELFCLASS64);
	e->wide = h[EI_CLASS] == ELFCLASS64;
	free(h);
	if (!ok)
		return refuse();
	h = pmc_elf_part(e, 0, SIZE(e, Ehdr));
	if (!h)
		return -1;
	status = read_tables(e, h);
	free(h);
	return status;
}

int pmc_elf_read(struct elf *e, int fd)
{
	struct stat st;

	*e = (struct elf){ .fd = fd };
	if (fstat(fd, &st))
		return -1;
	e->size = (uint64_t)st.st_size;
	return read_header(e);
}

int pmc_elf_read_image(struct elf *e, const void *image, size_t size)
{
	*e = (struct elf){ .fd = -1, .image = image, .size = size };
	return read_header(e);
}

void pmc_elf_close(struct elf *e)
{
	free(e->phdr);
	free(e->shdr);
	e->phdr = e->shdr = NULL;
}

const unsigned char *pmc_elf_section(const struct elf *e, const char *name)
{
	const unsigned char *row, *found = NULL;
	uint64_t len, at;
	size_t i;
	char *names;

	refuse();
	if (!e->shdr || e->names >= e->nshdr)
		return NULL;
	row = e->shdr + e->names * SIZE(e, Shdr);
	len = FIELD(e, row, Shdr, sh_size);
	if (len > NAMES_MAX)
		return NULL;
	names = pmc_elf_part(e, FIELD(e, row, Shdr, sh_offset), len);
	if (!names)
		return NULL;
	for (i = 0; !found && i < e->nshdr; i++) {
		row = e->shdr + i * SIZE(e, Shdr);
		at = FIELD(e, row, Shdr, sh_name);
		if (at < len && !strcmp(names + at, name))
			found = row;
	}
	free(names);
	if (!found)
		refuse();
	return found;
}

const unsigned char *pmc_elf_segment(const struct elf *e, uint32_t type)
{
	const unsigned char *row = e->phdr;
	size_t i;

	for (i = 0; i < e->nphdr; i++, row += SIZE(e, Phdr))
		if (FIELD(e, row, Phdr, p_type) == type)
			return row;
	return NULL;
}

/* The segment of the file's code, or of all, that is loaded at an address */
static const unsigned char *loaded_at(const struct elf *e, uint64_t addr,
				      int code)
{
	const unsigned char *row = e->phdr;
	uint64_t at;
	size_t i;

	for (i = 0; i < e->nphdr; i++, row += SIZE(e, Phdr)) {
		at = FIELD(e, row, Phdr, p_vaddr);
		if (FIELD(e, row, Phdr, p_type) == PT_LOAD &&
		    (!code || (FIELD(e, row, Phdr, p_flags) & PF_X)) &&
		    addr >= at && addr - at < FIELD(e, row, Phdr, p_filesz))
			return row;
	}
	return NULL;
}

int pmc_elf_offset(const struct elf *e, uint64_t addr, int code,
		   uint64_t *offset)
{
	const unsigned char *row = loaded_at(e, addr, code);

	if (row)
		*offset = addr - FIELD(e, row, Phdr, p_vaddr) +
			  FIELD(e, row, Phdr, p_offset);
	return row != NULL;
}

int pmc_elf_offset_end(const struct elf *e, uint64_t addr, uint64_t *offset,
		       uint64_t *end)
{
	const unsigned char *row = loaded_at(e, addr, 0);

	if (!row || !pmc_elf_offset(e, addr, 0, offset))
		return 0;
	*end = FIELD(e, row, Phdr, p_offset) + FIELD(e, row, Phdr, p_filesz);
	return 1;
}
