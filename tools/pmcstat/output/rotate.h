/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs in a directory, one after another. */
#ifndef PMCSTAT_ROTATE_H
#define PMCSTAT_ROTATE_H

#include <limits.h>

#include "pmcstat.h"

/**
 * struct rotation - the files of a directory
 * @o:      when the next one is due
 * @fd:     the directory
 * @number: of the last file; @written: how many there are
 * @name:   its name; @path: and where it is
 * @begin:  bytes that it began with: what each of them begins with
 * @since:  when it began, now_ns()
 * @files:  those that are kept, by name, oldest first
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
/* A new file, named after this moment; -1 with errno, and @path says which */
int rotation_open(struct rotation *r);
/* The file @name becomes one, of this moment.  0, or -1 with errno */
int rotation_adopt(struct rotation *r, const char *name);
/* It has all that each of them begins with; what it is stored in is @fd. */
void rotation_begun(struct rotation *r, int fd);
int rotation_due(const struct rotation *r, int fd);
/* When to ask again; 0: never */
uint64_t rotation_next(const struct rotation *r);
/* It is one of those to keep: for it, one that is too old goes. */
void rotation_keep(struct rotation *r);
/* It is not wanted any more. */
void rotation_undo(struct rotation *r);
void rotation_free(struct rotation *r);

#endif /* PMCSTAT_ROTATE_H */
