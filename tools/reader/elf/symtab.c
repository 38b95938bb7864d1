// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "elf/symtab.h"

/* nested functions kept open while the table is flattened */
#define NEST_MAX	64

/* Names may differ in their ends only, so one that is cut gets the function's address. */
static const char *copy_of_name(struct symtab *t, const struct sym *s)
{
	size_t len = s->name ? strnlen(s->name, SYM_NAME_MAX) : 0;
	char address[24] = "", *copy;

	if (!len)
		return NULL;
	if (len == SYM_NAME_MAX)
		snprintf(address, sizeof(address), "...#%llx", (unsigned long long)s->start);
	copy = arena_alloc(&t->names, len + strlen(address) + 1);
	memcpy(copy, s->name, len);
	strcpy(copy + len, address);
	return copy;
}

void symtab_add(struct symtab *t, const struct sym *s)
{
	GROW(t->sym, t->n, t->cap);
	t->sym[t->n] = *s;
	t->sym[t->n].name = copy_of_name(t, s);
	t->sym[t->n++].sized = s->end > s->start;
}

static size_t underscores(const char *s)
{
	return s ? strspn(s, "_") : 0;
}

/* Which of two symbols of one address to show: > 0 for @a. */
static int better(const struct sym *a, const struct sym *b)
{
	size_t la = a->name ? strlen(a->name) : 0;
	size_t lb = b->name ? strlen(b->name) : 0;

	if (!la != !lb)
		return la ? 1 : -1;
	if (a->sized != b->sized)
		return a->sized ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? 1 : -1;
	if (!la)
		return 0;
	/* "malloc" rather than "__libc_malloc", then the longer name */
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name) ? 1 : -1;
	if (la != lb)
		return la > lb ? 1 : -1;
	return strcmp(b->name, a->name);
}

static int by_rank(const void *a, const void *b)
{
	return -better(a, b);
}

/*
 * Keeps the best symbol for each start.  It inherits a size from the others if
 * it has none itself.
 */
static void drop_aliases(struct symtab *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++) {
		struct sym *s = &t->sym[i], *best = &t->sym[n ? n - 1 : 0];

		if (!n || best->start != s->start) {
			t->sym[n++] = *s;
			continue;
		}
		if (!best->sized && s->sized) {
			best->end = s->end;
			best->sized = true;
		}
	}
	t->n = n;
}

static void emit(struct sym **out, size_t *n, size_t *cap, struct sym s,
		 uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	s.start = start;
	s.end = end;
	APPEND(*out, *n, *cap) = s;
}

/* Most tables have no nested symbols. */
static bool is_flat(const struct symtab *t)
{
	const struct sym *s = t->sym;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (s[i].start >= s[i].end ||
		    (i + 1 < t->n && s[i].end > s[i + 1].start))
			return false;
	return true;
}

/*
 * Makes nested ranges disjoint: where two overlap, the range that began last
 * wins; after its end the outer range continues.
 */
static void flatten(struct symtab *t)
{
	struct sym open[NEST_MAX], *out = NULL;
	size_t i, n = 0, cap = 0, depth = 0;
	uint64_t at = 0, to;

	if (is_flat(t))
		return;
	for (i = 0; i <= t->n; i++) {
		to = i < t->n ? t->sym[i].start : UINT64_MAX;
		while (depth && open[depth - 1].end <= to) {
			emit(&out, &n, &cap, open[depth - 1], at,
			     open[depth - 1].end);
			if (open[depth - 1].end > at)
				at = open[depth - 1].end;
			depth--;
		}
		if (depth)
			emit(&out, &n, &cap, open[depth - 1], at, to);
		at = to;
		if (i == t->n)
			break;
		if (depth == NEST_MAX) {
			memmove(open, open + 1, sizeof(open) - sizeof(*open));
			depth--;
		}
		open[depth++] = t->sym[i];
	}
	free(t->sym);
	t->sym = out;
	t->n = n;
	t->cap = cap;
}

