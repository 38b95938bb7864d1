/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_TARGETS_H
#define PMCSTAT_TARGETS_H

#include <stddef.h>

/**
 * struct target - a process to attach to
 * @named: by its number: it has to be there
 * @start: when it was, in the system's ticks
 */
struct target {
	int			pid;
	int			named;
	unsigned long long	start;
};

struct targets {
	struct target	*target;	/* parents before children */
	size_t		n;
};

/*
 * What the arguments of -t mean at this moment, each process once; ends the
 * program when one of them means nothing.  This process and its children are
 * not found by pattern.
 */
void targets_find(struct targets *t, const char *const *specs, size_t n);
void targets_free(struct targets *t);

/*
 * preload.c: unwind tables of what is there when the recording begins, and of the
 * program at @command, which may be NULL
 */
struct options;
struct pmc_owner;

void preload_begin(const struct options *o, struct pmc_owner *owner,
		   const struct targets *t, const char *command);
void preload_end(void);

#endif /* PMCSTAT_TARGETS_H */
