// SPDX-License-Identifier: BSD-2-Clause
/*
 * SFrame: an index of functions, and for each its rows: an offset in the function,
 * and where from there on the CFA, the return address and the frame pointer are.
 *
 * Sections are not trusted.  An invalid function is left out.
 */
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "libpmc_sframe.h"

#define ROWS_PER_BYTE	4	/* functions may share rows; real ones do not */
#define PLT_ENTRY	16

struct header {
	unsigned int	version, flags;
	int		fixed_fp, fixed_ra;
	uint32_t	nfunctions;
	struct cfi_reader functions, rows;
};

/**
 * struct func - a function
 * @repeats: the rows repeat for each block of so many bytes; 0: one block
 * @width: bytes of a row's offset
 */
struct func {
	uint64_t	start, size;
	uint32_t	nrows;
	unsigned int	width;
	unsigned int	repeats;
	bool		signal, flexible;
	struct cfi_reader rows;
};

struct walk {
	const struct cfi_section *s;
	const struct cfi_sink *sink;
	struct header	h;
	uint64_t	patience;	/* rows left */
};

static int64_t signed_bytes(struct cfi_reader *r, unsigned int n)
{
	uint64_t value = pmc_cfi_bytes(r, n);
	unsigned int unused = 64 - 8 * n;

	return (int64_t)(value << unused) >> unused;
}

static unsigned int abi_of(unsigned int machine)
{
	return machine == EM_AARCH64 ? SFRAME_ABI_AARCH64 : SFRAME_ABI_AMD64;
}

/* The part at @offset after the header */
static bool part_at(struct cfi_reader *part, struct cfi_reader from,
		    uint64_t offset, uint64_t len)
{
	const unsigned char *at;

	pmc_cfi_skip(&from, offset);
	at = pmc_cfi_skip(&from, len);
	if (!at || from.bad)
		return false;
	*part = (struct cfi_reader){ at, at + len, 0 };
	return true;
}

static bool read_header(struct header *h, const struct cfi_section *s)
{
	struct cfi_reader r = { s->data, s->data + s->len, 0 };
	uint64_t magic = pmc_cfi_bytes(&r, 2), len, functions, rows, more;
	unsigned int abi;

	h->version = (unsigned int)pmc_cfi_bytes(&r, 1);
	h->flags = (unsigned int)pmc_cfi_bytes(&r, 1);
	abi = (unsigned int)pmc_cfi_bytes(&r, 1);
	h->fixed_fp = (int)signed_bytes(&r, 1);
	h->fixed_ra = (int)signed_bytes(&r, 1);
	more = pmc_cfi_bytes(&r, 1);
	h->nfunctions = (uint32_t)pmc_cfi_bytes(&r, 4);
	pmc_cfi_bytes(&r, 4);
	len = pmc_cfi_bytes(&r, 4);
	functions = pmc_cfi_bytes(&r, 4);
	rows = pmc_cfi_bytes(&r, 4);
	pmc_cfi_skip(&r, more);
	return !r.bad && magic == SFRAME_MAGIC && abi == abi_of(s->machine) &&
	       (h->version == 2 || h->version == 3) &&
	       part_at(&h->functions, r, functions,
		       (h->version == 2 ? 20ULL : 16ULL) * h->nfunctions) &&
	       part_at(&h->rows, r, rows, len);
}

/* Reads the form of the function's rows, and whether they repeat */
static bool read_form(const struct header *h, struct func *f,
		      struct cfi_reader *r)
{
	unsigned int form = (unsigned int)pmc_cfi_bytes(r, 1);

	f->width = 1U << (form & 15);
	f->signal = h->version == 3 && (form & 0x80);
	f->flexible = h->version == 3 && (pmc_cfi_bytes(r, 1) & 31);
	f->repeats = (unsigned int)pmc_cfi_bytes(r, 1);
	if (!(form & 16))
		f->repeats = 0;
	else if (!f->repeats)
		return false;
	return (form & 15) <= 2;
}

/* Version 3 has the form of the rows in front of them. */
static bool read_func(const struct walk *w, struct func *f,
		      struct cfi_reader *r)
{
	const struct header *h = &w->h;
	uint64_t at = w->s->addr, offset;
	bool ok;

	if (h->flags & SFRAME_F_START_PCREL)
		at += (uint64_t)(r->at - w->s->data);
	f->start = at + (uint64_t)signed_bytes(r, h->version == 2 ? 4 : 8);
	f->size = pmc_cfi_bytes(r, 4);
	offset = pmc_cfi_bytes(r, 4);
	f->rows = h->rows;
	pmc_cfi_skip(&f->rows, offset);
	if (h->version == 2) {
		f->nrows = (uint32_t)pmc_cfi_bytes(r, 4);
		ok = read_form(h, f, r);
		pmc_cfi_bytes(r, 2);
	} else {
		f->nrows = (uint32_t)pmc_cfi_bytes(&f->rows, 2);
		ok = read_form(h, f, &f->rows);
	}
	return ok && !f->rows.bad && f->start && f->size &&
	       f->start + f->size > f->start;
}

