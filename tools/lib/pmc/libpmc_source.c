/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of events, each with a number, and their fields.  This corresponds to
 * dt(4)'s list of probes and their arguments.
 */
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "libpmc_event.h"
#include "libpmc_fail.h"
#include "libpmc_source.h"

/*
 * A number consists of the kind, and a number of the event within the kind.  That
 * of a tracepoint is valid while the kernel runs, that of a PMU's event until a
 * PMU is added or removed.
 */
enum kind { NAMED = 1, CLOCK, PMU_EVENT, PMU_TERM, TRACEPOINT, SYSCALL };

#define KIND_SHIFT	28
#define NUMBER(kind, n)	((uint32_t)(kind) << KIND_SHIFT | (uint32_t)(n))
#define KIND(number)	((enum kind)((number) >> KIND_SHIFT))
#define INDEX(number)	((number) & ((1U << KIND_SHIFT) - 1))

/**
 * struct walk - a walk through all events
 * @f: called for each event; a return value other than 0 ends the walk
 * @next: number of the next event of a PMU
 * @event: called for each tracepoint
 * @pmu, @system: the current PMU, the current system of tracepoints
 * @tracefs: path of tracefs; "" if it is not mounted
 */
struct walk {
	const char	*root;
	int		(*f)(void *arg, const struct pmc_source *s);
	void		*arg;
	uint32_t	next;
	int		(*event)(void *arg, const char *event);
	const char	*pmu;
	const char	*system;
	char		tracefs[PATH_MAX];
};

static int tell(struct walk *w, uint32_t number, const char *provider,
		const char *function, const char *name)
{
	struct pmc_source s = { .number = number };

	if (strlen(function) >= sizeof(s.function) ||
	    strlen(name) >= sizeof(s.name))
		return 0;
	snprintf(s.provider, sizeof(s.provider), "%s", provider);
	strcpy(s.function, function);
	strcpy(s.name, name);
	return w->f(w->arg, &s);
}

static const char *class_of(uint32_t type)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
		return "hardware";
	case PERF_TYPE_SOFTWARE:
		return "software";
	default:
		return "cache";
	}
}

static int walk_named(struct walk *w)
{
	int stop = 0;
	size_t i;

	for (i = 0; i < pmc_evtab_len && !stop; i++)
		stop = tell(w, NUMBER(NAMED, i), class_of(pmc_evtab[i].type),
			    "", pmc_evtab[i].name);
	return stop;
}

/* Lists example rates; others are possible. */
static int walk_clocks(struct walk *w)
{
	int stop = tell(w, NUMBER(CLOCK, 0), "profile", "hz", "97");

	return stop ? stop : tell(w, NUMBER(CLOCK, 1), "interval", "hz", "1");
}

static int tell_pmu_event(void *arg, const char *event)
{
	struct walk *w = arg;

	return tell(w, NUMBER(PMU_EVENT, w->next++), "pmu", w->pmu, event);
}

static int tell_pmu_term(void *arg, const char *term)
{
	struct walk *w = arg;
	char name[NAME_MAX + 3];

	snprintf(name, sizeof(name), "%s=N", term);
	return tell(w, NUMBER(PMU_TERM, w->next++), "pmu", w->pmu, name);
}

static int walk_pmu(void *arg, const char *pmu)
{
	struct walk *w = arg;
	int stop;

	if (pmc_pmu_is_special(pmu))
		return 0;
	w->pmu = pmu;
	stop = pmc_pmu_each_event(w->root, pmu, tell_pmu_event, w);
	return stop ? stop : pmc_pmu_each_term(w->root, pmu, tell_pmu_term, w);
}

/* sys_enter_NAME and sys_exit_NAME are NAME:entry and NAME:return; NULL: neither */
static const char *call_of(const char *system, const char *event,
			   const char **end)
{
	*end = "entry";
	if (strcmp(system, "syscalls"))
		return NULL;
	if (!strncmp(event, "sys_enter_", 10))
		return event + 10;
	*end = "return";
	return strncmp(event, "sys_exit_", 9) ? NULL : event + 9;
}

static int walk_event(void *arg, const char *event)
{
	struct walk *w = arg;
	const char *call, *end;
	uint64_t id;
	int stop = 0;

	if (pmc_trace_id(w->tracefs, w->system, event, &id) ||
	    id != INDEX(id))
		return 0;
	call = call_of(w->system, event, &end);
	if (call)
		stop = tell(w, NUMBER(SYSCALL, id), "syscall", call, end);
	return stop ? stop : tell(w, NUMBER(TRACEPOINT, id), "tracepoint",
				  w->system, event);
}

static int walk_system(void *arg, const char *system)
{
	struct walk *w = arg;

	w->system = system;
	return pmc_file_each(w->event, w, "%s/events/%s", w->tracefs,
			     system);
}

static void find_tracefs(struct walk *w)
{
	struct pmc_parse p = { .root = w->root };

	if (pmc_trace_root(&p, w->tracefs, sizeof(w->tracefs)))
		w->tracefs[0] = '\0';
}

