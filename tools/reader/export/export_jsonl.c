// SPDX-License-Identifier: BSD-2-Clause
/* One JSON object per sample and line; lines do not depend on each other. */
#include "base/digits.h"
#include "base/json.h"
#include "export/export.h"
#include "log/record.h"

#define NUMBERS_MAX	256	/* bytes, generously */

#define LITERAL(to, s)	((char *)memcpy(to, s, sizeof(s) - 1) + sizeof(s) - 1)

static void put_string(struct export *e, uint32_t id)
{
	char *s = shown_whole(strtab_str(&e->a.p.str, id));

	json_text(e->scratch, s, strlen(s));
	free(s);
}

static const struct text *comm_text(struct export *e, uint32_t id)
{
	const struct text *t = texts_get(&e->strings, id);

	if (t)
		return t;
	out_str(e->scratch, ",\"comm\":");
	put_string(e, id);
	return texts_put(&e->strings, id, e->scratch);
}

/* The object, up to the first frame. */
static const struct text *object_text(struct export *e, uint32_t id)
{
	const struct text *t = texts_get(&e->objects, id);

	if (t)
		return t;
	put_string(e, id);
	out_str(e->scratch, ",\"stack\":[");
	return texts_put(&e->objects, id, e->scratch);
}

static void put_func(struct export *e, uint32_t func)
{
	struct profile *p = &e->a.p;
	const char *name = strtab_str(&p->str, func_shown(p, func,
							  e->a.demangle));

	json_text(e->scratch, name, strlen(name));
	out_char(e->scratch, ',');
}

static const struct text *func_text(struct export *e, uint32_t func)
{
	const struct text *t = texts_get(&e->funcs, func);

	if (t)
		return t;
	put_func(e, func);
	return texts_put(&e->funcs, func, e->scratch);
}

/* Makes the text of a frame, with a comma at the end. */
static const struct text *new_frame(struct export *e, uint32_t frame)
{
	struct level level[LEVELS_MAX];
	uint32_t n = export_levels(e, frame, level), i;

	/* few functions have many frames */
	if (n == 1)
		return texts_share(&e->frames, frame,
				   func_text(e, level->func));
	for (i = 0; i < n; i++)
		put_func(e, level[i].func);
	return texts_put(&e->frames, frame, e->scratch);
}

static void put_numbers(struct export *e, const struct sample *s)
{
	char *begin = out_room(e->out, NUMBERS_MAX), *to = begin;
	int64_t wall = export_unix_ns(e, s->tsc);

	to = LITERAL(to, "{\"time\":");
	to = put_parts(to, export_ns(e, s->tsc), 1000000000, 9);
	if (wall > 0) {
		/* as a string: JSON parsers may keep only 53 bits of a number */
		to = LITERAL(to, ",\"unix_ns\":\"");
		to = put_number(to, (uint64_t)wall);
		*to++ = '"';
	}
	to = LITERAL(to, ",\"cpu\":");
	to = put_number(to, s->cpu);
	to = LITERAL(to, ",\"pid\":");
	to = put_number(to, s->pid);
	to = LITERAL(to, ",\"tid\":");
	to = put_number(to, s->tid);
	e->out->n += (size_t)(to - begin);
}

/* Writes how the chain ends, if the log says it. */
static void put_ends(struct out *o, uint8_t ends)
{
	const char *sep = ",\"ends\":[\"";
	unsigned int i;

	if (!ends)
		return;
	for (i = 0; end_name(i); i++) {
		if (!(ends >> i & 1))
			continue;
		out_str(o, sep);
		out_str(o, end_name(i));
		sep = "\",\"";
	}
	out_str(o, "\"]");
}

static void put_period(struct out *o, uint64_t period)
{
	out_str(o, ",\"period\":\"");
	out_u64(o, period);
	out_char(o, '"');
}

/* Event, name, mode, and how the chain ends; the period unless it varies. */
static const struct text *event_text(struct export *e, const struct sample *s)
{
	const struct event *v = &e->a.p.events.event[s->event];
	uint32_t id = (2 * s->event + s->kernel) * ENDS + s->ends;
	const struct text *t = texts_get(&e->events, id);

	if (t)
		return t;
	out_str(e->scratch, ",\"event\":");
	put_string(e, v->name);
	if (v->rate && !event_is_freq(v))
		put_period(e->scratch, v->rate);
	out_str(e->scratch, s->kernel ? ",\"mode\":\"kernel\"" :
					",\"mode\":\"user\"");
	put_ends(e->scratch, s->ends);
	out_str(e->scratch, ",\"object\":");
	return texts_put(&e->events, id, e->scratch);
}

/* Fields of a tracepoint. */
static void put_fields(struct export *e, const struct sample *s)
{
	out_str(e->out, ",\"fields\":");
	tp_put_json(e->out, profile_format(&e->a.p, s->event), &sample_more(s)->raw, false);
}

/* Of the sample's access to memory, and its branches */
static void put_detail(struct export *e, const struct detail *d)
{
	struct json j = { .o = e->out, .more = true };

	if (d->has & PMCLOG_DETAIL_SOURCE)
		detail_json_source(&j, d->source);
	if (d->has & PMCLOG_DETAIL_WEIGHT)
		json_u64(&j, "weight", DETAIL_LATENCY(d->weight));
	if (d->has & PMCLOG_DETAIL_ADDR)
		json_hex(&j, "addr", d->addr);
	if (d->has & PMCLOG_DETAIL_BRANCHES)
		detail_json_branches(&j, d);
}

static void sample(struct export *e, const struct sample *s)
{
	uint32_t func = e->a.p.frames.frame[s->frames[0]].func, i;
	struct out *o = e->out;

	put_numbers(e, s);
	out_text(o, comm_text(e, s->comm));
	if (export_varies(e, s->event))
		put_period(o, export_period(e, s));
	out_text(o, event_text(e, s));
	out_text(o, object_text(e, export_object(e, func)));
	for (i = 0; i < s->nframes; i++)
		out_frame(e, s->frames[i]);
	/* replaces the last comma */
	o->buf[o->n - 1] = ']';
	if (sample_more(s)->raw.data)
		put_fields(e, s);
	if (sample_more(s)->detail.has)
		put_detail(e, &sample_more(s)->detail);
	out_str(o, "}\n");
}

const struct export_format export_jsonl = {
	.name = "jsonl",
	.help = "a JSON object a sample and line: jq, DuckDB, log stores",
	.frame = new_frame,
	.sample = sample,
};
