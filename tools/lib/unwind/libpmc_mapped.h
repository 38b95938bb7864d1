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
 * @dev, @ino: as /proc/PID/maps has them
 * @start, @end, @path: of a mapping of it, in process @pid
 * @times: how often it is mapped
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
 * Those of processes, or of all if @npids is 0, that the caller may look at: the most
 * mapped first.  Returns how many processes there were; *@stop ends it early.
 */
unsigned int pmc_mapped_find(struct mapped *all, const int *pids, size_t npids,
			     const atomic_int *stop);
void pmc_mapped_free(struct mapped *all);

/* To be read; -1: it is no regular file, has gone, or is not the caller's to read. */
int pmc_mapped_open(const struct mapped_file *f);

#endif
