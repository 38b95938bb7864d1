/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts as FreeBSD's pmcstat prints them: a header line that begins with '#'
 * and has a column per PMC, repeated now and then, and lines of numbers.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pmcstat.h"

#define PREFIX		"# "
#define MIN_WIDTH	15
#define HEADER_EVERY	24	/* lines */

static int column_name(const struct counter *c, char *buf, size_t len)
{
	if (c->cpu == PMC_CPU_ALL)
		return snprintf(buf, len, "s/%s", c->event.name);
	return snprintf(buf, len, "s/%02d/%s", c->cpu, c->event.name);
}

static int column_width(const struct counter *c)
{
	char name[PMC_NAME_MAX + 16];
	int width = column_name(c, name, sizeof(name));

	return width < MIN_WIDTH ? MIN_WIDTH : width;
}

static void print_header(const struct counts *c)
{
	char name[PMC_NAME_MAX + 16];
	size_t i;

	fputs(PREFIX, c->out);
	for (i = 0; i < c->n; i++) {
		if (c->counters[i].mode != PMC_MODE_SC)
			continue;
		column_name(&c->counters[i], name, sizeof(name));
		fprintf(c->out, "%*s ", column_width(&c->counters[i]), name);
	}
	fputc('\n', c->out);
}

static int print_count(const struct counts *c, struct counter *counter,
		       struct pmc_owner *owner, int indent)
{
	struct pmc_reading r;
	uint64_t shown;

	if (pmc_owner_read(owner, counter->id, PMC_CPU_ALL, &r))
		return -1;
	shown = counter->cumulative ? r.value : r.value - counter->saved;
	counter->saved = r.value;
	fprintf(c->out, "%*" PRIu64 " ", column_width(counter) + indent, shown);
	return 0;
}

int counts_print(struct counts *c, struct pmc_owner *owner)
{
	int indent = (int)strlen(PREFIX);
	size_t i;

	if (c->lines++ % HEADER_EVERY == 0)
		print_header(c);
	for (i = 0; i < c->n; i++) {
		if (c->counters[i].mode != PMC_MODE_SC)
			continue;
		if (print_count(c, &c->counters[i], owner, indent))
			return -1;
		indent = 0;
	}
	fputc('\n', c->out);
	return fflush(c->out) ? -1 : 0;
}
