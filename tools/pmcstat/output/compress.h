/* SPDX-License-Identifier: BSD-2-Clause */
/* -Z: between the kernel, which writes the log, and where it goes. */
#ifndef PMCSTAT_COMPRESS_H
#define PMCSTAT_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

struct compress;

/* Ends the program if it can't compress at all: before anything is opened. */
void compress_check(void);
/*
 * Compresses what is written to the descriptor @in, which is the caller's, to
 * @out, which is not any more.  Ends the program when it cannot.
 */
struct compress *compress_start(int out, int *in);
int compress_out(const struct compress *c);
/* What was written so far gets there; as compress_finish(). */
int compress_sync(struct compress *c);
/*
 * When all has been written: 0, or the errno of why it did not get to @out;
 * EINTR: a signal came before it had.
 */
int compress_finish(struct compress *c);
/* After that: bytes of @out, and the log's last ones, 4-aligned from its end */
uint64_t compress_total(const struct compress *c);
const unsigned char *compress_tail(const struct compress *c, size_t *len);
/* Closes @out; after an error only when it has ended. */
void compress_free(struct compress *c);

#endif /* PMCSTAT_COMPRESS_H */
