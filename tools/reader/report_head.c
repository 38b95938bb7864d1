// SPDX-License-Identifier: BSD-2-Clause
/* What a report says before its tables: how good the recording is. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <linux/perf_event.h>

#include "report.h"
#include "shown.h"

#define NSEC	1000000000

static void line(struct report *r, const char *what)
{
	out_printf(r->out, "%-16s", what);
}

static void clean(struct report *r, const char *s)
{
	char buf[SHOWN_MAX];

	shown_name(buf, s, false);
	out_str(r->out, buf);
}

static void host_line(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;

	line(r, "Recorded on");
	if (log->release) {
		clean(r, log->host);
		out_str(r->out, ", Linux ");
		clean(r, log->release);
		out_printf(r->out, ", %u CPU%s", log->ncpu,
			   log->ncpu == 1 ? "" : "s");
	} else {
		out_str(r->out, "an unknown machine");
	}
	if (log->cpuid[0]) {
		out_str(r->out, ", ");
		clean(r, log->cpuid);
	}
	out_char(r->out, '\n');
}

static void time_line(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;
	double span = (double)(log->end - log->begin) / NSEC;
	time_t t = log->ts_sec;
	char buf[64];
	struct tm tm;

	line(r, "When");
	if (log->ts_sec && gmtime_r(&t, &tm) &&
	    strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S UTC, ", &tm))
		out_str(r->out, buf);
	out_printf(r->out, "%.3f s\n", span);
}

static void log_line(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;
	char buf[GROUPED_MAX];

	line(r, "Log");
	clean(r, r->a.path);
	out_printf(r->out, ", %s records", grouped(buf, log->records));
	if (log->error)
		out_printf(r->out, ", CUT: %s", log->error);
	else if (!log->closed)
		out_str(r->out, ", NOT CLOSED: what came last is missing");
	out_char(r->out, '\n');
}

static void kernel_line(struct report *r)
{
	const struct ksyms *k = &r->a.k;

	line(r, "Kernel names");
	if (!k->source) {
		out_str(r->out, "none: ");
		clean(r, k->why);
		out_char(r->out, '\n');
		return;
	}
	clean(r, k->source);
	if (k->slide >> 63)
		out_printf(r->out, ", moved by -%#" PRIx64, -k->slide);
	else if (k->slide)
		out_printf(r->out, ", moved by %#" PRIx64, k->slide);
	if (!r->a.p.log.ref_symbol)
		out_str(r->out, ", UNCHECKED: the log does not tell where "
			"the kernel was");
	out_char(r->out, '\n');
}

/* Loss that belongs to no event. */
static void account_lines(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;
	char buf[GROUPED_MAX];

	if (r->a.p.events.lost_procs) {
		line(r, "Lost");
		out_printf(r->out, "%s process records: some names and "
			   "mappings may be missing\n",
			   grouped(buf, r->a.p.events.lost_procs));
	}
	if (!log->has_account)
		return;
	if (log->account.discarded || log->account.in_rings) {
		line(r, "Not written");
		out_printf(r->out, "%s samples when the log ended\n",
			   grouped(buf, log->account.discarded +
				   log->account.in_rings));
	}
	if (log->account.cut) {
		line(r, "Cut chains");
		out_printf(r->out, "%s user call chains end early (%.1f %%)\n",
			   grouped(buf, log->account.cut),
			   percent(log->account.cut, log->account.committed));
	}
}

void report_log(struct report *r)
{
	host_line(r);
	time_line(r);
	log_line(r);
	kernel_line(r);
	account_lines(r);
}

static void samples_line(struct report *r, const struct event *e)
{
	char buf[GROUPED_MAX];

	line(r, "  Samples");
	out_str(r->out, grouped(buf, e->samples));
	if (e->samples)
		out_printf(r->out, ": %.1f %% user, %.1f %% kernel, over "
			   "%.3f s",
			   percent(e->samples - e->kernel, e->samples),
			   percent(e->kernel, e->samples),
			   (double)(e->last - e->first) / NSEC);
	out_char(r->out, '\n');
}

static void rate_line(struct report *r, uint32_t event)
{
	struct event_rate sum;
	char a[GROUPED_MAX], b[GROUPED_MAX], c[GROUPED_MAX];

	if (!events_sum_rate(&r->a.p.events, event, &sum))
		return;
	line(r, "  Rate");
	if (sum.expected)
		out_printf(r->out, "%s asked for, %s achieved (%.1f %%)",
			   grouped(a, sum.expected), grouped(b, sum.achieved),
			   percent(sum.achieved, sum.expected));
	else
		out_printf(r->out, "%s achieved; what was asked for can't be "
			   "told", grouped(b, sum.achieved));
	if (sum.throttled)
		out_printf(r->out, ", throttled %s times",
			   grouped(c, sum.throttled));
	if (sum.running < sum.enabled)
		out_printf(r->out, ", on the counter %.1f %% of the time",
			   percent(sum.running, sum.enabled));
	out_char(r->out, '\n');
}

