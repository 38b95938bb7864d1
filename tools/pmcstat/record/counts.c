/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts as FreeBSD's pmcstat prints them: a header line that begins with '#'
 * and has a column per PMC, repeated regularly, and lines of numbers.  Lines at
 * the end begin with '#' too, so that parsers skip them.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "pmcstat.h"

#define PREFIX		"# "
#define MIN_WIDTH	15
#define HEADER_EVERY	24	/* lines */
#define NEVER		"<not counted>"

enum precision { EXACT, ESTIMATED, AT_LEAST, NOT_COUNTED };

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

/* The last line, or all since the start */
static const struct pmc_reading *reading(const struct counter *counter, bool total)
{
	return total ? &counter->last : &counter->shown;
}

/*
 * When this event did not run, did the same event of another kind of core?  The readings
 * are not of one moment, so this takes one percent.
 */
static bool others_ran(const struct counts *c, const struct counter *counter, bool total)
{
	const struct pmc_reading *r = reading(counter, total);
	uint64_t running = r->running;
	size_t i;

	if (!counter_is_of_some(counter))
		return false;
	for (i = 0; i < c->n; i++)
		if (counter_is_sibling(counter, &c->counters[i]))
			running += reading(&c->counters[i], total)->running;
	return running >= r->enabled - r->enabled / 100;
}

/*
 * Estimates the count of an event that shared a hardware counter.  Switching
 * events costs about a tenth of a percent, so more than 99.9 % is exact.  Time on CPUs
 * that do not have the event is no time of sharing.  It cannot be told from that, so
 * such a count is not scaled.
 */
static enum precision estimate(const struct counts *c, const struct counter *counter,
			       bool total, uint64_t *value)
{
	const struct pmc_reading *r = reading(counter, total);

	*value = r->value;
	if (r->running >= r->enabled - r->enabled / 1000 || others_ran(c, counter, total))
		return EXACT;
	if (!r->running)
		return NOT_COUNTED;
	if (counter_is_of_some(counter))
		return AT_LEAST;
	*value = (uint64_t)((long double)r->value * (long double)r->enabled /
			    (long double)r->running + 0.5L);
	return ESTIMATED;
}

static void print_value(const struct counts *c, const struct counter *counter,
			bool total, int width)
{
	uint64_t value;
	enum precision p = estimate(c, counter, total, &value);

	if (p == NOT_COUNTED)
		fprintf(c->out, "%*s ", width, NEVER);
	else
		fprintf(c->out, "%*" PRIu64 "%c", width, value,
			p == EXACT ? ' ' : p == AT_LEAST ? '+' : '*');
}

static int read_count(struct counter *counter, struct pmc_owner *owner)
{
	struct pmc_reading r;

	if (pmcs_read(owner, counter, &r))
		return -1;
	counter->shown = r;
	if (!counter->cumulative) {
		counter->shown.value -= counter->last.value;
		counter->shown.enabled -= counter->last.enabled;
		counter->shown.running -= counter->last.running;
	}
	counter->last = r;
	return 0;
}

int counts_print(struct counts *c, struct pmc_owner *owner)
{
	int indent = (int)strlen(PREFIX);
	size_t i;

	for (i = 0; i < c->n; i++)
		if (PMC_IS_COUNTING_MODE(c->counters[i].mode) &&
		    read_count(&c->counters[i], owner))
			return -1;
	if (c->lines++ % HEADER_EVERY == 0)
		print_header(c);
	for (i = 0; i < c->n; i++) {
		if (!PMC_IS_COUNTING_MODE(c->counters[i].mode))
			continue;
		print_value(c, &c->counters[i], false,
			    column_width(&c->counters[i]) + indent);
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
	print_value(c, counter, true, MIN_WIDTH + 5);
	fprintf(c->out, "%s\n", name);
}

static void print_note(const struct counts *c, const struct counter *counter)
{
	const struct pmc_reading *r = &counter->last;
	char name[PMC_NAME_MAX + 16];
	uint64_t value;

	column_name(counter, name, sizeof(name));
	switch (estimate(c, counter, true, &value)) {
	case ESTIMATED:
		fprintf(c->out, "# * %s is estimated: it was counted %.1f%% of "
			"the time\n", name,
			100.0 * (double)r->running / (double)r->enabled);
		break;
	case NOT_COUNTED:
		fprintf(c->out, "# %s was never counted: %stoo few counters\n", name,
			counter_is_of_some(counter) ?
			"other CPUs do not have it, or " : "");
		break;
	case AT_LEAST:
		fprintf(c->out, "# + %s was counted %.1f%% of the time, and is not "
			"scaled: other CPUs do not have it, or too few counters\n",
			name, 100.0 * (double)r->running / (double)r->enabled);
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
