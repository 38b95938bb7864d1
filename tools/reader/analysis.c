// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include "analysis.h"
#include "reader.h"

void analysis_init(struct analysis *a)
{
	memset(a, 0, sizeof(*a));
	a->demangle = true;
}

bool analysis_option(struct analysis *a, int opt, const char *arg)
{
	switch (opt) {
	case 'k':
		a->kernel = arg;
		return true;
	case 'r':
		a->root.dir = arg;
		return true;
	case 'e':
		a->event = arg;
		return true;
	case 'D':
		a->demangle = false;
		return true;
	default:
		return false;
	}
}

bool analysis_argument(struct analysis *a, const char *cmd, int argc,
		       char **argv)
{
	if (optind == argc - 1) {
		a->path = argv[optind];
		return true;
	}
	fprintf(stderr, "pmclog %s: %s; see pmclog %s --help\n", cmd,
		optind < argc ? "one log at a time" :
				"name a log, or - for standard input", cmd);
	return false;
}

/* Marks the events asked for; false after a message if there is none. */
static bool choose_events(struct analysis *a)
{
	const struct events *t = &a->p.events;
	bool all = !a->event || !strcmp(a->event, "all"), any = false;
	uint32_t i;

	a->use = xcalloc((size_t)t->n + 1, sizeof(*a->use));
	for (i = 0; i < t->n; i++) {
		const char *name = strtab_str(&a->p.str, t->event[i].name);

		a->use[i] = all || !strcmp(name, a->event);
		any |= a->use[i];
	}
	if (any || all)
		return true;
	fprintf(stderr, "pmclog: %s: no event \"%s\"; there is", a->path,
		a->event);
	for (i = 0; i < t->n; i++)
		fprintf(stderr, " %s", strtab_str(&a->p.str,
						  t->event[i].name));
	fputs(t->n ? "\n" : " none at all\n", stderr);
	return false;
}

static bool read_log(struct analysis *a)
{
	struct input in;

	if (input_open(&in, a->path))
		return false;
	profile_read(&a->p, &in);
	input_close(&in);
	if (!a->p.log.error)
		return true;
	fprintf(stderr, "pmclog: %s: %s\n", a->path, a->p.log.error);
	/* what came before the fault is worth showing */
	return a->p.log.records > 0;
}

int analysis_run(struct analysis *a)
{
	profile_init(&a->p, &a->root);
	if (!read_log(a) || !choose_events(a))
		return READER_FAIL;
	if (!ksyms_open(&a->k, &a->p, a->kernel,
			strcmp(a->path, "-") ? a->path : NULL))
		return READER_FAIL;
	resolve_frames(&a->p, &a->k);
	return READER_OK;
}

void analysis_one_event(struct analysis *a)
{
	const struct events *t = &a->p.events;
	uint32_t i, first = UINT32_MAX, others = 0;

	if (a->event)
		return;
	for (i = 0; i < t->n; i++) {
		if (!t->event[i].samples)
			continue;
		if (first == UINT32_MAX)
			first = i;
		else
			others++;
	}
	for (i = 0; i < t->n; i++)
		a->use[i] = i == first;
	if (others)
		fprintf(stderr, "pmclog: %s: showing %s; there are %u more "
			"events (--event)\n", a->path,
			strtab_str(&a->p.str, t->event[first].name), others);
}

uint64_t analysis_samples(const struct analysis *a)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < a->p.events.n; i++)
		n += a->use[i] ? a->p.events.event[i].samples : 0;
	return n;
}

int analysis_close(struct analysis *a)
{
	int ret = a->p.log.error ? READER_FAIL : READER_OK;

	free(a->use);
	ksyms_close(&a->k);
	profile_free(&a->p);
	return ret;
}
