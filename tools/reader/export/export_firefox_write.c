// SPDX-License-Identifier: BSD-2-Clause
/* Processed profile format of the Firefox Profiler, version 66. */
#include "base/json.h"
#include "base/order.h"
#include "export/export_firefox.h"

#define VERSION		66
#define BREAKPAD_NONE	"000000000000000000000000000000000"

enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

static const char meta_fixed[] =
	"\"processType\":0,\"version\":24,\"debug\":false,\"stackwalk\":1,"
	"\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
	"\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],"
	"\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},"
	"\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
	"\"threadCPUDelta\":\"ns\"},\"categories\":["
	"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}"
	"]";

/**
 * struct fx_writer - numbers used in the tables
 * @lib:   by object: number of the library + 1, 0: it is none
 * @order: threads, by process, the first thread of each one first
 * @names: see export_event_names()
 */
struct fx_writer {
	struct export *e;
	struct firefox *x;
	struct out *o;
	uint32_t *lib, nlibs;
	uint32_t *order, *names;
	bool more;
};

static void text(struct out *o, const char *s)
{
	json_text(o, s, strlen(s));
}

static void shown(struct fx_writer *w, uint32_t str)
{
	char *s = shown_whole(strtab_str(&w->e->a.p.str, str));

	text(w->o, s);
	free(s);
}

/* Number of a string in the file. */
static uint32_t string(struct fx_writer *w, uint32_t str)
{
	char *s = shown_whole(strtab_str(&w->e->a.p.str, str));
	uint32_t id = strtab_id(&w->x->str, s);

	free(s);
	return id;
}

static void column(struct fx_writer *w, const char *name)
{
	out_str(w->o, ",\"");
	out_str(w->o, name);
	out_str(w->o, "\":[");
	w->more = false;
}

static void next(struct fx_writer *w)
{
	if (w->more)
		out_char(w->o, ',');
	w->more = true;
}

static void number(struct fx_writer *w, int64_t v)
{
	next(w);
	out_s64(w->o, v);
}

static void end_column(struct fx_writer *w)
{
	out_char(w->o, ']');
}

/* A column of @n numbers: @value of each @i */
#define COLUMN(w, name, n, i, value)			\
	do {						\
		column(w, name);			\
		for (i = 0; i < (n); i++)		\
			number(w, value);		\
		end_column(w);				\
	} while (0)

/* A column of @n equal values. */
static void same_column(struct fx_writer *w, const char *name, const char *v,
			uint32_t n)
{
	column(w, name);
	while (n--) {
		next(w);
		out_str(w->o, v);
	}
	end_column(w);
}

static void table(struct fx_writer *w, const char *name, uint32_t n)
{
	out_str(w->o, "\"");
	out_str(w->o, name);
	out_str(w->o, "\":{\"length\":");
	out_u64(w->o, n);
}

static void end_table(struct fx_writer *w, const char *after)
{
	out_char(w->o, '}');
	out_str(w->o, after);
}

static bool is_lib(enum obj_kind kind)
{
	return kind == OBJ_FILE || kind == OBJ_VDSO || obj_is_kernel(kind);
}

static void find_libs(struct fx_writer *w)
{
	const struct profile *p = &w->e->a.p;
	uint32_t i, obj;

	w->lib = xcalloc((size_t)p->objs.n + 1, sizeof(*w->lib));
	for (i = 0; i < w->x->nframes; i++) {
		obj = p->funcs.func[w->x->frame[i].func].obj;
		if (is_lib(p->objs.obj[obj].kind))
			w->lib[obj] = 1;
	}
	for (i = 0; i < p->objs.n; i++)
		if (w->lib[i])
			w->lib[i] = ++w->nlibs;
}

/* Writes a build-id as a GUID: the first three numbers are little-endian. */
static void put_breakpad(struct fx_writer *w, const struct buildid *b)
{
	static const unsigned char at[16] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
	};
	unsigned int i;

	if (!b) {
		out_str(w->o, BREAKPAD_NONE);
		return;
	}
	for (i = 0; i < 16; i++)
		out_printf(w->o, "%02X", at[i] < b->len ? b->id[at[i]] : 0);
	out_char(w->o, '0');
}

