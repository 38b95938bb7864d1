// SPDX-License-Identifier: BSD-2-Clause
/*
 * The data of a page, as JSON; html/data.js reads it.
 *
 * It is inside a script element, so its strings have no '<'.  No other character
 * is special to an HTML parser there.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/quality.h"
#include "analysis/resolve.h"
#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/order.h"
#include "commands/html/html.h"
#include "log/causes.h"

#define NAMELESS_MAX	20U
#define FUNCS_MAX	5000U	/* besides those in the paths */

/* colours distinguish these; html/flame.js has the same */
enum kind { KIND_USER, KIND_KERNEL, KIND_MODULE, KIND_NAMELESS };

/* Writes a string that JSON parsers decode to the original text. */
static void put_str(struct out *o, const char *s)
{
	char buf[SHOWN_MAX];
	const char *p;

	out_char(o, '"');
	for (p = shown_name(buf, s, false); *p; p++) {
		if (strchr("\"\\<>&'`", *p))
			out_printf(o, "\\u%04x", *p);
		else
			out_char(o, *p);
	}
	out_char(o, '"');
}

static void key(struct out *o, const char *k)
{
	out_printf(o, "\"%s\":", k);
}

static void member_str(struct out *o, const char *k, const char *s)
{
	key(o, k);
	if (s)
		put_str(o, s);
	else
		out_str(o, "null");
	out_char(o, ',');
}

static void member(struct out *o, const char *k, uint64_t v)
{
	key(o, k);
	out_u64(o, v);
	out_char(o, ',');
}

static void member_bool(struct out *o, const char *k, bool v)
{
	key(o, k);
	out_str(o, v ? "true," : "false,");
}

static void put_real(struct out *o, double v)
{
	if (!isfinite(v))
		v = 0;
	out_printf(o, "%.12g", v);
}

static void member_real(struct out *o, const char *k, double v)
{
	key(o, k);
	put_real(o, v);
	out_char(o, ',');
}

/* Begins array @k; the caller writes item() before each element. */
static void array(struct out *o, const char *k, bool *more)
{
	key(o, k);
	out_char(o, '[');
	*more = false;
}

static void item(struct out *o, bool *more)
{
	if (*more)
		out_char(o, ',');
	*more = true;
}

static void array_end(struct out *o)
{
	out_str(o, "],\n");
}

/* Writes -1 for a merged id. */
static void put_id(struct out *o, bool *more, uint32_t id)
{
	item(o, more);
	if (id == HTML_NONE)
		out_str(o, "-1");
	else
		out_u64(o, id);
}

static void put_causes(struct out *o, const char *k, const uint64_t *count,
		       const char *const *causes, int n)
{
	bool more;
	int i;

	array(o, k, &more);
	for (i = 0; i < n; i++) {
		if (!count[i])
			continue;
		item(o, &more);
		out_char(o, '[');
		put_str(o, causes[i] ? causes[i] : "another cause");
		out_char(o, ',');
		out_u64(o, count[i]);
		out_char(o, ']');
	}
	array_end(o);
}

static void put_text(struct out *o, const char *k, char *text)
{
	member_str(o, k, text);
	free(text);
}

static void put_log(struct html *h)
{
	const struct log_facts *log = &h->a.p.log;
	const struct ksyms *k = &h->a.k;
	struct out *o = h->out;

	out_str(o, "\"log\":{");
	member_str(o, "title", h->a.title);
	member_str(o, "name", strcmp(h->a.path, "-") ? h->a.path : NULL);
	member_str(o, "host", log->release ? log->host : NULL);
	member_str(o, "release", log->release);
	member_str(o, "cpu", log->cpuid[0] ? log->cpuid : NULL);
	member(o, "cpus", log->ncpu);
	key(o, "start");
	out_s64(o, log->ts_sec);
	out_char(o, ',');
	member_real(o, "seconds", log_seconds(log, log->end));
	member(o, "records", log->records);
	member_bool(o, "closed", log->closed && !log->unclosed);
	put_text(o, "noEnd", no_end_text(log));
	put_text(o, "unknown", unknown_text(log));
	put_text(o, "repeated", repeated_text(log));
	member_str(o, "damage", log->error);
	member(o, "wrongTimes", log->wrong_times);
	member_str(o, "kernelNames", k->source);
	member_str(o, "noKernelNames", k->source ? NULL : k->why);
	member_bool(o, "kernelUnchecked", k->source && !log->ref_symbol);
	out_str(o, "\"end\":0},\n");
}

