// SPDX-License-Identifier: BSD-2-Clause
/* One row per sample, quoted as in RFC 4180. */
#include <stdio.h>

#include "base/digits.h"
#include "export/export.h"

#define NUMBERS_MAX	128	/* bytes, generously */

/*
 * Writes text inside of quotes.  A spreadsheet would take a leading '=' for a
 * formula, and a command can be named so: it gets an apostrophe before it, and so does
 * a leading apostrophe, so that no two texts become one.
 */
static void put_cell(struct out *o, const char *s, bool first)
{
	if (first && strchr("=+-@'", *s) && *s)
		out_char(o, '\'');
	for (; *s; s++) {
		if (*s == '"')
			out_char(o, '"');
		out_char(o, *s);
	}
}

static const struct text *string_text(struct export *e, uint32_t id)
{
	const struct text *t = texts_get(&e->strings, id);
	char *s;

	if (t)
		return t;
	s = shown_whole(strtab_str(&e->a.p.str, id));
	out_char(e->scratch, '"');
	put_cell(e->scratch, s, true);
	out_char(e->scratch, '"');
	free(s);
	return texts_put(&e->strings, id, e->scratch);
}

static void put_func(struct export *e, uint32_t func, char semicolon)
{
	struct profile *p = &e->a.p;
	char name[SHOWN_MAX], *at;

	snprintf(name, sizeof(name), "%s",
		 strtab_str(&p->str, func_shown(p, func, e->a.demangle)));
	for (at = name; (at = strchr(at, ';')); at++)
		*at = semicolon;
	put_cell(e->scratch, name, true);
}

/* Makes the text of a frame's functions, outermost first, each followed by ';'. */
static const struct text *new_frame(struct export *e, uint32_t frame)
{
	struct level level[LEVELS_MAX];
	uint32_t n;

	for (n = export_levels(e, frame, level); n--;) {
		put_func(e, level[n].func, ':');
		out_char(e->scratch, ';');
	}
	return texts_put(&e->frames, frame, e->scratch);
}

/* Makes the text of a frame's innermost function. */
static const struct text *func_text(struct export *e, uint32_t frame)
{
	struct level level[LEVELS_MAX];
	const struct text *t;

	export_levels(e, frame, level);
	t = texts_get(&e->funcs, level->func);
	if (t)
		return t;
	put_func(e, level->func, ';');
	return texts_put(&e->funcs, level->func, e->scratch);
}

static void begin(struct export *e)
{
	out_str(e->out, "time,cpu,pid,tid,comm,event,period,mode,symbol,object,"
			"stack,fields\n");
}

static void put_numbers(struct export *e, const struct sample *s)
{
	char *begin = out_room(e->out, NUMBERS_MAX), *to = begin;

	to = put_parts(to, export_ns(e, s->tsc), 1000000000, 9);
	*to++ = ',';
	to = put_number(to, s->cpu);
	*to++ = ',';
	to = put_number(to, s->pid);
	*to++ = ',';
	to = put_number(to, s->tid);
	*to++ = ',';
	e->out->n += (size_t)(to - begin);
}

/* Fields of a tracepoint; they begin with a name, so never with '='. */
static void put_fields(struct export *e, const struct sample *s)
{
	struct text text;
	uint32_t i;

	tp_put_text(e->scratch, profile_format(&e->a.p, s->event), &sample_more(s)->raw,
		    false);
	text = text_made(e->scratch);
	for (i = 0; i < text.n; i++) {
		if (text.s[i] == '"')
			out_char(e->out, '"');
		out_char(e->out, text.s[i]);
	}
}

/* Makes a text of event, period, and mode. */
static void make_event(struct export *e, const struct sample *s)
{
	const struct event *event = &e->a.p.events.event[s->event];
	const struct text *name = string_text(e, event->name);

	out_char(e->scratch, ',');
	out_bytes(e->scratch, name->s, name->n);
	out_char(e->scratch, ',');
	out_u64(e->scratch, export_period(e, s));
	out_str(e->scratch, s->kernel ? ",kernel,\"" : ",user,\"");
}

static void put_event(struct export *e, const struct sample *s)
{
	uint32_t id = 2 * s->event + s->kernel;
	const struct text *t = texts_get(&e->events, id);
	struct text once;

	if (t) {
		out_text(e->out, t);
		return;
	}
	make_event(e, s);
	if (!export_varies(e, s->event)) {
		out_text(e->out, texts_put(&e->events, id, e->scratch));
		return;
	}
	once = text_made(e->scratch);
	out_bytes(e->out, once.s, once.n);
}

static void sample(struct export *e, const struct sample *s)
{
	uint32_t func = e->a.p.frames.frame[s->frames[0]].func, i;
	struct out *o = e->out;

	put_numbers(e, s);
	out_text(o, string_text(e, s->comm));
	put_event(e, s);
	out_text(o, func_text(e, s->frames[0]));
	out_str(o, "\",");
	out_text(o, string_text(e, export_object(e, func)));
	out_str(o, ",\"");
	for (i = s->nframes; i--;)
		out_frame(e, s->frames[i]);
	/* replaces the last semicolon */
	o->buf[o->n - 1] = '"';
	if (sample_more(s)->raw.data) {
		out_str(o, ",\"");
		put_fields(e, s);
		out_str(o, "\"\n");
	} else {
		out_str(o, ",\n");
	}
}

const struct export_format export_csv = {
	.name = "csv",
	.help = "a row a sample: spreadsheets, DuckDB, pandas",
	.begin = begin,
	.frame = new_frame,
	.sample = sample,
};
