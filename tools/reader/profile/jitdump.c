// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a jitdump.  Its contents are not trusted: sizes in a record are checked
 * against the record, and the memory for all records is bounded.  The last
 * record may be incomplete, since the process may still be writing.
 */
#include <byteswap.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/idtab.h"
#include "base/order.h"
#include "profile/jitdump.h"

#define MAGIC		0x4A695444U
#define VERSION		1U
#define FLAG_TICKS	1U
/* V8 has this in the header; its line addresses are an ELF header too high. */
#define V8_PAD		0xDEADBEEFU
#define V8_LEAD		0x40U

#define NAMES_MAX	((size_t)256 << 20)
#define NAME_MAX_LEN	4096U
#define LINES_BYTES	(4U << 20)	/* of one piece of code */
#define STEPS_MAX	65536U		/* of one look-up */

const char jitdump_empty[] = "its jitdump is empty";

/* window of a file: @buf has @n bytes from offset @at on */
struct window {
	int fd;
	bool swap;
	uint64_t at;
	size_t n;
	unsigned char buf[65536];
};

/* the available part of [off, off + len), *@len bytes, at most a window's */
static const unsigned char *look(struct window *w, uint64_t off, size_t *len)
{
	size_t want = *len < sizeof(w->buf) ? *len : sizeof(w->buf);
	ssize_t n;

	if (off > INT64_MAX / 2) {
		*len = 0;
		return w->buf;
	}
	if (off < w->at || off - w->at > w->n || w->n - (off - w->at) < want) {
		n = pread(w->fd, w->buf, sizeof(w->buf), (off_t)off);
		w->at = off;
		w->n = n > 0 ? (size_t)n : 0;
	}
	if (*len > w->n - (off - w->at))
		*len = w->n - (size_t)(off - w->at);
	return w->buf + (off - w->at);
}

static const unsigned char *need(struct window *w, uint64_t off, size_t len)
{
	size_t n = len;
	const unsigned char *p = look(w, off, &n);

	return n < len ? NULL : p;
}

static uint32_t get32(bool swap, const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_32(v) : v;
}

static uint64_t get64(bool swap, const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_64(v) : v;
}

/* ------------------------------------------------------------------------
 * Records
 */
enum { HEADER = 40, PREFIX = 16, LOAD = 56, MOVE = 64, DEBUG = 32, LINE = 16 };

/**
 * struct reading
 * @off, @size, @time: the current record
 * @index: codes by their numbers in the file
 * @lines: DEBUG_INFO whose code has not come yet, with the code's address
 */
struct reading {
	struct jitdump *d;
	struct window w;
	uint64_t off, time;
	uint32_t size;
	struct idtab index;
	struct {
		uint64_t off, addr;
		uint32_t size;
	} lines;
};

static void add_range(struct reading *r, uint64_t start, uint32_t code)
{
	struct jitdump *d = r->d;
	uint64_t end = start + d->code[code].size;
	uint32_t cap = d->caprange;

	if (end <= start || d->nrange == 2 * JITDUMP_CODES)
		return;
	GROW(d->range, d->nrange, d->caprange);
	if (cap != d->caprange)
		d->turn = xreallocarray(d->turn, d->caprange,
					sizeof(*d->turn));
	d->turn[d->nrange].time = r->time;
	d->range[d->nrange] = (struct jitrange){
		.start = start, .end = end, .code = code, .turn = d->nrange,
	};
	d->nrange++;
}

/* The name, or NULL if it does not end in the record. */
static const char *take_name(struct reading *r, size_t *len)
{
	size_t all = r->size - LOAD, keep;
	size_t n = all < NAME_MAX_LEN ? all : NAME_MAX_LEN;
	const unsigned char *p = look(&r->w, r->off + LOAD, &n), *end;
	char *name;

	end = memchr(p, '\0', n);
	if (!end) {
		p = look(&r->w, r->off + LOAD, &all);
		end = memchr(p, '\0', all);
	}
	if (!end || r->d->names.total > NAMES_MAX)
		return NULL;
	*len = (size_t)(end - p);
	keep = *len < NAME_MAX_LEN ? *len : NAME_MAX_LEN;
	name = arena_alloc(&r->d->names, keep + 1);
	memcpy(name, p, keep);
	name[keep] = '\0';
	return name;
}

static void take_load(struct reading *r, const unsigned char *p)
{
	bool swap = r->w.swap;
	struct jitcode c = { .addr = get64(swap, p + 32) };
	uint64_t size = get64(swap, p + 40), index = get64(swap, p + 48);
	struct jitdump *d = r->d;
	size_t len;

	if (!size || size > r->size - LOAD || d->ncode == JITDUMP_CODES)
		return;
	c.name = take_name(r, &len);
	if (!c.name || size > r->size - LOAD - len - 1)
		return;
	c.size = (uint32_t)size;
	c.off = r->off + LOAD + len + 1;
	if (r->lines.off && r->lines.addr == c.addr) {
		c.lines = r->lines.off;
		c.nlines = r->lines.size;
	}
	r->lines.off = 0;
	GROW(d->code, d->ncode, d->capcode);
	d->code[d->ncode] = c;
	add_range(r, c.addr, d->ncode);
	if (idtab_find_exact(&r->index, hash_number(index), 0) == IDTAB_NONE)
		idtab_add_exact(&r->index, hash_number(index), 0, d->ncode);
	d->ncode++;
}

