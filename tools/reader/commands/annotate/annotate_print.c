// SPDX-License-Identifier: BSD-2-Clause
/* Prints functions as instructions, with source lines and samples. */
#include <endian.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analysis/objsyms.h"
#include "analysis/shown.h"
#include "base/numbers.h"
#include "commands/annotate/annotate.h"
#include "commands/annotate/annotate_jit.h"
#include "elf/disasm.h"
#include "elf/lines.h"
#include "profile/here.h"

#define CODE_MAX	(4 << 20)	/* of one function */
#define TAB		8
#define HOT		5.0		/* percent of the function's samples */
#define WARM		0.5

/**
 * struct listing - a function that is being printed
 * @spot: the next one
 * @path: path of the file, and the root directory it is below
 * @jit:  its code, if it was made at run time
 * @moved: added to an address of the file to get the run-time address shown
 * @file, @line: of the previous instruction
 */
struct listing {
	struct annotate *n;
	const struct body *b;
	uint32_t spot;
	char *path;
	struct image_root root;
	struct image im;
	struct disasm d;
	struct objsyms syms;
	struct lines lines;
	struct jitbytes jit;
	uint64_t moved;
	const char *file;
	int line;
	bool kernel;
};

static void put(struct listing *l, const char *s)
{
	out_str(l->n->out, s);
}

/* Of the code of a JIT, the process, too */
static const char *image(struct listing *l, char buf[SHOWN_MAX])
{
	const struct profile *p = &l->n->a.p;
	const struct object *o = &p->objs.obj[l->b->obj];

	return shown_str(buf, &p->str, o->kind == OBJ_JIT ? o->path : o->brief);
}

static void put_title(struct listing *l)
{
	struct annotate *n = l->n;
	struct profile *p = &n->a.p;
	char buf[SHOWN_MAX], num[GROUPED_MAX];
	uint32_t i;

	out_char(n->out, '\n');
	put(l, strtab_str(&p->str, func_shown(p, l->b->func, n->a.demangle)));
	put(l, " in ");
	put(l, image(l, buf));
	out_char(n->out, '\n');
	for (i = 0; i < n->nevents; i++) {
		const struct event *e = &p->events.event[n->event[i]];

		put(l, "  ");
		put(l, shown_str(buf, &p->str, e->name));
		out_printf(n->out, ": %s %s, ",
			   grouped(num, l->b->sum.count[i]),
			   plural(l->b->sum.count[i], "sample", "samples"));
		/* the shares are of what the samples stand for */
		if (event_is_freq(e))
			out_printf(n->out, "%s %s, ",
				   grouped(num, l->b->sum.weight[i]),
				   plural(l->b->sum.weight[i], "event",
					  "events"));
		out_printf(n->out, "%.2f %% of all%s\n",
			   percent(l->b->sum.weight[i], n->all[i]),
			   event_is_freq(e) ? " events" : "");
	}
	out_char(n->out, '\n');
}

/* Prints what each column counts. */
static void put_head(struct listing *l)
{
	const struct profile *p = &l->n->a.p;
	char buf[SHOWN_MAX];
	uint32_t i;

	for (i = 0; i < l->n->nevents; i++) {
		uint32_t name = p->events.event[l->n->event[i]].name;

		out_printf(l->n->out, "%17.16s ", shown_str(buf, &p->str, name));
	}
	put(l, "|\n");
}

static void put_blank(struct listing *l)
{
	out_printf(l->n->out, "%*s|", (int)l->n->nevents * 18, "");
}

static void put_text(struct listing *l, const char *s, size_t len)
{
	char buf[SHOWN_MAX], shown[SHOWN_MAX];
	size_t k = 0;

	for (; len && k + TAB < sizeof(buf); len--, s++) {
		if (*s != '\t') {
			buf[k++] = *s;
			continue;
		}
		do {
			buf[k++] = ' ';
		} while (k % TAB);
	}
	buf[k] = '\0';
	put(l, shown_name(shown, buf, false));
}

static bool line_of(struct listing *l, uint64_t addr, const char **file,
		    int *line)
{
	const struct jitline *jit;

	if (l->lines.dw)
		return lines_find(&l->lines, addr, file, line);
	jit = jitlines_find(&l->jit.lines, addr);
	if (!jit)
		return false;
	*file = jit->file;
	*line = (int)jit->line;
	return true;
}

/*
 * Is the program below another root directory, as in an archive, or the kernel a file
 * beside the log?  It belongs to whoever put it there then.
 */
static bool is_copy(const struct listing *l)
{
	return has_root(&l->n->a.p) || l->root.pid || (l->kernel && !l->n->a.kernel);
}

