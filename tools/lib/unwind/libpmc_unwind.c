// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes unwind tables of programs and libraries from their call frame information.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_cfi.h"
#include "libpmc_code.h"
#include "libpmc_elf.h"
#include "libpmc_fail.h"
#include "libpmc_sframe.h"
#include "libpmc_unwind.h"
#include "libpmc_unwind_cache.h"

#define NO_RULE		0U		/* rules[0]: unknown */
#define LOOKS		64
#define SECTION_MAX	(256U << 20)	/* bytes; larger ones have too many rows */
#define SEGMENTS_MAX	256		/* searched for each function */
#define BUCKETS		(1U << 12)	/* an object has a few hundred rules */

/* A function: rows [first, first + n), up to @end */
struct function {
	uint32_t	start, end;
	uint32_t	first, n;
};

struct row {
	uint32_t	pc;
	uint16_t	rule;
};

struct rule {
	struct hwpmc_unwind_rule rule;
	uint32_t	next;		/* with the same hash; 0: none */
};

struct maker {
	const struct elf *elf;
	struct function	*functions;
	struct row	*rows;
	struct rule	*rules;
	size_t		nfunctions, nrows, nrules;
	size_t		cfunctions, crows, crules;
	uint32_t	bucket[BUCKETS];	/* 0: none */
	uint64_t	base;		/* vaddr - offset of the last function */
	int		inside;		/* the last function is in the file */
};

/* Makes room for one more element; 0, or -1 with errno */
static int grow(void **array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 256;
	void *bigger;

	if (n < *room)
		return 0;
	bigger = reallocarray(*array, more, size);
	if (!bigger)
		return -1;
	*array = bigger;
	*room = more;
	return 0;
}

