// SPDX-License-Identifier: BSD-2-Clause
/* The head of a report: quality and losses of the recording. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/quality.h"
#include "analysis/shown.h"
#include "base/numbers.h"
#include "commands/report/report.h"

static void line(struct report *r, const char *what)
{
	out_printf(r->out, "%-16s", what);
}

static void clean(struct report *r, const char *s)
{
	char buf[SHOWN_MAX];

	out_str(r->out, shown_name(buf, s, false));
}

static void host_line(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;

	line(r, "Recorded on");
	if (log->release) {
		clean(r, log->host);
		out_str(r->out, ", Linux ");
		clean(r, log->release);
		out_printf(r->out, ", %u %s", log->ncpu,
			   plural(log->ncpu, "CPU", "CPUs"));
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
	time_t t = log->ts_sec;
	char buf[64];
	struct tm tm;

	line(r, "When");
	if (log->ts_sec && gmtime_r(&t, &tm) &&
	    strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S UTC, ", &tm))
		out_str(r->out, buf);
	if (log->freq)
		out_printf(r->out, "%.3f s\n", log_seconds(log, log->end));
	else
		out_str(r->out, "for how long nobody knows: the log does not "
			"tell the rate of its clock\n");
}

static void log_line(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;
	char buf[GROUPED_MAX], *no_end = no_end_text(log);

	line(r, "Log");
	clean(r, r->a.path);
	out_printf(r->out, ", %s %s", grouped(buf, log->records),
		   plural(log->records, "record", "records"));
	if (log->error)
		out_printf(r->out, ", %s%s", log->cut ? "CUT: " : "",
			   log->error);
	if (no_end)
		out_printf(r->out, ", NOT CLOSED: %s", no_end);
	free(no_end);
	out_char(r->out, '\n');
}

/* A line of its own for @text, if there is any; frees it. */
static void text_line(struct report *r, const char *what, char *text)
{
	if (text)
		out_printf(r->out, "%-16s%s\n", what, text);
	free(text);
}

static void repaired_line(struct report *r)
{
	uint64_t n = r->a.p.log.wrong_times;
	char buf[GROUPED_MAX];

	if (!n)
		return;
	line(r, "Repaired");
	out_printf(r->out, "%s %s with a damaged time: that of the record "
		   "beside it is taken\n", grouped(buf, n),
		   plural(n, "record", "records"));
}

