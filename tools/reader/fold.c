// SPDX-License-Identifier: BSD-2-Clause
/* pmclog fold: a line for each distinct stack, as flame graph tools read it. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis.h"
#include "calltree.h"
#include "out.h"
#include "reader.h"
#include "shown.h"

static const char usage[] =
	"usage: pmclog fold [OPTION]... FILE\n"
	"\n"
	"Prints each distinct stack on a line: the command, the functions\n"
	"from the outermost to the innermost, joined by semicolons, and the\n"
	"number of samples.  Kernel functions end in _[k].\n"
	"\n"
	ANALYSIS_HELP;

static const struct option options[] = {
	ANALYSIS_LONG,
	{ NULL, 0, NULL, 0 },
};

/**
 * struct folding - lines on their way out
 * @line: what leads to the present node
 */
struct folding {
	struct analysis a;
	struct calltree t;
	struct out *out;
	char *line;
	size_t len, cap;
};

/* a line, or all lines that begin alike; what they are sorted by */
struct entry {
	uint32_t node;
	bool self;		/* the line that ends here */
	const char *name;
	size_t len;		/* of the name */
	char tail[32];		/* what follows it */
};

static void replace(char *s, char from, char to)
{
	for (; *s; s++)
		if (*s == from)
			*s = to;
}

static uint32_t comm_label(void *ctx, uint32_t name)
{
	struct folding *f = ctx;
	char buf[SHOWN_MAX];

	shown_name(buf, strtab_str(&f->a.p.str, name), false);
	replace(buf, ' ', '_');
	replace(buf, ';', ':');
	return strtab_id(&f->a.p.str, buf);
}

static uint32_t func_label(struct profile *p, uint32_t func, bool demangle)
{
	bool kernel = obj_is_kernel(func_kind(p, func));
	uint32_t shown = func_shown(p, func, demangle);
	char buf[SHOWN_MAX + 8];

	snprintf(buf, sizeof(buf), "%s%s", strtab_str(&p->str, shown),
		 kernel ? "_[k]" : "");
	replace(buf, ';', ':');
	return strtab_id(&p->str, buf);
}

static void build(struct folding *f)
{
	struct profile *p = &f->a.p;
	uint32_t *func = xcalloc((size_t)p->funcs.n + 1, sizeof(*func)), i;
	struct calllabels labels = {
		.func = func, .comm = comm_label, .ctx = f,
	};

	for (i = 0; i < p->funcs.n; i++)
		func[i] = func_label(p, i, f->a.demangle);
	calltree_build(&f->t, p, f->a.use, &labels);
	free(func);
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
		const char *name = strtab_str(&f->a.p.str, all[i].label);

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

static int parse(struct folding *f, int argc, char **argv)
{
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, ANALYSIS_SHORT, options,
				  NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return READER_OK;
		}
		if (!analysis_option(&f->a, opt, optarg))
			return reader_usage("try: pmclog fold --help\n");
	}
	if (!analysis_argument(&f->a, "fold", argc, argv))
		return READER_USAGE;
	return -1;
}

int cmd_fold(int argc, char **argv)
{
	struct folding f = { .out = out_stdout() };
	int ret, bad;

	analysis_init(&f.a);
	ret = parse(&f, argc, argv);
	if (ret >= 0)
		return ret;
	ret = analysis_run(&f.a);
	if (ret == READER_OK) {
		analysis_one_event(&f.a);
		build(&f);
		print(&f, CALLTREE_ROOT);
		calltree_free(&f.t);
		free(f.line);
		ret = out_finish(f.out);
	}
	bad = analysis_close(&f.a);
	return ret ? ret : bad;
}
