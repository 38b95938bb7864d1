/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that processes have mapped as code.
 */
#ifndef LIBPMC_MAPPED_H
#define LIBPMC_MAPPED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct mapped_file - a file
 * @dev, @ino: as in /proc/PID/maps
 * @start, @end, @path: a mapping of the file, in process @pid
 * @times: number of mappings
 */
struct mapped_file {
	unsigned int	major, minor;
	uint64_t	ino;
	uint64_t	start, end;
	char		*path;
	int		pid;
	unsigned int	times;
};

struct mapped {
	struct mapped_file *file;
	size_t		n, room;
	uint32_t	*slot;		/* a hash table of numbers + 1 */
	size_t		nslots;
};

/*
 * Finds the files of the processes @pids, or of all if @npids is 0, that the caller may
 * examine; the most-mapped files first.  Returns the number of processes, without those
 * that hold their mappings.  *@stop ends the search early.
 */
unsigned int pmc_mapped_find(struct mapped *all, const int *pids, size_t npids,
			     const atomic_int *stop);
void pmc_mapped_free(struct mapped *all);

/* Opens for reading; -1: not a regular file, gone, or not readable for the caller. */
int pmc_mapped_open(const struct mapped_file *f);

#endif
