// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include <linux/pmclog.h>

#include "log/periods.h"

/* instead of a CPU, for the last period of a PMC */
#define ANY_CPU	UINT32_MAX

static bool is_of(const struct period *p, uint32_t pmcid, uint32_t cpu)
{
	return p->pmcid == pmcid && p->cpu == cpu;
}

static void set(struct periods *t, const struct period *p)
{
	uint32_t id = IDTAB_ID(&t->tab, hash_mix(p->pmcid, p->cpu), t->period, t->n, t->cap, p,
			       e, is_of(e, p->pmcid, p->cpu));

	t->period[id].period = p->period;
}

void periods_record(struct periods *t, const struct pmclog_rec *r)
{
	struct period p = {
		.period = REC64(r, ext_period, period), .pmcid = REC32(r, ext_period, pmcid),
		.cpu = REC32(r, ext_period, cpu),
	};

	if (!p.period || p.cpu == ANY_CPU)
		return;
	set(t, &p);
	p.cpu = ANY_CPU;
	set(t, &p);
}

uint64_t periods_of(struct periods *t, uint32_t pmcid, uint32_t cpu)
{
	uint32_t id;

	if (t->n && is_of(&t->period[t->last], pmcid, cpu))
		return t->period[t->last].period;
	id = IDTAB_FIND(&t->tab, hash_mix(pmcid, cpu), t->period, e, is_of(e, pmcid, cpu));
	if (id == IDTAB_NONE)
		return 0;
	t->last = id;
	return t->period[id].period;
}

uint64_t periods_guess(struct periods *t, uint32_t pmcid)
{
	uint64_t period = periods_of(t, pmcid, ANY_CPU);

	return period ? period : 1;
}

void periods_forget(struct periods *t)
{
	idtab_free(&t->tab);
	t->n = t->last = 0;
}

void periods_free(struct periods *t)
{
	free(t->period);
	idtab_free(&t->tab);
}
