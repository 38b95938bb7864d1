// SPDX-License-Identifier: BSD-2-Clause
/* Speedscope's own JSON: for each event, and thread if asked for, a profile. */
#include <stdio.h>

#include "base/json.h"
#include "base/order.h"
#include "export/export.h"

/**
 * struct speedscope - a file that is being written
 * @order: numbers of the wanted chains, by event and group
 * @comms: by string number: frame number + 1 of a command
 * @samples: by string number: of a command, while it is looked for
 * @names: see export_event_names()
 * @nframes: so far; functions come first
 */
struct speedscope {
	struct export *e;
	uint32_t *order;
	uint32_t n;
	uint32_t *comms, *names;
	uint64_t *samples;
	uint32_t nframes;
};

DEFINE_ID_ORDER(by_profile, struct chain, ORDER(a->event, b->event) ?: ORDER(a->group, b->group))

static const struct chain *chain_of(const struct speedscope *x, uint32_t i)
{
	return &x->e->a.p.chains.chain[x->order[i]];
}

static void string(struct out *o, const char *s)
{
	json_text(o, s, strlen(s));
}

static void comma(struct speedscope *x)
{
	if (x->nframes++)
		out_str(x->e->out, ",\n");
}

static void put_func(struct speedscope *x, uint32_t func)
{
	struct profile *p = &x->e->a.p;
	uint32_t shown = func_shown(p, func, x->e->a.demangle);
	char *path = shown_whole(strtab_str(&p->str,
				 export_object(x->e, func)));

	comma(x);
	out_str(x->e->out, "{\"name\":");
	string(x->e->out, strtab_str(&p->str, shown));
	out_str(x->e->out, ",\"file\":");
	string(x->e->out, path);
	out_char(x->e->out, '}');
	free(path);
}

static void put_comm(struct speedscope *x, uint32_t comm)
{
	char buf[SHOWN_MAX];

	if (x->comms[comm])
		return;
	export_shown(x->e, buf, comm);
	comma(x);
	out_str(x->e->out, "{\"name\":");
	string(x->e->out, buf);
	out_char(x->e->out, '}');
	x->comms[comm] = x->nframes;
}

static void put_frames(struct speedscope *x)
{
	const struct profile *p = &x->e->a.p;
	uint32_t i;

	out_str(x->e->out, "\"shared\":{\"frames\":[\n");
	for (i = 0; i < p->funcs.n; i++)
		put_func(x, i);
	for (i = 0; i < x->n; i++)
		put_comm(x, chain_of(x, i)->comm);
	out_str(x->e->out, "\n]},\n");
}

static void put_stack(struct speedscope *x, const struct chain *c)
{
	struct level level[LEVELS_MAX];
	const uint32_t *frames = chain_frames(&x->e->a.p.chains, c);
	struct out *o = x->e->out;
	uint32_t i, n;

	out_char(o, '[');
	out_u64(o, x->comms[c->comm] - 1);
	for (i = c->n; i--;)
		for (n = export_levels(x->e, frames[i], level); n--;) {
			out_char(o, ',');
			out_u64(o, level[n].func);
		}
	out_char(o, ']');
}

/* String number of the command that most samples are of; a thread can have several. */
static uint32_t main_comm(const struct speedscope *x, uint32_t from, uint32_t to)
{
	uint32_t comm = chain_of(x, from)->comm, i;
	const struct chain *c;

	for (i = from; i < to; i++)
		x->samples[chain_of(x, i)->comm] = 0;
	for (i = from; i < to; i++) {
		c = chain_of(x, i);
		x->samples[c->comm] += c->count;
		if (x->samples[c->comm] > x->samples[comm])
			comm = c->comm;
	}
	return comm;
}

