// SPDX-License-Identifier: GPL-2.0-only
#include <linux/pmclog.h>
#include <pmclog_wire.h>

#include "details.h"

bool log_detail(const struct pmclog_rec *rec, struct detail *d)
{
	const unsigned char *at = rec->data + sizeof(struct pmclog_ext_detail);
	unsigned int i;

	if (!IS_EXT(rec, DETAIL))
		return false;
	d->has = REC32(rec, ext_detail, has);
	d->hidden = REC32(rec, ext_detail, hidden);
	d->source = REC64(rec, ext_detail, source);
	d->weight = REC64(rec, ext_detail, weight);
	d->addr = REC64(rec, ext_detail, addr);
	d->n = (rec->len - sizeof(struct pmclog_ext_detail)) /
	       sizeof(struct pmclog_branch);
	for (i = 0; i < d->n && i < PMCLOG_BRANCH_MAX; i++, at += 24)
		d->branch[i] = (struct pmclog_branch){
			pmclog_get64(at), pmclog_get64(at + 8),
			pmclog_get64(at + 16),
		};
	return d->n <= PMCLOG_BRANCH_MAX;
}

unsigned int log_details(struct log *log, uint32_t pmcid,
			 void (*fn)(void *arg, const struct sample *s,
				    const struct detail *d), void *arg)
{
	static const struct detail none;
	bool waits = false;
	unsigned int loose = 0;
	struct pmclog_rec rec;
	struct detail d;
	struct sample s;

	LOG_FOR_EACH(log, rec) {
		bool is = IS_EXT(&rec, DETAIL);

		if (is && (!waits || !log_detail(&rec, &d) || rec.tsc != s.tsc ||
			   REC32(&rec, ext_detail, tid) != s.tid ||
			   REC32(&rec, ext_detail, pmcid) != s.pmcid)) {
			loose++;
			continue;
		}
		if (waits && s.pmcid == pmcid)
			fn(arg, &s, is ? &d : &none);
		waits = !is && log_sample(&rec, &s);
	}
	return loose;
}
