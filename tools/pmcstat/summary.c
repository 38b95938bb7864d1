/* SPDX-License-Identifier: BSD-2-Clause */
/* What came of it, in one line; and what to distrust. */
#include <string.h>

#include "pmcstat.h"

static const char *const causes[PMCLOG_DROP_NCAUSE] = {
	[PMCLOG_DROP_FULL]	= "ring full",
	[PMCLOG_DROP_NESTED]	= "nested too deep",
	[PMCLOG_DROP_CONTENDED]	= "interrupted too often",
	[PMCLOG_DROP_NORING]	= "no ring",
};

static void add_cause(char *buf, size_t len, unsigned long long n,
		      const char *cause)
{
	size_t used = strlen(buf);

	if (n)
		snprintf(buf + used, len - used, "%s%llu %s",
			 used ? ", " : " (", n, cause);
}

void summary_print(const struct options *o,
		   const struct hwpmc_driverstats *stats)
{
	const struct pmclog_account *a = &stats->account;
	unsigned long long lost = a->discarded + a->in_rings;
	char why[256] = "";
	int i;

	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		lost += a->dropped[i];
		add_cause(why, sizeof(why), a->dropped[i], causes[i]);
	}
	add_cause(why, sizeof(why), a->discarded + a->in_rings, "not written");
	warn_line("%llu samples, %llu lost%s%s, %llu bytes", a->written, lost,
		  why, why[0] ? ")" : "", stats->bytes_written);
	if (a->dropped[PMCLOG_DROP_FULL])
		warn_line("samples were lost for want of room: load the module "
			  "with a larger ringsize, or raise -n");
	if (a->proc_dropped)
		warn_line("%llu records of processes were lost",
			  a->proc_dropped);
	if (a->throttled)
		warn_line("the kernel throttled sampling %llu times: "
			  "raise -n, or kernel.perf_event_max_sample_rate",
			  a->throttled);
	if (o->verbose)
		warn_line("%llu user call chains cut, %llu overflows filtered, "
			  "%llu other records", a->cut, a->filtered,
			  stats->records_written - a->written);
}

void summary_multiplexed(const struct counter *c, struct pmc_owner *owner)
{
	struct pmc_reading r;

	if (pmc_owner_read(owner, c->id, PMC_CPU_ALL, &r) || !r.enabled ||
	    r.running >= r.enabled - r.enabled / 1000)
		return;
	warn_line("%s was on the hardware %.1f%% of the time only: too few "
		  "counters", c->event.name,
		  100.0 * (double)r.running / (double)r.enabled);
}