static void lost_line(struct report *r, const struct event *e)
{
	static const char *const causes[PMCLOG_DROP_NCAUSE] = {
		[PMCLOG_DROP_FULL] = "ring full",
		[PMCLOG_DROP_NESTED] = "nested too deep",
		[PMCLOG_DROP_CONTENDED] = "interrupted too often",
		[PMCLOG_DROP_NORING] = "CPU without a ring",
	};
	uint64_t lost = event_lost(e);
	const char *sep = ": ";
	char buf[GROUPED_MAX];
	int i;

	line(r, "  Lost");
	if (!lost) {
		out_str(r->out, "none\n");
		return;
	}
	out_printf(r->out, "%s (%.2f %%)", grouped(buf, lost),
		   percent(lost, lost + e->samples));
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		if (!e->lost[i])
			continue;
		out_printf(r->out, "%s%s %s", sep, grouped(buf, e->lost[i]),
			   causes[i]);
		sep = ", ";
	}
	out_char(r->out, '\n');
}

static void unresolved_line(struct report *r, uint32_t event)
{
	const struct profile *p = &r->a.p;
	uint64_t samples = 0, frames = 0, all = 0;
	uint32_t i, j;

	for (i = 0; i < p->chains.n; i++) {
		const struct chain *c = &p->chains.chain[i];

		if (c->event != event)
			continue;
		for (j = 0; j < c->n; j++) {
			uint32_t func = p->frames.frame[c->frames[j]].func;

			if (p->funcs.func[func].name)
				continue;
			frames += c->count;
			samples += j ? 0 : c->count;
		}
		all += c->count * c->n;
	}
	line(r, "  Without name");
	out_printf(r->out, "%.1f %% of samples, %.1f %% of frames\n",
		   percent(samples, p->events.event[event].samples),
		   percent(frames, all));
}

/* cpu-clock and task-clock count nanoseconds */
static bool is_clock(const struct event *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK ||
		e->config == PERF_COUNT_SW_TASK_CLOCK);
}

void report_event(struct report *r, uint32_t event)
{
	const struct event *e = &r->a.p.events.event[event];
	char buf[GROUPED_MAX];

	out_str(r->out, "\nEvent ");
	clean(r, strtab_str(&r->a.p.str, e->name));
	if (e->rate)
		out_printf(r->out, ", one sample every %s%s",
			   grouped(buf, e->rate), is_clock(e) ? " ns" : "");
	out_char(r->out, '\n');
	samples_line(r, e);
	rate_line(r, event);
	lost_line(r, e);
	if (e->samples)
		unresolved_line(r, event);
}

static int by_lost(const void *a, const void *b, void *arg)
{
	const struct object *obj = arg;
	uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;

	if (obj[ia].lost != obj[ib].lost)
		return obj[ia].lost > obj[ib].lost ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

/* The objects with a path of their own; the others are added to them. */
static uint32_t *merge_paths(struct profile *p, uint32_t *n)
{
	uint32_t *order = xreallocarray(NULL, p->objs.n, sizeof(*order)), i;
	uint32_t *first = xcalloc((size_t)p->str.n + 1, sizeof(*first));

	*n = 0;
	for (i = 0; i < p->objs.n; i++) {
		struct object *o = &p->objs.obj[i];

		if (first[o->path]) {
			p->objs.obj[first[o->path] - 1].lost += o->lost;
			continue;
		}
		first[o->path] = i + 1;
		order[(*n)++] = i;
	}
	free(first);
	qsort_r(order, *n, sizeof(*order), by_lost, p->objs.obj);
	return order;
}

static const char *why_nameless(const struct report *r,
				const struct object *o)
{
	if (o->why)
		return o->why;
	return obj_is_kernel(o->kind) && !r->a.k.source ?
	       "no kernel symbols" : "outside of all functions";
}

/* Where samples have no names, and why. */
void report_nameless(struct report *r)
{
	struct profile *p = &r->a.p;
	uint64_t all = analysis_samples(&r->a);
	uint32_t n, i, *order = merge_paths(p, &n);

	for (i = 0; i < n; i++) {
		const struct object *o = &p->objs.obj[order[i]];
		double part = percent(o->lost, all);

		if (!o->lost || part < r->limit)
			break;
		if (!i)
			out_str(r->out, "\nSamples without a name\n");
		out_printf(r->out, "%7.2f %%  ", part);
		clean(r, strtab_str(&p->str, o->path));
		out_printf(r->out, ": %s\n", why_nameless(r, o));
	}
	free(order);
}
