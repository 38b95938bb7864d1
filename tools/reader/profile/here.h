/* SPDX-License-Identifier: BSD-2-Clause */
/* Was the log recorded on this machine, and when? */
#ifndef READER_HERE_H
#define READER_HERE_H

#include "profile/profile.h"

/* Assumed if the host name is the same and the same kernel runs. */
bool logged_here(const struct log_facts *log);

/* Converts the log's clock to seconds since 1970; 0: not known. */
static inline int64_t log_wall(const struct log_facts *log, uint64_t tsc)
{
	if (!log->ts_sec)
		return 0;
	return log->ts_sec + (int64_t)(tsc - log->begin) / 1000000000;
}

#endif /* READER_HERE_H */
