// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "onoff.h"

uint32_t state_of(int dev, uint32_t id)
{
	struct hwpmc_pmcinfo_row row[64];
	uint32_t n = 64, i;

	if (dev_pmcinfo(dev, 0, row, &n))
		return HWPMC_STATE_DISABLED;
	for (i = 0; i < n && i < 64; i++)
		if (row[i].id == id && row[i].owner_pid == getpid())
			return row[i].state;
	return HWPMC_STATE_FREE;
}

void find_told(struct log *log, struct told *t)
{
	struct pmclog_rec rec;

	t->n = 0;
	LOG_FOR_EACH(log, rec) {
		if (!IS_EXT(&rec, RECORD) || t->n == MAX_RECORDS)
			continue;
		t->r[t->n].tsc = rec.tsc;
		t->r[t->n].skew = REC64(&rec, ext_record, skew);
		t->r[t->n].on = REC32(&rec, ext_record, on);
		t->r[t->n++].npmc = REC32(&rec, ext_record, npmc);
	}
}