static void take_move(struct reading *r, const unsigned char *p)
{
	uint64_t index = get64(r->w.swap, p + 56);
	uint32_t code = idtab_find_exact(&r->index, hash_number(index), 0);

	if (code != IDTAB_NONE)
		add_range(r, get64(r->w.swap, p + 40), code);
}

/* DEBUG_INFO comes before its code. */
static void take_debug(struct reading *r, const unsigned char *p)
{
	r->lines.off = r->off + DEBUG;
	r->lines.size = r->size - DEBUG;
	r->lines.addr = get64(r->w.swap, p + 16);
}

static const struct kind {
	uint32_t least;
	void (*take)(struct reading *r, const unsigned char *p);
} kinds[] = {
	[0] = { LOAD, take_load },
	[1] = { MOVE, take_move },
	[2] = { DEBUG, take_debug },
};

static void read_records(struct reading *r)
{
	const struct kind *k;
	const unsigned char *p;
	uint32_t id;

	for (;; r->off += r->size) {
		p = need(&r->w, r->off, PREFIX);
		if (!p)
			return;
		id = get32(r->w.swap, p);
		r->size = get32(r->w.swap, p + 4);
		r->time = get64(r->w.swap, p + 8);
		if (r->size < PREFIX)
			return;
		k = id < nitems(kinds) ? &kinds[id] : NULL;
		if (!k || r->size < k->least)
			continue;
		p = need(&r->w, r->off, k->least);
		if (p)
			k->take(r, p);
	}
}

/* NULL, or why the file can't be used. */
static const char *read_header(struct reading *r)
{
	const unsigned char *p = need(&r->w, 0, HEADER);
	struct jitdump *d = r->d;

	if (!p)
		return jitdump_empty;
	d->swap = r->w.swap = get32(false, p) == bswap_32(MAGIC);
	if (get32(d->swap, p) != MAGIC)
		return "its jitdump is not one";
	if (get32(d->swap, p + 4) != VERSION)
		return "its jitdump is of an unknown version";
	r->off = get32(d->swap, p + 8);
	d->machine = get32(d->swap, p + 12);
	d->lead = get32(d->swap, p + 16) == V8_PAD ? V8_LEAD : 0;
	d->ticks = get64(d->swap, p + 32) & FLAG_TICKS;
	return r->off < HEADER ? "its jitdump has no header" : NULL;
}

/* ------------------------------------------------------------------------
 * In order
 */
struct order {
	uint64_t time;
	uint32_t range;
};

DEFINE_ORDER(by_time, struct order, ORDER(a->time, b->time) ?: ORDER(a->range, b->range))

/* Sorts by time: threads may write their records with a delay. */
static void sort_turns(struct jitdump *d)
{
	struct order *o = xreallocarray(NULL, d->nrange, sizeof(*o));
	uint32_t i;

	for (i = 0; i < d->nrange; i++)
		o[i] = (struct order){ d->turn[i].time, i };
	qsort(o, d->nrange, sizeof(*o), by_time);
	for (i = 0; i < d->nrange; i++) {
		d->turn[i] = (struct jitturn){ .time = o[i].time };
		d->range[o[i].range].turn = i;
	}
	free(o);
}

DEFINE_ORDER(by_start, struct jitrange, ORDER(a->start, b->start) ?: ORDER(a->turn, b->turn))

/* If a range overlaps an earlier one, it overlaps the one that ends last. */
static void mark_shared(struct jitdump *d)
{
	const struct jitrange *last = d->range, *g;

	for (g = d->range + 1; g < d->range + d->nrange; g++) {
		if (g->start < last->end)
			d->turn[g->turn].shared = d->turn[last->turn].shared =
				true;
		if (g->end > last->end)
			last = g;
	}
}

static uint64_t set_reach(struct jitrange *g, uint32_t n)
{
	struct jitrange *mid = g + n / 2;
	uint64_t left, right;

	if (!n)
		return 0;
	left = set_reach(g, n / 2);
	right = set_reach(mid + 1, n - n / 2 - 1);
	mid->reach = left > right ? left : right;
	if (mid->end > mid->reach)
		mid->reach = mid->end;
	return mid->reach;
}

const char *jitdump_read(struct jitdump *d, int fd)
{
	struct reading *r = xcalloc(1, sizeof(*r));
	const char *why;

	memset(d, 0, sizeof(*d));
	r->d = d;
	r->w.fd = fd;
	why = read_header(r);
	if (!why)
		read_records(r);
	idtab_free(&r->index);
	free(r);
	if (!why && !d->nrange)
		why = jitdump_empty;
	if (why)
		return why;
	sort_turns(d);
	qsort(d->range, d->nrange, sizeof(*d->range), by_start);
	mark_shared(d);
	set_reach(d->range, d->nrange);
	return NULL;
}

