/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Build-ids of ELF files, without libelf, so that recording needs only a small
 * library.  Any user may have written the files, so they are not trusted.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "libpmc_elfid.h"

#define PHDRS_MAX	256
#define NOTES_MAX	65536

const unsigned char *pmc_elfid_in_notes(const unsigned char *p, size_t len,
				   uint32_t *idlen)
{
	uint32_t note[3];	/* lengths of name and descriptor, type */
	size_t name, desc;

	while (len >= sizeof(note)) {
		memcpy(note, p, sizeof(note));
		p += sizeof(note);
		len -= sizeof(note);
		name = ((size_t)note[0] + 3) & ~(size_t)3;
		desc = ((size_t)note[1] + 3) & ~(size_t)3;
		if (name > len || note[1] > len - name)
			return NULL;
		if (note[2] == NT_GNU_BUILD_ID && note[0] == 4 &&
		    !memcmp(p, "GNU", 4)) {
			*idlen = note[1];
			return p + name;
		}
		if (desc > len - name)
			return NULL;
		p += name + desc;
		len -= name + desc;
	}
	return NULL;
}

/* Position and length of the notes of a program header; 0: it has none. */
static size_t notes_at(const unsigned char *p, int wide, uint64_t *offset)
{
	Elf64_Phdr p64;
	Elf32_Phdr p32;

	if (wide) {
		memcpy(&p64, p, sizeof(p64));
		*offset = p64.p_offset;
		return p64.p_type == PT_NOTE ? p64.p_filesz : 0;
	}
	memcpy(&p32, p, sizeof(p32));
	*offset = p32.p_offset;
	return p32.p_type == PT_NOTE ? p32.p_filesz : 0;
}

/* the source of an image: a file, or memory if @mem is set */
struct source {
	int		fd;
	const unsigned char *mem;
	size_t		len;
};

static size_t get(const struct source *s, void *to, size_t len, uint64_t at)
{
	ssize_t n;

	if (s->mem) {
		if (at > s->len)
			return 0;
		if (len > s->len - at)
			len = s->len - at;
		memcpy(to, s->mem + at, len);
		return len;
	}
	n = pread(s->fd, to, len, (off_t)at);
	return n > 0 ? (size_t)n : 0;
}

static uint32_t id_in_notes(const struct source *s, uint64_t offset, size_t len,
			    unsigned char id[ELFID_MAX])
{
	unsigned char *notes;
	const unsigned char *found;
	uint32_t n = 0;

	len = len < NOTES_MAX ? len : NOTES_MAX;
	notes = malloc(len);
	if (!notes)
		return 0;
	len = get(s, notes, len, offset);
	found = pmc_elfid_in_notes(notes, len, &n);
	if (!found || n > ELFID_MAX)
		n = 0;
	if (n)
		memcpy(id, found, n);
	free(notes);
	return n;
}

/* Number, size and position of the program headers; 0: not an ELF file. */
static size_t phdrs_at(const struct source *s, int *wide, uint64_t *offset,
		       size_t *size)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h;
	size_t n;

	memset(&h, 0, sizeof(h));
	if (get(s, &h, sizeof(h), 0) < sizeof(h.e32) ||
	    memcmp(h.ident, ELFMAG, SELFMAG) ||
	    h.ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	*wide = h.ident[EI_CLASS] == ELFCLASS64;
	*offset = *wide ? h.e64.e_phoff : h.e32.e_phoff;
	*size = *wide ? h.e64.e_phentsize : h.e32.e_phentsize;
	n = *wide ? h.e64.e_phnum : h.e32.e_phnum;
	if (*size != (*wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return 0;
	return n < PHDRS_MAX ? n : PHDRS_MAX;
}

static uint32_t id_of(const struct source *s, unsigned char id[ELFID_MAX])
{
	unsigned char phdrs[PHDRS_MAX * sizeof(Elf64_Phdr)];
	size_t n, i, size, len;
	uint64_t offset;
	uint32_t idlen;
	int wide;

	n = phdrs_at(s, &wide, &offset, &size);
	if (!n || get(s, phdrs, n * size, offset) != n * size)
		return 0;
	for (i = 0; i < n; i++) {
		len = notes_at(phdrs + i * size, wide, &offset);
		idlen = len ? id_in_notes(s, offset, len, id) : 0;
		if (idlen)
			return idlen;
	}
	return 0;
}

uint32_t pmc_elfid_of_file(int fd, unsigned char id[ELFID_MAX])
{
	struct source s = { .fd = fd };

	return id_of(&s, id);
}

uint32_t pmc_elfid_of_vdso(unsigned char id[ELFID_MAX])
{
	struct source s = {
		.mem = (const unsigned char *)getauxval(AT_SYSINFO_EHDR),
		/* its notes stand at the front */
		.len = 4096,
	};

	return s.mem ? id_of(&s, id) : 0;
}
