// SPDX-License-Identifier: BSD-2-Clause
/* pprof's profile.proto, compressed. */
#include <stdio.h>

#include "export/export.h"
#include "export/protobuf.h"

/* fields of the messages, as in profile.proto */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING,
       PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
       PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE,
       PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE };
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET,
       MAPPING_FILE, MAPPING_BUILDID, MAPPING_FUNCTIONS,
       MAPPING_FILENAMES, MAPPING_LINES, MAPPING_INLINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* address of the first object; see place_objects() */
#define FIRST_START	((uint64_t)0x10000000)
#define START_ALIGN	((uint64_t)0x1000000)
#define OFFSET_MAX	((uint64_t)1 << 40)
#define PAGE_ROUND(x)	(((x) + 0xfff) & ~(uint64_t)0xfff)

/**
 * struct pprof - a profile that is being written
 * @str:   its strings; their numbers are not those in @e
 * @start, @limit: addresses of objects, by number; @limit 0: has no frames
 * @file:  by function: string number of its source file, 0: not known
 * @value: by event: number of its first value
 * @names: see export_event_names()
 */
struct pprof {
	struct export *e;
	struct strtab str;
	uint64_t *start, *limit;
	uint32_t *value, *names, *file;
	uint64_t *values, *locations;
	uint32_t nvalues;
	struct pb m, part;
};

static uint64_t string(struct pprof *x, const char *s)
{
	return strtab_id(&x->str, s);
}

static uint64_t shown_string(struct pprof *x, uint32_t str)
{
	char *s = shown_whole(strtab_str(&x->e->a.p.str, str));
	uint64_t id = string(x, s);

	free(s);
	return id;
}

static void value_type(struct pprof *x, unsigned int field, const char *type,
		       const char *unit)
{
	pb_uint(&x->m, VALUE_TYPE, string(x, type));
	pb_uint(&x->m, VALUE_UNIT, string(x, unit));
	pb_write(x->e->out, field, &x->m);
}

static uint32_t events_shown(const struct export *e, uint32_t *first)
{
	uint32_t i, n = 0;

	for (i = e->a.p.events.n; i--;) {
		if (!e->a.use[i] || !e->a.p.events.event[i].samples)
			continue;
		*first = i;
		n++;
	}
	return n;
}

/*
 * Each event has a value for samples and, if the period is known, one for how
 * often it happened.
 */
static void event_types(struct pprof *x, uint32_t i, bool alone)
{
	const struct event *event = &x->e->a.p.events.event[i];
	const char *unit = event_is_clock(event) ? "nanoseconds" : "count";
	char *name = shown_whole(strtab_str(&x->e->a.p.str, x->names[i]));
	char *samples = alone ? xstrdup("samples") :
				xasprintf("%s:samples", name);

	x->value[i] = x->nvalues++;
	value_type(x, PROFILE_SAMPLE_TYPE, samples, "count");
	if (event->rate) {
		x->nvalues++;
		value_type(x, PROFILE_SAMPLE_TYPE, name, unit);
		if (alone) {
			value_type(x, PROFILE_PERIOD_TYPE, name, unit);
			/* there is none if each sample has its own */
			if (!event_is_freq(event))
				pb_uint(&x->m, PROFILE_PERIOD, event->rate);
		}
	}
	free(samples);
	free(name);
}

/* The default is the first event's value; otherwise readers take the last one. */
static void default_type(struct pprof *x, uint32_t first, bool alone)
{
	const struct event *event = &x->e->a.p.events.event[first];

	if (event->rate)
		pb_uint(&x->m, PROFILE_DEFAULT_TYPE,
			shown_string(x, x->names[first]));
	else if (alone)
		pb_uint(&x->m, PROFILE_DEFAULT_TYPE, string(x, "samples"));
}

static void flush(struct pprof *x)
{
	out_bytes(x->e->out, x->m.p, x->m.n);
	x->m.n = 0;
}