/*
 * The owner of the program's file, or of the jitdump; -1: there is no file, or it is a
 * copy, whose owner need not be the author.
 */
static uid_t owner_of(const struct listing *l)
{
	struct stat st;

	if (is_copy(l))
		return (uid_t)-1;
	if (l->jit.code)
		return l->jit.owner;
	return l->im.fd < 0 || fstat(l->im.fd, &st) ? (uid_t)-1 : st.st_uid;
}

/* Prints the source line of an instruction if it differs from the previous one. */
static void put_source(struct listing *l, uint64_t addr)
{
	char buf[SHOWN_MAX];
	const char *file = NULL, *text;
	size_t len = 0;
	int line = 0;

	if (!l->n->source || !line_of(l, addr, &file, &line) ||
	    (line == l->line && l->file && !strcmp(file, l->file)))
		return;
	l->file = file;
	l->line = line;
	text = srctext_line(&l->n->text, file, (uint32_t)line, owner_of(l), &len);
	put_blank(l);
	out_printf(l->n->out, " %s:%d", shown_name(buf, basename(file), false), line);
	if (text) {
		put(l, "  ");
		put_text(l, text, len);
	}
	out_char(l->n->out, '\n');
}

/* Adds up samples in [addr, addr + size); spots are sorted by address. */
static void count_spots(struct listing *l, const struct insn *i,
			struct figures *sum)
{
	uint32_t k;

	memset(sum, 0, sizeof(*sum));
	while (l->spot < l->b->n &&
	       l->b->spot[l->spot].addr + l->moved < i->addr + i->size) {
		const struct figures *n = &l->b->spot[l->spot++].n;

		for (k = 0; k < ANNOTATE_EVENTS; k++) {
			sum->count[k] += n->count[k];
			sum->weight[k] += n->weight[k];
		}
	}
}

/* Per cent of the function. */
static double share(const struct listing *l, const struct figures *n,
		    uint32_t column)
{
	return percent(n->weight[column], l->b->sum.weight[column]);
}

static const char *heat(const struct listing *l, const struct figures *n)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < l->n->nevents; i++)
		if (share(l, n, i) > most)
			most = share(l, n, i);
	if (!l->n->colour || most < WARM)
		return "";
	return most < HOT ? "\033[32m" : "\033[1;31m";
}

static void put_counts(struct listing *l, const struct figures *n)
{
	uint32_t i;

	for (i = 0; i < l->n->nevents; i++) {
		if (n->count[i])
			out_printf(l->n->out, "%7.2f %9llu ", share(l, n, i),
				   (unsigned long long)n->count[i]);
		else
			out_printf(l->n->out, "%18s", "");
	}
	out_char(l->n->out, '|');
}

static void put_bytes(struct listing *l, const struct insn *i)
{
	uint32_t n = i->size < DISASM_BYTES ? i->size : DISASM_BYTES, word;

	/* fixed-size instructions are shown as one number */
	if (l->d.least == sizeof(word) && n == sizeof(word)) {
		memcpy(&word, i->bytes, sizeof(word));
		out_printf(l->n->out, "%08x  ", le32toh(word));
		return;
	}
	out_hexbytes(l->n->out, i->bytes, n);
	out_printf(l->n->out, "%*s", n < 11 ? (int)(23 - 2 * n) : 1, "");
}

/* A jump out of the function gets the name of its target. */
static void put_insn(struct listing *l, struct insn *i)
{
	const struct sym *sym = NULL;
	char name[SHOWN_MAX];

	if (i->jumps && !l->jit.code &&
	    (i->target < l->b->start || i->target >= l->b->end))
		sym = l->kernel ? symtab_find(&l->n->a.k.tab,
					      i->target + l->n->a.k.slide) :
				  symtab_find(&l->syms.tab, i->target);
	if (!sym || !sym->name) {
		put(l, i->text);
		return;
	}
	i->text[i->tail] = '\0';
	put(l, i->text);
	put(l, shown_name(name, sym->name, l->n->a.demangle));
	if (l->kernel)
		i->target += l->n->a.k.slide;
	if (i->target != sym->start)
		out_printf(l->n->out, "+%#llx",
			   (unsigned long long)(i->target - sym->start));
}

static void put_row(struct listing *l, struct insn *i)
{
	struct figures sum;
	const char *colour;

	put_source(l, i->addr);
	count_spots(l, i, &sum);
	colour = heat(l, &sum);
	put(l, colour);
	put_counts(l, &sum);
	out_printf(l->n->out, " %8llx:  ", (unsigned long long)i->addr);
	if (l->n->bytes)
		put_bytes(l, i);
	put_insn(l, i);
	put(l, *colour ? "\033[m\n" : "\n");
}

