/* SPDX-License-Identifier: BSD-2-Clause */
/* Was the log recorded on this machine, and when? */
#ifndef READER_HERE_H
#define READER_HERE_H

#include "profile/profile.h"

/* Assumed if the host name is the same and the same kernel runs. */
bool logged_here(const struct log_facts *log);

/* Are the machine's files below another root (-r)? */
static inline bool has_root(const struct profile *p)
{
	return p->root && p->root->dir && *p->root->dir;
}

/* The log's clock as seconds since 1970, rounded down; 0: not known. */
static inline int64_t log_wall(const struct log_facts *log, uint64_t tsc)
{
	int64_t ns = wallclock_at(&log->wall, tsc);

	return ns / 1000000000 - (ns % 1000000000 < 0);
}

/*
 * The same of the latest moment that is known.  A CLOCK record was read later
 * than the records before it: after a suspend it alone tells that hours have
 * passed.
 */
static inline int64_t log_wall_end(const struct log_facts *log)
{
	uint64_t latest = log->wall.latest;
	int64_t end = log_wall(log, latest > log->end ? latest : log->end);

	return end > log->wall_end ? end : log->wall_end;
}

#endif /* READER_HERE_H */
