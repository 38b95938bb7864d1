// SPDX-License-Identifier: BSD-2-Clause
#include "log/steady.h"

/* seconds */
#define JUMP	1	/* larger steps are judged by the next timestamps */
#define LONE	3600	/* least limit for a record that nothing follows */
#define START	60	/* limit between the first record and the next */

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Judges the first record, by the next timestamps alone. */
static uint64_t first_of(const uint64_t *next, unsigned int n, uint64_t tsc,
			 uint64_t jump)
{
	if (n < 2 || apart(next[0], next[1]) > jump)
		return tsc;
	if (tsc > next[0])
		return tsc - next[0] > jump ? next[0] : tsc;
	return next[0] - tsc > START / JUMP * jump ? next[0] : tsc;
}

/* Is the timestamp far from both its neighbours? */
static bool is_wild(const struct steady *s, const uint64_t *next,
		    unsigned int n, uint64_t tsc)
{
	uint64_t most = s->now - s->first;

	/* the next timestamp goes back in time: use the one after it */
	if (n && tsc > s->now && next[0] < s->now) {
		next++;
		n--;
	}
	if (n)
		return apart(next[0], s->now) <= apart(next[0], tsc);
	if (most < LONE / JUMP * s->jump)
		most = LONE / JUMP * s->jump;
	return tsc < s->now || tsc - s->now > most;
}

bool steady_is_alone(const struct steady *s, const struct pmclog_iter *it,
		     const struct pmclog_rec *r)
{
	uint64_t next;

	return s->known && r->type != PMCLOG_T_INITIALIZE &&
	       pmclog_iter_format(it)->ours && !pmclog_iter_ahead(it, &next, 1);
}

static uint64_t judge(struct steady *s, const struct pmclog_iter *it,
		      const struct pmclog_rec *r)
{
	const struct pmclog_format *format = pmclog_iter_format(it);
	uint64_t next[2];
	unsigned int n;

	if (!format->ours)
		return r->tsc;
	n = pmclog_iter_ahead(it, next, 2);
	if (!s->known) {
		s->known = true;
		/* the clock rate may be damaged too */
		s->jump = format->freq && format->freq < 1ULL << 40 ?
			  JUMP * format->freq : JUMP * 1000000000ULL;
		return s->first = s->now = first_of(next, n, r->tsc, s->jump);
	}
	if (!is_wild(s, next, n, r->tsc))
		s->now = r->tsc;
	return s->now;
}

uint64_t steady_look(struct steady *s, const struct pmclog_iter *it,
		     const struct pmclog_rec *r)
{
	uint64_t tsc;

	if (r->type == PMCLOG_T_INITIALIZE)
		s->known = false;
	tsc = judge(s, it, r);
	s->wrong += tsc != r->tsc;
	return tsc;
}
