// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/exit.h"
#include "base/mem.h"

#define LARGE_PAGE	((uintptr_t)2 << 20)
#define ARENA_BLOCK	((size_t)256 << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	unsigned char data[] __attribute__((aligned(8)));
};

int mem_status = READER_FAIL;

static void *checked(void *p)
{
	if (p)
		return p;
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(mem_status);
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

/*
 * Maps whole large pages if possible; it is not an error if there are none.
 */
static void *large_pages(size_t size)
{
	uintptr_t at, from;
	void *p;

	p = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	checked(p == MAP_FAILED ? NULL : p);
	at = (uintptr_t)p;
	from = (at + LARGE_PAGE - 1) & -LARGE_PAGE;
	if (from > at)
		munmap(p, from - at);
	munmap((void *)(from + size), at + LARGE_PAGE - from);
	madvise((void *)from, size, MADV_HUGEPAGE);
	return (void *)from;
}

/* Bytes to map for a table; 0: the table is too small to be mapped. */
static size_t table_pages(size_t n, size_t size)
{
	if (n * size < LARGE_PAGE || n > SIZE_MAX / 2 / size)
		return 0;
	return (n * size + LARGE_PAGE - 1) & -LARGE_PAGE;
}

void *xcalloc_table(size_t n, size_t size)
{
	size_t all = table_pages(n, size);

	return all ? large_pages(all) : xcalloc(n, size);
}

void xfree_table(void *p, size_t n, size_t size)
{
	size_t all = table_pages(n, size);

	if (!all)
		free(p);
	else if (p)
		munmap(p, all);
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return checked(NULL);
	return checked(realloc(p, n && size ? n * size : 1));
}

void *xgrow_zero(void *p, uint32_t *n, uint32_t id, uint32_t min, size_t size)
{
	uint32_t more = id < min / 2 ? min : 2 * id;

	if (id < *n)
		return p;
	p = xreallocarray(p, more, size);
	memset((char *)p + *n * size, 0, (more - *n) * size);
	*n = more;
	return p;
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	return checked(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

char *xappend(char *text, const char *fmt, ...)
{
	char *more, *both;
	va_list ap;

	va_start(ap, fmt);
	more = xvasprintf(fmt, ap);
	va_end(ap);
	if (!text)
		return more;
	both = xasprintf("%s%s", text, more);
	free(text);
	free(more);
	return both;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!b || b->size - b->used < size) {
		size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;

		b = xmalloc(sizeof(*b) + room);
		b->next = a->blocks;
		b->used = 0;
		b->size = room;
		a->blocks = b;
	}
	p = b->data + b->used;
	b->used += size;
	a->total += size;
	return p;
}

void arena_free(struct arena *a)
{
	struct arena_block *b = a->blocks;

	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
	a->blocks = NULL;
	a->total = 0;
}
