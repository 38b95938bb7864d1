// SPDX-License-Identifier: BSD-2-Clause
/* Rules of DETAIL records: the branches and the access to memory of a sample. */
#include <linux/hwpmc.h>

#include "commands/verify/verify.h"
#include "log/detail.h"

#define KNOWN_FIELDS	(PMCLOG_DETAIL_BRANCHES | PMCLOG_DETAIL_SOURCE | \
			 PMCLOG_DETAIL_WEIGHT | PMCLOG_DETAIL_ADDR)

#define U32(rec, field)	REC32(rec, ext_detail, field)

static bool is_behind_its_sample(const struct verify *v, const struct pmclog_rec *rec)
{
	return v->chain && v->chain_pmc == U32(rec, pmcid) &&
	       v->chain_tid == U32(rec, tid) && v->last_tsc == rec->tsc;
}

/* The fields that a PMC with these flags may have */
static uint32_t fields_of(uint32_t flags)
{
	return (flags & HWPMC_F_BRANCH ? PMCLOG_DETAIL_BRANCHES : 0) |
	       (flags & HWPMC_F_DATA ? KNOWN_FIELDS & ~PMCLOG_DETAIL_BRANCHES : 0);
}

/* Is a field set that the record does not have? */
static bool has_stray_fields(const struct detail *d)
{
	return (!(d->has & PMCLOG_DETAIL_BRANCHES) && (d->n || d->hidden)) ||
	       (!(d->has & PMCLOG_DETAIL_SOURCE) && d->source) ||
	       (!(d->has & PMCLOG_DETAIL_WEIGHT) && d->weight) ||
	       (!(d->has & PMCLOG_DETAIL_ADDR) && d->addr);
}

static const char *check_branches(struct verify *v, const struct detail *d)
{
	uint32_t i;

	for (i = 0; i < d->n; i++) {
		struct pmclog_branch b = detail_branch(d, i);

		if (b.flags & ~PMCLOG_BRANCH_KNOWN)
			return verify_fault(v, "branch %u with unknown flags "
					    "%#llx", i,
					    (unsigned long long)b.flags);
	}
	return NULL;
}

const char *verify_detail(struct verify *v, const struct pmclog_rec *rec,
			  uint32_t flags)
{
	struct detail d = detail_of(rec);

	if (!is_behind_its_sample(v, rec))
		return "DETAIL that is not right behind its sample";
	if (d.n > PMCLOG_BRANCH_MAX)
		return verify_fault(v, "DETAIL of %u branches, more than %u",
				    d.n, PMCLOG_BRANCH_MAX);
	if (d.has & ~fields_of(flags))
		return "DETAIL with fields that its PMC was not asked for";
	if (has_stray_fields(&d))
		return "DETAIL with a field that it says it has not";
	return check_branches(v, &d);
}
