/* SPDX-License-Identifier: BSD-2-Clause */
/* -Z: compresses the log between the kernel and the log's destination. */
#ifndef PMCSTAT_COMPRESS_H
#define PMCSTAT_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

struct compress;

/* Ends the program if this build cannot compress; called before files are opened. */
void compress_check(void);
/*
 * Compresses the bytes written to *@in, which the caller owns, to @out, which the
 * caller no longer owns.  NULL with errno: @out is still the caller's.
 */
struct compress *compress_start(int out, int *in);
int compress_out(const struct compress *c);
/* Waits until all bytes written so far are in @out; returns as compress_finish(). */
int compress_sync(struct compress *c);
/*
 * Waits for the end: 0, or the errno of the failed write to @out; EINTR: a signal
 * arrived first.
 */
int compress_finish(struct compress *c);
/* Between requests: has the write to @out failed?  If so, the descriptor is readable. */
int compress_failed(const struct compress *c);
int compress_fd(const struct compress *c);
/* Has all been written to @out? */
int compress_is_whole(const struct compress *c);
/* After compress_finish(): bytes of @out, and the log's last ones, 4-aligned from its end */
uint64_t compress_total(const struct compress *c);
const unsigned char *compress_tail(const struct compress *c, size_t *len);
/* Closes @out; after an error only if the thread has ended. */
void compress_free(struct compress *c);

#endif /* PMCSTAT_COMPRESS_H */
