// SPDX-License-Identifier: BSD-2-Clause
/* What compilers inline, for symbolizers to agree on; nobody runs it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

struct list {
	struct list *next;
	uint64_t key;
};

volatile uint64_t sink;
int table(int argc, uint64_t v);
int cold(int argc);

INLINE uint64_t rotate(uint64_t v, unsigned int n)
{
	return v << n | v >> (64 - n);
}

INLINE uint64_t mix(uint64_t v)
{
	v ^= rotate(v, 13);
	{
		uint64_t low = v & 0xff;

		v += rotate(v * 0x9E3779B97F4A7C15ULL, 7) ^ low;
	}
	return v ^ rotate(v, 17);
}

INLINE struct list *find(struct list *l, uint64_t key)
{
	for (; l; l = l->next)
		if (mix(l->key) == mix(key))
			return l;
	return NULL;
}

/* one of the compiler's own choice */
static uint64_t sum(const struct list *l, int depth)
{
	uint64_t v = 0;

	for (; l; l = l->next)
		v += depth ? mix(v ^ l->key) : l->key;
	return v;
}

__attribute__((noinline)) int table(int argc, uint64_t v)
{
	/* functions in functions: an extension of GNU C */
#ifndef __clang__
	__attribute__((noinline)) int inner(int x)
	{
		return (int)mix(v + (uint64_t)x) + argc;
	}
#else
#define inner(x) (int)mix(v + (uint64_t)(x))
#endif

	switch (argc) {
	case 1:
		return inner(argc) + 1;
	case 2:
		return inner((int)v) * 3;
	case 3:
		return (int)sum((struct list *)v, argc);
	default:
		return (int)v;
	}
}

__attribute__((noinline, cold)) int cold(int argc)
{
	sink = mix(sink);
	return argc > 5 ? abort(), 0 : (int)rotate(sink, 3);
}

int main(int argc, char **argv)
{
	struct list l[4];
	struct list *found;
	int i;

	memset(l, 0, sizeof(l));
	for (i = 0; i < 3; i++) {
		l[i].next = &l[i + 1];
		l[i].key = mix((uint64_t)(uintptr_t)argv[0] + (uint64_t)i);
	}
	found = find(l, (uint64_t)argc);
	if (!found)
		return cold(argc) + (int)sum(l, 0);
	sink = sum(found, argc);
	return table(argc, found->key);
}