/* Opens the function's code; NULL, or the reason for a failure. */
static const char *open_code(struct listing *l)
{
	struct profile *p = &l->n->a.p;
	const struct ksyms *k = &l->n->a.k;
	enum obj_kind kind = p->objs.obj[l->b->obj].kind;
	struct objfile f;
	const char *why;

	l->kernel = obj_is_kernel(kind);
	if (kind == OBJ_VDSO)
		return objsyms_vdso(&l->im, p, &why) ? NULL : why;
	if (kind == OBJ_MODULE)
		return "is a module of the kernel, whose code is not looked "
		       "for";
	if (l->kernel) {
		if (!k->elf)
			return "has its names from a table without code; name "
			       "a vmlinux with -k";
		if (k->root)
			l->root = *k->root;
		l->path = xstrdup(k->source);
	} else {
		if (!objsyms_file(&f, p, l->b->obj))
			return "is not there, or another file than was "
			       "sampled";
		l->root = f.root;
		l->path = f.path;
	}
	return image_open(&l->im, &l->root, l->path, &why) ? NULL : why;
}

/* The same, and sets up the disassembler; code ends at @end. */
static const char *open_insns(struct listing *l, uint64_t end)
{
	const struct profile *p = &l->n->a.p;
	const struct body *b = l->b;
	const char *why;

	if (p->objs.obj[b->obj].kind != OBJ_JIT) {
		why = open_code(l);
		return why ? why : disasm_open(&l->d, &l->im, b->start, end,
					       l->n->intel);
	}
	why = jitbytes_open(&l->jit, &l->n->a.p, b->obj, b->start,
			    end - b->start);
	if (why)
		return why;
	l->moved = l->jit.start - b->start;
	return disasm_memory(&l->d, l->jit.machine, l->jit.code, l->jit.len,
			     l->jit.start, l->n->intel);
}

static void print_code(struct listing *l)
{
	struct insn i;

	if (!l->kernel)
		objsyms_open(&l->syms, &l->n->a.p, l->b->obj);
	if (l->n->source && l->path)
		lines_open(&l->lines, &l->root, l->path);
	put_head(l);
	while (disasm_next(&l->d, &i))
		put_row(l, &i);
	if (l->lines.dw)
		lines_close(&l->lines);
	objsyms_close(&l->syms);
}

/* What is behind the code that was shown. */
static void put_rest(struct listing *l)
{
	char num[GROUPED_MAX];
	uint64_t samples = 0;
	uint32_t k;

	for (; l->spot < l->b->n; l->spot++)
		for (k = 0; k < ANNOTATE_EVENTS; k++)
			samples += l->b->spot[l->spot].n.count[k];
	out_printf(l->n->out, "  (the rest of it, with %s %s, is not shown)\n",
		   grouped(num, samples), plural(samples, "sample", "samples"));
}

static void print_body(struct annotate *n, const struct body *b)
{
	struct listing l = { .n = n, .b = b, .im = { .fd = -1 } };
	uint64_t end = b->end - b->start > CODE_MAX ? b->start + CODE_MAX :
						      b->end;
	char buf[SHOWN_MAX];
	const char *why;

	put_title(&l);
	why = open_insns(&l, end);
	if (!why) {
		print_code(&l);
	} else {
		put(&l, "  ");
		put(&l, image(&l, buf));
		put(&l, " ");
		put(&l, why);
		put(&l, "\n");
	}
	/* a jitdump's last code can be incomplete */
	if (end != b->end || (l.jit.code && l.jit.len < end - b->start))
		put_rest(&l);
	disasm_close(&l.d);
	jitbytes_close(&l.jit);
	image_close(&l.im);
	free(l.path);
}

void annotate_print(struct annotate *n)
{
	uint64_t samples = 0;
	char num[GROUPED_MAX];
	uint32_t i, k, hidden = 0;

	for (i = 0; i < n->t.n; i++) {
		const struct body *b = &n->t.body[i];

		if (!b->total)
			continue;
		if (i < n->limit) {
			print_body(n, b);
			continue;
		}
		hidden++;
		for (k = 0; k < n->nevents; k++)
			samples += b->sum.count[k];
	}
	if (hidden)
		out_printf(n->out, "\n%u more %s, with %s %s (-n)\n", hidden,
			   plural(hidden, "function", "functions"),
			   grouped(num, samples),
			   plural(samples, "sample", "samples"));
}
