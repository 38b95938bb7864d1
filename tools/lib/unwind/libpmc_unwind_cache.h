/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables on disk, by what files say of themselves, so that each is compiled
 * once and not by each recording.
 */
#ifndef LIBPMC_UNWIND_CACHE_H
#define LIBPMC_UNWIND_CACHE_H

#include <stdint.h>

#include "libpmc_elf.h"
#include "libpmc_elfid.h"
#include "libpmc_unwind.h"

#define UNWIND_CACHE_MAX	(256ULL << 20)	/* bytes of a cache */

/**
 * struct unwind_key - a file that tables are for
 * @machine: EM_*
 * @idlen, @id: its build-id
 * @dev, @ino: only the very same file has its table.  Build-id and headers are what
 *	its writer likes, and so is its owner, as containers, mounted images and FUSE
 *	have it: another file of these must not leave its table for this one
 * @seconds, @nanoseconds: of its last change (st_ctim), which utimensat(2) leaves
 *	alone.  A user's own file system says what it likes here, but not in @dev
 * @uid:  its owner
 * @size: in bytes
 * @segments, @sections: of the headers that say what is where; a stripped file has
 *	other ones, and tables have places in the file
 *
 * Without gaps.  It is written as it is.
 */
struct unwind_key {
	uint32_t	machine;
	uint32_t	idlen;
	unsigned char	id[ELFID_MAX];
	uint64_t	dev;
	uint64_t	ino;
	uint64_t	seconds;
	uint64_t	nanoseconds;
	uint64_t	uid;
	uint64_t	size;
	uint64_t	segments;
	uint64_t	sections;
};

/* Of an ELF file that is open as @e->fd.  -1: it has no build-id. */
int pmc_unwind_key(const struct elf *e, struct unwind_key *key);

/*
 * The caller's cache as a directory; it is made if need be.  -1: there is none, or
 * what is there is not his alone to write to.
 */
int pmc_unwind_cache_open(void);

/* 0, or -1: it is not there, or damaged */
int pmc_unwind_cache_get(int dir, const struct unwind_key *key,
			 struct pmc_unwind *t);

/*
 * Nothing is said of failures: it is compiled again then.  @max: bytes of all; others
 * go to make room for it.
 */
void pmc_unwind_cache_put(int dir, const struct unwind_key *key,
			  const struct pmc_unwind *t, uint64_t max);

/*
 * libpmc_unwind_evict.c: room for @len bytes more in a cache of @max.  The files that
 * have not been used for longest go, if need be.  0, or -1: there is none.
 *
 * The directory is not listed each time: other processes that put tables there at the
 * same time may make it some tables too large for a while.
 */
int pmc_unwind_cache_room(int dir, uint64_t len, uint64_t max);

#endif
