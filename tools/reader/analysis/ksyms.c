// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analysis/ksyms.h"
#include "base/samefile.h"
#include "base/say.h"
#include "elf/elfsyms.h"

/* Limits, since a file beside a log is not trusted. */
#define TEXT_MAX	(256U << 20)
#define LINE_MAX_SIZE	4096
#define TEXT_BLOCK	65536
#define ADDR_DIGITS	16	/* at most */

#define TRY_AT_RECORDED	1U	/* only if no relocation is needed */
#define TRY_BUILDID	2U	/* only with the logged build-id */

/**
 * struct loading - a table that is loaded and checked
 * @ref:      its address of the reference symbol, valid if @has_ref
 * @nonzero:  some address is not 0
 * @nonones:  some address is not that of Debian's System.map, whose only line says that
 *            another package has the symbols
 */
struct loading {
	struct ksyms *k;
	struct profile *p;
	uint64_t ref;
	bool has_ref, nonzero, nonones;
	const char *why;
	bool unread;		/* @why is why the file cannot be opened */
};

static void add(struct loading *l, const struct sym *s)
{
	const char *ref = l->p->log.ref_symbol;

	l->nonzero |= s->start != 0;
	l->nonones |= s->start != UINT64_MAX;
	if (ref && !s->mod && s->name && *s->name == *ref &&
	    !strcmp(s->name, ref)) {
		l->has_ref = true;
		l->ref = s->start;
	}
	/* x86 has per-CPU offsets among its symbols */
	if (s->start >> 63)
		symtab_add(&l->k->tab, s);
}

static uint8_t rank_of_letter(char c)
{
	switch (c) {
	case 'T':
		return SYM_GLOBAL;
	case 'W':
		return SYM_WEAK;
	case 't':
	case 'w':
		return SYM_LOCAL;
	default:
		return SYM_GAP;
	}
}

