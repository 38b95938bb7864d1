/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The logs of a directory, read as one: their records in the order of time.
 *
 * A log is opened when the records reach the time at which it began, and closed
 * at its end, so only logs of the same time are open together.
 *
 *	files (logdir) | records of each (input) | their order (merge) |
 *	one log of those of the same time (session)
 */
#ifndef READER_MERGE_H
#define READER_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "log/rec.h"

struct logdir;
struct merge;

/* @fd: the directory; the caller's.  NULL and *@why: as logdir_read(). */
struct merge *merge_open(int fd, const char *path, const char **why);
/*
 * From now on, records are returned with repaired timestamps.  Their order is
 * by these in any case.
 */
void merge_repairs(struct merge *m);
/*
 * As pmclog_iter_next(), but never MORE.  What is wrong with one log is printed
 * at its end, and the others are read; then the end is an ERROR.  Logs that
 * cannot be merged are an ERROR at once.
 */
enum pmclog_iter_status merge_next(struct merge *m, struct pmclog_rec *rec);
const char *merge_error(const struct merge *m);
/* The logs, for a caller that reads each on its own */
const struct logdir *merge_logs(const struct merge *m);
/* Did merge_error() stop the reading? */
bool merge_stopped(const struct merge *m);
/* Of the log that the last record belongs to */
const struct pmclog_format *merge_format(const struct merge *m);
const char *merge_log_name(const struct merge *m);
/* Bytes read of all logs */
uint64_t merge_bytes(const struct merge *m, const struct pmclog_rec *rec);
/* Repaired timestamps */
uint64_t merge_wrong(const struct merge *m);
/* Samples left out, because an earlier log has them, too */
uint64_t merge_repeated(const struct merge *m);
/* From now on, packs and PMC ids are returned as they are. */
void merge_raw(struct merge *m);
void merge_close(struct merge *m);

#endif /* READER_MERGE_H */
