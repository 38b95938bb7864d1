/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a command will have mapped as code, before it runs.
 */
#ifndef LIBPMC_COMMAND_H
#define LIBPMC_COMMAND_H

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>

/**
 * struct command - what is looked at
 * @path: as execve(2) takes it, of a program or a script; not searched for in PATH
 * @env:  pmc_loader_env()
 * @stop: ends it early
 * @file: gets each file, open for reading, once; other than 0 ends it
 */
struct command {
	const char	*path;
	char		*const *env;
	const atomic_int *stop;
	int		(*file)(void *arg, int fd, const char *path);
	void		*arg;
};

/*
 * The ELF interpreter, the program, the libraries.  None of a program whose credentials
 * differ from the caller's, or that he may not read.  Files may be slow.
 */
void pmc_command_files(const struct command *c);

/* libpmc_loader.c: the caller's environment, for the loader; one free() */
char	**pmc_loader_env(void);

/* Is this the name of a loader that lists what it would load? */
int	pmc_loader_knows_list(const char *loader);

/*
 * What "@loader --list @program" prints, to be freed: the program does not run.  NULL:
 * it cannot be run.  It takes a second at most, but for a file system that does not answer.
 */
char	*pmc_loader_list(const char *loader, const char *program,
			 char *const *env, const atomic_int *stop, size_t *len);

/*
 * The next file of a list that ends at @end; 0: there is none.  Lines that are of another
 * form, too long or not complete are left out.
 */
int	pmc_loader_next(const char **at, const char *end, char path[PATH_MAX]);

#endif
