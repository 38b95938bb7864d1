// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include <linux/hwpmc.h>

#include "analysis/quality.h"
#include "base/numbers.h"
#include "base/order.h"
#include "base/say.h"
#include "log/causes.h"
#include "log/record.h"

/* per cent of whole user chains, below which a note is printed */
#define WHOLE_ENOUGH	98.0

void losses_add(struct losses *l, const struct event *e)
{
	int i;

	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		l->by[i] += e->lost[i];
	l->all += event_lost(e);
	l->kept += e->samples + e->left_out;
}

struct losses losses_of(const struct analysis *a)
{
	struct losses l = { .all = 0 };
	uint32_t i;

	for (i = 0; i < a->p.events.n; i++)
		if (a->use[i])
			losses_add(&l, &a->p.events.event[i]);
	return l;
}

char *losses_text(const struct losses *l, const char *what)
{
	char *causes = causes_text(": ", l->by, drop_texts, PMCLOG_DROP_NCAUSE, false);
	char num[GROUPED_MAX], *text;

	text = xasprintf("%s%s (%.2f %%)%s", grouped(num, l->all), what,
			 percent(l->all, l->all + l->kept), causes);
	free(causes);
	return text;
}

char *procs_lost_text(const struct profile *p)
{
	uint64_t n = p->events.lost_procs;
	char num[GROUPED_MAX], *text, *causes;

	if (!n)
		return NULL;
	causes = causes_text(": ", p->events.lost_procs_by, drop_texts, PMCLOG_DROP_NCAUSE,
			     false);
	text = xasprintf("%s %s lost%s; samples may be of other processes than it says, "
			 "and names and mappings may be missing", grouped(num, n),
			 plural(n, "process record was", "process records were"), causes);
	free(causes);
	return text;
}

char *no_end_text(const struct log_facts *log)
{
	uint32_t n = log->unclosed;

	/* where the reader stopped is told as an error */
	if (log->initialized && !log->closed && !log->cut)
		n++;
	if (!n)
		return NULL;
	if (!log->unclosed)
		return xstrdup("the log has no end: what came last is missing");
	return xasprintf("%u of its logs %s no end: what came last there is "
			 "missing", n, plural(n, "has", "have"));
}

char *unknown_text(const struct log_facts *log)
{
	char num[GROUPED_MAX];

	if (!log->unknown)
		return NULL;
	return xasprintf("%s %s of a kind that this pmclog does not know: what "
			 "%s is missing", grouped(num, log->unknown),
			 plural(log->unknown, "record is", "records are"),
			 plural(log->unknown, "it tells", "they tell"));
}

char *repeated_text(const struct log_facts *log)
{
	char num[GROUPED_MAX];

	if (!log->repeated)
		return NULL;
	return xasprintf("%s %s left out: an earlier log of the directory has %s, too",
			 grouped(num, log->repeated),
			 plural(log->repeated, "sample is", "samples are"),
			 plural(log->repeated, "it", "them"));
}

char *unwritten_text(const struct log_facts *log)
{
	uint64_t n = log->account.discarded + log->account.in_rings;
	char num[GROUPED_MAX];

	if (!log->has_account || !n)
		return NULL;
	return xasprintf("%s %s not written when the log ended",
			 grouped(num, n), plural(n, "sample was", "samples were"));
}

char *short_text(const struct profile *p)
{
	uint64_t n = p->events.lost_procs;
	char num[GROUPED_MAX], *end = no_end_text(&p->log), *text = NULL;
	bool cut = end || p->log.cut;

	free(end);
	if (n)
		text = xasprintf("%s %s lost%s", grouped(num, n),
				 plural(n, "process record",
					"process records"),
				 cut ? "; the log has no end" : "");
	else if (cut)
		text = xstrdup("the log has no end");
	return text;
}

static void tell(const char *path, char *text)
{
	if (text)
		warn_line("%s: %s", path, text);
	free(text);
}

void log_tell(const struct profile *p, const char *path)
{
	tell(path, procs_lost_text(p));
	tell(path, no_end_text(&p->log));
	tell(path, unknown_text(&p->log));
	tell(path, repeated_text(&p->log));
}

void losses_tell(const struct analysis *a)
{
	struct losses l = losses_of(a);
	char *text;

	log_tell(&a->p, a->path);
	if (!l.all)
		return;
	text = losses_text(&l, plural(l.all, " sample was lost",
				      " samples were lost"));
	tell(a->path, text);
}

bool event_rate_is_more(const struct profile *p, uint32_t event,
			const struct event_rate *sum)
{
	const struct event *e = &p->events.event[event];
	const struct pmclog_account *a = &p->log.account;

	/* what is filtered or not written is not told by event */
	return p->log.has_account && !p->log.error &&
	       sum->achieved > e->samples + e->left_out + event_lost(e) +
			       a->filtered + a->discarded + a->in_rings;
}

