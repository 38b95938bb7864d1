/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many sequences that grow in parallel, and are read one after the other when
 * all are complete.  Only the tail of each is in memory; the rest is in a
 * temporary file.
 */
#ifndef READER_SPOOL_H
#define READER_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#define SPOOL_PART	64	/* elements per write */

struct spooled {
	int64_t time;
	uint32_t value;
	uint32_t pad;
};

/**
 * struct spool_seq - a sequence
 * @tail:   the @ntail elements that are not in the file
 * @part:   numbers of the sequence's parts in the file
 * @n:      number of all elements
 * @last:   time of the last element
 * @sorted: the elements are in the order of time so far
 */
struct spool_seq {
	struct spooled *tail;
	uint64_t *part;
	uint32_t ntail, captail, nparts, capparts;
	uint64_t n;
	int64_t last;
	bool sorted;
};

/* @error: errno of the first failure */
struct spool {
	struct spool_seq *seq;
	uint32_t n, cap;
	int fd;
	bool open;
	uint64_t parts;
	int error;
};

/* Makes a new sequence and returns its number. */
uint32_t spool_new(struct spool *t);
void spool_add(struct spool *t, uint32_t seq, int64_t time, uint32_t value);
/* Calls @see for each element of a sequence, in the order of time. */
void spool_read(struct spool *t, uint32_t seq,
		void (*see)(void *ctx, const struct spooled *s), void *ctx);
void spool_free(struct spool *t);

#endif /* READER_SPOOL_H */
