/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the files that a command will map as code, before it runs.
 */
#ifndef LIBPMC_COMMAND_H
#define LIBPMC_COMMAND_H

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>

/**
 * struct command - the command, and the receiver of its files
 * @path: as for execve(2), of a program or a script; not searched for in PATH
 * @env:  pmc_loader_env()
 * @stop: ends the search early
 * @file: called once for each file, open for reading; other than 0 ends the search
 */
struct command {
	const char	*path;
	char		*const *env;
	const atomic_int *stop;
	int		(*file)(void *arg, int fd, const char *path);
	void		*arg;
};

/*
 * Passes the ELF interpreter, the program and the libraries to @c->file.  Passes none
 * if the program would change credentials, or the caller may not read it.  May block,
 * because file systems may be slow.
 */
void pmc_command_files(const struct command *c);

/* libpmc_loader.c: the caller's environment for the loader; one free() frees it */
char	**pmc_loader_env(void);

/* Is this the name of a loader that lists what it would load? */
int	pmc_loader_knows_list(const char *loader);

/*
 * The output of "@loader --list @program", which the caller frees.  The program does
 * not run.  NULL: the loader cannot be run.  Takes at most a second, unless a file
 * system does not respond.
 */
char	*pmc_loader_list(const char *loader, const char *program,
			 char *const *env, const atomic_int *stop, size_t *len);

/*
 * Gets the next file of a list that ends at @end; 0: no more files.  Skips lines that
 * have another form, are too long or incomplete.
 */
int	pmc_loader_next(const char **at, const char *end, char path[PATH_MAX]);

#endif
