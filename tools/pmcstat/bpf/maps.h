/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code that a process has mapped.  /proc/PID/maps waits for the process' mmap lock,
 * which the process can hold for as long as it likes, by a file system of its own: a
 * thread reads it, which is left where it is if it hangs.
 */
#ifndef PMCSTAT_MAPS_H
#define PMCSTAT_MAPS_H

#include "bpf/writer.h"

/**
 * struct maps - executable mappings of a process
 * @text: for each, struct pmclog_ext_mapping, the path and a null byte
 */
struct maps {
	char		*text;
	size_t		size;
};

/* 0: @m has what can be read of @pid; ETIMEDOUT, or another errno */
int maps_read(struct maps *m, uint32_t pid);
/* The mapping at @at, which becomes that of the next one; 0: there is none */
int maps_next(const struct maps *m, size_t *at, struct mapping *next);
void maps_free(struct maps *m);

#endif /* PMCSTAT_MAPS_H */
