/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PMCSTAT_TARGETS_H
#define PMCSTAT_TARGETS_H

#include <stddef.h>

/**
 * struct target - a process to attach to
 * @named: given by its number, so it must exist
 * @start: its start time, in the system's ticks
 */
struct target {
	int			pid;
	int			named;
	unsigned long long	start;
};

/* The first line of /proc/PID/FILE, cut at @len; -1 if the process has gone */
int proc_read_line(int pid, const char *file, char *line, int len);

struct targets {
	struct target	*target;	/* parents before children */
	size_t		n;
};

/*
 * Finds the processes that match the arguments of -t now, each once.  Ends the program
 * if an argument matches none.  Patterns do not match this process and its children.
 */
void targets_find(struct targets *t, const char *const *specs, size_t n);
void targets_free(struct targets *t);

/*
 * preload.c: makes unwind tables for processes that exist when the recording
 * begins, and for the program at @command, which may be NULL
 */
struct options;
struct pmc_owner;

void preload_begin(const struct options *o, struct pmc_owner *owner,
		   const struct targets *t, const char *command);
/* Says once that there is no room for tables. */
void preload_look(const struct options *o);
void preload_end(const struct options *o);

#endif /* PMCSTAT_TARGETS_H */