static int walk_traces(struct walk *w)
{
	find_tracefs(w);
	return *w->tracefs ?
	       pmc_file_each(walk_system, w, "%s/events", w->tracefs) : 0;
}

static int each_at(const char *root, int (*f)(void *arg, const struct pmc_source *s),
		   void *arg)
{
	struct walk w = {
		.root = root, .f = f, .event = walk_event, .arg = arg,
	};
	int stop = walk_named(&w);

	if (!stop)
		stop = walk_clocks(&w);
	if (!stop)
		stop = pmc_pmu_each(root, walk_pmu, &w);
	return stop ? stop : walk_traces(&w);
}

/* ------------------------------------------------------------------------
 * Fields
 */

/* "field:TYPE NAME[16];	offset:8;	size:16;	signed:0;" */
static int parse_field(const char *line, struct pmc_source_field *f)
{
	char text[sizeof(f->type)], *space, *bracket;
	const char *at = strstr(line, "field:"), *semicolon;
	size_t len;

	memset(f, 0, sizeof(*f));
	semicolon = at ? strchr(at, ';') : NULL;
	if (!semicolon)
		return -1;
	at += strlen("field:");
	len = (size_t)(semicolon - at);
	if (len >= sizeof(text) ||
	    sscanf(semicolon, "; offset:%u; size:%u; signed:%u", &f->offset,
		   &f->size, &f->is_signed) != 3)
		return -1;
	memcpy(text, at, len);
	text[len] = '\0';
	space = strrchr(text, ' ');
	if (!space)
		return -1;
	*space++ = '\0';
	bracket = space + strcspn(space, "[");
	if ((size_t)(bracket - space) >= sizeof(f->name))
		return -1;
	memcpy(f->name, space, (size_t)(bracket - space));
	/* the whole line is shorter than the room for each part */
	strcpy(f->type, text);
	strcat(f->type, bracket);
	return 0;
}

static size_t parse_fields(const char *lines, struct pmc_source_field *fields,
			   size_t room)
{
	struct pmc_source_field f;
	const char *line, *next;
	size_t n = 0;

	for (line = lines; *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		/* the common fields of all tracepoints are not arguments of this one */
		if (parse_field(line, &f) || !strncmp(f.name, "common_", 7))
			continue;
		if (n < room)
			fields[n] = f;
		n++;
	}
	return n;
}

/* A walk to one tracepoint.  @call: it must be one of a system call */
struct by_id {
	struct walk	w;
	uint64_t	id;
	int		call;
	char		*lines;
	int		err;
};

static int is_event(void *arg, const char *event)
{
	struct by_id *b = arg;
	const char *end;
	uint64_t id;

	if (pmc_trace_id(b->w.tracefs, b->w.system, event, &id)) {
		/* it may have been this one */
		if (errno == EACCES || errno == EPERM)
			b->err = EACCES;
		return 0;
	}
	if (id != b->id)
		return 0;
	if (b->call && !call_of(b->w.system, event, &end))
		return 1;
	b->lines = pmc_trace_field_lines(b->w.tracefs, b->w.system, event);
	b->err = b->lines || (errno != EACCES && errno != EPERM) ? 0 : EACCES;
	return 1;
}

/* Finds the tracepoint by its number, not by the user's words; the caller frees */
static char *lines_of(const char *root, uint64_t id, int call)
{
	struct by_id b = {
		.w = { .root = root, .event = is_event }, .id = id, .call = call,
	};

	find_tracefs(&b.w);
	if (!*b.w.tracefs && (errno == EACCES || errno == EPERM))
		b.err = EACCES;
	walk_traces(&b.w);
	if (!b.lines)
		errno = b.err ? b.err : EINVAL;
	return b.lines;
}

/* Sets *size by dt(4)'s convention: see pmc_source_list() */
static int give(size_t n, size_t each, size_t *size)
{
	size_t had = *size;

	*size = n * each;
	if (had && had < *size)
		return fail_with(ENOSPC);
	return 0;
}

static int fields_at(const char *root, uint64_t id, int call,
		     struct pmc_source_field *fields, size_t *size)
{
	char *lines = lines_of(root, id, call);
	size_t n;

	if (!lines)
		return -1;
	n = parse_fields(lines, fields, *size / sizeof(*fields));
	free(lines);
	return give(n, sizeof(*fields), size);
}

static int is_number(void *arg, const struct pmc_source *s)
{
	return s->number == *(const uint32_t *)arg;
}

int pmc_source_fields_at(const char *root, uint32_t number,
			 struct pmc_source_field *fields, size_t *size)
{
	if (KIND(number) == TRACEPOINT || KIND(number) == SYSCALL)
		return fields_at(root, INDEX(number), KIND(number) == SYSCALL,
				 fields, size);
	if (each_at(root, is_number, &number))
		return give(0, sizeof(*fields), size);
	return fail_with(EINVAL);
}

/* ------------------------------------------------------------------------
 * The list
 */
