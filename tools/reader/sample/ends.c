// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "sample/ends.h"

/* Commands with fewer samples are ignored. */
#define MATTERS_SAMPLES	10U
#define MATTERS_PART	0.01
/* fractions of the samples: least difference to the event */
#define WORSE_WHOLE	0.01
#define WORSE_TABLES	0.05

/* Empty entry of the cache; its key is no valid one. */
static struct ends_place none = { .key = UINT64_MAX };

void ends_init(struct ends *t)
{
	uint32_t i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < ENDS_NEAR; i++)
		t->near[i] = &none;
}

void ends_free(struct ends *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		free(t->place[i]);
	free(t->place);
	free(t->first);
	idtab_free(&t->tab);
	memset(t, 0, sizeof(*t));
}

static struct ends_place *add_new(struct ends *t, uint64_t key)
{
	struct ends_place *p = xcalloc(1, sizeof(*p));
	uint32_t event = (uint32_t)(key >> 32);

	GROW(t->place, t->n, t->cap);
	t->place[t->n++] = p;
	t->first = xgrow_zero(t->first, &t->nfirst, event, 16,
			      sizeof(*t->first));
	p->key = key;
	p->next = t->first[event];
	return t->first[event] = p;
}

/* The places of an event; NULL: it has none. */
static const struct ends_place *first_of(const struct ends *t, uint32_t event)
{
	return event < t->nfirst ? t->first[event] : NULL;
}

struct ends_place *ends_find(struct ends *t, uint64_t key)
{
	uint64_t hash = hash_number(key);
	uint32_t id = IDTAB_FIND(&t->tab, hash, t->place, e, (*e)->key == key);

	if (id == IDTAB_NONE) {
		idtab_add(&t->tab, hash, id = t->n);
		add_new(t, key);
	}
	return t->near[ends_near((uint32_t)(key >> 32), (uint32_t)key)] = t->place[id];
}

void ends_move(struct ends *t, uint32_t event, uint32_t comm, uint8_t from,
	       uint8_t to)
{
	uint64_t *n = ends_count_of(t, event, comm, from);

	/* a sample of an earlier log */
	if (!*n)
		return;
	--*n;
	ends_put(t, event, comm, to);
}

void ends_sum_add(struct ends_sum *to, const struct ends_sum *from)
{
	int i;

	to->all += from->all;
	to->untold += from->untold;
	to->whole += from->whole;
	to->tables += from->tables;
	to->cut += from->cut;
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		to->by[i] += from->by[i];
}

static void add_way(struct ends_sum *sum, uint32_t ends, uint64_t n)
{
	int i;

	if (ends & END_WHOLE)
		sum->whole += n;
	else if (ends & END_CUT_USER_PART)
		sum->cut += n;
	if (ends & END_TABLES)
		sum->tables += n;
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		if (ends & END_CUT(i))
			sum->by[i] += n;
}

/* Adds the current counts of a place to @sum. */
static void add_place(struct ends_sum *sum, const struct ends *t, const struct ends_place *p)
{
	uint32_t i;

	ends_sum_add(sum, &p->before);
	for (i = 0; i < ENDS; i++) {
		sum->all += p->n[i];
		if (t->told)
			add_way(sum, i, p->n[i]);
		else
			sum->untold += p->n[i];
	}
}

void ends_settle(struct ends *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		struct ends_place *p = t->place[i];
		struct ends_sum sum = { .all = 0 };

		add_place(&sum, t, p);
		p->before = sum;
		memset(p->n, 0, sizeof(p->n));
	}
	t->told = false;
}

struct ends_sum ends_of_event(const struct ends *t, uint32_t event)
{
	const struct ends_place *p = first_of(t, event);
	struct ends_sum sum = { .all = 0 };

	for (; p; p = p->next)
		add_place(&sum, t, p);
	return sum;
}

bool ends_are_told(const struct ends *t)
{
	uint32_t i;

	for (i = 0; i < t->n && !t->told; i++)
		if (t->place[i]->before.all > t->place[i]->before.untold)
			return true;
	return t->told;
}

/* ------------------------------------------------------------------------
 * Commands
 */
static double part_of(uint64_t n, const struct ends_sum *s)
{
	uint64_t told = s->all - s->untold;

	return told ? (double)n / (double)told : 1;
}

static bool is_worse(const struct ends_sum *s, const struct ends_sum *event)
{
	uint64_t told = s->all - s->untold;

	return told >= MATTERS_SAMPLES &&
	       (double)told >= MATTERS_PART * (double)event->all &&
	       (part_of(s->whole, s) <
		part_of(event->whole, event) - WORSE_WHOLE ||
		part_of(s->tables, s) <
		part_of(event->tables, event) - WORSE_TABLES);
}

static int by_badness(const void *pa, const void *pb)
{
	const struct ends_comm *a = pa, *b = pb;
	double wa = part_of(a->sum.whole, &a->sum);
	double wb = part_of(b->sum.whole, &b->sum);

	return ORDER(wa, wb) ?: ORDER(b->sum.all, a->sum.all) ?:
	       ORDER(a->comm, b->comm);
}

uint32_t ends_worst(const struct ends *t, uint32_t event,
		    struct ends_comm worst[ENDS_COMMS])
{
	struct ends_sum all = ends_of_event(t, event);
	const struct ends_place *p = first_of(t, event);
	struct ends_comm *c = NULL;
	uint32_t n = 0, cap = 0;

	for (; p; p = p->next) {
		GROW(c, n, cap);
		c[n] = (struct ends_comm){ .comm = (uint32_t)p->key };
		add_place(&c[n].sum, t, p);
		n += is_worse(&c[n].sum, &all);
	}
	if (n)
		qsort(c, n, sizeof(*c), by_badness);
	n = n < ENDS_COMMS ? n : ENDS_COMMS;
	if (n)
		memcpy(worst, c, n * sizeof(*c));
	free(c);
	return n;
}
