// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "log/record.h"
#include "sample/late.h"

static size_t size_of(const struct late_sample *s)
{
	const struct sample_more *more = sample_more(&s->sample);

	return sizeof(*s) + (size_t)s->npc * 8 + more->raw.len +
	       more->detail.n * sizeof(struct pmclog_branch);
}

static uint32_t find(const struct late *t, uint32_t tid)
{
	return IDTAB_FIND(&t->tab, hash_mix(tid, 0), t->tids, e, e->tid == tid);
}

static uint32_t get(struct late *t, uint32_t tid)
{
	struct late_tid key = { .tid = tid };

	return IDTAB_ID(&t->tab, hash_mix(tid, 0), t->tids, t->n, t->cap, &key, e,
			e->tid == tid);
}

static void unlink_sample(struct late *t, struct late_sample *s)
{
	struct late_tid *of = &t->tids[s->tid];

	*(s->older ? &s->older->newer : &of->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &of->newest) = s->older;
	*(s->older_of_all ? &s->older_of_all->newer_of_all : &t->oldest) =
		s->newer_of_all;
	*(s->newer_of_all ? &s->newer_of_all->older_of_all : &t->newest) =
		s->older_of_all;
	of->bytes -= size_of(s);
	t->bytes -= size_of(s);
}

static void drop(struct late *t, struct late_sample *s)
{
	unlink_sample(t, s);
	if (t->given_up)
		t->given_up(t->ctx, s);
	free(s);
}

/* Copies what the sample has in its records, behind the pcs. */
static void keep_more(struct late_sample *copy)
{
	unsigned char *to = copy->pc + (size_t)copy->npc * 8;
	struct detail *d = &copy->more.detail;
	struct tp_raw *raw = &copy->more.raw;

	if (!copy->sample.more)
		return;
	copy->more = *copy->sample.more;
	copy->sample.more = &copy->more;
	if (raw->data) {
		memcpy(to, raw->data, raw->len);
		raw->data = to;
		to += raw->len;
	}
	if (d->n) {
		memcpy(to, d->branch, d->n * sizeof(struct pmclog_branch));
		d->branch = to;
	}
}

void late_add(struct late *t, const struct late_sample *s,
	      const unsigned char *pcs)
{
	size_t size = size_of(s);
	struct late_sample *copy = xmalloc(size);
	uint32_t id = get(t, s->sample.tid);
	struct late_tid *of = &t->tids[id];

	*copy = *s;
	memcpy(copy->pc, pcs, (size_t)s->npc * 8);
	keep_more(copy);
	copy->tid = id;
	copy->newer = copy->newer_of_all = NULL;
	copy->older = of->newest;
	copy->older_of_all = t->newest;
	*(of->newest ? &of->newest->newer : &of->oldest) = copy;
	*(t->newest ? &t->newest->newer_of_all : &t->oldest) = copy;
	of->newest = t->newest = copy;
	of->bytes += size;
	t->bytes += size;
	while (of->bytes > LATE_TID_BYTES)
		drop(t, of->oldest);
	while (t->bytes > LATE_BYTES)
		drop(t, t->oldest);
}

struct late_sample *late_take(struct late *t, uint32_t tid, uint64_t first,
			      uint64_t user)
{
	uint32_t id = find(t, tid);
	struct late_sample *s;

	if (id == IDTAB_NONE)
		return NULL;
	while ((s = t->tids[id].newest) && s->sample.tsc >= first) {
		if (s->user == user) {
			unlink_sample(t, s);
			return s;
		}
		drop(t, s);
	}
	return NULL;
}

void late_give_up(struct late *t)
{
	if (t->oldest)
		drop(t, t->oldest);
}

static void forget(struct late *t, uint32_t tid)
{
	uint32_t id = find(t, tid);

	while (id != IDTAB_NONE && t->tids[id].oldest)
		drop(t, t->tids[id].oldest);
}

static bool tells_state(const struct pmclog_rec *rec, uint32_t pid)
{
	switch (rec->type) {
	case PMCLOG_T_PROC_CREATE:
		return REC32(rec, proc_create, pid) == pid;
	case PMCLOG_T_THR_CREATE:
		return REC32(rec, thr_create, pid) == pid;
	case PMCLOG_T_MAP_IN:
		return REC32(rec, map_in, pid) == pid;
	default:
		return false;
	}
}

void late_record(struct late *t, const struct pmclog_rec *rec)
{
	/* its first thread has its number */
	if (t->ended && !tells_state(rec, t->ended))
		forget(t, t->ended);
	t->ended = 0;
	if (rec->type == PMCLOG_T_THR_EXIT)
		forget(t, REC32(rec, thr_exit, tid));
	else if (rec->type == PMCLOG_T_SYSEXIT)
		t->ended = REC32(rec, sysexit, pid);
}

void late_free(struct late *t)
{
	while (t->oldest)
		drop(t, t->oldest);
	free(t->tids);
	t->tids = NULL;
	t->n = t->cap = t->ended = 0;
	idtab_free(&t->tab);
}
