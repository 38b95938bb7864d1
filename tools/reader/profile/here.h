/* SPDX-License-Identifier: BSD-2-Clause */
/* Was it this machine that was recorded, and when? */
#ifndef READER_HERE_H
#define READER_HERE_H

#include "profile/profile.h"

/* As far as one can tell: the same name, and the same kernel runs. */
bool logged_here(const struct log_facts *log);

/* Seconds since 1970 at a moment of the log's clock; 0: not known. */
static inline int64_t log_wall(const struct log_facts *log, uint64_t tsc)
{
	if (!log->ts_sec)
		return 0;
	return log->ts_sec + (int64_t)(tsc - log->begin) / 1000000000;
}

#endif /* READER_HERE_H */
