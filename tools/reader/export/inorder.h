/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples in the order of the log.
 *
 * A sample whose user chain is recorded later is complete only then.  The samples after
 * it wait for it here, in memory.
 */
#ifndef READER_EXPORT_INORDER_H
#define READER_EXPORT_INORDER_H

#include "sample/sample.h"

/* Limit for the memory of waiting samples. */
#define INORDER_BYTES	((size_t)64 << 20)

/**
 * struct inorder - samples that wait
 * @write:  called for each sample
 * @within: if not 0, samples wait no longer than until there is one so many ticks of
 *	    the log's clock later
 * @next:   number of the sample that is to be written next, see struct sample
 * @slot:   those from @next on, @n of them from @head in a ring of @cap; NULL: not
 *	    complete yet
 * @since:  clock of the last one written, or of the first that had to wait
 * @bytes:  of all
 * @behind: samples that were written later than some after them
 */
struct inorder {
	void (*write)(void *ctx, const struct sample *s);
	void *ctx;
	uint64_t within, since;
	uint64_t next;
	struct sample **slot;
	uint32_t head, n, cap;
	size_t bytes;
	uint64_t behind;
};

/* Are @n samples from @s on, which follow each other, the next ones? */
static inline bool inorder_are_next(const struct inorder *t, const struct sample *s,
				    uint32_t n)
{
	return !t->n && s->number == t->next && s[n - 1].number == t->next + n - 1;
}

/* Writes the sample, and those that waited for it; or copies it. */
void inorder_add(struct inorder *t, const struct sample *s);
/* Writes all that wait: what they wait for does not come. */
void inorder_end(struct inorder *t);
void inorder_free(struct inorder *t);

#endif /* READER_EXPORT_INORDER_H */