/* The last symbol of a module (or of all) ends with its page at most. */
static uint64_t unsized_end(const struct sym *s, const struct sym *next)
{
	uint64_t page = s->start | 0xfff;

	if (next && (next->mod == s->mod || next->start < page))
		return next->start;
	return page == UINT64_MAX ? page : page + 1;
}

/*
 * A symbol without a size extends to the next one; inside of one with a size it
 * is only a label.
 */
static void fill_sizes(struct symtab *t)
{
	uint64_t covered = 0;
	size_t i, n = 0;

	for (i = 0; i < t->n; i++) {
		struct sym *s = &t->sym[i];

		if (!s->sized && s->start < covered)
			continue;
		if (s->sized && s->end > covered)
			covered = s->end;
		t->sym[n++] = *s;
	}
	t->n = n;
	for (i = 0; i < n; i++) {
		struct sym *s = &t->sym[i];

		if (!s->sized)
			s->end = unsized_end(s, i + 1 < n ? s + 1 : NULL);
	}
}

/* a symbol's start, and its index in the table */
struct key {
	uint64_t start;
	size_t at;
};

/* Stable sort of keys by one byte of their starts. */
static void sort_byte(struct key *to, const struct key *from, size_t n,
		      unsigned int shift)
{
	size_t place[256] = { 0 }, i, sum = 0, count;

	for (i = 0; i < n; i++)
		place[from[i].start >> shift & 0xff]++;
	for (i = 0; i < 256; i++) {
		count = place[i];
		place[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[place[from[i].start >> shift & 0xff]++] = from[i];
}

/* Radix sort: bytes that are the same in all starts are skipped. */
static struct key *sorted_keys(const struct symtab *t)
{
	struct key *key = xreallocarray(NULL, t->n, sizeof(*key));
	struct key *other = xreallocarray(NULL, t->n, sizeof(*key)), *swap;
	uint64_t differ = 0;
	unsigned int shift;
	size_t i;

	for (i = 0; i < t->n; i++) {
		key[i] = (struct key){ t->sym[i].start, i };
		differ |= t->sym[i].start ^ t->sym[0].start;
	}
	for (shift = 0; shift < 64; shift += 8) {
		if (!(differ >> shift & 0xff))
			continue;
		sort_byte(other, key, t->n, shift);
		swap = key;
		key = other;
		other = swap;
	}
	free(other);
	return key;
}

static bool is_sorted(const struct symtab *t)
{
	size_t i;

	for (i = 1; i < t->n; i++)
		if (t->sym[i - 1].start > t->sym[i].start)
			return false;
	return true;
}

static void sort_starts(struct symtab *t)
{
	struct key *key = sorted_keys(t);
	struct sym *sym = xreallocarray(NULL, t->n, sizeof(*sym));
	size_t i;

	for (i = 0; i < t->n; i++)
		sym[i] = t->sym[key[i].at];
	free(key);
	free(t->sym);
	t->sym = sym;
	t->cap = t->n;
}

static void sort_by_start(struct symtab *t)
{
	size_t i, j;

	if (!is_sorted(t))
		sort_starts(t);
	for (i = 0; i < t->n; i = j) {
		for (j = i + 1; j < t->n &&
				t->sym[j].start == t->sym[i].start; j++)
			;
		if (j - i > 1)
			qsort(t->sym + i, j - i, sizeof(*t->sym), by_rank);
	}
}

void symtab_sort(struct symtab *t)
{
	if (!t->n)
		return;
	sort_by_start(t);
	drop_aliases(t);
	fill_sizes(t);
	flatten(t);
}

const struct sym *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t n = SEARCH(t->n, i, t->sym[i].end <= addr);

	if (n == t->n || t->sym[n].start > addr || t->sym[n].rank == SYM_GAP)
		return NULL;
	return &t->sym[n];
}

void symtab_free(struct symtab *t)
{
	free(t->sym);
	arena_free(&t->names);
	memset(t, 0, sizeof(*t));
}
