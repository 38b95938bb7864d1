// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "periods.h"

static bool is_period_of(const struct pmclog_rec *rec, uint32_t pmcid)
{
	return IS_EXT(rec, PERIOD) && REC32(rec, ext_period, pmcid) == pmcid;
}

void periods_note(struct periods *p, uint32_t pmcid,
		  const struct pmclog_rec *rec)
{
	uint64_t period;
	uint32_t cpu;

	if (!is_period_of(rec, pmcid))
		return;
	period = REC64(rec, ext_period, period);
	cpu = REC32(rec, ext_period, cpu);
	p->now[cpu % LOG_MAX_CPU] = period;
	p->records++;
	if (period > p->longest)
		p->longest = period;
}

void periods_look(struct log *log, uint32_t pmcid, struct periods *p)
{
	struct pmclog_rec rec;
	struct sample s;

	memset(p, 0, sizeof(*p));
	LOG_FOR_EACH(log, rec) {
		periods_note(p, pmcid, &rec);
		if (!log_sample(&rec, &s) || s.pmcid != pmcid)
			continue;
		p->samples++;
		p->without += !p->now[s.cpu % LOG_MAX_CPU];
		p->sum += p->now[s.cpu % LOG_MAX_CPU];
	}
}