/* The event, and whose samples: "cycles, prog 7/8 CPU 3". */
static void put_name(struct speedscope *x, const struct chain *c, uint32_t of)
{
	const struct profile *p = &x->e->a.p;
	const struct group *g = &p->groups.group[c->group];
	unsigned int by = p->groups.by;
	char event[SHOWN_MAX], comm[SHOWN_MAX], buf[2 * SHOWN_MAX + 64];
	size_t n;

	export_shown(x->e, event, x->names[c->event]);
	export_shown(x->e, comm, of);
	n = (size_t)snprintf(buf, sizeof(buf), "%s", event);
	if (by & BY_PID)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, ", %s %u",
				      comm, g->pid);
	if (by & BY_TID)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "/%u", g->tid);
	if (by & BY_CPU)
		snprintf(buf + n, sizeof(buf) - n, ", CPU %u", g->cpu);
	string(x->e->out, buf);
}

static const char *unit(const struct speedscope *x, const struct chain *c)
{
	const struct event *event = &x->e->a.p.events.event[c->event];

	return x->e->unit == UNIT_PERIOD && event_is_clock(event) ?
	       "nanoseconds" : "none";
}

/* Chains @from to @to of the order. */
static void put_profile(struct speedscope *x, uint32_t from, uint32_t to)
{
	struct out *o = x->e->out;
	uint64_t total = 0, weight;
	uint32_t i;

	out_str(o, "{\"type\":\"sampled\",\"name\":");
	put_name(x, chain_of(x, from), main_comm(x, from, to));
	out_str(o, ",\"unit\":\"");
	out_str(o, unit(x, chain_of(x, from)));
	out_str(o, "\",\"samples\":[\n");
	for (i = from; i < to; i++) {
		put_stack(x, chain_of(x, i));
		out_str(o, i + 1 < to ? ",\n" : "\n],\"weights\":[");
	}
	for (i = from; i < to; i++) {
		weight = export_weight(x->e, chain_of(x, i));
		out_u64(o, weight);
		out_char(o, i + 1 < to ? ',' : ']');
		total += weight;
	}
	out_str(o, ",\"startValue\":0,\"endValue\":");
	out_u64(o, total);
	out_char(o, '}');
}

static void put_profiles(struct speedscope *x)
{
	struct chain *all = x->e->a.p.chains.chain;
	uint32_t i, j;

	out_str(x->e->out, "\"profiles\":[");
	for (i = 0; i < x->n; i = j) {
		for (j = i; j < x->n && !by_profile(&x->order[i], &x->order[j],
						    all); j++)
			;
		out_str(x->e->out, i ? ",\n" : "\n");
		put_profile(x, i, j);
	}
	out_str(x->e->out, "\n]");
}

static void choose(struct speedscope *x)
{
	const struct profile *p = &x->e->a.p;
	uint32_t i;

	x->order = xcalloc((size_t)p->chains.n + 1, sizeof(*x->order));
	for (i = 0; i < p->chains.n; i++)
		if (x->e->a.use[p->chains.chain[i].event])
			x->order[x->n++] = i;
	qsort_r(x->order, x->n, sizeof(*x->order), by_profile,
		p->chains.chain);
}

static void end(struct export *e)
{
	struct speedscope x = { .e = e };
	char *name = shown_whole(e->a.path);

	choose(&x);
	x.names = export_event_names(e);
	x.comms = xcalloc((size_t)e->a.p.str.n + 1, sizeof(*x.comms));
	x.samples = xcalloc((size_t)e->a.p.str.n + 1, sizeof(*x.samples));
	out_str(e->out, "{\"$schema\":\"https://www.speedscope.app/"
			"file-format-schema.json\",\n\"exporter\":\"pmclog@"
			TOOLS_VERSION "\",\"name\":");
	string(e->out, name);
	out_str(e->out, x.n ? ",\"activeProfileIndex\":0,\n" : ",\n");
	put_frames(&x);
	put_profiles(&x);
	out_str(e->out, "}\n");
	free(x.comms);
	free(x.samples);
	free(x.names);
	free(x.order);
	free(name);
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.help = "JSON: www.speedscope.app",
	.takes = TAKES_WEIGHT | TAKES_BY,
	.end = end,
};