static void put_lib(struct fx_writer *w, uint32_t obj)
{
	struct profile *p = &w->e->a.p;
	const struct object *o = &p->objs.obj[obj];
	const struct buildid *b = buildids_of(&p->ids, &p->str, o);

	next(w);
	out_str(w->o, "{\"arch\":null,\"name\":");
	shown(w, o->brief);
	out_str(w->o, ",\"path\":");
	shown(w, o->path);
	out_str(w->o, ",\"debugName\":");
	shown(w, o->brief);
	out_str(w->o, ",\"debugPath\":");
	shown(w, o->path);
	out_str(w->o, ",\"breakpadId\":\"");
	put_breakpad(w, b);
	out_str(w->o, "\",\"codeId\":");
	if (b) {
		out_char(w->o, '"');
		out_hexbytes(w->o, b->id, b->len);
		out_char(w->o, '"');
	} else {
		out_str(w->o, "null");
	}
	out_char(w->o, '}');
}

static void put_libs(struct fx_writer *w)
{
	uint32_t i;

	out_str(w->o, "\"libs\":[");
	w->more = false;
	for (i = 0; i < w->e->a.p.objs.n; i++)
		if (w->lib[i])
			put_lib(w, i);
	out_str(w->o, "],\n");
}

static void put_stacks(struct fx_writer *w)
{
	const struct firefox *x = w->x;
	uint32_t i;

	table(w, "stackTable", x->nstacks);
	COLUMN(w, "frame", x->nstacks, i, x->stack[i].frame);
	/* distance to the stack of the callers; 0: none */
	COLUMN(w, "prefixOffset", x->nstacks, i,
	       x->stack[i].prefix ? i + 1 - x->stack[i].prefix : 0);
	end_table(w, ",\n");
}

/* Address in the library, -1 if unknown. */
static int64_t address(struct fx_writer *w, const struct fx_frame *f)
{
	const struct profile *p = &w->e->a.p;
	const struct frame *frame = &p->frames.frame[f->frame];
	struct place place;

	switch (p->objs.obj[frame->obj].kind) {
	case OBJ_KERNEL:
		if (!p->log.ref_addr || frame->addr < p->log.ref_addr ||
		    frame->addr - p->log.ref_addr > UINT32_MAX)
			return -1;
		return (int64_t)(frame->addr - p->log.ref_addr);
	case OBJ_FILE:
	case OBJ_VDSO:
		resolver_place(&w->e->r, p, f->frame, &place);
		return place.addr <= UINT32_MAX ? (int64_t)place.addr : -1;
	default:
		return -1;
	}
}

static void put_frames(struct fx_writer *w)
{
	const struct firefox *x = w->x;
	uint32_t i;

	table(w, "frameTable", x->nframes);
	COLUMN(w, "address", x->nframes, i, address(w, &x->frame[i]));
	COLUMN(w, "inlineDepth", x->nframes, i, x->frame[i].depth);
	COLUMN(w, "category", x->nframes, i,
	       obj_is_kernel(func_kind(&w->e->a.p, x->frame[i].func)) ?
	       CATEGORY_KERNEL : CATEGORY_USER);
	same_column(w, "subcategory", "0", x->nframes);
	COLUMN(w, "func", x->nframes, i, x->frame[i].func);
	same_column(w, "nativeSymbol", "null", x->nframes);
	same_column(w, "innerWindowID", "0", x->nframes);
	column(w, "line");
	for (i = 0; i < x->nframes; i++) {
		next(w);
		if (x->frame[i].line)
			out_u64(w->o, x->frame[i].line);
		else
			out_str(w->o, "null");
	}
	end_column(w);
	same_column(w, "column", "null", x->nframes);
	same_column(w, "originalLocation", "null", x->nframes);
	end_table(w, ",\n");
}

static void put_funcs(struct fx_writer *w)
{
	struct profile *p = &w->e->a.p;
	uint32_t n = p->funcs.n, i;

	table(w, "funcTable", n);
	COLUMN(w, "name", n, i, string(w, func_shown(p, i, w->e->a.demangle)));
	same_column(w, "isJS", "false", n);
	same_column(w, "relevantForJS", "false", n);
	COLUMN(w, "resource", n, i, (int64_t)w->lib[p->funcs.func[i].obj] - 1);
	same_column(w, "source", "null", n);
	same_column(w, "lineNumber", "null", n);
	same_column(w, "columnNumber", "null", n);
	same_column(w, "originalLocation", "null", n);
	end_table(w, ",\n");
}

