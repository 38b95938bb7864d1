/* SPDX-License-Identifier: BSD-2-Clause */
/* What --bpf cannot do. */
#include <linux/perf_event.h>
#include <string.h>

#include "bpf/backend.h"

static const char *log_refusal(const struct options *o)
{
	if (o->flight_size)
		return "--flight: only the module keeps a log in the kernel";
	if (o->log_dir)
		return "logs in a directory, --rotate and --keep: only the module begins another log without a gap";
	if (o->packed)
		return "--packed: only the module packs samples";
	if (o->writers)
		return "--writers: only the module writes several logs at a time";
	if (o->budget_ppm)
		return "--budget: only the module measures what sampling costs";
	if (o->log_path && !options_sampling(o))
		return "-O without -S or -P: its log is one of samples";
	return NULL;
}

static const char *counter_refusal(const struct counter *c)
{
	uint32_t type = c->event.type;

	if (c->flags & (PMC_F_LOG_PROCEXIT | PMC_F_LOG_PROCCSW))
		return "-E and -W: only the module logs the counts of processes";
	if (c->filter.n && !c->filter.implied)
		return "--only and --not: only the module checks conditions";
	if (c->event.flags & PMC_EVENT_PROBE)
		return "probes: only with the module";
	if (c->event.config3)
		return "config3: only with the module";
	if (!PMC_IS_SAMPLING_MODE(c->mode))
		return NULL;
	if (c->flags & (PMC_F_BRANCH | PMC_F_DATA))
		return "--branch and --data: only the module logs what the "
		       "hardware records";
	if (c->event.caps & PMC_CAP_PRECISE)
		return "precise events: only with the module";
	if (c->flags & PMC_F_RAW)
		return "--raw: only the module logs the fields of tracepoints";
	if (type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
		return "samples of tracepoints and breakpoints: only with the module (it counts them, -s and -p)";
	return NULL;
}

int bpf_check(const struct options *o, char *msg, size_t len)
{
	const char *why = log_refusal(o);
	size_t i;

	for (i = 0; i < o->ncounters && !why; i++)
		why = counter_refusal(&o->counters[i]);
	if (why)
		snprintf(msg, len, "--bpf goes without %s", why);
	return why ? -1 : 0;
}