static void types(struct pprof *x)
{
	const struct events *t = &x->e->a.p.events;
	uint32_t first = 0, n = events_shown(x->e, &first), i;

	for (i = 0; i < t->n; i++)
		if (x->e->a.use[i] && t->event[i].samples) {
			event_types(x, i, n == 1);
			flush(x);
		}
	if (!n) {
		x->nvalues = 1;
		value_type(x, PROFILE_SAMPLE_TYPE, "samples", "count");
	} else {
		default_type(x, first, n == 1);
		flush(x);
	}
}

static void facts(struct pprof *x)
{
	const struct log_facts *log = &x->e->a.p.log;
	uint64_t from, to;
	char *s;

	analysis_window(&x->e->a, &from, &to);
	pb_uint(&x->m, PROFILE_TIME, (uint64_t)export_unix_ns(x->e, from));
	pb_uint(&x->m, PROFILE_DURATION, (uint64_t)(export_ns(x->e, to) -
						    export_ns(x->e, from)));
	if (log->release) {
		s = xasprintf("%s, Linux %s", log->host, log->release);
		pb_uint(&x->m, PROFILE_COMMENT,
			shown_string(x, strtab_id(&x->e->a.p.str, s)));
		free(s);
	}
	flush(x);
}

static void label(struct pprof *x, const char *key, uint64_t value)
{
	pb_uint(&x->part, LABEL_KEY, string(x, key));
	pb_uint(&x->part, LABEL_STR, value);
	pb_message(&x->m, SAMPLE_LABEL, &x->part);
}

/* As text: pprof would add a unit to a number, round it, and omit 0. */
static void label_number(struct pprof *x, const char *key, uint32_t v)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "%u", v);
	label(x, key, string(x, buf));
}

static void sample(struct pprof *x, const struct chain *c)
{
	const struct profile *p = &x->e->a.p;
	const struct group *g = &p->groups.group[c->group];
	uint64_t rate = p->events.event[c->event].rate;
	const uint32_t *frames = chain_frames(&p->chains, c);
	unsigned int by = p->groups.by;
	uint32_t i;

	for (i = 0; i < c->n; i++)
		x->locations[i] = (uint64_t)frames[i] + 1;
	pb_packed(&x->m, SAMPLE_LOCATION, x->locations, c->n);
	memset(x->values, 0, x->nvalues * sizeof(*x->values));
	x->values[x->value[c->event]] = c->count;
	if (rate)
		x->values[x->value[c->event] + 1] =
			analysis_count(p, c, UNIT_PERIOD);
	pb_packed(&x->m, SAMPLE_VALUE, x->values, x->nvalues);
	label(x, "command", shown_string(x, c->comm));
	if (by & BY_PID)
		label_number(x, "process", g->pid);
	if (by & BY_TID)
		label_number(x, "thread", g->tid);
	if (by & BY_CPU)
		label_number(x, "cpu", g->cpu);
	pb_write(x->e->out, PROFILE_SAMPLE, &x->m);
}

static void samples(struct pprof *x)
{
	const struct profile *p = &x->e->a.p;
	uint32_t i, longest = 0;

	for (i = 0; i < p->chains.n; i++)
		if (p->chains.chain[i].n > longest)
			longest = p->chains.chain[i].n;
	x->locations = xcalloc((size_t)longest + 1, sizeof(*x->locations));
	x->values = xcalloc((size_t)x->nvalues + 1, sizeof(*x->values));
	for (i = 0; i < p->chains.n; i++)
		if (x->e->a.use[p->chains.chain[i].event])
			sample(x, &p->chains.chain[i]);
	free(x->locations);
	free(x->values);
}

static uint32_t obj_of(const struct profile *p, const struct frame *f)
{
	return p->funcs.func[f->func].obj;
}

/* Larger offsets than any file's are errors of the log. */
static uint64_t offset(const struct frame *f)
{
	return f->addr < OFFSET_MAX ? f->addr : 0;
}

