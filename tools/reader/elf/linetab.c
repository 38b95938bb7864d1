// SPDX-License-Identifier: BSD-2-Clause
#include <byteswap.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "base/mem.h"
#include "base/order.h"
#include "elf/linetab.h"

#define ROWS_MAX	(16U << 20)	/* a row can take one byte */
#define NAMES_MAX	(1U << 20)
#define CODES_MAX	256		/* standard opcodes */
#define FORMATS_MAX	16		/* columns of a version 5 name table */

/**
 * struct cursor - reads within bounds
 * @bad: a read was out of bounds; all further reads return 0
 */
struct cursor {
	const unsigned char *p, *end;
	bool swap, wide, bad;
};

/**
 * struct program - a line number program and its machine
 * @seq: first row of the sequence being made
 */
struct program {
	const struct line_sections *s;
	struct linetab *t;
	struct cursor c;
	uint64_t addr;
	uint32_t op, file, line;
	uint32_t seq;
	int32_t line_base;
	uint16_t version;
	uint8_t min_len, max_ops, line_range, opcode_base;
	uint8_t args[CODES_MAX];
};

static uint64_t take(struct cursor *c, size_t n)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	if ((size_t)(c->end - c->p) < n) {
		c->p = c->end;
		c->bad = true;
		return 0;
	}
	c->p += n;
	switch (n) {
	case 1:
		return c->p[-1];
	case 2:
		memcpy(&v16, c->p - 2, 2);
		return c->swap ? bswap_16(v16) : v16;
	case 4:
		memcpy(&v32, c->p - 4, 4);
		return c->swap ? bswap_32(v32) : v32;
	case 8:
		memcpy(&v64, c->p - 8, 8);
		return c->swap ? bswap_64(v64) : v64;
	default:
		return 0;
	}
}

static void skip(struct cursor *c, uint64_t n)
{
	if (n <= (uint64_t)(c->end - c->p)) {
		c->p += n;
		return;
	}
	c->p = c->end;
	c->bad = true;
}

