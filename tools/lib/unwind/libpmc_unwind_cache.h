/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables on disk, named by properties of their files, so that a table is
 * compiled once and not by each recording.
 */
#ifndef LIBPMC_UNWIND_CACHE_H
#define LIBPMC_UNWIND_CACHE_H

#include <stdint.h>

#include "libpmc_elf.h"
#include "libpmc_elfid.h"
#include "libpmc_unwind.h"

#define UNWIND_CACHE_MAX	(256ULL << 20)	/* bytes of a cache */

/**
 * struct unwind_key - the identity of a file that has a table
 * @machine: EM_*
 * @idlen, @id: its build-id
 * @dev, @ino: a table is for exactly one file.  The writer of a file chooses build-id
 *	and headers, and in containers, mounted images and FUSE also the owner.  Such
 *	a file must not supply the table of another one
 * @seconds, @nanoseconds: of its last change (st_ctim), which utimensat(2) cannot
 *	set.  A user's own file system can return any time, but not any @dev
 * @uid:  its owner
 * @size: in bytes
 * @segments, @sections: hashes of the program and section headers; those of a
 *	stripped file differ, and tables contain offsets in the file
 *
 * Has no padding, because it is written as it is.
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
 * True if any later change of the file will give it another key.  A file that is changed
 * twice in one tick of the clock has the same time after both.
 */
int pmc_unwind_key_is_settled(const struct unwind_key *key);

/*
 * Opens the directory of the caller's cache, and creates it if needed.  -1: there is
 * none, or others than the caller may write to it.
 */
int pmc_unwind_cache_open(void);

/* 0, or -1: the table is not in the cache, or damaged */
int pmc_unwind_cache_get(int dir, const struct unwind_key *key,
			 struct pmc_unwind *t);

/*
 * Failures are not reported: the table is compiled again then.  @max: bytes of all
 * tables; others are removed to make room.
 */
void pmc_unwind_cache_put(int dir, const struct unwind_key *key,
			  const struct pmc_unwind *t, uint64_t max);

/*
 * libpmc_unwind_evict.c: makes room for @len bytes more in a cache of @max.  Removes
 * the least recently used files if needed.  0, or -1: no room.
 *
 * The directory is not listed each time, so with several processes that put tables
 * there at the same time it may temporarily exceed @max by some tables.
 */
int pmc_unwind_cache_room(int dir, uint64_t len, uint64_t max);

#endif
