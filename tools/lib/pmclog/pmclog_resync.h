/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a damaged log goes on.  Private to the library. */
#ifndef PMCLOG_RESYNC_H
#define PMCLOG_RESYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "pmclog_era.h"

/* No sound record is longer; a damaged length often says so. */
#define PMCLOG_RESYNC_LEN	8192U

/*
 * Looks for a record in the @left bytes at @p.  @bad: what is there is none,
 * but may have the right length.  @last: no more bytes follow.  Returns how
 * many bytes are of no use; *@found if a record seems to follow them, else more
 * bytes have to come before that can be told.
 */
size_t pmclog_resync(const struct pmclog_session *s, const unsigned char *p,
		     size_t left, bool bad, bool last, bool *found);

/*
 * The same where a log should begin, and does not: sets @s to a session of the
 * kind that the first records seem to be of, unless they begin one.  False:
 * there are none in the @left bytes.
 */
bool pmclog_resync_start(struct pmclog_session *s, const unsigned char *p,
			 size_t left, size_t *skip);
/*
 * Whether what is at @p, of which @left bytes have come, may be the header of a
 * record, or the end of the log.  PMCLOG_RESYNC_AHEAD bytes are enough.
 */
#define PMCLOG_RESYNC_AHEAD	20U
bool pmclog_resync_header(const struct pmclog_session *s,
			  const unsigned char *p, size_t left);

#endif /* PMCLOG_RESYNC_H */
