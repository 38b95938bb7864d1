// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "latetally.h"

struct pending {
	struct sample	s;
	bool		answered;
	bool		passed_over;
};

/* The callers, one after the other, somewhere in @n pcs. */
static bool is_whole(const struct symbols *sy, const uint64_t *pc,
		     unsigned int n)
{
	static const char * const names[] = {
		"late_leaf", "late_mid", "late_outer", "late_root",
	};
	unsigned int i, same = 0;

	for (i = 1; i < n && same < 4; i++) {
		const char *name = symbols_name(sy, pc[i] - 1);

		if (!strcmp(name, names[same]))
			same++;
		else if (same)
			return false;
	}
	return same == 4;
}

static bool is_at(const struct symbols *sy, const char *at, uint64_t pc)
{
	return at && !strcmp(at, symbols_name(sy, pc));
}

/* Answers come in the order of what they answer. */
static void pass_over(struct late_tally *t, struct pending *w,
		      const struct pmclog_rec *rec, const struct symbols *sy,
		      const char *at)
{
	unsigned int user = sample_kernel_part(&w->s);

	if (w->answered || w->passed_over ||
	    w->s.tid != REC32(rec, ext_userchain, tid) ||
	    w->s.tsc >= REC64(rec, ext_userchain, first))
		return;
	w->passed_over = true;
	if (w->s.user || is_at(sy, at, w->s.pc[user]))
		t->passed_over++;
	else
		t->passed_over_elsewhere++;
}

static bool answers(const struct sample *s, const struct pmclog_rec *rec)
{
	unsigned int user = sample_kernel_part(s);

	return s->late && user < s->npc &&
	       s->tid == REC32(rec, ext_userchain, tid) &&
	       s->tsc >= REC64(rec, ext_userchain, first) &&
	       s->pc[user] == pmclog_get64(rec->data +
				offsetof(struct pmclog_ext_userchain, pc));
}

static void take_answer(struct late_tally *t, struct pending *wait,
			unsigned int n, const struct pmclog_rec *rec,
			const struct symbols *sy, const char *at)
{
	uint64_t pc[LOG_MAX_DEPTH];
	unsigned int i, npc;
	bool whole;

	npc = (rec->len - sizeof(struct pmclog_ext_userchain)) / 8;
	for (i = 0; i < npc; i++)
		pc[i] = pmclog_get64(rec->data + 8 * i +
				offsetof(struct pmclog_ext_userchain, pc));
	whole = is_whole(sy, pc, npc);
	for (i = 0; i < n; i++) {
		pass_over(t, &wait[i], rec, sy, at);
		if (wait[i].answered || !answers(&wait[i].s, rec))
			continue;
		wait[i].answered = true;
		t->joined++;
		t->whole += whole;
		if (is_at(sy, at, pc[0])) {
			t->at++;
			t->whole_at += whole;
		}
	}
}

void late_tally(struct late_tally *t, struct log *log, pid_t pid,
		const struct symbols *sy, const char *at)
{
	struct pending *wait = NULL;
	unsigned int n = 0, user;
	struct pmclog_rec rec;
	struct sample s;

	memset(t, 0, sizeof(*t));
	LOG_FOR_EACH(log, rec) {
		if (IS_EXT(&rec, USERCHAIN) &&
		    REC32(&rec, ext_userchain, pid) == (uint32_t)pid) {
			t->answers++;
			take_answer(t, wait, n, &rec, sy, at);
		}
		if (!log_sample(&rec, &s) || s.pid != (uint32_t)pid)
			continue;
		t->samples++;
		user = sample_kernel_part(&s);
		if (s.late) {
			t->late++;
			t->lied += is_whole(sy, s.pc + user, s.npc - user);
			wait = realloc(wait, (n + 1) * sizeof(*wait));
			wait[n].s = s;
			wait[n].passed_over = false;
			wait[n++].answered = false;
		} else {
			t->whole_at_once += is_whole(sy, s.pc + user,
						     s.npc - user);
		}
	}
	free(wait);
}