static void put_loss(struct html *h)
{
	const struct profile *p = &h->a.p;
	const struct pmclog_account *a = &p->log.account;
	bool known = p->log.has_account;
	uint64_t cut[PMCLOG_CUT_NCAUSE];
	struct out *o = h->out;
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		cut[i] = known ? a->cut_by[i] : 0;
	out_str(o, "\"loss\":{");
	member(o, "processRecords", p->events.lost_procs);
	put_causes(o, "processRecordsBy", p->events.lost_procs_by, drop_texts,
		   PMCLOG_DROP_NCAUSE);
	member(o, "notWritten", known ? a->discarded + a->in_rings : 0);
	member(o, "filtered", known ? a->filtered : 0);
	member(o, "cut", known ? a->cut : 0);
	member(o, "committed", known ? a->committed : 0);
	put_causes(o, "cutBy", cut, cut_texts, PMCLOG_CUT_NCAUSE);
	member(o, "late", p->late.asked);
	member(o, "answered", p->late.answered);
	out_str(o, "\"end\":0},\n");
}

/* Commands with the worst chains: name, samples, unknown, whole, by tables. */
static void put_worst(struct html *h, uint32_t event)
{
	struct ends_comm worst[ENDS_COMMS];
	uint32_t n = ends_worst(&h->a.p.ends, event, worst), i;
	struct out *o = h->out;
	bool more;
	char *why;

	array(o, "commands", &more);
	for (i = 0; i < n; i++) {
		const struct ends_sum *s = &worst[i].sum;

		item(o, &more);
		out_char(o, '[');
		put_str(o, strtab_str(&h->a.p.str, worst[i].comm));
		out_printf(o, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			   ",", s->all, s->untold, s->whole, s->tables);
		why = ends_causes(s, false);
		put_str(o, why);
		free(why);
		out_char(o, ']');
	}
	array_end(o);
}

/* How the user chains of an event end. */
static void put_ends(struct html *h, uint32_t event)
{
	const struct profile *p = &h->a.p;
	struct ends_sum s = ends_of_event(&p->ends, event);
	struct out *o = h->out;

	out_str(o, "\"chains\":{");
	member(o, "samples", s.all);
	member(o, "untold", s.untold);
	if (s.all) {
		member(o, "whole", s.whole);
		member(o, "tables", s.tables);
		member(o, "cut", s.cut);
		put_causes(o, "cutBy", s.by, cut_texts, PMCLOG_CUT_NCAUSE);
		put_text(o, "text", ends_text(&s, false));
		put_text(o, "why", ends_causes(&s, false));
		put_text(o, "unwound", event_callers(p, event, &s));
		member_bool(o, "missing", event_misses(p, event, &s));
		put_worst(h, event);
	}
	out_str(o, "\"end\":0},\n");
}

/* Of an event that is sampled at a rate. */
static void put_weight(struct out *o, const struct event *e)
{
	member(o, "perSecond", e->rate);
	member(o, "perSecondLeast", e->rate_least);
	member(o, "least", e->least);
	member(o, "most", e->most);
	member(o, "events", e->weight);
	member(o, "kernelEvents", e->kernel_weight);
	member(o, "guessed", e->guessed);
}

static void put_event(struct html *h, uint32_t event)
{
	struct profile *p = &h->a.p;
	const struct event *e = &p->events.event[event];
	struct nameless n = event_nameless(p, event);
	struct event_rate rate = { 0 };
	struct out *o = h->out;

	events_sum_rate(&p->events, event, &rate);
	out_char(o, '{');
	member_str(o, "name", strtab_str(&p->str, e->name));
	if (event_is_freq(e))
		put_weight(o, e);
	else
		member(o, "every", e->rate);
	member_bool(o, "clock", event_is_clock(e));
	member(o, "samples", e->samples);
	member(o, "leftOut", e->left_out);
	member(o, "kernel", e->kernel);
	put_causes(o, "lost", e->lost, drop_texts, PMCLOG_DROP_NCAUSE);
	member(o, "asked", rate.expected);
	member(o, "achieved", rate.achieved);
	member_bool(o, "rateIsMore", event_rate_is_more(p, event, &rate));
	member(o, "throttled", rate.throttled);
	member(o, "enabled", rate.enabled);
	member(o, "running", rate.running);
	member(o, "nameless", n.samples);
	member(o, "namelessFrames", n.frames);
	member(o, "frames", n.all);
	put_ends(h, event);
	out_str(o, "\"end\":0}");
}

/* By event: its number in the page, or HTML_NONE.  The caller frees it. */
static uint32_t *put_events(struct html *h)
{
	uint32_t n = h->a.p.events.n, i, next = 0;
	uint32_t *number = xcalloc((size_t)n + 1, sizeof(*number));
	bool more;

	array(h->out, "events", &more);
	for (i = 0; i < n; i++) {
		number[i] = h->a.use[i] ? next++ : HTML_NONE;
		if (!h->a.use[i])
			continue;
		item(h->out, &more);
		put_event(h, i);
	}
	array_end(h->out);
	return number;
}