/* Of the words behind a row's head, CFA, [return address], frame pointer */
static void set_rule(const struct header *h, struct hwpmc_unwind_rule *rule,
		     const int32_t *word, unsigned int n, bool by_sp)
{
	unsigned int i = 1;

	rule->cfa = by_sp ? HWPMC_CFA_SP : HWPMC_CFA_FP;
	rule->cfa_offset = word[0];
	if (h->fixed_ra) {
		rule->ra = HWPMC_AT_CFA;
		rule->ra_offset = h->fixed_ra;
		/* SFrame does not describe rbx */
		rule->lr = HWPMC_AT_UNDEFINED;
	} else if (n > i) {
		rule->ra = HWPMC_AT_CFA;
		rule->ra_offset = word[i++];
	}
	if (h->fixed_fp || n > i) {
		rule->fp = HWPMC_AT_CFA;
		rule->fp_offset = h->fixed_fp ? h->fixed_fp : word[i];
	}
}

/* Reads a row's offset in the function, and its rule; false: it cannot be read */
static bool read_row(const struct walk *w, struct func *f, uint64_t *at,
		     struct hwpmc_unwind_rule *rule)
{
	unsigned int info, n, width, i;
	int32_t word[3] = { 0 };

	*at = pmc_cfi_bytes(&f->rows, f->width);
	info = (unsigned int)pmc_cfi_bytes(&f->rows, 1);
	n = info >> 1 & 15;
	width = 1U << (info >> 5 & 3);
	if (width > 4)
		return false;
	for (i = 0; i < n; i++) {
		int32_t value = (int32_t)signed_bytes(&f->rows, width);

		if (i < 3)
			word[i] = value;
	}
	*rule = (struct hwpmc_unwind_rule){ 0 };
	if (f->rows.bad || *at >= (f->repeats ? f->repeats : f->size))
		return false;
	if (f->flexible || n > 3) {
		rule->cfa = HWPMC_CFA_UNTOLD;
	} else if (!n) {			/* where a thread begins */
		rule->cfa = HWPMC_CFA_SP;
		rule->ra = HWPMC_AT_UNDEFINED;
	} else {
		set_rule(&w->h, rule, word, n, info & 1);
		rule->flags = f->signal ? HWPMC_RULE_SIGNAL : 0;
	}
	return true;
}

/* Passes the rows of a function's block at @base; an unreadable row ends them. */
static int tell_rows(struct walk *w, struct func f, uint64_t base)
{
	struct hwpmc_unwind_rule rule;
	uint64_t at, last = 0;
	int status = 0;
	uint32_t i;

	for (i = 0; i < f.nrows && !status && w->patience; i++) {
		w->patience--;
		if (!read_row(w, &f, &at, &rule) || (i && at <= last)) {
			rule = (struct hwpmc_unwind_rule){
				.cfa = HWPMC_CFA_UNTOLD };
			at = i ? last + 1 : 0;
			f.nrows = 0;
		}
		if (base + at >= f.start + f.size)
			break;
		status = w->sink->row(w->sink->arg, base + at, &rule);
		last = at;
	}
	return status;
}

/* .plt: one rule expresses the linker's two rows for entries of 16 bytes. */
static bool is_plt(const struct walk *w, struct func f,
		   struct hwpmc_unwind_rule *rule)
{
	struct hwpmc_unwind_rule later;
	uint64_t at, from;

	if (w->s->machine != EM_X86_64 || f.repeats != PLT_ENTRY ||
	    f.start % PLT_ENTRY || f.nrows != 2 ||
	    !read_row(w, &f, &at, rule) || !read_row(w, &f, &from, &later) ||
	    at || rule->cfa != HWPMC_CFA_SP || later.cfa != HWPMC_CFA_SP ||
	    later.cfa_offset != rule->cfa_offset + INT64_C(8))
		return false;
	rule->cfa = HWPMC_CFA_PLT;
	rule->cfa_add = (int32_t)from;
	return true;
}

static int tell_func(struct walk *w, const struct func *f)
{
	int status = w->sink->function(w->sink->arg, f->start,
				       f->start + f->size);
	struct hwpmc_unwind_rule rule;
	uint64_t at;

	if (status)
		return status;
	if (!f->repeats)
		return tell_rows(w, *f, f->start);
	if (is_plt(w, *f, &rule))
		return w->sink->row(w->sink->arg, f->start, &rule);
	for (at = 0; at < f->size && !status && w->patience; at += f->repeats)
		status = tell_rows(w, *f, f->start + at);
	return status;
}

int pmc_sframe_walk(const struct cfi_section *s, const struct cfi_sink *sink)
{
	struct walk w = {
		.s = s, .sink = sink, .patience = ROWS_PER_BYTE * s->len,
	};
	int status = 0;
	uint32_t i;

	if (!read_header(&w.h, s))
		return 0;
	for (i = 0; i < w.h.nfunctions && !status && w.patience; i++) {
		struct cfi_reader r = w.h.functions;
		unsigned int size = w.h.version == 2 ? 20 : 16;
		struct func f = { 0 };

		r.at += (size_t)i * size;
		if (read_func(&w, &f, &r) && f.nrows)
			status = tell_func(&w, &f);
	}
	return status;
}

uint32_t pmc_sframe_functions(const struct cfi_section *s)
{
	struct header h;

	return read_header(&h, s) ? h.nfunctions : 0;
}
