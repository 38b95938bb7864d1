/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an ELF file may ask for: libelf allocates whatever a few bytes of the file say.
 * These return NULL, or why the file is not to be read.
 */
#ifndef READER_IMAGECHECK_H
#define READER_IMAGECHECK_H

#include <stddef.h>

#include <gelf.h>

/**
 * struct image_bytes - an ELF file that is open or in memory
 * @fd: -1: it is in memory
 */
struct image_bytes {
	int fd;
	void *mem;
	size_t len;
};

/* Before elf_begin() or elf_memory() */
const char *imagecheck_head(const struct image_bytes *b);
/* After it */
const char *imagecheck_sections(const struct image_bytes *b, Elf *elf);

#endif /* READER_IMAGECHECK_H */