static void put_nameless_row(struct html *h, bool *more, const char *path,
			     const char *why, uint64_t lost)
{
	item(h->out, more);
	out_char(h->out, '[');
	put_str(h->out, path);
	out_char(h->out, ',');
	put_str(h->out, why);
	out_char(h->out, ',');
	out_u64(h->out, lost);
	out_char(h->out, ']');
}

static void put_nameless(struct html *h)
{
	struct profile *p = &h->a.p;
	uint32_t n, i, *order = nameless_objects(p, &n), hidden = 0;
	uint64_t rest = 0;
	char text[64];
	bool more;

	array(h->out, "nameless", &more);
	for (i = 0; i < n; i++) {
		const struct object *o = &p->objs.obj[order[i]];

		if (!o->lost)
			break;
		if (i >= NAMELESS_MAX) {
			rest += o->lost;
			hidden++;
			continue;
		}
		put_nameless_row(h, &more, strtab_str(&p->str, o->path),
				 nameless_why(&h->a, o), o->lost);
	}
	snprintf(text, sizeof(text), "%u more %s", hidden,
		 plural(hidden, "file", "files"));
	if (hidden)
		put_nameless_row(h, &more, text, "", rest);
	array_end(h->out);
	free(order);
}

/* Numbers in the page for strings of the log. */
struct names {
	uint32_t *number;	/* by string, + 1 */
	uint32_t *string, n, cap;
};

static uint32_t name_of(struct names *t, const struct profile *p, uint32_t id)
{
	static const size_t size = sizeof(*t->number);

	if (!t->number)
		t->number = xcalloc(p->str.n, size);
	if (!t->number[id]) {
		GROW(t->string, t->n, t->cap);
		t->string[t->n] = id;
		t->number[id] = ++t->n;
	}
	return t->number[id] - 1;
}

static void put_names(struct html *h, struct names *t, const char *k)
{
	bool more;
	uint32_t i;

	array(h->out, k, &more);
	for (i = 0; i < t->n; i++) {
		item(h->out, &more);
		put_str(h->out, strtab_str(&h->a.p.str, t->string[i]));
	}
	array_end(h->out);
	free(t->number);
	free(t->string);
}

static enum kind kind_of(const struct profile *p, uint32_t func)
{
	switch (func_kind(p, func)) {
	case OBJ_KERNEL:
		return KIND_KERNEL;
	case OBJ_MODULE:
		return KIND_MODULE;
	default:
		return func_named(&p->funcs.func[func]) ? KIND_USER :
							  KIND_NAMELESS;
	}
}

/* String number of the name of a function's object. */
static uint32_t object_of(struct profile *p, uint32_t func)
{
	const struct func *f = &p->funcs.func[func];
	uint32_t brief = p->objs.obj[f->obj].brief, id = brief;
	char *text;

	if (f->inlined) {
		text = xasprintf("%s, inlined", strtab_str(&p->str, brief));
		id = strtab_id(&p->str, text);
		free(text);
	}
	return id;
}

DEFINE_ID_ORDER(by_part, double, ORDER(*b, *a))

/* Marks the functions on most stacks, as fractions of their events' weights. */
static void mark_functions(struct html *h, uint32_t *mark)
{
	const struct profile *p = &h->a.p;
	double *part = xcalloc((size_t)p->funcs.n + 1, sizeof(*part));
	uint32_t *order = xreallocarray(NULL, (size_t)p->funcs.n + 1,
					sizeof(*order)), i, n = 0;

	for (i = 0; i < h->total.n; i++) {
		const struct cell *c = &h->total.cell[i];

		if (!part[c->what])
			order[n++] = c->what;
		part[c->what] += (double)c->count / (double)
				 event_weight(&p->events.event[c->series]);
	}
	qsort_r(order, n, sizeof(*order), by_part, part);
	for (i = 0; i < n && i < FUNCS_MAX; i++)
		mark[order[i]] = 1;
	free(order);
	free(part);
}

/*
 * Writes name, object and kind of each function in the page.  Returns, by
 * function, its number there + 1, or 0; the caller frees it.
 */
static uint32_t *put_funcs(struct html *h)
{
	struct profile *p = &h->a.p;
	const struct choice *t = &h->most;
	uint32_t *number = xcalloc((size_t)p->funcs.n + 1, sizeof(*number));
	struct names names = { 0 }, objects = { 0 };
	uint32_t f, i, n = 0;
	bool more;

	mark_functions(h, number);
	for (i = 1; i < t->n; i++)
		if (t->func[i] != HTML_NONE)
			number[t->func[i]] = 1;
	/* first create all strings: names.number has one element per string */
	for (f = 0; f < p->funcs.n; f++) {
		if (!number[f])
			continue;
		func_shown(p, f, h->a.demangle);
		object_of(p, f);
	}
	array(h->out, "funcs", &more);
	for (f = 0; f < p->funcs.n; f++) {
		if (!number[f])
			continue;
		number[f] = ++n;
		put_id(h->out, &more, name_of(&names, p,
				func_shown(p, f, h->a.demangle)));
		put_id(h->out, &more, name_of(&objects, p, object_of(p, f)));
		put_id(h->out, &more, kind_of(p, f));
	}
	array_end(h->out);
	put_names(h, &names, "names");
	put_names(h, &objects, "objects");
	return number;
}

