// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/inorder.h"

/* A waiting sample, and what it points to: @more's data, and frames, are behind it. */
struct waiting {
	struct sample sample;
	struct sample_more more;
	unsigned char data[];
};

static size_t size_of(const struct sample *s)
{
	const struct sample_more *more = sample_more(s);

	return sizeof(struct waiting) + more->detail.n * sizeof(struct pmclog_branch) +
	       s->nframes * sizeof(*s->frames) + more->raw.len;
}

/* Copies @n bytes to @to, and returns the place behind them. */
static unsigned char *put(unsigned char *to, const void *from, size_t n)
{
	if (n)
		memcpy(to, from, n);
	return to + n;
}

/* The branches first: they have the largest alignment. */
static struct sample *copy(const struct sample *s)
{
	struct waiting *w = xmalloc(size_of(s));
	const struct sample_more *more = sample_more(s);
	unsigned char *at = w->data;

	w->sample = *s;
	w->more = *more;
	if (s->more)
		w->sample.more = &w->more;
	if (more->detail.n)
		w->more.detail.branch = (const void *)at;
	at = put(at, more->detail.branch, more->detail.n * sizeof(struct pmclog_branch));
	w->sample.frames = (const void *)at;
	at = put(at, s->frames, s->nframes * sizeof(*s->frames));
	if (more->raw.data)
		w->more.raw.data = at;
	put(at, more->raw.data, more->raw.len);
	return &w->sample;
}

static struct sample **slot_of(const struct inorder *t, uint32_t i)
{
	return &t->slot[(t->head + i) & (t->cap - 1)];
}

/* Makes room for @n slots. */
static void grow(struct inorder *t, uint64_t n)
{
	uint32_t cap = t->cap ? t->cap : 256, i;
	struct sample **slot;

	while (cap < n)
		cap *= 2;
	if (cap == t->cap)
		return;
	slot = xcalloc(cap, sizeof(*slot));
	for (i = 0; i < t->n; i++)
		slot[i] = *slot_of(t, i);
	free(t->slot);
	t->slot = slot;
	t->head = 0;
	t->cap = cap;
}

static void step(struct inorder *t)
{
	*slot_of(t, 0) = NULL;
	t->head = (t->head + 1) & (t->cap - 1);
	t->n--;
	t->next++;
}

static void write_complete(struct inorder *t)
{
	struct sample *s;

	while (t->n && (s = *slot_of(t, 0))) {
		t->bytes -= size_of(s);
		t->since = s->tsc;
		t->write(t->ctx, s);
		free(s);
		step(t);
	}
}

/* Waits no longer for the samples before the first complete one. */
static void pass(struct inorder *t)
{
	while (t->n && !*slot_of(t, 0))
		step(t);
	write_complete(t);
}

static bool is_too_late(const struct inorder *t, const struct sample *newest)
{
	return t->within && t->n && newest->tsc > t->since + t->within;
}

void inorder_add(struct inorder *t, const struct sample *s)
{
	if (s->number < t->next) {
		t->behind++;
		t->write(t->ctx, s);
		return;
	}
	if (inorder_are_next(t, s, 1)) {
		t->next++;
		t->write(t->ctx, s);
		return;
	}
	if (!t->n)
		t->since = s->tsc;
	grow(t, s->number - t->next + 1);
	if (t->n <= s->number - t->next)
		t->n = (uint32_t)(s->number - t->next) + 1;
	*slot_of(t, (uint32_t)(s->number - t->next)) = copy(s);
	t->bytes += size_of(s);
	write_complete(t);
	while (t->bytes > INORDER_BYTES || is_too_late(t, s))
		pass(t);
}

void inorder_end(struct inorder *t)
{
	while (t->n)
		pass(t);
}

void inorder_free(struct inorder *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		free(*slot_of(t, i));
	free(t->slot);
}