static bool is_x86(const struct profile *p)
{
	return machine_is_x86(p->log.machine, p->log.cpuid);
}

static bool asked_tables(const struct profile *p, uint32_t event)
{
	return p->events.event[event].flags & HWPMC_F_UNWIND;
}

bool event_misses(const struct profile *p, uint32_t event,
		  const struct ends_sum *sum)
{
	return ends_misses(sum, is_x86(p), asked_tables(p, event));
}

char *event_callers(const struct profile *p, uint32_t event,
		    const struct ends_sum *sum)
{
	return ends_callers(sum, is_x86(p), asked_tables(p, event));
}

/* @misses: callers are missing in at least one event */
static struct ends_sum ends_wanted(const struct profile *p, const bool *use,
				   bool *misses)
{
	struct ends_sum sum = { .all = 0 }, s;
	uint32_t i;

	*misses = false;
	for (i = 0; i < p->events.n; i++) {
		if (!use[i])
			continue;
		s = ends_of_event(&p->ends, i);
		ends_sum_add(&sum, &s);
		*misses |= event_misses(p, i, &s);
	}
	return sum;
}

char *chains_text(const struct profile *p, const bool *use)
{
	bool misses;
	struct ends_sum s = ends_wanted(p, use, &misses);
	uint64_t told = s.all - s.untold;

	if (misses)
		return xstrdup("user callers missing (frame pointers on "
			       "x86)");
	if (!told || percent(s.whole, told) >= WHOLE_ENOUGH)
		return NULL;
	return xasprintf("%.1f %% of user chains whole",
			 percent(s.whole, told));
}

void chains_tell(const struct analysis *a)
{
	losses_tell(a);
	tell(a->path, chains_text(&a->p, a->use));
}

static bool is_nameless(const struct profile *p, uint32_t frame)
{
	return !p->funcs.func[p->frames.frame[frame].func].name;
}

static uint32_t nameless_of(const struct profile *p, const uint32_t *frame,
			    uint32_t n)
{
	uint32_t nameless = 0, i;

	for (i = 0; i < n; i++)
		nameless += is_nameless(p, frame[i]);
	return nameless;
}

struct nameless event_nameless(const struct profile *p, uint32_t event)
{
	const struct chains *t = &p->chains;
	uint64_t *through = chains_sums(t, false);
	bool *is = xcalloc((size_t)t->nnode + 1, sizeof(*is));
	struct nameless n = { 0 };
	uint32_t i;

	for (i = 0; i < t->nnode; i++) {
		const struct chainnode *c = &t->node[i];

		is[i] = c->up == CHAIN_NONE ? t->top[c->frame].event == event :
					      is[c->up];
		if (c->up == CHAIN_NONE || !is[i])
			continue;
		n.all += through[i] * (t->lists ? c->n : 1);
		n.frames += through[i] * (t->lists ?
					  nameless_of(p, t->list + c->first,
						      c->n) :
					  nameless_of(p, &c->frame, 1));
	}
	for (i = 0; i < t->n; i++) {
		const struct chain *c = &t->chain[i];

		if (c->event != event)
			continue;
		n.all += c->count;
		if (is_nameless(p, c->frame)) {
			n.frames += c->count;
			n.samples += c->count;
		}
	}
	free(through);
	free(is);
	return n;
}

DEFINE_ID_ORDER(by_lost, struct object, ORDER(b->lost, a->lost) ?: ORDER(a, b))

uint32_t *nameless_objects(struct profile *p, uint32_t *n)
{
	uint32_t *order = xreallocarray(NULL, p->objs.n, sizeof(*order)), i;
	uint32_t *first = xcalloc((size_t)p->str.n + 1, sizeof(*first));
	uint64_t *most = xcalloc((size_t)p->str.n + 1, sizeof(*most));

	*n = 0;
	for (i = 0; i < p->objs.n; i++) {
		struct object *o = &p->objs.obj[i], *f;

		if (!first[o->path]) {
			first[o->path] = i + 1;
			most[o->path] = o->lost;
			order[(*n)++] = i;
			continue;
		}
		f = &p->objs.obj[first[o->path] - 1];
		f->lost += o->lost;
		/* two files of a path can have different reasons */
		if (o->lost > most[o->path]) {
			most[o->path] = o->lost;
			f->why = o->why;
		}
	}
	free(first);
	free(most);
	qsort_r(order, *n, sizeof(*order), by_lost, p->objs.obj);
	return order;
}

const char *nameless_why(const struct analysis *a, const struct object *o)
{
	if (o->why)
		return o->why;
	return obj_is_kernel(o->kind) && !a->k.source ?
	       "no kernel symbols" : "outside of all functions";
}
