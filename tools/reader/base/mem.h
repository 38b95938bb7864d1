/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations that end the program with a message when they fail: an analysis
 * without memory can do nothing else.
 */
#ifndef READER_MEM_H
#define READER_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define nitems(array)	(sizeof(array) / sizeof((array)[0]))

/* libiberty has functions of the plain names */
#define xmalloc		reader_xmalloc
#define xcalloc		reader_xcalloc
#define xstrdup		reader_xstrdup
#define xasprintf	reader_xasprintf

/* exit status of a failed allocation; pmclog's unless set */
extern int mem_status;

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
/*
 * As xcalloc(), for tables with random access: each page costs a TLB miss and a
 * page fault, and large pages have fewer of both.
 */
void *xcalloc_table(size_t n, size_t size);
void xfree_table(void *p, size_t n, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* @text, which may be NULL and is freed, and what is printed behind it. */
char *xappend(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Grows array @p of *@n elements to more than @id, at least to @min; the new
 * elements are zero.
 */
void *xgrow_zero(void *p, uint32_t *n, uint32_t id, uint32_t min, size_t size);
/* Makes room for one more element in array @p that has @n of @cap. */
#define GROW(p, n, cap)							\
	do {								\
		if ((n) == (cap)) {					\
			(cap) = (cap) ? (cap) * 2 : 16;			\
			(p) = xreallocarray((p), (cap), sizeof(*(p)));	\
		}							\
	} while (0)
/* The new last element of such an array, to be assigned. */
#define APPEND(p, n, cap)						\
	(*__extension__ ({						\
		GROW(p, n, cap);					\
		&(p)[(n)++];						\
	}))

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
