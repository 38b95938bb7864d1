// SPDX-License-Identifier: BSD-2-Clause
/* Texts about how user chains end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "log/causes.h"
#include "sample/ends.h"

static const char *number(char buf[GROUPED_MAX], uint64_t v, bool plain)
{
	if (!plain)
		return grouped(buf, v);
	snprintf(buf, GROUPED_MAX, "%" PRIu64, v);
	return buf;
}

char *causes_text(const char *before, const uint64_t *by, const char *const *texts, int n,
		  bool plain)
{
	char buf[GROUPED_MAX], *text = xstrdup("");
	int i;

	for (i = 0; i < n; i++)
		if (by[i])
			text = xappend(text, "%s%s %s", *text ? ", " : before,
				       number(buf, by[i], plain), texts[i]);
	return text;
}

char *account_cuts(const struct pmclog_account *a, bool plain)
{
	uint64_t by[PMCLOG_CUT_NCAUSE];
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		by[i] = a->cut_by[i];
	return causes_text(": ", by, cut_texts, PMCLOG_CUT_NCAUSE, plain);
}

char *ends_causes(const struct ends_sum *s, bool plain)
{
	uint64_t by[PMCLOG_CUT_NCAUSE];
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		by[i] = END_CUT(i) & END_CUT_USER_PART ? s->by[i] : 0;
	return causes_text("", by, cut_texts, PMCLOG_CUT_NCAUSE, plain);
}

static char *told_text(const struct ends_sum *s, bool plain)
{
	uint64_t told = s->all - s->untold, rest = told - s->whole - s->cut;
	char *text = xasprintf("%.1f %% whole", percent(s->whole, told));
	char *causes = ends_causes(s, plain);

	if (s->cut)
		text = xappend(text, ", %.1f %% cut: %s", percent(s->cut, told), causes);
	if (rest)
		text = xappend(text, "%s %.1f %% end at an unknown caller",
			       s->cut ? ";" : ",", percent(rest, told));
	free(causes);
	return text;
}

char *ends_text(const struct ends_sum *s, bool plain)
{
	char buf[GROUPED_MAX], *text, *told = told_text(s, plain);
	bool none = s->untold == s->all;

	text = xasprintf("%s %s%s%s", number(buf, s->all, plain),
			 plural(s->all, "sample", "samples"), none ? "; " : ": ",
			 none ? "how many are whole is not told by this log" : told);
	free(told);
	if (s->untold && !none)
		text = xappend(text, "; of %s of them it is not told",
			       number(buf, s->untold, plain));
	return text;
}

/* What a log without the bits was not asked for, it does not have. */
bool ends_misses(const struct ends_sum *s, bool x86, bool asked)
{
	return x86 && s->all && !s->tables && !(asked && s->untold);
}

char *ends_callers(const struct ends_sum *s, bool x86, bool asked)
{
	uint64_t told = s->all - s->untold;

	if (ends_misses(s, x86, asked))
		return xstrdup("by frame pointers: on x86 the callers of leaf "
			       "functions, and of code compiled without frame "
			       "pointers, are missing");
	if (!told)
		return xstrdup(asked ? "by unwind tables or frame pointers: the log "
				       "does not tell" : "by frame pointers");
	if (s->tables == told)
		return xstrdup("by unwind tables");
	if (!s->tables)
		return xstrdup("by frame pointers");
	return xasprintf("%.1f %% by unwind tables, the others by frame "
			 "pointers", percent(s->tables, told));
}
