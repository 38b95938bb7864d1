/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the result of a run in one line, and warnings. */
#include <string.h>

#include "reader/base/numbers.h"
#include "reader/log/causes.h"
#include "pmcstat.h"

static void add_cause(char *buf, size_t len, unsigned long long n,
		      const char *cause)
{
	size_t used = strlen(buf);

	if (n)
		snprintf(buf + used, len - used, "%s%llu %s",
			 used ? ", " : " (", n, cause);
}

/* More frames help only where most of the chains were too deep. */
static const char *cut_advice(const struct options *o,
			      const struct pmclog_account *a)
{
	if (a->cut_by[PMCLOG_CUT_DEPTH] < a->cut / 2 + 1)
		return "";
	return o->by_bpf ? ": --bpf has 127 frames of each part" :
	       ": the module's callchaindepth can be raised";
}

/* A chain can be cut at both of its ends. */
static void print_cut(const struct options *o, const struct pmclog_account *a)
{
	char why[256] = "";
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		add_cause(why, sizeof(why), a->cut_by[i], cut_texts[i]);
	warn_line("%llu call %s cut%s%s%s", a->cut,
		  plural(a->cut, "chain is", "chains are"), why,
		  why[0] ? ")" : "", cut_advice(o, a));
}

/* What takes fewer samples: of PMCs that have a rate, of others, of both */
static const char *way_to_fewer(const struct options *o)
{
	size_t i, rates = 0, sampling = 0;

	for (i = 0; i < o->ncounters; i++) {
		sampling += PMC_IS_SAMPLING_MODE(o->counters[i].mode);
		rates += !!(o->counters[i].flags & PMC_F_FREQ);
	}
	return !rates ? "raise -n" : rates == sampling ? "lower --freq" :
	       "raise -n and lower --freq";
}

void summary_print(const struct options *o,
		   const struct hwpmc_driverstats *stats, uint64_t compressed,
		   unsigned int files, int lacks)
{
	const struct pmclog_account *a = &stats->account;
	const char *fewer = way_to_fewer(o);
	unsigned long long lost = a->discarded + a->in_rings;
	unsigned long long others = stats->records_written - a->written;
	char why[256] = "", stored[96] = "";
	int i;

	if (compressed)
		snprintf(stored, sizeof(stored), ", compressed to %llu",
			 (unsigned long long)compressed);
	if (files)
		snprintf(stored + strlen(stored), sizeof(stored) -
			 strlen(stored), " in %u %s", files,
			 plural(files, "file", "files"));
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		lost += a->dropped[i];
		add_cause(why, sizeof(why), a->dropped[i], drop_texts[i]);
	}
	add_cause(why, sizeof(why), a->discarded + a->in_rings, "not written");
	if (options_sampling(o))
		warn_line("%llu %s, %s%llu lost%s%s, %llu bytes%s", a->written,
			  plural(a->written, "sample", "samples"),
			  lacks ? "of which the file lacks some, " : "", lost, why,
			  why[0] ? ")" : "", stats->bytes_written, stored);
	else
		warn_line("a log of %llu bytes%s", stats->bytes_written,
			  stored);
	if (a->dropped[PMCLOG_DROP_FULL])
		warn_line("samples were lost for want of room: %s, or %s",
			  o->by_bpf ? "give a larger --ring" :
			  "load the module with a larger ringsize", fewer);
	if (a->proc_dropped)
		warn_line("%llu %s lost", a->proc_dropped,
			  plural(a->proc_dropped, "record of a process was",
				 "records of processes were"));
	if (a->throttled)
		warn_line("the kernel throttled sampling %llu %s: "
			  "%s, or raise kernel.perf_event_max_sample_rate",
			  a->throttled, plural(a->throttled, "time", "times"),
			  fewer);
	if (a->cut && (o->verbose || a->cut >= a->written / 100))
		print_cut(o, a);
	if (o->verbose)
		warn_line("%llu user call %s came late, %llu %s filtered, "
			  "%llu other %s", a->late_answered,
			  plural(a->late_answered, "chain", "chains"),
			  a->filtered,
			  plural(a->filtered, "overflow", "overflows"), others,
			  plural(others, "record", "records"));
}

void summary_budget(const struct options *o, struct pmc_owner *owner)
{
	struct hwpmc_getbudget b = { 0 };

	if (pmc_owner_budget(owner, &b))
		b.elapsed = 0;
	writers_budget(o, &b);
	if (!b.elapsed || !options_tell(o))
		return;
	warn_line("sampling took %.2f%% of the time of CPU %u, the most of any (budget "
		  "%.2f%%); %s%.2f%% of the rates asked for at the end",
		  100.0 * (double)b.spent / (double)b.elapsed, b.cpu,
		  b.ppm / 10000.0, b.scale < 1000000 ? "only " : "",
		  b.scale / 10000.0);
}

/* The time that the same events of the other kinds of cores were on the hardware */
static uint64_t siblings_running(const struct options *o, const struct counter *c,
				 struct pmc_owner *owner)
{
	struct pmc_reading r;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (counter_is_sibling(c, &o->counters[i]) &&
		    !pmcs_read(owner, &o->counters[i], &r))
			sum += r.running;
	return sum;
}

void summary_multiplexed(const struct options *o, const struct counter *c,
			 struct pmc_owner *owner)
{
	struct pmc_reading r;
	char where[32] = "";

	if (!PMC_IS_SAMPLING_MODE(c->mode) ||
	    pmcs_read(owner, c, &r) || !r.enabled ||
	    r.running >= r.enabled - r.enabled / 1000)
		return;
	if (counter_is_of_some(c) &&
	    r.running + siblings_running(o, c, owner) >= r.enabled - r.enabled / 100)
		return;
	if (o->writers)
		snprintf(where, sizeof(where), " in the log .g%u", o->writer);
	warn_line("%s%s was on the hardware %.1f%% of the time only: %stoo few counters",
		  c->event.name, where, 100.0 * (double)r.running / (double)r.enabled,
		  counter_is_of_some(c) ? "other CPUs do not have it, or " : "");
}
