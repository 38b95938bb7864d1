/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is either there or ends the program: an analysis that lacks
 * memory has nothing better to do than to say so.
 */
#ifndef READER_MEM_H
#define READER_MEM_H

#include <stddef.h>

/* libiberty has functions of the plain names */
#define xmalloc		reader_xmalloc
#define xcalloc		reader_xcalloc
#define xstrdup		reader_xstrdup
#define xasprintf	reader_xasprintf

/* the exit status when there is none; pmclog's unless set */
extern int mem_status;

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
/*
 * The same as xcalloc(), for what is looked at here and there: that takes a miss
 * of the processor's for each page, and a fault, and large pages have fewer.
 */
void *xcalloc_table(size_t n, size_t size);
void xfree_table(void *p, size_t n, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more element in array @p that has @n of @cap. */
#define GROW(p, n, cap)							\
	do {								\
		if ((n) == (cap)) {					\
			(cap) = (cap) ? (cap) * 2 : 16;			\
			(p) = xreallocarray((p), (cap), sizeof(*(p)));	\
		}							\
	} while (0)

/**
 * struct arena - many small pieces that are freed together
 * @blocks: chain of blocks, the one in use first
 * @total:  bytes handed out
 */
struct arena {
	struct arena_block *blocks;
	size_t total;
};

void *arena_alloc(struct arena *a, size_t size);	/* 8-aligned */
void arena_free(struct arena *a);

#endif /* READER_MEM_H */
