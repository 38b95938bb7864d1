/* SPDX-License-Identifier: BSD-2-Clause */
/* -L lists the available events, -u describes one of them. */
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "pmcstat.h"

#define WIDTH	26

/* Without patterns every event matches. */
static int wanted(char *const *patterns, const char *spec)
{
	if (!patterns)
		return 1;
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, spec, FNM_CASEFOLD))
			return 1;
	return 0;
}

static void print(const char *spec, const char *text)
{
	if (*text)
		printf("%-*s %s\n", WIDTH, spec, text);
	else
		printf("%s\n", spec);
}

/**
 * struct listing - what -L lists
 * @patterns: NULL: every event
 * @n:        events listed so far
 */
struct listing {
	char	*const *patterns;
	size_t	n;
};

/* A pattern may omit a tracepoint's prefix, as perf does. */
static int list_source(void *arg, const struct pmc_source *s)
{
	const char *prefix = "tracepoint:", *shorter;
	struct listing *l = arg;
	char spec[256], text[512];

	pmc_source_spec(s, spec, sizeof(spec));
	shorter = strncmp(spec, prefix, strlen(prefix)) ? spec :
		  spec + strlen(prefix);
	if (!wanted(l->patterns, spec) &&
	    (shorter == spec || !wanted(l->patterns, shorter)))
		return 0;
	l->n++;
	pmc_source_describe(s, text, sizeof(text));
	print(spec, text);
	return 0;
}

int list_events(const struct options *o)
{
	struct listing l = { .patterns = o->command };
	const char *spec, *text;
	int i;

	pmc_source_each(list_source, &l);
	for (i = 0; (spec = pmc_event_spelling(i, &text)); i++)
		if (wanted(l.patterns, spec)) {
			l.n++;
			print(spec, text);
		}
	if (l.n)
		return 0;
	warn_line("-L: no event of this machine matches");
	return EX_USAGE;
}

/* ------------------------------------------------------------------------
 * -u
 */

/* The description of a named event; qualifiers do not change what is counted. */
static const char *description(const char *spec)
{
	const char **names, *text = NULL;
	size_t len = strcspn(spec, ",:");
	int i, n;

	if (pmc_event_names_of_class(PMC_CLASS_SOFT, &names, &n))
		die(EX_OSERR, "out of memory");
	for (i = 0; i < n && !text; i++)
		if (!strncasecmp(names[i], spec, len) && !names[i][len])
			text = pmc_event_description(i);
	free(names);
	return text;
}

static void print_number(const char *name, uint64_t value)
{
	if (value)
		printf(", %s %#llx", name, (unsigned long long)value);
}

/* An event without a name is described by its numbers. */
static void print_numbers(const struct pmc_event_desc *e)
{
	char cpus[4096];

	printf("%s: type %u, config %#llx", e->name, e->type,
	       (unsigned long long)e->config);
	print_number(e->type == PERF_TYPE_BREAKPOINT ? "address" : "config1",
		     e->config1);
	print_number(e->type == PERF_TYPE_BREAKPOINT ? "length" : "config2",
		     e->config2);
	print_number("config3", e->config3);
	print_number("access", e->bp_type);
	if (e->flags & PMC_EVENT_FREQ)
		printf(", %llu samples a second", (unsigned long long)e->period);
	else if (e->period > 1)
		printf(", period %llu", (unsigned long long)e->period);
	if (pmc_event_cpus(e, cpus, sizeof(cpus)) > 0)
		printf(", on CPU %s", cpus);
	putchar('\n');
}

/* What an event that names no PMU is on a processor with several kinds of cores */
static void print_kinds(const char *spec)
{
	struct pmc_event_desc e[PMC_EVENTS_MAX];
	int i, n = pmc_event_parse_all(spec, e, PMC_EVENTS_MAX, NULL, 0);

	for (i = 0; i < n && n > 1; i++) {
		fputs("  ", stdout);
		print_numbers(&e[i]);
	}
}

static void print_fields(const struct pmc_event_desc *e)
{
	struct pmc_source_field *f;
	size_t size = 0, i;

	if (pmc_event_fields(e, NULL, &size))
		return;
	f = malloc(size + 1);
	if (!f || pmc_event_fields(e, f, &size))
		die(EX_OSERR, "cannot read the fields of %s", e->name);
	for (i = 0; i < size / sizeof(*f); i++)
		printf("  %-20s %-24s %u bytes at %u%s\n", f[i].name, f[i].type,
		       f[i].size, f[i].offset, f[i].is_signed ? ", signed" :
		       "");
	free(f);
}

int describe_event(const char *spec)
{
	struct pmc_event_desc event;
	const char *text;
	char why[512];

	if (pmc_event_parse(spec, &event, why, sizeof(why)))
		die(event_status(errno), "-u %s: %s", spec, why);
	text = description(spec);
	if (text)
		printf("%s: %s\n", event.name, text);
	else if (event.flags & PMC_EVENT_PROBE)
		printf("%s: a probe, which is made when it is used\n",
		       event.name);
	else
		print_numbers(&event);
	print_kinds(spec);
	if (!(event.flags & PMC_EVENT_PROBE))
		print_fields(&event);
	return 0;
}