static void part_line(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;
	char buf[GROUPED_MAX];

	if (!log->conditions)
		return;
	line(r, "Part of");
	out_printf(r->out, "a log with %s %s%s", grouped(buf, log->part_of),
		   plural(log->part_of, "sample", "samples"), *log->conditions ? ": " : "");
	clean(r, log->conditions);
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

/* If samples do not say how chains end, a part of a log has the whole's account. */
static void put_cuts(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;
	const struct pmclog_account *a = &log->account;
	bool whole = log->part_of && !ends_are_told(&r->a.p.ends);
	char buf[GROUPED_MAX], *causes = account_cuts(a, false);

	out_printf(r->out, "%s call %s early (%.1f %%)%s%s\n",
		   grouped(buf, a->cut),
		   plural(a->cut, "chain ends", "chains end"),
		   percent(a->cut, whole ? log->part_of : a->committed),
		   whole ? " in all of that log" : "", causes);
	free(causes);
}

static void cut_line(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;

	line(r, "Cut chains");
	if (log->has_account && log->account.cut)
		put_cuts(r);
	else if (log->has_account)
		out_str(r->out, "none\n");
	else
		out_str(r->out, log->closed ? "not told by this log\n" :
			"not known: the log has no end\n");
}

/* Losses that cannot be assigned to an event. */
static void account_lines(struct report *r)
{
	const struct log_facts *log = &r->a.p.log;
	uint64_t unwritten = log->account.discarded + log->account.in_rings;
	char buf[GROUPED_MAX];

	text_line(r, "Lost", procs_lost_text(&r->a.p));
	if (!log->has_account)
		return;
	if (unwritten) {
		line(r, "Not written");
		out_printf(r->out, "%s %s when the log ended\n",
			   grouped(buf, unwritten),
			   plural(unwritten, "sample", "samples"));
	}
	if (log->account.filtered) {
		line(r, "Filtered");
		out_printf(r->out, "%s %s left out: the recorder's own, or "
			   "by filters, or while the recorder had switched all events off\n",
			   grouped(buf, log->account.filtered),
			   plural(log->account.filtered, "sample", "samples"));
	}
}

/* Late chains: how many the log promised, and how many it has. */
static void late_line(struct report *r)
{
	const struct late *late = &r->a.p.late;
	char asked[GROUPED_MAX], missing[GROUPED_MAX];

	if (!late->asked)
		return;
	line(r, "Late chains");
	out_printf(r->out, "%s %s of stacks that were not in memory",
		   grouped(asked, late->asked),
		   plural(late->asked, "sample", "samples"));
	if (late->answered < late->asked)
		out_printf(r->out, "; %s of them %s not completed later",
			   grouped(missing, late->asked - late->answered),
			   plural(late->asked - late->answered, "was", "were"));
	out_char(r->out, '\n');
}

void report_log(struct report *r)
{
	host_line(r);
	time_line(r);
	log_line(r);
	text_line(r, "Unknown", unknown_text(&r->a.p.log));
	text_line(r, "Repeated", repeated_text(&r->a.p.log));
	repaired_line(r);
	part_line(r);
	kernel_line(r);
	account_lines(r);
	cut_line(r);
	late_line(r);
}

static void samples_line(struct report *r, const struct event *e)
{
	char buf[GROUPED_MAX], all[GROUPED_MAX];

	line(r, "  Samples");
	out_str(r->out, grouped(buf, e->samples));
	if (e->samples)
		out_printf(r->out, ": %.1f %% user, %.1f %% kernel, over "
			   "%.3f s",
			   percent(e->samples - e->kernel, e->samples),
			   percent(e->kernel, e->samples),
			   (double)(e->last - e->first) /
			   (double)log_freq(&r->a.p.log));
	if (e->left_out)
		out_printf(r->out, " (of %s; the others were not asked for)",
			   grouped(all, e->samples + e->left_out));
	out_char(r->out, '\n');
}

/* What the samples of an event stand for, if it is sampled at a rate. */
static void weight_line(struct report *r, const struct event *e)
{
	char buf[GROUPED_MAX];

	if (!event_is_freq(e) || !e->samples)
		return;
	line(r, "  Events");
	out_printf(r->out, "%s: %.1f %% user, %.1f %% kernel",
		   grouped(buf, e->weight),
		   percent(e->weight - e->kernel_weight, e->weight),
		   percent(e->kernel_weight, e->weight));
	if (e->guessed)
		out_printf(r->out, "; %s %s no period in the log: that of "
			   "another CPU is taken, or 1", grouped(buf, e->guessed),
			   plural(e->guessed, "sample has", "samples have"));
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
		out_printf(r->out, ", throttled %s %s",
			   grouped(c, sum.throttled),
			   plural(sum.throttled, "time", "times"));
	if (sum.running < sum.enabled)
		out_printf(r->out, ", on the counter %.1f %% of the time",
			   percent(sum.running, sum.enabled));
	if (event_rate_is_more(&r->a.p, event, &sum))
		out_str(r->out, "; since the PMC began: this log has a part of "
			"that");
	out_char(r->out, '\n');
}

static void lost_line(struct report *r, const struct event *e)
{
	struct losses l = { .all = 0 };

	losses_add(&l, e);
	text_line(r, "  Lost", l.all ? losses_text(&l, "") :
		  xstrdup(e->untold ? "not told by this log" : "none"));
}

static void unresolved_line(struct report *r, uint32_t event)
{
	const struct profile *p = &r->a.p;
	struct nameless n = event_nameless(p, event);

	line(r, "  Without name");
	out_printf(r->out, "%.1f %% of samples, %.1f %% of frames\n",
		   percent(n.samples, p->events.event[event].samples),
		   percent(n.frames, n.all));
}

/* How user chains of the event's samples end. */
static void ends_lines(struct report *r, uint32_t event)
{
	const struct profile *p = &r->a.p;
	struct ends_sum sum = ends_of_event(&p->ends, event);
	char *text;

	if (!sum.all)
		return;
	line(r, "  User chains");
	text = ends_text(&sum, false);
	out_printf(r->out, "%s\n", text);
	free(text);
	line(r, "  Unwound");
	text = event_callers(p, event, &sum);
	out_printf(r->out, "%s\n", text);
	free(text);
}

static void ends_row(struct report *r, const struct ends_comm *c)
{
	uint64_t told = c->sum.all - c->sum.untold;
	char buf[GROUPED_MAX], *causes = ends_causes(&c->sum, false);

	out_printf(r->out, "%7.1f %% %8.1f %% %11s  ",
		   percent(c->sum.whole, told), percent(c->sum.tables, told),
		   grouped(buf, c->sum.all));
	clean(r, strtab_str(&r->a.p.str, c->comm));
	out_printf(r->out, "%s%s\n", *causes ? ": " : "", causes);
	free(causes);
}

/* Commands with worse chains than the others. */
static void ends_table(struct report *r, uint32_t event)
{
	struct ends_comm worst[ENDS_COMMS];
	uint32_t n, i;

	n = ends_worst(&r->a.p.ends, event, worst);
	for (i = 0; i < n; i++) {
		if (!i)
			out_str(r->out, "\nUser chains worse than the event's\n"
				"    whole  by tables     samples  command\n");
		ends_row(r, &worst[i]);
	}
}

/* How often samples were to be taken. */
static void put_period(struct report *r, const struct event *e)
{
	char buf[GROUPED_MAX], most[GROUPED_MAX];

	if (!e->rate)
		return;
	if (!event_is_freq(e)) {
		out_printf(r->out, ", one sample every %s%s",
			   grouped(buf, e->rate), event_is_clock(e) ? " ns" : "");
		return;
	}
	out_str(r->out, ", ");
	if (e->rate_least < e->rate)
		out_printf(r->out, "%s to ", grouped(buf, e->rate_least));
	out_printf(r->out, "%s %s a second", grouped(buf, e->rate),
		   plural(e->rate, "sample", "samples"));
	if (e->samples)
		out_printf(r->out, ", periods %s to %s",
			   grouped(buf, e->least), grouped(most, e->most));
}

void report_event(struct report *r, uint32_t event)
{
	const struct event *e = &r->a.p.events.event[event];

	out_str(r->out, "\nEvent ");
	clean(r, strtab_str(&r->a.p.str, e->name));
	put_period(r, e);
	out_char(r->out, '\n');
	samples_line(r, e);
	weight_line(r, e);
	rate_line(r, event);
	lost_line(r, e);
	if (!e->samples)
		return;
	ends_lines(r, event);
	unresolved_line(r, event);
	ends_table(r, event);
}

/* Samples without function names, with the reason. */
void report_nameless(struct report *r)
{
	struct profile *p = &r->a.p;
	uint64_t all = analysis_samples(&r->a), rest = 0;
	uint32_t n, i, hidden = 0, *order = nameless_objects(p, &n);

	for (i = 0; i < n; i++) {
		const struct object *o = &p->objs.obj[order[i]];
		double part = percent(o->lost, all);

		/* that there are a few is told as the share of samples */
		if (!o->lost || (!i && part < r->limit))
			break;
		if (!i)
			out_str(r->out, "\nSamples without a name\n");
		if (part < r->limit) {
			rest += o->lost;
			hidden++;
			continue;
		}
		out_printf(r->out, "%7.2f %%  ", part);
		clean(r, strtab_str(&p->str, o->path));
		out_printf(r->out, ": %s\n", nameless_why(&r->a, o));
	}
	if (hidden)
		out_printf(r->out, "%7.2f %%  in %u more %s\n",
			   percent(rest, all), hidden,
			   plural(hidden, "file", "files"));
	free(order);
}