/* Writes one for each library, with the same number. */
static void put_resources(struct fx_writer *w)
{
	const struct profile *p = &w->e->a.p;
	uint32_t i;

	table(w, "resourceTable", w->nlibs);
	COLUMN(w, "lib", w->nlibs, i, i);
	column(w, "name");
	for (i = 0; i < p->objs.n; i++)
		if (w->lib[i])
			number(w, string(w, p->objs.obj[i].brief));
	end_column(w);
	same_column(w, "host", "null", w->nlibs);
	same_column(w, "type", "1", w->nlibs);
	end_table(w, ",\n");
}

static void put_strings(struct fx_writer *w)
{
	const struct strtab *str = &w->x->str;
	uint32_t i;

	out_str(w->o, "\"stringArray\":[");
	for (i = 0; i < str->n; i++) {
		out_str(w->o, i ? ",\n" : "\n");
		text(w->o, strtab_str(str, i));
	}
	out_char(w->o, ']');
}

static void put_shared(struct fx_writer *w)
{
	out_str(w->o, "\"shared\":{\n");
	put_stacks(w);
	put_frames(w);
	put_funcs(w);
	put_resources(w);
	out_str(w->o, "\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
		"\"address\":[],\"name\":[],\"functionSize\":[]},\n"
		"\"sources\":{\"length\":0,\"id\":[],\"filename\":[],"
		"\"startLine\":[],\"startColumn\":[],\"sourceMapURL\":[],"
		"\"content\":[]},\n\"sourceLocationTable\":{\"length\":0,"
		"\"source\":[],\"line\":[],\"column\":[]},\n");
	put_strings(w);
	out_str(w->o, "},\n");
}

static void see_stack(void *ctx, const struct spooled *s)
{
	number(ctx, s->value);
}

static void see_time(void *ctx, const struct spooled *s)
{
	struct fx_writer *w = ctx;

	next(w);
	out_decimal(w->o, s->time, 6);
}

static void see_weight(void *ctx, const struct spooled *s)
{
	struct fx_writer *w = ctx;

	next(w);
	out_u64(w->o, w->x->weight[s->value]);
}

static void put_weights(struct fx_writer *w, uint32_t id)
{
	if (!w->x->weights.seq[id].n) {
		out_str(w->o, ",\"weight\":null");
		return;
	}
	column(w, "weight");
	spool_read(&w->x->weights, id, see_weight, w);
	end_column(w);
}

static void put_samples(struct fx_writer *w, uint32_t id)
{
	table(w, "samples", (uint32_t)w->x->spool.seq[id].n);
	out_str(w->o, ",\"weightType\":\"samples\"");
	put_weights(w, id);
	column(w, "stack");
	spool_read(&w->x->spool, id, see_stack, w);
	end_column(w);
	column(w, "time");
	spool_read(&w->x->spool, id, see_time, w);
	end_column(w);
	end_table(w, ",");
}

/* The name of a thread: its command; with several events, also the event. */
static void put_thread_name(struct fx_writer *w, const struct fx_thread *t)
{
	const struct events *events = &w->e->a.p.events;
	char comm[SHOWN_MAX], event[SHOWN_MAX], *s;
	uint32_t i, n = 0;

	for (i = 0; i < events->n; i++)
		n += w->e->a.use[i] && events->event[i].samples;
	export_shown(w->e, comm, t->comm);
	export_shown(w->e, event, w->names[t->event]);
	s = n > 1 ? xasprintf("%s (%s)", comm, event) : xstrdup(comm);
	text(w->o, s);
	free(s);
}

