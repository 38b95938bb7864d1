// SPDX-License-Identifier: BSD-2-Clause
/* The rules of pmclog verify for the account in CLOSELOG. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/verify/verify.h"
#include "log/record.h"

static const char *disagree(struct verify *v, uint64_t said, const char *of,
			    uint64_t found, const char *instead)
{
	return verify_fault(v, "account: %" PRIu64 " %s, but %" PRIu64 " %s",
			    said, of, found, instead);
}

static const char *check_law(struct verify *v, const struct pmclog_account *a)
{
	uint64_t fates = verify_sum(a->committed, a->filtered);
	int i;

	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		fates = verify_sum(fates, a->dropped[i]);
	if (a->overflows != fates)
		return disagree(v, a->overflows, "overflows", fates,
				"committed, dropped or filtered");
	fates = verify_sum(verify_sum(a->written, a->discarded), a->in_rings);
	if (a->committed != fates)
		return disagree(v, a->committed, "committed", fates,
				"written, discarded or in rings");
	return NULL;
}

static const char *check_counts(struct verify *v,
				const struct pmclog_account *a)
{
	char cause[48];
	int i;

	if (v->samples != a->written)
		return disagree(v, a->written, "samples written", v->samples,
				"are in the log");
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		snprintf(cause, sizeof(cause), "dropped (%s)", cause_name(i));
		if (v->dropped[i] != a->dropped[i])
			return disagree(v, a->dropped[i], cause, v->dropped[i],
					"by the DROPNOTIFYs");
	}
	if (v->proc_dropped != a->proc_dropped)
		return disagree(v, a->proc_dropped, "process records dropped",
				v->proc_dropped, "by the DROPNOTIFYs");
	return NULL;
}

/* If the file did not take everything, fewer may be in the log than @said. */
static const char *check_logged(struct verify *v, uint64_t said, uint64_t found,
				bool some_lost, const char *of)
{
	if (found == said || (some_lost && found < said))
		return NULL;
	return disagree(v, said, of, found, "are in the log");
}

static const char *check_cuts(struct verify *v, const struct pmclog_account *a)
{
	uint64_t all = 0;
	char cause[48];
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++) {
		snprintf(cause, sizeof(cause), "chains cut (%s)", cut_name(i));
		/* more: samples that are not here, or do not say the cause */
		if (v->cut_by[i] > a->cut_by[i])
			return disagree(v, a->cut_by[i], cause, v->cut_by[i],
					"are in the log");
		all = verify_sum(all, a->cut_by[i]);
		if (a->cut_by[i] > a->cut)
			return disagree(v, a->cut, "chains cut", a->cut_by[i],
					"for one cause");
	}
	if (a->cut > all)
		return disagree(v, a->cut, "chains cut", all, "for a cause");
	return check_logged(v, a->late, v->late, a->discarded, "chains left for later") ?:
	       check_logged(v, a->late_answered, v->answers, true, "chains came later");
}

const char *verify_account(struct verify *v, const struct pmclog_rec *rec)
{
	struct pmclog_account account;

	if (!record_account(rec, &account))
		return "CLOSELOG without an account";
	return check_law(v, &account) ?: check_counts(v, &account) ?:
	       (record_account_has_cuts(rec) ? check_cuts(v, &account) : NULL);
}