/* Finds the addresses of each object's frames; kernel: at run time. */
static void find_extents(struct pprof *x)
{
	const struct profile *p = &x->e->a.p;
	uint32_t i;

	for (i = 0; i < p->frames.n; i++) {
		const struct frame *f = &p->frames.frame[i];
		uint32_t obj = obj_of(p, f);
		bool kernel = obj_is_kernel(p->objs.obj[obj].kind);
		uint64_t addr = kernel ? f->addr : offset(f);

		if (kernel && (!x->limit[obj] || addr < x->start[obj]))
			x->start[obj] = addr;
		if (addr >= x->limit[obj])
			x->limit[obj] = addr < UINT64_MAX ? addr + 1 : addr;
	}
}

/*
 * Gives each file a range of addresses.  Processes map files at different
 * addresses, but in a profile an address must belong to one file.  Byte n of
 * the file is at @start + n, so that programs which read the file find it. The
 * kernel keeps its run-time addresses.
 */
static void place_objects(struct pprof *x)
{
	const struct profile *p = &x->e->a.p;
	uint64_t next = FIRST_START;
	uint32_t i;

	x->start = xcalloc((size_t)p->objs.n + 1, sizeof(*x->start));
	x->limit = xcalloc((size_t)p->objs.n + 1, sizeof(*x->limit));
	find_extents(x);
	for (i = 0; i < p->objs.n; i++) {
		if (!x->limit[i] || obj_is_kernel(p->objs.obj[i].kind))
			continue;
		if (next > UINT64_MAX / 4)
			next = FIRST_START;
		x->start[i] = next;
		x->limit[i] = next + PAGE_ROUND(x->limit[i]);
		next = (x->limit[i] + START_ALIGN - 1) & ~(START_ALIGN - 1);
	}
}

static uint64_t file_name(struct pprof *x, const struct object *o)
{
	if (o->kind == OBJ_KERNEL)
		return string(x, "[kernel.kallsyms]");
	return shown_string(x, o->kind == OBJ_MODULE ? o->brief : o->path);
}

