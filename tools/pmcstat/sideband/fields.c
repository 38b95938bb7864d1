/* SPDX-License-Identifier: BSD-2-Clause */
/* Records that describe the fields of the tracepoints in the log. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/batch.h"

/* Shortens the text to the size of a record, at the end of a line */
static void cut(char *text)
{
	const size_t room = PMCLOG_RECORD_MAX - 4 -
			    sizeof(struct pmclog_ext_fields);
	char *end;

	if (strlen(text) <= room)
		return;
	text[room] = '\0';
	end = strrchr(text, '\n');
	if (end)
		end[1] = '\0';
}

static void add(const struct options *o, struct batch *b, const struct pmc_event_desc *e)
{
	struct pmclog_ext_fields fixed = {
		.e = record_ext(PMCLOG_EXT_FIELDS), .type = e->type,
		.config = e->config,
	};
	char *text = pmc_event_format(e);
	struct record r;

	if (!text) {
		if (options_tell(o))
			warn_line("the log lacks the fields of %s: %s", e->name,
				  strerror(errno));
		return;
	}
	cut(text);
	record_begin(&r, &fixed, offsetof(struct pmclog_ext_fields, text));
	record_string(&r, text);
	record_end(&r, PMCLOG_T_USERDATA, b);
	free(text);
}

static int same_event(const struct counter *a, const struct counter *b)
{
	return (a->flags & PMC_F_RAW) && a->event.type == b->event.type &&
	       a->event.config == b->event.config;
}

int fields_send(const struct options *o, struct metadata_sink *sink)
{
	const struct counter *c = o->counters;
	struct batch *b = calloc(1, sizeof(*b));
	size_t i, j;
	int failed;

	if (!b)
		return -1;
	b->sink = sink;
	for (i = 0; i < o->ncounters; i++) {
		for (j = 0; j < i && !same_event(&c[j], &c[i]); j++)
			;
		if (j == i && (c[i].flags & PMC_F_RAW))
			add(o, b, &c[i].event);
	}
	batch_flush(b);
	failed = b->failed;
	free(b);
	return failed ? -1 : 0;
}