/* Writes for each node but the root: distance to its parent, function. */
static void put_nodes(struct html *h, const uint32_t *number)
{
	const struct choice *t = &h->most;
	uint32_t i;
	bool more;

	array(h->out, "nodes", &more);
	for (i = 1; i < t->n; i++) {
		uint32_t f = t->func[i];

		put_id(h->out, &more, i - t->parent[i]);
		put_id(h->out, &more, f == HTML_NONE ? f : number[f] - 1);
	}
	array_end(h->out);
	member(h->out, "leftOut", t->left_out);
	member_real(h->out, "limit", t->limit);
	member(h->out, "partLeftOut", h->some.left_out);
	member_real(h->out, "partLimit", h->some.limit);
}

/* Writes event, function and count. */
static void put_functions(struct html *h, const char *k, const struct cells *t,
			  const uint32_t *event, const uint32_t *number)
{
	bool more;
	uint32_t i;

	array(h->out, k, &more);
	for (i = 0; i < t->n; i++) {
		const struct cell *c = &t->cell[i];

		if (!number[c->what])
			continue;
		put_id(h->out, &more, event[c->series]);
		put_id(h->out, &more, number[c->what] - 1);
		item(h->out, &more);
		out_u64(h->out, c->count);
	}
	array_end(h->out);
}

/* Writes for each series: event, command, pid, tid (-2: several), first, last. */
static void put_series(struct html *h, const uint32_t *event)
{
	const struct series_tab *t = &h->named;
	struct names comms = { 0 };
	bool more;
	uint32_t i;

	array(h->out, "series", &more);
	for (i = 0; i < t->n; i++) {
		const struct series *s = &t->series[i];

		put_id(h->out, &more, event[s->event]);
		put_id(h->out, &more, s->comm == HTML_NONE ? HTML_NONE :
		       name_of(&comms, &h->a.p, s->comm));
		if (s->merged) {
			out_str(h->out, ",-2,-2");
		} else {
			put_id(h->out, &more, s->pid);
			put_id(h->out, &more, s->tid);
		}
		item(h->out, &more);
		put_real(h->out, s->first);
		item(h->out, &more);
		put_real(h->out, s->last);
	}
	array_end(h->out);
	put_names(h, &comms, "comms");
}

/*
 * Writes runs of cells of the same slice and series.  A run: slice (as
 * difference to the previous run's), series, length; for each cell: node (as
 * difference to the previous one), count.
 */
static void put_cells(struct html *h, const char *k, const struct cells *t)
{
	uint32_t i, j, slice = 0, what;
	bool more;

	array(h->out, k, &more);
	for (i = 0; i < t->n; i = j) {
		const struct cell *c = &t->cell[i];

		for (j = i; j < t->n && t->cell[j].slice == c->slice &&
			    t->cell[j].series == c->series; j++)
			;
		put_id(h->out, &more, c->slice - slice);
		put_id(h->out, &more, c->series);
		put_id(h->out, &more, j - i);
		slice = c->slice;
		for (what = 0; c < &t->cell[j]; c++) {
			put_id(h->out, &more, c->what - what);
			item(h->out, &more);
			out_u64(h->out, c->count);
			what = c->what;
		}
	}
	array_end(h->out);
}

void html_data(struct html *h)
{
	struct out *o = h->out;
	uint32_t *event, *number;

	out_str(o, "{\n");
	put_log(h);
	put_loss(h);
	event = put_events(h);
	member(o, "eventsLeftOut", h->events_left_out);
	put_nameless(h);
	number = put_funcs(h);
	put_nodes(h, number);
	put_functions(h, "self", &h->self, event, number);
	put_functions(h, "total", &h->total, event, number);
	free(number);
	put_series(h, event);
	free(event);
	member_real(o, "heatSlice", ldexp(1 / HTML_UNITS, (int)h->map.shift));
	member_real(o, "cellSlice", ldexp(1 / HTML_UNITS, (int)h->cells.shift));
	put_cells(h, "heat", &h->map);
	put_cells(h, "cells", &h->cells);
	put_cells(h, "whole", &h->whole);
	out_str(o, "\"version\":1}\n");
}
