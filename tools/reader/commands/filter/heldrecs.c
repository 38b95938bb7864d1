// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "commands/filter/heldrecs.h"

/* Frees the space of written records when it is half of the array. */
static void make_room(struct heldrecs *t)
{
	uint32_t n = t->n - t->first;

	if (t->first >= 16 && t->first > t->cap / 2) {
		memmove(t->rec, t->rec + t->first, n * sizeof(*t->rec));
		t->n = n;
		t->first = 0;
	}
	GROW(t->rec, t->n, t->cap);
}

static void hold(struct heldrecs *t, const void *p, uint32_t len, bool open,
		 bool tied)
{
	struct heldrec rec = {
		.data = xmalloc(len), .len = len, .open = open, .tied = tied,
	};

	memcpy(rec.data, p, len);
	make_room(t);
	t->rec[t->n++] = rec;
	t->bytes += len + sizeof(rec);
}

void heldrecs_add(struct heldrecs *t, const void *p, uint32_t len)
{
	if (t->first == t->n)
		t->put(t->ctx, p, len);
	else
		hold(t, p, len, false, false);
}

uint32_t heldrecs_wait(struct heldrecs *t, const void *p, uint32_t len,
		       uint64_t met)
{
	hold(t, p, len, true, false);
	t->rec[t->n - 1].met = met;
	return t->number + (t->n - 1 - t->first);
}

static uint32_t index_of(const struct heldrecs *t, uint32_t number)
{
	return t->first + (number - t->number);
}

uint64_t heldrecs_met(const struct heldrecs *t, uint32_t number)
{
	return t->rec[index_of(t, number)].met;
}

void heldrecs_tie(struct heldrecs *t, const void *p, uint32_t len)
{
	hold(t, p, len, true, true);
}

/* Writes all records up to the first undecided one. */
static void write_known(struct heldrecs *t)
{
	struct heldrec *rec;

	for (; t->first < t->n && !t->rec[t->first].open; t->first++) {
		rec = &t->rec[t->first];
		if (rec->data)
			t->put(t->ctx, rec->data, rec->len);
		free(rec->data);
		t->bytes -= rec->len + sizeof(*rec);
		t->number++;
	}
	if (t->first == t->n)
		t->first = t->n = 0;
}

void heldrecs_decide(struct heldrecs *t, uint32_t number, bool stays)
{
	uint32_t i = index_of(t, number);

	do {
		t->rec[i].open = false;
		if (!stays) {
			free(t->rec[i].data);
			t->rec[i].data = NULL;
		}
	} while (++i < t->n && t->rec[i].tied);
	write_known(t);
}

void heldrecs_free(struct heldrecs *t)
{
	for (; t->first < t->n; t->first++)
		free(t->rec[t->first].data);
	free(t->rec);
	memset(t, 0, sizeof(*t));
}
