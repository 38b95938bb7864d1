/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of programs and libraries.
 */
#ifndef LIBPMC_UNWIND_H
#define LIBPMC_UNWIND_H

#include <stddef.h>
#include <stdint.h>

/* @table: @len bytes, see linux/hwpmc_unwind.h; pmc_unwind_free() frees it */
struct pmc_unwind {
	void	*table;
	size_t	len;
};

/*
 * Makes the table of an ELF file, or of an image in memory (the vdso), from .eh_frame
 * and .debug_frame.  0, or -1 with errno: ENOEXEC if there is neither, EFBIG; with any
 * other errno it cannot be made now.
 */
int pmc_unwind_compile(int fd, struct pmc_unwind *t);
int pmc_unwind_compile_image(const void *image, size_t size,
			     struct pmc_unwind *t);
/* Gets the table from the caller's cache on disk, or makes it and puts it there. */
int pmc_unwind_of(int fd, struct pmc_unwind *t);
void pmc_unwind_free(struct pmc_unwind *t);

/* libpmc_unwind_owner.c: the table of this process' vdso */
int pmc_unwind_vdso(struct pmc_unwind *t);
/* Opens an O_PATH descriptor's file for reading; -1: ENOEXEC: not a regular file */
int pmc_unwind_reopen(int fd);

/* libpmc_preload.c: pmc_preload_begin() with tables of @max bytes at most; 0: as many */
struct pmc_owner;
struct pmc_preload *pmc_preload_begin_max(struct pmc_owner *owner,
					  const int *pids, size_t n,
					  uint64_t max);

#endif