#define GROW(m, what) \
	grow((void **)&(m)->what, (m)->n##what, &(m)->c##what, sizeof(*(m)->what))

static unsigned int hash(const struct hwpmc_unwind_rule *r)
{
	uint64_t h = (uint64_t)(uint32_t)r->cfa_offset * 0x9e3779b97f4a7c15ULL;

	h ^= (uint64_t)(uint32_t)r->fp_offset * 0xc2b2ae3d27d4eb4fULL;
	h ^= (uint64_t)(uint32_t)r->ra_offset * 0x165667b19e3779f9ULL;
	h ^= (uint64_t)(uint32_t)r->lr_offset * 0x27d4eb2f165667c5ULL;
	h += r->cfa | (uint64_t)r->ra << 8 | (uint64_t)r->fp << 16;
	return (unsigned int)((h ^ h >> 32) * 0x9e3779b1U >> 20) % BUCKETS;
}

/* The number of a rule; NO_RULE if there are too many. */
static int intern(struct maker *m, const struct hwpmc_unwind_rule *r,
		  uint16_t *number)
{
	uint32_t *bucket = &m->bucket[hash(r)], i, looked = 0;

	*number = NO_RULE;
	if (r->cfa == HWPMC_CFA_NONE)
		return 0;
	/* a file may have many rules with one hash: then some are stored twice */
	for (i = *bucket; i && looked < LOOKS; i = m->rules[i].next, looked++) {
		if (!memcmp(&m->rules[i].rule, r, sizeof(*r))) {
			*number = (uint16_t)i;
			return 0;
		}
	}
	if (m->nrules == HWPMC_UNWIND_RULES_MAX)
		return 0;
	if (GROW(m, rules))
		return -1;
	*number = (uint16_t)m->nrules;
	m->rules[m->nrules] = (struct rule){ *r, *bucket };
	*bucket = (uint32_t)m->nrules++;
	return 0;
}

/* Functions dropped by the linker have address 0, or are in no segment. */
static int add_function(void *arg, uint64_t start, uint64_t end)
{
	struct maker *m = arg;
	uint64_t offset;

	m->inside = pmc_elf_offset(m->elf, start, 1, &offset) &&
		    end - start <= UINT32_MAX && offset <= UINT32_MAX &&
		    offset + (end - start) <= UINT32_MAX;
	if (!m->inside)
		return 0;
	if (GROW(m, functions))
		return -1;
	m->base = start - offset;
	m->functions[m->nfunctions++] = (struct function){
		.start = (uint32_t)offset,
		.end = (uint32_t)(offset + (end - start)),
		.first = (uint32_t)m->nrows,
	};
	return 0;
}

static int add_row(void *arg, uint64_t addr,
		   const struct hwpmc_unwind_rule *rule)
{
	struct maker *m = arg;
	uint16_t number;

	if (!m->inside)
		return 0;
	if (m->nrows == HWPMC_UNWIND_ROWS_MAX)
		return fail_with(EFBIG);
	if (intern(m, rule, &number) || GROW(m, rows))
		return -1;
	m->rows[m->nrows++] = (struct row){ (uint32_t)(addr - m->base),
					    number };
	m->functions[m->nfunctions - 1].n++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Writes the rows of a table; omits a row with the same rule as the previous one. */
struct writer {
	uint32_t	*pc;
	uint16_t	*rule;
	size_t		n;
};

static void write_row(struct writer *w, uint32_t pc, uint16_t rule)
{
	if (w->n && w->pc[w->n - 1] == pc)
		w->n--;
	if (w->n && w->rule[w->n - 1] == rule)
		return;
	w->pc[w->n] = pc;
	w->rule[w->n++] = rule;
}

/*
 * Writes functions in the order of their start.  Where two overlap, the first one
 * gets the common part.
 */
static void write_rows(const struct maker *m, struct writer *w)
{
	uint32_t covered = 0;
	size_t i, k;

	for (i = 0; i < m->nfunctions; i++) {
		const struct function *f = &m->functions[i];
		const struct row *row = &m->rows[f->first];

		if (f->end <= covered)
			continue;
		for (k = 0; k < f->n; k++, row++) {
			uint32_t end = k + 1 < f->n ? row[1].pc : f->end;

			if (end > covered)
				write_row(w, row->pc > covered ? row->pc :
					  covered, row->rule);
		}
		covered = f->end;
		write_row(w, covered, NO_RULE);
	}
}

static int machine_ok(const struct elf *e)
{
	return e->wide && e->nphdr <= SEGMENTS_MAX &&
	       (e->machine == EM_X86_64 || e->machine == EM_AARCH64);
}

/* Makes the table in the module's format from the collected rows. */
static int make(struct maker *m, struct pmc_unwind *t)
{
	/* each function may need a row for its end, too */
	size_t rows = m->nrows + m->nfunctions, i;
	struct hwpmc_unwind_table *head;
	struct hwpmc_unwind_rule *rules;
	struct writer w = { 0 };

	if (rows > HWPMC_UNWIND_ROWS_MAX)
		return fail_with(EFBIG);
	head = malloc(sizeof(*head) + m->nrules * sizeof(*rules) +
		      rows * (sizeof(*w.pc) + sizeof(*w.rule)));
	if (!head)
		return -1;
	rules = (struct hwpmc_unwind_rule *)(head + 1);
	for (i = 0; i < m->nrules; i++)
		rules[i] = m->rules[i].rule;
	w.pc = (uint32_t *)(rules + m->nrules);
	w.rule = (uint16_t *)(w.pc + rows);
	qsort(m->functions, m->nfunctions, sizeof(*m->functions), by_start);
	write_rows(m, &w);
	memmove(w.pc + w.n, w.rule, w.n * sizeof(*w.rule));
	*head = (struct hwpmc_unwind_table){
		.magic = HWPMC_UNWIND_MAGIC,
		.version = HWPMC_UNWIND_VERSION,
		.machine = (uint16_t)m->elf->machine,
		.nrows = (uint32_t)w.n,
		.nrules = (uint32_t)m->nrules,
	};
	t->table = head;
	t->len = sizeof(*head) + m->nrules * sizeof(*rules) +
		 w.n * (sizeof(*w.pc) + sizeof(*w.rule));
	return 0;
}

/*
 * These return 1; 0: the file has no such section; or -1 with errno: the section cannot
 * be read now.  A table from the other sections would be wrong.
 */
static int absent(void)
{
	return errno == ENOEXEC ? 0 : -1;
}

/* A sparse file has a section of any size at no cost, but reading it takes long. */
static int is_too_large(const struct elf *e, uint64_t len)
{
	if (len <= SECTION_MAX || len > e->size)
		return 0;
	errno = EFBIG;
	return 1;
}

static int section(const struct elf *e, const char *name,
		   struct cfi_section *s)
{
	const unsigned char *row = pmc_elf_section(e, name);
	uint64_t len;

	if (!row)
		return absent();
	if (FIELD(e, row, Shdr, sh_type) == SHT_NOBITS)
		return 0;
	if (is_too_large(e, FIELD(e, row, Shdr, sh_size)))
		return -1;
	s->addr = FIELD(e, row, Shdr, sh_addr);
	s->data = pmc_elf_contents(e, row, &len);
	s->len = len;
	return s->data ? 1 : absent();
}

/*
 * For a file without section headers: .eh_frame_hdr says where .eh_frame begins.  The
 * section ends with its terminator, at the latest with its segment.
 */
static int by_segment(const struct elf *e, struct cfi_section *s)
{
	const unsigned char *hdr = pmc_elf_segment(e, PT_GNU_EH_FRAME);
	uint64_t addr, offset, end;
	unsigned char *p;
	int32_t way;

	if (!hdr)
		return 0;
	addr = FIELD(e, hdr, Phdr, p_vaddr);
	p = pmc_elf_part(e, FIELD(e, hdr, Phdr, p_offset), 8);
	if (!p)
		return absent();
	/* version 1, and a distance of four bytes, as linkers write it */
	if (p[0] != 1 || p[1] != 0x1b) {
		free(p);
		return 0;
	}
	memcpy(&way, p + 4, sizeof(way));
	free(p);
	s->addr = addr + 4 + (uint64_t)(int64_t)way;
	if (!pmc_elf_offset_end(e, s->addr, &offset, &end))
		return 0;
	s->len = end - offset;
	if (s->len > SECTION_MAX)	/* it ends in the middle of the segment */
		s->len = SECTION_MAX;
	s->open = 1;
	s->data = pmc_elf_part(e, offset, s->len);
	return s->data ? 1 : absent();
}

/* .sframe, also of a file without section headers */
static int sframe_section(const struct elf *e, struct cfi_section *s)
{
	const unsigned char *row;
	int found = section(e, ".sframe", s);

	if (found)
		return found;
	row = pmc_elf_segment(e, PT_SFRAME);
	if (!row)
		return 0;
	s->addr = FIELD(e, row, Phdr, p_vaddr);
	s->len = FIELD(e, row, Phdr, p_filesz);
	if (is_too_large(e, s->len))
		return -1;
	s->data = pmc_elf_part(e, FIELD(e, row, Phdr, p_offset), s->len);
	return s->data ? 1 : absent();
}

/*
 * .sframe has less information than the others (for example not about rbx).  It is used
 * if the others only describe the code that starts a program, which the C library adds.
 */
static int collect_sframe(struct maker *m, struct cfi_section *s,
			  const struct cfi_sink *sink)
{
	int status = 0, found = sframe_section(m->elf, s);

	if (found <= 0)
		return found;
	if (m->nfunctions < pmc_sframe_functions(s) / 2 + 1)
		status = pmc_sframe_walk(s, sink);
	free((void *)s->data);
	return status;
}

static int collect_cfi(int found, struct cfi_section *s,
		       const struct cfi_sink *sink)
{
	int status;

	if (found <= 0)
		return found;
	status = pmc_cfi_walk(s, sink);
	free((void *)s->data);
	return status;
}

/*
 * Some files have both sections: an option makes compilers leave functions out of
 * .eh_frame, but the code that starts a program is in it nevertheless.
 */
static int collect(struct maker *m)
{
	struct cfi_sink sink = { add_function, add_row, m };
	struct cfi_section s = { .machine = m->elf->machine };
	int status, found = section(m->elf, ".eh_frame", &s);

	if (!found)
		found = by_segment(m->elf, &s);
	status = collect_cfi(found, &s, &sink);
	s.debug = 1;
	s.open = 0;
	if (!status)
		status = collect_cfi(section(m->elf, ".debug_frame", &s), &s,
				     &sink);
	if (!status)
		status = collect_sframe(m, &s, &sink);
	if (!status && m->nfunctions)
		status = pmc_code_plt(m->elf, &sink);
	if (!status && m->nfunctions)
		status = pmc_code_init(m->elf, &sink);
	return status ?: pmc_code_restorers(m->elf, &sink);
}

static int compile(const struct elf *e, struct pmc_unwind *t)
{
	struct maker *m = calloc(1, sizeof(*m));
	int status = -1;

	*t = (struct pmc_unwind){ 0 };
	if (!m)
		return -1;
	m->elf = e;
	if (!machine_ok(e)) {
		status = 0;
	} else if (!GROW(m, rules)) {
		m->rules[m->nrules++] = (struct rule){ 0 };
		status = collect(m);
	}
	if (!status && !m->nfunctions) {
		errno = ENOEXEC;
		status = -1;
	}
	if (!status)
		status = make(m, t);
	free(m->functions);
	free(m->rows);
	free(m->rules);
	free(m);
	return status;
}

int pmc_unwind_compile(int fd, struct pmc_unwind *t)
{
	struct elf e;
	int status = pmc_elf_read(&e, fd);

	if (status)
		return -1;
	status = compile(&e, t);
	pmc_elf_close(&e);
	return status;
}

static int cached(const struct elf *e, struct pmc_unwind *t)
{
	struct unwind_key key;
	int status, settled = 0, dir = -1;

	if (machine_ok(e) && !pmc_unwind_key(e, &key)) {
		settled = pmc_unwind_key_is_settled(&key);
		dir = pmc_unwind_cache_open();
	}
	if (dir < 0)
		return compile(e, t);
	status = pmc_unwind_cache_get(dir, &key, t);
	if (status) {
		status = compile(e, t);
		if (!status && settled)
			pmc_unwind_cache_put(dir, &key, t, UNWIND_CACHE_MAX);
	}
	close(dir);
	return status;
}

int pmc_unwind_of(int fd, struct pmc_unwind *t)
{
	struct elf e;
	int status = pmc_elf_read(&e, fd);

	if (status)
		return -1;
	status = cached(&e, t);
	pmc_elf_close(&e);
	return status;
}

int pmc_unwind_compile_image(const void *image, size_t size,
			     struct pmc_unwind *t)
{
	struct elf e;
	int status = pmc_elf_read_image(&e, image, size);

	if (status)
		return -1;
	status = compile(&e, t);
	pmc_elf_close(&e);
	return status;
}

void pmc_unwind_free(struct pmc_unwind *t)
{
	free(t->table);
	*t = (struct pmc_unwind){ 0 };
}
