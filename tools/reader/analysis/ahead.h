/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the end of a log tells, before its first sample is read.
 *
 * pmcstat finds the build-ids of mapped files when the recording is over, so they
 * are the last records of a log.  A command that names functions while it reads
 * needs them first: without them, a file that was replaced since is taken for
 * the one that ran.  A JIT's map that is made at its end is not one of after the
 * recording only if it is known when that ended.
 */
#ifndef READER_AHEAD_H
#define READER_AHEAD_H

#include "analysis/resolver.h"

/*
 * Adds the build-ids of the log at @path, and when it ends, to @p, which has no records
 * yet.  They are final then.  False: the log cannot be read twice, as what comes by a pipe;
 * or not at all, which the caller finds out, too.
 */
bool ahead_ids(struct profile *p, const char *path);
/*
 * For a log that cannot be read twice, when all of it was read: prints each file
 * that functions were named after, though it is not the one that ran.  False if
 * there is one.
 */
bool ahead_names_hold(const struct resolver *r, struct profile *p,
		      const char *log);

#endif /* READER_AHEAD_H */