/* By character: value of the digit + 1; avoids mispredicted branches. */
static const uint8_t digit1[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5,
	['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
	['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* "ffffffff81000000 T name" and in a module "...\t[module]" */
static bool text_line(struct loading *l, char *line)
{
	struct sym s = { 0 };
	char *end = line, *name, *mod;
	uint64_t start = 0;
	uint8_t digit;

	while ((digit = digit1[(unsigned char)*end])) {
		start = start << 4 | (digit - 1U);
		end++;
	}
	if (end == line || end - line > ADDR_DIGITS || end[0] != ' ' ||
	    !end[1] || end[2] != ' ')
		return false;
	s.start = start;
	s.rank = rank_of_letter(end[1]);
	name = end + 3;
	mod = name + strcspn(name, " \t");
	if (*mod) {
		*mod++ = '\0';
		mod += strspn(mod, " \t[");
		s.mod = strtab_id_len(&l->p->str, mod, strcspn(mod, "]"));
	}
	/* other symbols still end the function before them */
	s.name = s.rank == SYM_GAP ? NULL : name;
	add(l, &s);
	return true;
}

/* the lines of a file; the pieces of a longer line are not whole lines */
struct text {
	int fd;
	char *at, *end;
	size_t all;		/* bytes read */
	bool cut;		/* the next piece is not the start of a line */
	char buf[TEXT_BLOCK + 1];
};

/* Reads more of the file after the rest in the buffer; false at its end. */
static bool text_more(struct text *t)
{
	size_t left = (size_t)(t->end - t->at);
	ssize_t n;

	memmove(t->buf, t->at, left);
	t->at = t->buf;
	t->end = t->buf + left;
	do {
		n = read(t->fd, t->end, TEXT_BLOCK - left);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	t->end += n;
	t->all += (size_t)n;
	return true;
}

/* The next line without its newline; @whole: it is complete.  NULL: no more. */
static char *text_next(struct text *t, bool *whole)
{
	char *line, *nl;
	bool more = true;

	while (!(nl = memchr(t->at, '\n', (size_t)(t->end - t->at))) && more &&
	       t->end - t->at < LINE_MAX_SIZE)
		more = text_more(t);
	line = t->at;
	if (!nl && line == t->end)
		return NULL;
	*whole = !t->cut;
	t->cut = false;
	if (nl) {
		*nl = '\0';
		t->at = nl + 1;
	} else {
		/* only the last line may lack its newline */
		t->cut = more;
		*whole &= !more;
		*t->end = '\0';
		t->at = t->end;
	}
	return line;
}

static bool load_text(struct loading *l, int fd)
{
	struct text *t = xmalloc(sizeof(*t));
	size_t good = 0, bad = 0;
	bool whole, large;
	char *line;

	t->fd = fd;
	t->at = t->end = t->buf;
	t->all = 0;
	t->cut = false;
	while (bad < 10 + good && t->all < TEXT_MAX &&
	       (line = text_next(t, &whole))) {
		if (whole && text_line(l, line))
			good++;
		else
			bad++;
	}
	large = t->all >= TEXT_MAX;
	close(fd);
	free(t);
	if (large)
		l->why = "is too large for a symbol table";
	else if (!good || bad > good)
		l->why = "is no symbol table";
	else if (!l->nonzero)
		l->why = "shows only zeros (kernel.kptr_restrict)";
	else if (!l->nonones)
		l->why = "has no symbols: on Debian the kernel's -dbg package "
			 "has them";
	return !l->why;
}

static bool right_buildid(const struct loading *l, const struct image *im,
			  unsigned int how)
{
	struct profile *p = l->p;
	const struct buildid *b;
	const void *id;
	size_t n;

	b = buildids_find(&p->ids, strtab_id(&p->str, "[kernel]"));
	if (!b)
		return !(how & TRY_BUILDID);
	n = image_buildid(im, &id);
	return buildid_is(b, id, n);
}

static bool load_elf(struct loading *l, const struct image *im,
		     unsigned int how)
{
	struct symtab all = { 0 };
	size_t i;

	if (!right_buildid(l, im, how)) {
		l->why = "has another build-id than the recorded kernel";
		return false;
	}
	if (!elfsyms_load(&all, im->elf, SHT_SYMTAB))
		l->why = "has no symbols";
	else if (all.cut)
		l->why = ELFSYMS_CUT;
	for (i = 0; i < all.n; i++)
		add(l, &all.sym[i]);
	symtab_free(&all);
	return !l->why;
}

/* Relocates the table to the address of the recorded kernel. */
static bool relocate(struct loading *l, unsigned int how)
{
	const struct log_facts *log = &l->p->log;
	struct symtab *t = &l->k->tab;
	uint64_t slide = log->ref_addr - l->ref;
	size_t i, n = 0;

	if (!log->ref_symbol) {
		l->why = "can't be checked: the log does not tell where the "
			 "kernel was";
		return !(how & TRY_AT_RECORDED);
	}
	if (!l->has_ref || slide % SLIDE_GRAIN ||
	    (slide && how & TRY_AT_RECORDED)) {
		l->why = "is of another kernel or boot";
		return false;
	}
	for (i = 0; i < t->n; i++) {
		/* modules have other addresses after each boot */
		if (slide && t->sym[i].mod)
			continue;
		t->sym[n] = t->sym[i];
		t->sym[n].start += slide;
		t->sym[n].end += t->sym[n].end ? slide : 0;
		n++;
	}
	t->n = n;
	l->k->slide = slide;
	return true;
}

static bool load(struct loading *l, const struct image_root *root,
		 const char *path, unsigned int how)
{
	char magic[4] = "";
	struct image im;
	bool ok;
	int fd = image_open_named(root, path, &l->why);

	l->unread = fd < 0;
	if (fd < 0)
		return false;
	l->k->root = root;
	if (pread(fd, magic, 4, 0) != 4 || memcmp(magic, "\177ELF", 4))
		return load_text(l, fd);
	close(fd);
	if (!image_open(&im, root, path, &l->why))
		return false;
	l->k->elf = ok = load_elf(l, &im, how);
	image_close(&im);
	return ok;
}

/* Tries the file whose path is printed. */
__attribute__((format(printf, 5, 6)))
static bool try_file(struct ksyms *k, struct profile *p, const struct image_root *root,
		     unsigned int how, const char *fmt, ...)
{
	struct loading l = { .k = k, .p = p };
	va_list ap;
	char *path;

	va_start(ap, fmt);
	path = xvasprintf(fmt, ap);
	va_end(ap);
	if (load(&l, root, path, how) && relocate(&l, how)) {
		symtab_sort(&k->tab);
		k->source = path;
		free(k->why);
		k->why = NULL;
		return true;
	}
	symtab_free(&k->tab);
	k->elf = false;
	/* the error of the first file that exists is the most useful */
	if (!k->why && strcmp(l.why, "no such file"))
		k->why = xasprintf("%s%s %s", path, l.unread ? ":" : "", l.why);
	free(path);
	return false;
}

/* The logs of a directory have their kallsyms in it. */
static bool search_beside(struct ksyms *k, struct profile *p,
			  const char *log_path)
{
	if (!log_path)
		return false;
	return try_file(k, p, NULL, 0, "%s.kallsyms", log_path) ||
	       (path_is_directory(log_path) &&
		try_file(k, p, NULL, 0, "%s/kallsyms", log_path)) ||
	       try_file(k, p, NULL, 0, "%.*skallsyms", (int)(basename(log_path) - log_path),
			log_path);
}

/* Does the running kernel have the logged build-id?  True if not known. */
static bool running_buildid(struct profile *p)
{
	const struct buildid *b = buildids_find(&p->ids, strtab_id(&p->str,
								   "[kernel]"));
	unsigned char notes[4096];
	FILE *f = b ? fopen("/sys/kernel/notes", "re") : NULL;
	size_t n = f ? fread(notes, 1, sizeof(notes), f) : 0;

	if (f)
		fclose(f);
	return !n || memmem(notes, n, b->id, b->len);
}

static bool search_system(struct ksyms *k, struct profile *p)
{
	const char *release = p->log.release;
	struct utsname uts;

	if (!release || strchr(release, '/'))
		return false;
	if (!uname(&uts) && !strcmp(uts.release, release) &&
	    running_buildid(p) &&
	    try_file(k, p, NULL, TRY_AT_RECORDED, "/proc/kallsyms"))
		return true;
	if (try_file(k, p, p->root, TRY_BUILDID, "/usr/lib/debug/boot/vmlinux-%s", release))
		return true;
	/* without a reference, another build can't be recognized */
	return p->log.ref_symbol &&
	       try_file(k, p, p->root, 0, "/boot/System.map-%s", release);
}

/* The reason why a found table is of no use leaves open what to do. */
static void advise(struct ksyms *k)
{
	char *why = k->why;

	k->why = xasprintf("%s%sname a kallsyms, System.map or vmlinux with -k",
			   why ? why : "", why ? "; " : "");
	free(why);
}

bool ksyms_open(struct ksyms *k, struct profile *p, const char *file,
		const char *log_path)
{
	memset(k, 0, sizeof(*k));
	if (file) {
		if (try_file(k, p, NULL, 0, "%s", file)) {
			kmods_load(&k->tab, p);
			return true;
		}
		warn_line("%s%s", k->why ? k->why : file, k->why ? "" : ": no such file");
		return false;
	}
	if (!search_beside(k, p, log_path) && !search_system(k, p))
		advise(k);
	kmods_load(&k->tab, p);
	return true;
}

void ksyms_close(struct ksyms *k)
{
	symtab_free(&k->tab);
	free(k->source);
	free(k->why);
}
