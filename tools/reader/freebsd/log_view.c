/* SPDX-License-Identifier: BSD-2-Clause */
/* Common code of the analyses of a log: files, names, addresses, lines. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "analysis/quality.h"
#include "analysis/shown.h"
#include "base/numbers.h"
#include "base/samefile.h"
#include "base/say.h"
#include "freebsd/log_view.h"

_Static_assert(NAME_MAX_SHOWN >= SHOWN_MAX, "names are made by shown_name()");

#define LABEL_PLACE	0x80000000U	/* a frame, not a function */

/* -k is a file with symbols, or a directory that has one under a usual name. */
static char *kernel_file(const char *dir)
{
	static const char *const names[] = {
		"vmlinux", "kallsyms", "System.map", "kernel",
	};
	size_t i;

	if (!dir)
		return NULL;
	if (!path_is_directory(dir))
		return xstrdup(dir);
	for (i = 0; i < nitems(names); i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		if (!access(path, R_OK))
			return path;
		free(path);
	}
	/* opening it will fail and report the name */
	return xasprintf("%s/%s", dir, names[0]);
}

void log_init(struct log *l, const struct reading *o)
{
	const char *path = o->path;

	hash_be_secret();
	memset(l, 0, sizeof(*l));
	l->o = o;
	l->root.dir = o->root;
	l->kernel = kernel_file(o->kernel_dir);
	l->r.kernel = l->kernel;
	if (input_is_file(path))
		l->r.log_path = path;
	profile_init(&l->p, &l->root);
}

int log_resolve(struct log *l)
{
	if (!resolver_update(&l->r, &l->p))
		return EX_NOINPUT;
	free(l->same);
	l->same = l->o->top ? funcs_same(&l->p) : funcs_same_by_path(&l->p);
	return 0;
}

void log_free(struct log *l)
{
	uint32_t i;

	for (i = 0; i < l->nlines; i++) {
		if (l->lines[i])
			lines_close(l->lines[i]);
		free(l->lines[i]);
	}
	free(l->lines);
	free(l->same);
	free(l->kernel);
	resolver_close(&l->r);
	profile_free(&l->p);
}

uint32_t log_depth(const struct log *l, const struct chain *c)
{
	uint32_t depth = l->o->depth;

	return depth && depth < c->n ? depth : c->n;
}

static int in_kernel(const struct log *l, uint32_t frame)
{
	return obj_is_kernel(l->p.objs.obj[l->p.frames.frame[frame].obj].kind);
}

int log_is_return(const struct log *l, const struct chain *c, uint32_t i)
{
	const uint32_t *frames = chain_frames(&l->p.chains, c);

	if (!i)
		return 0;
	return in_kernel(l, frames[i]) || !in_kernel(l, frames[i - 1]);
}

uint32_t log_function(const struct log *l, uint32_t frame)
{
	uint32_t func = l->p.frames.frame[frame].func;

	if (l->o->no_symbols || !func_named(&l->p.funcs.func[func]))
		return LABEL_PLACE | frame;
	return l->same[func];
}

uint32_t log_label(const struct log *l, const struct chain *c, uint32_t i)
{
	uint32_t frame = chain_frames(&l->p.chains, c)[i];

	if (l->o->offsets && !i)
		return LABEL_PLACE | frame;
	return log_function(l, frame);
}

uint32_t log_label_image(const struct log *l, uint32_t label)
{
	if (label & LABEL_PLACE)
		label = l->p.frames.frame[label & ~LABEL_PLACE].func;
	return l->p.funcs.func[label].obj;
}

/* Parsers end a name at the first blank: replaces them. */
static void one_word(char *s)
{
	for (; *s; s++)
		if (*s == ' ')
			*s = '_';
}

static void function_name(const struct log *l, uint32_t func,
			  char name[NAME_MAX_SHOWN])
{
	const struct func *f = &l->p.funcs.func[func];

	if (!f->name) {
		snprintf(name, NAME_MAX_SHOWN, "%#llx",
			 (unsigned long long)f->entry);
		return;
	}
	shown_str(name, &l->p.str, f->name);
	one_word(name);
}

static void place_name(struct log *l, uint32_t frame, char name[NAME_MAX_SHOWN])
{
	const struct frame *f = &l->p.frames.frame[frame];
	struct place at;
	size_t len;

	resolver_place(&l->r, &l->p, frame, &at);
	if (l->o->no_symbols || !func_named(&l->p.funcs.func[f->func])) {
		/* addresses in memory without a file mean nothing */
		if (at.addr)
			snprintf(name, NAME_MAX_SHOWN, "%#llx",
				 (unsigned long long)at.addr);
		else
			strcpy(name, "[unknown]");
		return;
	}
	function_name(l, f->func, name);
	len = strlen(name);
	snprintf(name + len, NAME_MAX_SHOWN - len, "+%#llx",
		 (unsigned long long)(at.addr - at.start));
}

