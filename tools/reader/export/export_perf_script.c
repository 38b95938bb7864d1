// SPDX-License-Identifier: BSD-2-Clause
/* The text of perf script, which most importers of profiles can read. */
#include "base/digits.h"
#include "export/export.h"

#define KERNEL		" ([kernel.kallsyms])\n"
#define HEAD_MAX	256	/* numbers of a sample's line, generously */

/* Writes a number, padded with blanks to @width. */
static inline char *padded(char *to, uint64_t v, unsigned int width)
{
	unsigned int n = count_digits(v);

	if (n < width) {
		memset(to, ' ', width);
		to += width - n;
	}
	return put_last(to, v, n);
}

static void padded_hex(struct out *o, uint64_t v)
{
	char digits[16];
	int i = sizeof(digits);

	do {
		digits[--i] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	while (i)
		digits[--i] = ' ';
	out_bytes(o, digits, sizeof(digits));
}

static const struct text *string_text(struct export *e, uint32_t id)
{
	const struct text *t = texts_get(&e->strings, id);
	char buf[SHOWN_MAX];

	if (t)
		return t;
	export_shown(e, buf, id);
	out_str(e->scratch, buf);
	return texts_put(&e->strings, id, e->scratch);
}

/* What a CPU does without work has the name that perf and those who read it know. */
static const struct text *comm_text(struct export *e, const struct sample *s)
{
	static const char name[TEXT_ALIGN] = "swapper";
	static const struct text idle = { name, sizeof("swapper") - 1 };

	return s->pid ? string_text(e, s->comm) : &idle;
}

/*
 * Importers recognise frames of the kernel, and of code made at run time, by the object's
 * name.  "[JIT] PID" would be a module of the kernel for them.
 */
static const struct text *object_text(struct export *e, uint32_t func)
{
	static const struct text kernel = { KERNEL, sizeof(KERNEL) - 1 };
	const struct profile *p = &e->a.p;
	const struct object *o = &p->objs.obj[p->funcs.func[func].obj];
	uint32_t id = export_object(e, func);
	const struct text *t = texts_get(&e->objects, id);
	char *path;

	if (o->kind == OBJ_KERNEL)
		return &kernel;
	if (t)
		return t;
	path = o->kind == OBJ_JIT ?
	       xasprintf("/tmp/perf-%llu.map", (unsigned long long)o->ino) :
	       shown_whole(strtab_str(&p->str, id));
	out_str(e->scratch, " (");
	out_str(e->scratch, path);
	out_str(e->scratch, ")\n");
	free(path);
	return texts_put(&e->objects, id, e->scratch);
}

static const char *func_text(struct export *e, uint32_t func)
{
	return strtab_str(&e->a.p.str, func_shown(&e->a.p, func,
						  e->a.demangle));
}

/* Writes the function of an address; @func has the name. */
static void put_function(struct export *e, const struct place *place,
			 uint32_t func)
{
	padded_hex(e->scratch, place->addr);
	out_char(e->scratch, ' ');
	if (place->name) {
		out_str(e->scratch, func_text(e, func));
		out_char(e->scratch, '+');
		out_hex(e->scratch, place->start && place->addr > place->start ?
				    place->addr - place->start : 0);
	} else {
		out_str(e->scratch, "[unknown]");
	}
}

static const struct text *new_frame(struct export *e, uint32_t frame)
{
	struct level level[LEVELS_MAX];
	uint32_t n = export_levels(e, frame, level), i;
	const struct text *object = object_text(e, level[n - 1].func);
	struct place place;

	resolver_place(&e->r, &e->a.p, frame, &place);
	for (i = 0; i + 1 < n; i++) {
		out_char(e->scratch, '\t');
		padded_hex(e->scratch, place.addr);
		out_char(e->scratch, ' ');
		out_str(e->scratch, func_text(e, level[i].func));
		out_str(e->scratch, " (inlined)\n");
	}
	out_char(e->scratch, '\t');
	put_function(e, &place, level[n - 1].func);
	out_bytes(e->scratch, object->s, object->n);
	return texts_put(&e->frames, frame, e->scratch);
}

static void put_period(struct out *o, uint64_t period)
{
	char digits[DIGITS_MAX];

	out_str(o, ": ");
	out_bytes(o, digits, (size_t)(padded(digits, period ? period : 1, 10) -
				      digits));
}

/* ":    1000 cycles: ", without the number if it varies */
static const struct text *event_text(struct export *e, uint32_t id)
{
	const struct text *t = texts_get(&e->events, id);
	const struct event *event = &e->a.p.events.event[id];
	char name[SHOWN_MAX];

	if (t)
		return t;
	export_shown(e, name, event->name);
	if (!event_is_freq(event))
		put_period(e->scratch, event->rate);
	out_char(e->scratch, ' ');
	out_str(e->scratch, name);
	out_str(e->scratch, ": ");
	return texts_put(&e->events, id, e->scratch);
}

/* " 7/8     [000]     1.234567", with the seconds of the log. */
static char *put_head(struct export *e, char *to, const struct sample *s)
{
	int64_t ns = export_ns(e, s->tsc);
	uint64_t us = ns < 0 ? 0 : (uint64_t)ns / 1000;

	*to++ = ' ';
	to = padded(to, s->pid, 5);
	*to++ = '/';
	to = put_number(to, s->tid);
	*to++ = ' ';
	*to++ = '[';
	to = put_digits(to, s->cpu, 3);
	*to++ = ']';
	*to++ = ' ';
	to = padded(to, us / 1000000, 5);
	*to++ = '.';
	return put_last(to, us % 1000000, 6);
}

static void sample(struct export *e, const struct sample *s)
{
	struct out *o = e->out;
	uint32_t i;
	char *p;

	out_text(o, comm_text(e, s));
	p = out_room(o, HEAD_MAX);
	o->n += (size_t)(put_head(e, p, s) - p);
	if (export_varies(e, s->event))
		put_period(o, export_period(e, s));
	out_text(o, event_text(e, s->event));
	if (sample_more(s)->raw.data)
		tp_put_text(o, profile_format(&e->a.p, s->event), &sample_more(s)->raw,
			    false);
	out_char(o, '\n');
	for (i = 0; i < s->nframes; i++)
		out_frame(e, s->frames[i]);
	out_char(o, '\n');
}

const struct export_format export_perf_script = {
	.name = "perf-script",
	.help = "text: FlameGraph, Firefox, FlameScope",
	.frame = new_frame,
	.sample = sample,
};