static void put_thread(struct fx_writer *w, uint32_t id)
{
	const struct fx_thread *t = &w->x->thread[id];

	out_str(w->o, "{\"name\":");
	put_thread_name(w, t);
	out_str(w->o, t->pid == t->tid ? ",\"isMainThread\":true" :
					 ",\"isMainThread\":false");
	out_str(w->o, ",\"processType\":\"default\",\"processName\":");
	shown(w, t->comm);
	out_str(w->o, ",\"processStartupTime\":0,\"processShutdownTime\":null,"
		"\"registerTime\":");
	out_decimal(w->o, t->first, 6);
	out_str(w->o, ",\"unregisterTime\":null,\"pausedRanges\":[],"
		"\"pid\":\"");
	out_u64(w->o, t->pid);
	out_str(w->o, "\",\"tid\":");
	out_u64(w->o, t->tid);
	out_str(w->o, ",\n");
	put_samples(w, id);
	out_str(w->o, "\n\"markers\":{\"length\":0,\"data\":[],\"name\":[],"
		"\"startTime\":[],\"endTime\":[],\"phase\":[],"
		"\"category\":[]}}");
}

DEFINE_ID_ORDER(by_process, struct fx_thread,
	     ORDER(a->pid, b->pid) ?: ORDER(b->tid == b->pid, a->tid == a->pid) ?:
	     ORDER(a->tid, b->tid) ?: ORDER(a->event, b->event))

static void order_threads(struct fx_writer *w)
{
	uint32_t n = w->x->nthreads, i;

	w->order = xcalloc((size_t)n + 1, sizeof(*w->order));
	for (i = 0; i < n; i++)
		w->order[i] = i;
	qsort_r(w->order, n, sizeof(*w->order), by_process, w->x->thread);
}

static void put_threads(struct fx_writer *w)
{
	uint32_t i;

	out_str(w->o, "\"threads\":[");
	for (i = 0; i < w->x->nthreads; i++) {
		out_str(w->o, i ? ",\n" : "\n");
		put_thread(w, w->order[i]);
	}
	out_str(w->o, "],\n");
}

static uint32_t busiest(const struct fx_writer *w)
{
	const struct spool_seq *seq = w->x->spool.seq;
	uint32_t best = 0, i;

	for (i = 1; i < w->x->nthreads; i++)
		if (seq[w->order[i]].n > seq[w->order[best]].n)
			best = i;
	return best;
}

/* Distance of samples in ns for a clock; for other events any number will do. */
static int64_t interval(const struct fx_writer *w)
{
	const struct events *t = &w->e->a.p.events;
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (w->e->a.use[i] && event_is_clock(&t->event[i]) &&
		    !event_is_freq(&t->event[i]) &&
		    t->event[i].rate && t->event[i].rate < 1000000000000)
			return (int64_t)t->event[i].rate;
	return 1000000;
}

static void put_meta(struct fx_writer *w)
{
	const struct log_facts *log = &w->e->a.p.log;
	int64_t begin = export_unix_ns(w->e, log->begin);

	out_printf(w->o, "{\"meta\":{\"preprocessedProfileVersion\":%d,"
		   "\"interval\":", VERSION);
	out_decimal(w->o, interval(w), 6);
	out_str(w->o, ",\"startTime\":");
	out_decimal(w->o, begin, 6);
	out_str(w->o, ",\"product\":");
	text(w->o, w->e->a.path);
	out_str(w->o, ",\"importedFrom\":\"pmclog " TOOLS_VERSION "\",");
	if (log->release) {
		char *s = xasprintf("Linux %s", log->release);
		char *clean = shown_whole(s);

		out_str(w->o, "\"oscpu\":");
		text(w->o, clean);
		out_char(w->o, ',');
		free(clean);
		free(s);
	}
	if (log->ncpu)
		out_printf(w->o, "\"logicalCPUs\":%u,", log->ncpu);
	if (w->x->nthreads)
		out_printf(w->o, "\"initialSelectedThreads\":[%u],",
			   busiest(w));
	out_str(w->o, meta_fixed);
	out_str(w->o, "},\n");
}

void firefox_write(struct export *e, struct firefox *x)
{
	struct fx_writer w = { .e = e, .x = x, .o = e->out };

	w.names = export_event_names(e);
	order_threads(&w);
	find_libs(&w);
	put_meta(&w);
	put_libs(&w);
	put_shared(&w);
	put_threads(&w);
	out_str(w.o, "\"pages\":[],\"counters\":[],\"profilerOverhead\":[]}\n");
	free(w.names);
	free(w.order);
	free(w.lib);
}