const char *log_name(struct log *l, uint32_t label, char name[NAME_MAX_SHOWN])
{
	if (label & LABEL_PLACE)
		place_name(l, label & ~LABEL_PLACE, name);
	else
		function_name(l, label, name);
	return name;
}

const char *log_image(const struct log *l, uint32_t obj, char path[NAME_MAX_SHOWN])
{
	const struct object *o = &l->p.objs.obj[obj];

	/* a module is shown by name, not by path */
	return shown_str(path, &l->p.str, o->kind == OBJ_MODULE ? o->brief : o->path);
}

/* Opens the file with an image's lines, if there is one. */
static void open_lines(struct log *l, uint32_t obj)
{
	const struct object *o = &l->p.objs.obj[obj];
	struct objfile f;

	if (o->kind == OBJ_KERNEL && l->r.ready && l->r.k.source)
		lines_open(l->lines[obj], NULL, l->r.k.source);
	/* only the file that ran has segments */
	if (o->kind != OBJ_FILE || obj >= l->r.n || !l->r.open[obj] ||
	    !l->r.syms[obj].segs.n)
		return;
	if (objsyms_file(&f, &l->p, obj))
		lines_open(l->lines[obj], &f.root, f.path);
	free(f.path);
}

static struct lines *lines_of(struct log *l, uint32_t obj)
{
	l->lines = xgrow_zero(l->lines, &l->nlines, obj, 16, sizeof(*l->lines));
	if (!l->lines[obj]) {
		l->lines[obj] = xcalloc(1, sizeof(**l->lines));
		l->lines[obj]->im.fd = -1;
		open_lines(l, obj);
	}
	return l->lines[obj];
}

int log_line(struct log *l, const struct place *at, const char **file,
	     int *line)
{
	struct lines *lines = lines_of(l, at->image);
	const char *name = NULL;
	int number = 0;

	if (!lines->dw || !lines_find(lines, at->addr, &name, &number))
		return 0;
	*file = name;
	*line = number;
	return 1;
}

/* Counts samples at unmapped addresses, and those without a function. */
static void count_nameless(const struct log *l, uint64_t *unmapped,
			   uint64_t *nameless, uint64_t *dubious)
{
	uint32_t i, j;

	for (i = 0; i < l->p.chains.n; i++) {
		const struct chain *c = &l->p.chains.chain[i];
		const uint32_t *frames = chain_frames(&l->p.chains, c);

		for (j = 0; j < c->n; j++) {
			const struct frame *f =
				&l->p.frames.frame[frames[j]];

			if (f->obj == OBJ_ID_UNKNOWN)
				*(j ? dubious : unmapped) += c->count;
			else if (!j && !l->p.funcs.func[f->func].name)
				*nameless += c->count;
		}
	}
}

static void tell_unresolved(const struct log *l)
{
	uint64_t unmapped = 0, nameless = 0, dubious = 0;
	uint32_t i;

	count_nameless(l, &unmapped, &nameless, &dubious);
	warn_line("%llu %s where nothing was mapped, %llu without a "
		  "function, %llu %s where nothing was mapped",
		  (unsigned long long)unmapped,
		  plural(unmapped, "sample", "samples"),
		  (unsigned long long)nameless, (unsigned long long)dubious,
		  plural(dubious, "caller", "callers"));
	for (i = OBJ_ID_KERNEL + 1; i < l->p.objs.n; i++) {
		char path[NAME_MAX_SHOWN];

		if (!l->p.objs.obj[i].why)
			continue;
		warn_line("%s %s", log_image(l, i, path), l->p.objs.obj[i].why);
	}
	if (l->r.ready) {
		char from[NAME_MAX_SHOWN];

		/* the path may contain the log's release: make it safe to show */
		warn_line("kernel symbols: %s", shown_name(from, l->r.k.source ?
			  l->r.k.source : l->r.k.why, false));
	}
}

static uint64_t lost_samples(const struct log *l)
{
	uint64_t lost = 0;
	uint32_t i;

	for (i = 0; i < l->p.events.n; i++)
		lost += event_lost(&l->p.events.event[i]);
	return lost;
}

static void warn_text(char *text)
{
	if (text)
		warn_line("%s", text);
	free(text);
}

void log_warn(const struct log *l)
{
	uint64_t lost = lost_samples(l);

	if (l->o->quiet)
		return;
	warn_text(no_end_text(&l->p.log));
	warn_text(procs_lost_text(&l->p));
	warn_text(unknown_text(&l->p.log));
	warn_text(repeated_text(&l->p.log));
	warn_text(unwritten_text(&l->p.log));
	if (lost)
		warn_line("%llu %s lost", (unsigned long long)lost,
			  plural(lost, "sample was", "samples were"));
	if (l->o->verbose)
		tell_unresolved(l);
}