void jitdump_free(struct jitdump *d)
{
	free(d->code);
	free(d->range);
	free(d->turn);
	arena_free(&d->names);
	memset(d, 0, sizeof(*d));
}

/* ------------------------------------------------------------------------
 * Look-ups
 */
uint32_t jitdump_turns(const struct jitdump *d, uint64_t time)
{
	return SEARCH(d->nrange, i, d->turn[i].time <= time);
}

bool jitdump_turned(const struct jitdump *d, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		if (d->turn[from].shared)
			return true;
	return false;
}

/*
 * Finds the range with @addr and the highest turn below @turns; if there is
 * none yet, the one with the lowest turn.  Clocks are inexact, and the meaning
 * of an address only changes with time if its range is shared.
 */
struct stab {
	uint64_t addr;
	const struct jitrange *best;
	uint32_t turns, steps;
};

static void offer(struct stab *s, const struct jitrange *g)
{
	const struct jitrange *best = s->best;
	bool there = g->turn < s->turns;

	if (!best || (there ? best->turn >= s->turns || best->turn < g->turn :
			      best->turn > g->turn))
		s->best = g;
}

static void stab(struct stab *s, const struct jitrange *g, uint32_t n)
{
	const struct jitrange *mid;

	while (n && s->steps) {
		mid = g + n / 2;
		if (mid->reach <= s->addr)
			return;
		s->steps--;
		if (mid->start <= s->addr) {
			if (mid->end > s->addr)
				offer(s, mid);
			stab(s, mid + 1, n - n / 2 - 1);
		}
		n /= 2;
	}
}

uint64_t jitdump_place(const struct jitdump *d, uint32_t turns, uint64_t addr)
{
	struct stab s = { .addr = addr, .turns = turns, .steps = STEPS_MAX };

	stab(&s, d->range, d->nrange);
	return s.best ? d->code[s.best->code].off + (addr - s.best->start) : 0;
}

void jitdump_names(const struct jitdump *d, struct symtab *t)
{
	uint32_t i;

	for (i = 0; i < d->ncode; i++) {
		const struct jitcode *c = &d->code[i];
		struct sym s = {
			.start = c->off, .end = c->off + c->size,
			.name = c->name, .rank = SYM_GLOBAL,
		};

		symtab_add(t, &s);
	}
}

const struct jitcode *jitdump_code(const struct jitdump *d, uint64_t off)
{
	uint32_t n = SEARCH(d->ncode, i, d->code[i].off + d->code[i].size <= off);

	return n < d->ncode && d->code[n].off <= off ? &d->code[n] : NULL;
}

/* ------------------------------------------------------------------------
 * Lines
 */
DEFINE_ORDER(by_addr, struct jitline, ORDER(a->addr, b->addr))

/* The name of a file; "\xff" is that of the line before. */
static const char *file_name(const struct jitlines *l, const unsigned char *p)
{
	if (p[0] != 0xff || p[1])
		return (const char *)p;
	return l->n ? l->line[l->n - 1].file : "";
}

static void take_lines(struct jitlines *l, const struct jitdump *d, size_t n)
{
	const unsigned char *p = l->text, *end = p + n, *nul;

	while (end - p > LINE) {
		nul = memchr(p + LINE, '\0', (size_t)(end - p) - LINE);
		if (!nul)
			break;
		GROW(l->line, l->n, l->cap);
		l->line[l->n] = (struct jitline){
			.addr = get64(d->swap, p) - d->lead,
			.line = get32(d->swap, p + 8),
			.file = file_name(l, p + LINE),
		};
		l->n++;
		p = nul + 1;
	}
}

bool jitlines_read(struct jitlines *l, const struct jitdump *d,
		   const struct jitcode *c, int fd)
{
	uint32_t want = c->nlines < LINES_BYTES ? c->nlines : LINES_BYTES;
	ssize_t n;

	memset(l, 0, sizeof(*l));
	if (!c->lines)
		return false;
	l->text = xmalloc(want + 1);
	n = pread(fd, l->text, want, (off_t)c->lines);
	if (n > 0)
		take_lines(l, d, (size_t)n);
	if (l->n)
		qsort(l->line, l->n, sizeof(*l->line), by_addr);
	return l->n;
}

const struct jitline *jitlines_find(const struct jitlines *l, uint64_t addr)
{
	uint32_t n = SEARCH(l->n, i, l->line[i].addr <= addr);

	/* line 0: no line is known */
	return n && l->line[n - 1].line && l->line[n - 1].line <= INT32_MAX ?
	       &l->line[n - 1] : NULL;
}

void jitlines_free(struct jitlines *l)
{
	free(l->line);
	free(l->text);
	memset(l, 0, sizeof(*l));
}