/* The bits of a LEB128 number; @shift: how many, @last: its last byte. */
static uint64_t leb(struct cursor *c, unsigned int *shift, uint8_t *last)
{
	uint64_t v = 0;

	*shift = 0;
	do {
		if (c->p == c->end) {
			c->bad = true;
			*last = 0;
			return 0;
		}
		*last = *c->p++;
		if (*shift < 64)
			v |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while (*last & 0x80);
	return v;
}

static uint64_t uleb(struct cursor *c)
{
	unsigned int shift;
	uint8_t last;

	return leb(c, &shift, &last);
}

static int64_t sleb(struct cursor *c)
{
	unsigned int shift;
	uint8_t last;
	uint64_t v = leb(c, &shift, &last);

	if (shift < 64 && last & 0x40)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

static uint64_t offset(struct cursor *c)
{
	return take(c, c->wide ? 8 : 4);
}

static const char *string(struct cursor *c)
{
	const char *s = (const char *)c->p;
	const unsigned char *nul = memchr(c->p, 0, (size_t)(c->end - c->p));

	if (!nul) {
		c->p = c->end;
		c->bad = true;
		return NULL;
	}
	c->p = nul + 1;
	return s;
}

static const char *string_at(struct cursor *c, const struct line_bytes *b)
{
	uint64_t off = offset(c);

	if (off >= b->n || !memchr(b->p + off, 0, b->n - off))
		return NULL;
	return (const char *)b->p + off;
}

static void add_dir(struct linetab *t, const char *dir)
{
	if (t->ndir == NAMES_MAX)
		return;
	APPEND(t->dir, t->ndir, t->capdir) = dir;
}

static void add_file(struct linetab *t, const char *name, uint64_t dir)
{
	if (t->nfile == NAMES_MAX)
		return;
	APPEND(t->file, t->nfile, t->capfile) = (struct line_file){
		.name = name, .dir = dir > UINT32_MAX ? UINT32_MAX :
							(uint32_t)dir,
	};
}

/* Up to version 4: number 0 of both tables is the unit itself. */
static void names_v2(struct program *g)
{
	struct cursor *c = &g->c;
	const char *s;
	uint64_t dir;

	add_dir(g->t, NULL);
	while ((s = string(c)) && *s)
		add_dir(g->t, s);
	add_file(g->t, NULL, 0);
	while ((s = string(c)) && *s) {
		dir = uleb(c);
		uleb(c);
		uleb(c);
		add_file(g->t, s, dir);
	}
}

struct format {
	uint64_t what, form;
};

/* The value of one column; *@s is NULL if there is no string. */
static uint64_t column(struct program *g, uint64_t form, const char **s)
{
	struct cursor *c = &g->c;

	*s = NULL;
	switch (form) {
	case DW_FORM_string:
		*s = string(c);
		return 0;
	case DW_FORM_line_strp:
		*s = string_at(c, &g->s->line_str);
		return 0;
	case DW_FORM_strp:
		*s = string_at(c, &g->s->str);
		return 0;
	case DW_FORM_data1:
		return take(c, 1);
	case DW_FORM_data2:
		return take(c, 2);
	case DW_FORM_data4:
		return take(c, 4);
	case DW_FORM_data8:
		return take(c, 8);
	case DW_FORM_udata:
		return uleb(c);
	case DW_FORM_data16:
		skip(c, 16);
		return 0;
	case DW_FORM_block:
		skip(c, uleb(c));
		return 0;
	case DW_FORM_strp_sup:
		offset(c);
		return 0;
	default:
		c->bad = true;
		return 0;
	}
}

static void names_v5(struct program *g, bool dirs)
{
	struct format f[FORMATS_MAX];
	struct cursor *c = &g->c;
	uint64_t n = take(c, 1), count, i, k;

	if (n > FORMATS_MAX) {
		c->bad = true;
		return;
	}
	for (i = 0; i < n; i++) {
		f[i].what = uleb(c);
		f[i].form = uleb(c);
	}
	count = uleb(c);
	if (!n && count)		/* empty entries could be many */
		c->bad = true;
	for (i = 0; i < count && !c->bad; i++) {
		const char *name = NULL, *s;
		uint64_t dir = 0, v;

		for (k = 0; k < n; k++) {
			v = column(g, f[k].form, &s);
			if (f[k].what == DW_LNCT_path)
				name = s;
			else if (f[k].what == DW_LNCT_directory_index)
				dir = v;
		}
		if (c->bad)
			return;
		if (dirs)
			add_dir(g->t, name);
		else
			add_file(g->t, name, dir);
	}
}

static void set_initial(struct program *g)
{
	g->addr = 0;
	g->op = 0;
	g->file = 1;
	g->line = 1;
	g->seq = g->t->n;
}

/* Of several rows at an address the last one is valid. */
static void emit(struct program *g)
{
	struct linetab *t = g->t;
	struct line_row *last = t->n > g->seq ? &t->row[t->n - 1] : NULL;

	if (last && last->addr == g->addr) {
		last->file = g->file;
		last->line = g->line;
		return;
	}
	if (last && last->file == g->file && last->line == g->line)
		return;
	if (t->n == ROWS_MAX) {
		g->c.bad = true;
		return;
	}
	APPEND(t->row, t->n, t->cap) = (struct line_row){
		.addr = g->addr, .file = g->file, .line = g->line,
	};
}

/* The rows since @seq cover all addresses up to the current one. */
static void end_sequence(struct program *g)
{
	struct linetab *t = g->t;
	uint32_t n = t->n - g->seq;

	if (!n || t->row[g->seq].addr >= g->addr) {
		t->n = g->seq;
		return;
	}
	APPEND(t->seq, t->nseq, t->capseq) = (struct line_seq){
		.start = t->row[g->seq].addr, .end = g->addr,
		.row = g->seq, .n = n,
	};
	g->seq = t->n;
}

/* Rows must be in ascending order for the binary search. */
static void go_to(struct program *g, uint64_t addr)
{
	struct linetab *t = g->t;

	if (t->n > g->seq && addr < t->row[t->n - 1].addr)
		end_sequence(g);
	g->addr = addr;
}

static void advance(struct program *g, uint64_t ops)
{
	uint64_t to = g->op + ops;

	if (g->max_ops <= 1) {
		go_to(g, g->addr + ops * g->min_len);
		return;
	}
	g->op = (uint32_t)(to % g->max_ops);
	go_to(g, g->addr + to / g->max_ops * g->min_len);
}

static void extended(struct program *g)
{
	struct cursor *c = &g->c;
	uint64_t len = uleb(c);
	const unsigned char *next;

	if (!len || len > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		return;
	}
	next = c->p + len;
	switch (take(c, 1)) {
	case DW_LNE_end_sequence:
		end_sequence(g);
		set_initial(g);
		break;
	case DW_LNE_set_address:
		if (len == 5 || len == 9)
			go_to(g, take(c, len - 1));
		g->op = 0;
		break;
	case DW_LNE_define_file: {
		const char *s = string(c);

		add_file(g->t, s, uleb(c));
		break;
	}
	default:
		break;
	}
	c->p = next;
}

static void standard(struct program *g, uint8_t code)
{
	struct cursor *c = &g->c;
	uint8_t i;

	switch (code) {
	case DW_LNS_copy:
		emit(g);
		break;
	case DW_LNS_advance_pc:
		advance(g, uleb(c));
		break;
	case DW_LNS_advance_line:
		g->line += (uint32_t)sleb(c);
		break;
	case DW_LNS_set_file:
		g->file = (uint32_t)uleb(c);
		break;
	case DW_LNS_const_add_pc:
		advance(g, (255 - g->opcode_base) / g->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		go_to(g, g->addr + take(c, 2));
		g->op = 0;
		break;
	default:
		for (i = 0; i < g->args[code]; i++)
			uleb(c);
	}
}

static void run(struct program *g)
{
	struct cursor *c = &g->c;

	set_initial(g);
	while (c->p < c->end && !c->bad) {
		uint8_t code = *c->p++;

		if (code >= g->opcode_base) {
			code = (uint8_t)(code - g->opcode_base);
			advance(g, code / g->line_range);
			g->line += (uint32_t)(g->line_base +
					      code % g->line_range);
			emit(g);
		} else if (code) {
			standard(g, code);
		} else {
			extended(g);
		}
	}
	g->t->n = g->seq;		/* drop a sequence without an end */
}

/* Reads the parameters of the opcodes. */
static void parameters(struct program *g)
{
	struct cursor *c = &g->c;
	unsigned int i;

	g->min_len = (uint8_t)take(c, 1);
	g->max_ops = g->version >= 4 ? (uint8_t)take(c, 1) : 1;
	take(c, 1);				/* default_is_stmt */
	g->line_base = (int8_t)take(c, 1);
	g->line_range = (uint8_t)take(c, 1);
	g->opcode_base = (uint8_t)take(c, 1);
	for (i = 1; i < g->opcode_base; i++)
		g->args[i] = (uint8_t)take(c, 1);
	c->bad |= !g->line_range || !g->opcode_base;
}

/* Reads the header before the program; false: not a readable table. */
static bool header(struct program *g)
{
	struct cursor *c = &g->c;
	uint64_t len = take(c, 4);
	const unsigned char *start;

	c->wide = len == 0xffffffff;
	if (c->wide)
		len = take(c, 8);
	if (c->bad || len > (uint64_t)(c->end - c->p))
		return false;
	c->end = c->p + len;
	g->version = (uint16_t)take(c, 2);
	if (g->version < 2 || g->version > 5)
		return false;
	if (g->version == 5)
		skip(c, 2);			/* sizes of addresses */
	len = offset(c);
	if (c->bad || len > (uint64_t)(c->end - c->p))
		return false;
	start = c->p + len;
	parameters(g);
	if (g->version == 5) {
		names_v5(g, true);
		if (!c->bad)
			names_v5(g, false);
	} else {
		names_v2(g);
	}
	if (c->bad || c->p > start)
		return false;
	c->p = start;
	return true;
}

DEFINE_ORDER(by_start, struct line_seq, ORDER(a->start, b->start) ?: ORDER(a->row, b->row))

size_t linetab_load(struct linetab *t, const struct line_sections *s,
		    uint64_t at)
{
	struct program g = { .s = s, .t = t };

	memset(t, 0, sizeof(*t));
	if (at >= s->line.n)
		return 0;
	g.c.p = s->line.p + at;
	g.c.end = s->line.p + s->line.n;
	g.c.swap = s->swap;
	if (header(&g))
		run(&g);
	else
		linetab_free(t);
	if (t->nseq)
		qsort(t->seq, t->nseq, sizeof(*t->seq), by_start);
	t->row = xreallocarray(t->row, (size_t)t->n + 1, sizeof(*t->row));
	t->cap = t->n + 1;
	return (size_t)(g.c.p - (s->line.p + at));
}

const struct line_row *linetab_find(const struct linetab *t, uint64_t addr)
{
	uint32_t n = SEARCH(t->nseq, i, t->seq[i].start <= addr);
	const struct line_seq *s;

	if (!n || addr >= t->seq[n - 1].end)
		return NULL;
	s = &t->seq[n - 1];
	/* the first row is where the sequence starts */
	n = SEARCH(s->n, i, t->row[s->row + i].addr <= addr);
	return &t->row[s->row + n - 1];
}

bool linetab_file(const struct linetab *t, uint32_t file, const char **dir,
		  const char **name)
{
	const struct line_file *f;

	if (file >= t->nfile || !t->file[file].name)
		return false;
	f = &t->file[file];
	*name = f->name;
	*dir = f->dir < t->ndir ? t->dir[f->dir] : NULL;
	return true;
}

void linetab_free(struct linetab *t)
{
	free(t->row);
	free(t->seq);
	free(t->dir);
	free(t->file);
	memset(t, 0, sizeof(*t));
}

static void section(struct line_bytes *b, Elf *elf, const char *name)
{
	size_t strndx;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(elf, &strndx))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;
		const char *s;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS ||
		    sh.sh_flags & SHF_COMPRESSED)
			continue;
		s = elf_strptr(elf, strndx, sh.sh_name);
		/* .zdebug_line is the old compressed form */
		if (!s || s[0] != '.' ||
		    strcmp(s[1] == 'z' ? s + 2 : s + 1, name))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		b->p = data->d_buf;
		b->n = data->d_size;
		return;
	}
}

void linetab_sections(struct line_sections *s, Elf *elf)
{
	GElf_Ehdr eh;

	memset(s, 0, sizeof(*s));
	if (!gelf_getehdr(elf, &eh))
		return;
	s->swap = eh.e_ident[EI_DATA] != (__BYTE_ORDER__ ==
		  __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB);
	section(&s->line, elf, "debug_line");
	section(&s->str, elf, "debug_str");
	section(&s->line_str, elf, "debug_line_str");
}
