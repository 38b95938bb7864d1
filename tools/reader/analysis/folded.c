// SPDX-License-Identifier: BSD-2-Clause
/* A line for each distinct stack, in the format of flame graph tools. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/folded.h"
#include "analysis/shown.h"
#include "profile/calltree.h"

/**
 * struct folding - the output of lines
 * @line: the path to the current node
 */
struct folding {
	struct analysis *a;
	struct calltree t;
	struct out *out;
	char *line;
	size_t len, cap;
};

/* a line, or all lines that begin alike; what they are sorted by */
struct entry {
	uint32_t node;
	bool self;		/* the line ends at this node */
	const char *name;
	size_t len;		/* of the name */
	char tail[32];		/* the text after the name */
};

static void replace(char *s, char from, char to)
{
	for (; *s; s++)
		if (*s == from)
			*s = to;
}

/* Names as by stackcollapse-perf.pl: with the pid, or pid and tid; and the CPU. */
static uint32_t comm_label(void *ctx, const struct chaintop *top)
{
	struct profile *p = ctx;
	const struct group *g = &p->groups.group[top->group];
	char buf[SHOWN_MAX + 64];

	shown_str(buf, &p->str, top->comm);
	replace(buf, ' ', '_');
	replace(buf, ';', ':');
	if (p->groups.by & BY_TID)
		snprintf(buf + strlen(buf), 32, "-%u/%u", g->pid, g->tid);
	else if (p->groups.by & BY_PID)
		snprintf(buf + strlen(buf), 32, "-%u", g->pid);
	if (p->groups.by & BY_CPU)
		snprintf(buf + strlen(buf), 32, ",_CPU_%u", g->cpu);
	return strtab_id(&p->str, buf);
}

static uint32_t func_label(struct profile *p, uint32_t func, bool demangle)
{
	enum obj_kind kind = func_kind(p, func);
	const char *mark = obj_is_kernel(kind) ? "_[k]" :
			   kind == OBJ_JIT && p->funcs.func[func].name ?
			   "_[j]" : "";
	uint32_t shown = func_shown(p, func, demangle);
	char buf[SHOWN_MAX + 8];

	snprintf(buf, sizeof(buf), "%s%s", strtab_str(&p->str, shown),
		 p->funcs.func[func].inlined ? "_[i]" : mark);
	replace(buf, ';', ':');
	return strtab_id(&p->str, buf);
}

static uint32_t *func_labels(struct profile *p, bool demangle)
{
	uint32_t *label = xcalloc((size_t)p->funcs.n + 1, sizeof(*label)), i;

	for (i = 0; i < p->funcs.n; i++)
		label[i] = func_label(p, i, demangle);
	return label;
}

static void build(struct folding *f, enum unit unit)
{
	struct profile *p = &f->a->p;
	uint32_t *label = func_labels(p, f->a->demangle), *at, i;
	struct calllabels labels = { label, comm_label, p };

	calltree_init(&f->t);
	at = calltree_chains(&f->t, p, f->a->use, &labels);
	for (i = 0; i < p->chains.n; i++) {
		const struct chain *c = &p->chains.chain[i];

		if (f->a->use[c->event])
			f->t.node[at[i]].self += analysis_count(p, c, unit);
	}
	free(at);
	free(label);
}

/* Byte @i of an entry's text. */
static unsigned char at(const struct entry *e, size_t i)
{
	return (unsigned char)(i < e->len ? e->name[i] : e->tail[i - e->len]);
}

/* In the order that sort(1) would give the lines. */
static int by_line(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	size_t i = 0;

	while (at(a, i) && at(a, i) == at(b, i))
		i++;
	return (int)at(a, i) - (int)at(b, i);
}

static void set_entry(struct entry *e, uint32_t node, const char *name,
		      uint64_t self)
{
	e->node = node;
	e->self = self != 0;
	e->name = name;
	e->len = strlen(name);
	if (self)
		snprintf(e->tail, sizeof(e->tail), " %llu",
			 (unsigned long long)self);
	else
		strcpy(e->tail, ";");
}

static struct entry *entries(struct folding *f, uint32_t node, size_t *n)
{
	const struct callnode *all = f->t.node;
	struct entry *e = NULL;
	size_t cap = 0;
	uint32_t i;

	*n = 0;
	for (i = all[node].child; i; i = all[i].next) {
		const char *name = strtab_str(&f->a->p.str, all[i].label);

		if (all[i].self) {
			GROW(e, *n, cap);
			set_entry(&e[(*n)++], i, name, all[i].self);
		}
		if (all[i].child) {
			GROW(e, *n, cap);
			set_entry(&e[(*n)++], i, name, 0);
		}
	}
	if (*n)
		qsort(e, *n, sizeof(*e), by_line);
	return e;
}

static void append(struct folding *f, const char *s)
{
	size_t n = strlen(s);

	while (f->cap - f->len < n) {
		f->cap = f->cap ? 2 * f->cap : 4096;
		f->line = xreallocarray(f->line, f->cap, 1);
	}
	memcpy(f->line + f->len, s, n);
	f->len += n;
}

static void print(struct folding *f, uint32_t node)
{
	size_t n, i, len = f->len;
	struct entry *e = entries(f, node, &n);

	for (i = 0; i < n; i++) {
		append(f, e[i].name);
		append(f, e[i].tail);
		if (e[i].self) {
			out_bytes(f->out, f->line, f->len);
			out_char(f->out, '\n');
		} else {
			print(f, e[i].node);
		}
		f->len = len;
	}
	free(e);
}

void fold_write(struct analysis *a, struct out *out, enum unit unit)
{
	struct folding f = { .a = a, .out = out };

	if (unit == UNIT_WEIGHT)
		analysis_mix(a);
	build(&f, unit);
	print(&f, CALLTREE_ROOT);
	calltree_free(&f.t);
	free(f.line);
}