static void mapping(struct pprof *x, uint32_t obj)
{
	struct profile *p = &x->e->a.p;
	const struct object *o = &p->objs.obj[obj];
	const struct buildid *id = buildids_of(&p->ids, &p->str, o);
	char hex[2 * BUILDID_MAX + 1] = "";
	uint32_t i;

	for (i = 0; id && i < id->len; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", id->id[i]);
	pb_uint(&x->m, MAPPING_ID, (uint64_t)obj + 1);
	pb_uint(&x->m, MAPPING_START, x->start[obj]);
	pb_uint(&x->m, MAPPING_LIMIT, x->limit[obj]);
	pb_uint(&x->m, MAPPING_FILE, file_name(x, o));
	pb_uint(&x->m, MAPPING_BUILDID, string(x, hex));
	/* already symbolized: readers need not do it again */
	pb_uint(&x->m, MAPPING_FUNCTIONS, 1);
	pb_uint(&x->m, MAPPING_FILENAMES, x->e->lines || x->e->inlines);
	pb_uint(&x->m, MAPPING_LINES, x->e->lines || x->e->inlines);
	pb_uint(&x->m, MAPPING_INLINES, x->e->inlines);
	pb_write(x->e->out, PROFILE_MAPPING, &x->m);
}

/* Readers take the first object for the program: use the one with most samples. */
static uint32_t main_object(const struct pprof *x)
{
	const struct profile *p = &x->e->a.p;
	uint64_t *self = xcalloc((size_t)p->objs.n + 1, sizeof(*self));
	uint32_t i, best = 0;

	for (i = 0; i < p->chains.n; i++) {
		const struct chain *c = &p->chains.chain[i];

		if (x->e->a.use[c->event])
			self[obj_of(p, &p->frames.frame[c->frame])] +=
				c->count;
	}
	for (i = p->objs.n; i--;)
		if (p->objs.obj[i].kind == OBJ_FILE && x->limit[i] &&
		    (p->objs.obj[best].kind != OBJ_FILE ||
		     self[i] >= self[best]))
			best = i;
	free(self);
	return best;
}

static void mappings(struct pprof *x)
{
	const struct profile *p = &x->e->a.p;
	uint32_t first = main_object(x), i;

	if (x->limit[first])
		mapping(x, first);
	for (i = 0; i < p->objs.n; i++)
		if (x->limit[i] && i != first)
			mapping(x, i);
}

static void location(struct pprof *x, uint32_t frame)
{
	const struct profile *p = &x->e->a.p;
	const struct frame *f = &p->frames.frame[frame];
	uint32_t obj = obj_of(p, f), n, i;
	bool kernel = obj_is_kernel(p->objs.obj[obj].kind);
	struct level level[LEVELS_MAX];

	pb_uint(&x->m, LOCATION_ID, (uint64_t)frame + 1);
	pb_uint(&x->m, LOCATION_MAPPING, (uint64_t)obj + 1);
	pb_uint(&x->m, LOCATION_ADDRESS, kernel ? f->addr :
						 x->start[obj] + offset(f));
	n = export_levels(x->e, frame, level);
	for (i = 0; i < n; i++) {
		if (level[i].file)
			x->file[level[i].func] = level[i].file;
		pb_uint(&x->part, LINE_FUNCTION, (uint64_t)level[i].func + 1);
		pb_uint(&x->part, LINE_LINE, level[i].line);
		pb_message(&x->m, LOCATION_LINE, &x->part);
	}
	pb_write(x->e->out, PROFILE_LOCATION, &x->m);
}

static void function(struct pprof *x, uint32_t func)
{
	uint32_t file = x->file[func];
	struct profile *p = &x->e->a.p;
	uint32_t raw = p->funcs.func[func].name;
	uint32_t shown = func_shown(p, func, x->e->a.demangle);

	pb_uint(&x->m, FUNCTION_ID, (uint64_t)func + 1);
	pb_uint(&x->m, FUNCTION_NAME, string(x, strtab_str(&p->str, shown)));
	pb_uint(&x->m, FUNCTION_SYSTEM_NAME, shown_string(x, raw ? raw :
								    shown));
	if (file)
		pb_uint(&x->m, FUNCTION_FILE, shown_string(x, file));
	pb_write(x->e->out, PROFILE_FUNCTION, &x->m);
}

static void strings(struct pprof *x)
{
	const char *s;
	uint32_t i;

	for (i = 0; i < x->str.n; i++) {
		s = strtab_str(&x->str, i);
		pb_bytes(&x->m, PROFILE_STRING, s, strlen(s));
		flush(x);
	}
}

static void end(struct export *e)
{
	const struct profile *p = &e->a.p;
	struct pprof x = { .e = e };
	uint32_t i;

	strtab_init(&x.str);
	x.value = xcalloc((size_t)p->events.n + 1, sizeof(*x.value));
	x.names = export_event_names(e);
	types(&x);
	facts(&x);
	samples(&x);
	place_objects(&x);
	mappings(&x);
	x.file = xcalloc((size_t)p->funcs.n + 1, sizeof(*x.file));
	for (i = 0; i < p->frames.n; i++)
		location(&x, i);
	for (i = 0; i < p->funcs.n; i++)
		function(&x, i);
	strings(&x);
	strtab_free(&x.str);
	free(x.value);
	free(x.names);
	free(x.file);
	free(x.start);
	free(x.limit);
	pb_free(&x.m);
	pb_free(&x.part);
}

const struct export_format export_pprof = {
	.name = "pprof",
	.help = "profile.proto: go tool pprof, Speedscope, Grafana",
	.file = OUTFILE_GZIP,
	.takes = TAKES_BY,
	.by = BY_PID | BY_TID,
	.end = end,
};
