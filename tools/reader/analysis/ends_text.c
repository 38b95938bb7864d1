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

/* Joins @text and @more, and frees both. */
static char *joined(char *text, char *more)
{
	char *both = xasprintf("%s%s", text, more);

	free(text);
	free(more);
	return both;
}

char *ends_causes(const struct ends_sum *s, bool plain)
{
	char buf[GROUPED_MAX], *text = xstrdup("");
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		if (s->by[i] && END_CUT(i) & END_CUT_USER_PART)
			text = joined(text, xasprintf("%s%s %s",
						      *text ? ", " : "",
						      number(buf, s->by[i],
							     plain),
						      cut_texts[i]));
	return text;
}

static char *told_text(const struct ends_sum *s, bool plain)
{
	uint64_t told = s->all - s->untold, rest = told - s->whole - s->cut;
	char *text = xasprintf("%.1f %% whole", percent(s->whole, told));

	if (s->cut)
		text = joined(joined(text, xasprintf(", %.1f %% cut: ",
						     percent(s->cut, told))),
			      ends_causes(s, plain));
	if (rest)
		text = joined(text, xasprintf("%s %.1f %% end at an unknown caller",
					      s->cut ? ";" : ",",
					      percent(rest, told)));
	return text;
}

char *ends_text(const struct ends_sum *s, bool plain)
{
	char buf[GROUPED_MAX], *text;

	text = xasprintf("%s %s", number(buf, s->all, plain),
			 plural(s->all, "sample", "samples"));
	if (s->untold == s->all)
		return joined(text, xstrdup("; how many are whole is not told "
					    "by this log"));
	text = joined(joined(text, xstrdup(": ")), told_text(s, plain));
	if (s->untold)
		text = joined(text, xasprintf("; of %s of them it is not told",
					      number(buf, s->untold, plain)));
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