struct list {
	const char	*root;
	struct pmc_source *list;
	size_t		room;
	size_t		n;
};

static int add(void *arg, const struct pmc_source *s)
{
	struct list *l = arg;
	size_t size = 0;

	if (l->n < l->room) {
		l->list[l->n] = *s;
		if (!pmc_source_fields_of(l->root, s, NULL, &size))
			l->list[l->n].nargs = (uint32_t)(size / sizeof(
						struct pmc_source_field));
	}
	l->n++;
	return 0;
}

int pmc_source_list_at(const char *root, struct pmc_source *list, size_t *size)
{
	struct list l = { root, list, *size / sizeof(*list), 0 };

	each_at(root, add, &l);
	return give(l.n, sizeof(*list), size);
}

/* Like pmc_source_fields() for a known event: does not search for it */
int pmc_source_fields_of(const char *root, const struct pmc_source *s,
			 struct pmc_source_field *fields, size_t *size)
{
	struct walk w = { .root = root };
	char event[sizeof(s->function) + 16], *lines;
	const char *system = s->function, *name = s->name;
	size_t n;

	if (KIND(s->number) != TRACEPOINT && KIND(s->number) != SYSCALL)
		return give(0, sizeof(*fields), size);
	if (KIND(s->number) == SYSCALL) {
		snprintf(event, sizeof(event), "sys_%s_%s",
			 strcmp(name, "entry") ? "exit" : "enter", s->function);
		system = "syscalls";
		name = event;
	}
	find_tracefs(&w);
	lines = pmc_trace_field_lines(w.tracefs, system, name);
	if (!lines)
		return -1;
	n = parse_fields(lines, fields, *size / sizeof(*fields));
	free(lines);
	return give(n, sizeof(*fields), size);
}

void pmc_source_spec(const struct pmc_source *s, char *buf, size_t len)
{
	switch (KIND(s->number)) {
	case NAMED:
		snprintf(buf, len, "%s", s->name);
		break;
	case PMU_EVENT: case PMU_TERM:
		snprintf(buf, len, "%s/%s/", s->function, s->name);
		break;
	default:
		snprintf(buf, len, "%s:%s:%s", s->provider, s->function,
			 s->name);
		break;
	}
}

/* ------------------------------------------------------------------------
 * Description of an event
 */
#define FIELDS_MAX	64

/* Appends the names of the event's fields */
static void describe_fields(const char *root, const struct pmc_source *s,
			    char *buf, size_t len)
{
	struct pmc_source_field f[FIELDS_MAX];
	size_t size = sizeof(f), i, used = 0;

	if (pmc_source_fields_of(root, s, f, &size) && errno != ENOSPC)
		return;
	for (i = 0; i < size / sizeof(f[0]) && i < FIELDS_MAX && used < len;
	     i++)
		used += (size_t)snprintf(buf + used, len - used, "%s%s",
					 i ? ", " : "", f[i].name);
}

void pmc_source_describe_at(const char *root, const struct pmc_source *s,
			    char *buf, size_t len)
{
	const char *text;

	if (!len)
		return;
	buf[0] = '\0';
	switch (KIND(s->number)) {
	case NAMED:
		text = pmc_event_description((int)INDEX(s->number));
		snprintf(buf, len, "%s", text ? text : "");
		break;
	case CLOCK:
		snprintf(buf, len, "samples at this or another rate, on %s",
			 INDEX(s->number) ? "one CPU" : "each CPU");
		break;
	case PMU_EVENT: case PMU_TERM:
		pmc_pmu_text(root, s->function, KIND(s->number) == PMU_TERM ?
			     "format" : "events", s->name, buf, len);
		break;
	case TRACEPOINT: case SYSCALL:
		describe_fields(root, s, buf, len);
		break;
	}
}

/* ------------------------------------------------------------------------
 * The events of this machine
 */
int pmc_source_each(int (*f)(void *arg, const struct pmc_source *source),
		    void *arg)
{
	return each_at("", f, arg);
}

int pmc_source_list(struct pmc_source *list, size_t *size)
{
	return pmc_source_list_at("", list, size);
}

int pmc_source_fields(uint32_t number, struct pmc_source_field *fields,
		      size_t *size)
{
	return pmc_source_fields_at("", number, fields, size);
}

void pmc_source_describe(const struct pmc_source *source, char *buf,
			 size_t len)
{
	pmc_source_describe_at("", source, buf, len);
}

int pmc_event_fields(const struct pmc_event_desc *desc,
		     struct pmc_source_field *fields, size_t *size)
{
	if (desc->type == PERF_TYPE_TRACEPOINT && desc->config)
		return fields_at("", desc->config, 0, fields, size);
	return fail_with(EINVAL);
}

char *pmc_event_format(const struct pmc_event_desc *desc)
{
	if (desc->type == PERF_TYPE_TRACEPOINT && desc->config)
		return lines_of("", desc->config, 0);
	errno = EINVAL;
	return NULL;
}
