/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the next record of a damaged log.  Private to the library. */
#ifndef PMCLOG_RESYNC_H
#define PMCLOG_RESYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "pmclog_era.h"

/* No valid record is longer; a damaged length often is. */
#define PMCLOG_RESYNC_LEN	8192U

/*
 * Searches for a record in the @left bytes at @p.  @bad: the record at @p is
 * damaged, but its length may be right.  @last: no more bytes follow.  Returns the
 * number of bytes to skip.  *@found: a record seems to follow them; otherwise more
 * bytes are needed to decide.
 */
size_t pmclog_resync(const struct pmclog_session *s, const unsigned char *p,
		     size_t left, bool bad, bool last, bool *found);

/*
 * The same at the start of a log without INITIALIZE.  Sets @s to a session of the
 * format that the first records seem to have, unless they begin a session
 * themselves.  False: the @left bytes have no records.
 */
bool pmclog_resync_start(struct pmclog_session *s, const unsigned char *p,
			 size_t left, size_t *skip);
/*
 * Whether the @left bytes at @p may be the header of a record, or the end of the
 * log.  PMCLOG_RESYNC_AHEAD bytes are enough to decide.
 */
#define PMCLOG_RESYNC_AHEAD	20U
bool pmclog_resync_header(const struct pmclog_session *s,
			  const unsigned char *p, size_t left);

#endif /* PMCLOG_RESYNC_H */
