/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs in a directory, one after another. */
#ifndef PMCSTAT_ROTATE_H
#define PMCSTAT_ROTATE_H

#include <limits.h>

#include "pmcstat.h"

/**
 * struct rotation - the files of a directory
 * @o:      options that say when the next file is due
 * @fd:     the directory
 * @number: number of the last file; @written: number of files written
 * @name:   name of the last file; @path: its path
 * @begin:  bytes of its initial records, which each file has
 * @since:  when it began, now_ns()
 * @files:  names of the files that are kept, oldest first
 */
struct rotation {
	const struct options *o;
	int		fd;
	unsigned int	number, written;
	char		name[NAME_MAX];
	char		path[PATH_MAX];
	uint64_t	begin;
	uint64_t	since;
	char		**files;
	size_t		nfiles;
};

/* Ends the program if there is no such directory. */
void rotation_init(struct rotation *r, const struct options *o);
/* Creates a file named after the current time; -1 with errno, and @path is set. */
int rotation_open(struct rotation *r);
/* Renames the file @name to a log of the current time.  0, or -1 with errno */
int rotation_adopt(struct rotation *r, const char *name);
/* The new file, stored in @fd, has its initial records. */
void rotation_begun(struct rotation *r, int fd);
int rotation_due(const struct rotation *r, int fd);
/* When to call rotation_due() next; 0: never */
uint64_t rotation_next(const struct rotation *r);
/* Keeps the new file, and removes the oldest if there are too many. */
void rotation_keep(struct rotation *r);
/* Removes the new file. */
void rotation_undo(struct rotation *r);
void rotation_free(struct rotation *r);

#endif /* PMCSTAT_ROTATE_H */
