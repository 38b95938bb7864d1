/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts as FreeBSD's pmcstat prints them: a header line that begins with '#'
 * and has a column per PMC, repeated regularly, and lines of numbers.  Lines at
 * the end begin with '#' too, so that parsers skip them.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pmcstat.h"

#define PREFIX		"# "
#define MIN_WIDTH	15
#define HEADER_EVERY	24	/* lines */
#define NEVER		"<not counted>"

enum precision { EXACT, ESTIMATED, NOT_COUNTED };

static int column_name(const struct counter *c, char *buf, size_t len)
{
	if (PMC_IS_VIRTUAL_MODE(c->mode))
		return snprintf(buf, len, "p/%s", c->event.name);
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
		if (!PMC_IS_COUNTING_MODE(c->counters[i].mode))
			continue;
		column_name(&c->counters[i], name, sizeof(name));
		fprintf(c->out, "%*s ", column_width(&c->counters[i]), name);
	}
	fputc('\n', c->out);
}

/*
 * Estimates the count of an event that shared a hardware counter.  Switching
 * events costs about a tenth of a percent, so more than 99.9 % is exact.
 */
static enum precision estimate(const struct pmc_reading *r, uint64_t *value)
{
	*value = r->value;
	if (r->running >= r->enabled - r->enabled / 1000)
		return EXACT;
	if (!r->running)
		return NOT_COUNTED;
	*value = (uint64_t)((long double)r->value * (long double)r->enabled /
			    (long double)r->running + 0.5L);
	return ESTIMATED;
}

static void print_value(const struct counts *c, const struct pmc_reading *r,
			int width)
{
	uint64_t value;
	enum precision p = estimate(r, &value);

	if (p == NOT_COUNTED)
		fprintf(c->out, "%*s ", width, NEVER);
	else
		fprintf(c->out, "%*" PRIu64 "%c", width, value,
			p == EXACT ? ' ' : '*');
}

static int print_count(const struct counts *c, struct counter *counter,
		       struct pmc_owner *owner, int indent)
{
	struct pmc_reading r, shown;

	if (pmcs_read(owner, counter, &r))
		return -1;
	shown = r;
	if (!counter->cumulative) {
		shown.value -= counter->last.value;
		shown.enabled -= counter->last.enabled;
		shown.running -= counter->last.running;
	}
	counter->last = r;
	print_value(c, &shown, column_width(counter) + indent);
	return 0;
}

int counts_print(struct counts *c, struct pmc_owner *owner)
{
	int indent = (int)strlen(PREFIX);
	size_t i;

	if (c->lines++ % HEADER_EVERY == 0)
		print_header(c);
	for (i = 0; i < c->n; i++) {
		if (!PMC_IS_COUNTING_MODE(c->counters[i].mode))
			continue;
		if (print_count(c, &c->counters[i], owner, indent))
			return -1;
		indent = 0;
	}
	fputc('\n', c->out);
	return fflush(c->out) ? -1 : 0;
}

static void print_total(const struct counts *c, const struct counter *counter)
{
	char name[PMC_NAME_MAX + 16];

	column_name(counter, name, sizeof(name));
	fputs("# total ", c->out);
	print_value(c, &counter->last, MIN_WIDTH + 5);
	fprintf(c->out, "%s\n", name);
}

static void print_note(const struct counts *c, const struct counter *counter)
{
	const struct pmc_reading *r = &counter->last;
	char name[PMC_NAME_MAX + 16];
	uint64_t value;

	column_name(counter, name, sizeof(name));
	switch (estimate(r, &value)) {
	case ESTIMATED:
		fprintf(c->out, "# * %s is estimated: it was counted %.1f%% of "
			"the time\n", name,
			100.0 * (double)r->running / (double)r->enabled);
		break;
	case NOT_COUNTED:
		fprintf(c->out, "# %s was never counted: too few counters\n",
			name);
		break;
	case EXACT:
		break;
	}
}

int counts_end(const struct counts *c, uint64_t elapsed)
{
	int parts = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		parts |= PMC_IS_COUNTING_MODE(c->counters[i].mode) &&
			 !c->counters[i].cumulative;
	for (i = 0; i < c->n; i++)
		if (parts && c->lines > 1 &&
		    PMC_IS_COUNTING_MODE(c->counters[i].mode))
			print_total(c, &c->counters[i]);
	for (i = 0; i < c->n; i++)
		if (PMC_IS_COUNTING_MODE(c->counters[i].mode))
			print_note(c, &c->counters[i]);
	if (elapsed)
		fprintf(c->out, "# elapsed %.6f s\n", (double)elapsed / 1e9);
	return fflush(c->out) ? -1 : 0;
}
