// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "reader.h"

#define ARENA_BLOCK	((size_t)256 << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	unsigned char data[] __attribute__((aligned(8)));
};

static void *checked(void *p)
{
	if (p)
		return p;
	fputs("pmclog: out of memory\n", stderr);
	exit(READER_FAIL);
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return checked(NULL);
	return checked(realloc(p, n && size ? n * size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
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
