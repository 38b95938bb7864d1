// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call frame information: the entries of a section, and the programs in them that
 * say for each instruction where its caller's registers are.
 *
 * Sections are not trusted.  An invalid entry is left out.  An entry that is longer
 * than the section ends the walk.
 */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "libpmc_cfi.h"
#include "libpmc_dwarf.h"

#define CFI_RBX		3
#define OPERATIONS_PER_BYTE	16	/* real files have less than one */
#define STATES_MAX	16	/* remembered: compilers nest two or three */
#define LETTERS_MAX	16	/* of an augmentation: compilers write at most five */

/* A CIE: the common part of several functions */
struct common {
	uint64_t	at;		/* its entry's offset in the section */
	bool		ok;
	uint64_t	code_align;
	int64_t		data_align;
	uint64_t	ra;		/* DWARF's number */
	unsigned int	encoding;
	bool		augmented;	/* 'z': functions have augmentation data, too */
	bool		signal;
	struct cfi_reader program;
	struct cfi_state initial;
};

/* @patience: operations left, because each function runs the common program again */
struct walk {
	const struct cfi_section *s;
	const struct cfi_sink *sink;
	struct common	common;		/* the last one: most are in a row */
	uint64_t	*patience;
};

/*
 * The program of a function while it runs.
 * @saved: not cleared, as few functions use it
 * @rule: rule of the last row
 * @known: @rule is that of the state except for the CFA's offset, from @reg
 */
struct run {
	const struct walk *w;
	const struct common *c;
	struct cfi_state state, *saved;
	unsigned int	nsaved;
	struct hwpmc_unwind_rule rule;
	bool		known;
	uint64_t	reg;
	uint64_t	addr, told;	/* rows are up to @told */
	uint64_t	end;
	bool		stop;
	int		status;
};

static unsigned int fp_of(unsigned int machine)
{
	return machine == EM_AARCH64 ? 29 : 6;
}

static unsigned int sp_of(unsigned int machine)
{
	return machine == EM_AARCH64 ? 31 : 7;
}

static uint64_t addr_of(const struct walk *w, const unsigned char *at)
{
	return w->s->addr + (uint64_t)(at - w->s->data);
}

static uint64_t pointer_form(struct cfi_reader *r, unsigned int form)
{
	switch (form) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return pmc_cfi_bytes(r, 8);
	case DW_EH_PE_uleb128:
		return pmc_cfi_uleb(r);
	case DW_EH_PE_sleb128:
		return (uint64_t)pmc_cfi_sleb(r);
	case DW_EH_PE_udata2:
		return pmc_cfi_bytes(r, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)pmc_cfi_bytes(r, 2);
	case DW_EH_PE_udata4:
		return pmc_cfi_bytes(r, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)pmc_cfi_bytes(r, 4);
	default:
		r->bad = 1;
		return 0;
	}
}

static uint64_t pointer(const struct walk *w, struct cfi_reader *r,
			unsigned int encoding)
{
	uint64_t at = addr_of(w, r->at);
	uint64_t value = pointer_form(r, encoding & 0x0f);

	switch (encoding & 0xf0) {
	case 0:
		return value;
	case DW_EH_PE_pcrel:
		return value + at;
	default:
		r->bad = 1;
		return 0;
	}
}

/* The letters behind 'z', each with its data */
static void read_augmentation(struct common *c, const char *letters,
			      struct cfi_reader *r)
{
	uint64_t len = pmc_cfi_uleb(r);
	struct cfi_reader data = { r->at, r->at, 0 };

	if (pmc_cfi_skip(r, len))
		data.end = r->at;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'L':
			pmc_cfi_byte(&data);
			break;
		case 'P':
			pointer_form(&data, pmc_cfi_byte(&data) & 0x0f);
			break;
		case 'R':
			c->encoding = (unsigned int)pmc_cfi_byte(&data);
			break;
		case 'S':
			c->signal = true;
			break;
		case 'B':
			break;
		default:	/* what follows is not known */
			return;
		}
	}
	if (data.bad)
		r->bad = 1;
}

/* The augmentation; NULL: it does not end, or is longer than any that is known */
static const char *read_letters(struct cfi_reader *r)
{
	const char *letters = (const char *)r->at;
	unsigned int i;

	for (i = 0; i <= LETTERS_MAX; i++)
		if (!pmc_cfi_byte(r))
			return r->bad ? NULL : letters;
	return NULL;
}

static void read_common(struct common *c, struct cfi_reader r)
{
	unsigned int version = (unsigned int)pmc_cfi_byte(&r);
	const char *letters = read_letters(&r);

	if (!letters || (version != 1 && version != 3 && version != 4) ||
	    (*letters && *letters != 'z'))
		return;
	if (version == 4 && (pmc_cfi_byte(&r) != 8 ||
			     pmc_cfi_byte(&r)))
		return;
	c->code_align = pmc_cfi_uleb(&r);
	c->data_align = pmc_cfi_sleb(&r);
	c->ra = version == 1 ? pmc_cfi_byte(&r) : pmc_cfi_uleb(&r);
	c->augmented = *letters == 'z';
	if (c->augmented)
		read_augmentation(c, letters + 1, &r);
	c->program = r;
	c->ok = !r.bad;
}

/* Offset of a register in struct cfi_state; 0: the state does not have it */
static size_t reg_at(const struct run *run, uint64_t n)
{
	if (n == run->c->ra)
		return offsetof(struct cfi_state, ra);
	if (n == fp_of(run->w->s->machine))
		return offsetof(struct cfi_state, fp);
	if (n == sp_of(run->w->s->machine))
		return offsetof(struct cfi_state, sp);
	if (n == CFI_RBX && run->w->s->machine == EM_X86_64)
		return offsetof(struct cfi_state, rbx);
	return 0;
}

static void set(struct run *run, uint64_t n, struct cfi_reg value)
{
	size_t at = reg_at(run, n);

	run->known &= !at;
	if (at)
		memcpy((char *)&run->state + at, &value, sizeof(value));
}

static void set_offset(struct run *run, uint64_t n, int64_t factored)
{
	int64_t offset;

	if (__builtin_mul_overflow(factored, run->c->data_align, &offset))
		run->stop = true;
	set(run, n, (struct cfi_reg){ .kind = CFI_OFFSET, .offset = offset });
}

static void set_expression(struct run *run, struct cfi_reader *r,
			   enum cfi_kind kind)
{
	uint64_t n = pmc_cfi_uleb(r), len = pmc_cfi_uleb(r);
	const unsigned char *expr = pmc_cfi_skip(r, len);

	set(run, n, (struct cfi_reg){ kind, 0, expr, len });
}

static void restore(struct run *run, uint64_t n)
{
	size_t at = reg_at(run, n);

	run->known &= !at;
	if (at)
		memcpy((char *)&run->state + at,
		       (const char *)&run->c->initial + at,
		       sizeof(struct cfi_reg));
}

/* Most rows differ from the previous one only in the offset of the CFA. */
static void make_rule(struct run *run)
{
	const struct cfi_state *s = &run->state;

	if (run->known && !s->expr && s->reg == run->reg &&
	    s->offset == (int32_t)s->offset) {
		run->rule.cfa_offset = (int32_t)s->offset;
		return;
	}
	pmc_cfi_rule(&run->rule, s, run->w->s->machine, run->c->signal);
	run->known = !s->expr && run->rule.cfa != HWPMC_CFA_UNTOLD &&
		     run->rule.cfa_offset == s->offset &&
		     s->ra.kind != CFI_UNDEFINED && !run->c->signal;
	run->reg = s->reg;
}

/* What is known is for all up to here; nothing is, where the program is lost. */
static void tell(struct run *run)
{
	static const struct hwpmc_unwind_rule untold = {
		.cfa = HWPMC_CFA_UNTOLD,
	};

	if (!run->stop)
		make_rule(run);
	run->status = run->w->sink->row(run->w->sink->arg, run->told,
					run->stop ? &untold : &run->rule);
	run->told = run->addr;
}

static void move_to(struct run *run, uint64_t to)
{
	if (to < run->addr || to > run->end) {
		run->stop = true;
		return;
	}
	if (to == run->addr)
		return;
	run->addr = to;
	tell(run);
}

static void advance(struct run *run, uint64_t factored)
{
	move_to(run, run->addr + factored * run->c->code_align);
}

static void define_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	run->state.expr = NULL;
	run->state.reg = reg;
	run->state.offset = offset;
}

static int64_t data_factored(const struct run *run, int64_t value)
{
	int64_t product = 0;

	return __builtin_mul_overflow(value, run->c->data_align, &product) ?
	       INT64_MAX : product;
}

static void define_cfa_expression(struct run *run, struct cfi_reader *r)
{
	run->state.len = pmc_cfi_uleb(r);
	run->state.expr = pmc_cfi_skip(r, run->state.len);
}

static void remember(struct run *run)
{
	if (run->nsaved == STATES_MAX)
		run->stop = true;
	else
		run->saved[run->nsaved++] = run->state;
}

static void recall(struct run *run)
{
	if (!run->nsaved)
		run->stop = true;
	else
		run->state = run->saved[--run->nsaved];
	run->known = false;
}

static void cfa_operation(struct run *run, struct cfi_reader *r,
			  unsigned int op)
{
	uint64_t reg = run->state.reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = pmc_cfi_uleb(r);
		define_cfa(run, reg, (int64_t)pmc_cfi_uleb(r));
		break;
	case DW_CFA_def_cfa_sf:
		reg = pmc_cfi_uleb(r);
		define_cfa(run, reg, data_factored(run, pmc_cfi_sleb(r)));
		break;
	case DW_CFA_def_cfa_register:
		define_cfa(run, pmc_cfi_uleb(r), run->state.offset);
		break;
	case DW_CFA_def_cfa_offset:
		define_cfa(run, reg, (int64_t)pmc_cfi_uleb(r));
		break;
	case DW_CFA_def_cfa_offset_sf:
		define_cfa(run, reg, data_factored(run, pmc_cfi_sleb(r)));
		break;
	default:
		define_cfa_expression(run, r);
	}
}

static void register_operation(struct run *run, struct cfi_reader *r,
			       unsigned int op)
{
	uint64_t n = pmc_cfi_uleb(r);

	switch (op) {
	case DW_CFA_offset_extended:
		set_offset(run, n, (int64_t)pmc_cfi_uleb(r));
		break;
	case DW_CFA_offset_extended_sf:
		set_offset(run, n, pmc_cfi_sleb(r));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_offset(run, n, (int64_t)(0 - pmc_cfi_uleb(r)));
		break;
	case DW_CFA_restore_extended:
		restore(run, n);
		break;
	case DW_CFA_undefined:
		set(run, n, (struct cfi_reg){ .kind = CFI_UNDEFINED });
		break;
	case DW_CFA_same_value:
		set(run, n, (struct cfi_reg){ .kind = CFI_SAME });
		break;
	case DW_CFA_register:
		set(run, n, (struct cfi_reg){
			.kind = CFI_REGISTER,
			.offset = (int64_t)pmc_cfi_uleb(r),
		});
		break;
	default:	/* its value is computed */
		set(run, n, (struct cfi_reg){
			.kind = CFI_OTHER,
			.offset = (int64_t)pmc_cfi_uleb(r),
		});
	}
}

static void operation(struct run *run, struct cfi_reader *r, unsigned int op)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state:
		break;
	case DW_CFA_GNU_args_size:
		pmc_cfi_uleb(r);
		break;
	case DW_CFA_set_loc:
		move_to(run, pointer(run->w, r, run->c->encoding));
		break;
	case DW_CFA_advance_loc1:
		advance(run, pmc_cfi_byte(r));
		break;
	case DW_CFA_advance_loc2:
		advance(run, pmc_cfi_bytes(r, 2));
		break;
	case DW_CFA_advance_loc4:
		advance(run, pmc_cfi_bytes(r, 4));
		break;
	case DW_CFA_remember_state:
		remember(run);
		break;
	case DW_CFA_restore_state:
		recall(run);
		break;
	case DW_CFA_def_cfa ... DW_CFA_def_cfa_expression:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_offset_sf:
		cfa_operation(run, r, op);
		break;
	case DW_CFA_expression:
		set_expression(run, r, CFI_EXPRESSION);
		break;
	case DW_CFA_val_expression:
		set_expression(run, r, CFI_OTHER);
		break;
	case DW_CFA_offset_extended ... DW_CFA_register:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		register_operation(run, r, op);
		break;
	default:
		run->stop = true;
	}
}

static void execute(struct run *run, struct cfi_reader r)
{
	unsigned int op;

	while (r.at < r.end && !r.bad && !run->stop && !run->status &&
	       *run->w->patience) {
		--*run->w->patience;
		op = (unsigned int)pmc_cfi_byte(&r);
		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			advance(run, op & 0x3f);
			break;
		case DW_CFA_offset:
			set_offset(run, op & 0x3f, (int64_t)pmc_cfi_uleb(&r));
			break;
		case DW_CFA_restore:
			restore(run, op & 0x3f);
			break;
		default:
			operation(run, &r, op);
		}
	}
	run->stop |= r.bad || !*run->w->patience;
}

/* Runs the common program; its result is the initial state of all functions. */
static void begin_common(const struct walk *w, struct common *c)
{
	struct cfi_state saved[STATES_MAX];
	struct run run = { .w = w, .c = c, .saved = saved };

	execute(&run, c->program);
	c->ok = !run.stop;
	c->initial = run.state;
}

static int read_function(const struct walk *w, const struct common *c,
			 struct cfi_reader r)
{
	struct cfi_state saved[STATES_MAX];
	struct run run = {
		.w = w, .c = c, .state = c->initial, .saved = saved,
	};
	unsigned int encoding = w->s->debug ? DW_EH_PE_absptr : c->encoding;
	uint64_t start = pointer(w, &r, encoding);
	uint64_t len = pointer_form(&r, encoding & 0x0f);

	if (c->augmented && !pmc_cfi_skip(&r, pmc_cfi_uleb(&r)))
		return 0;
	if (r.bad || !start || !len || start + len < start)
		return 0;
	run.status = w->sink->function(w->sink->arg, start, start + len);
	run.addr = run.told = start;
	run.end = start + len;
	if (!run.status)
		execute(&run, r);
	run.addr = run.end;
	if (!run.status && run.addr > run.told)
		tell(&run);
	return run.status;
}

/* Reads the length and identifier of an entry; false: it is none */
static bool read_head(const struct walk *w, struct cfi_reader *r,
		      struct cfi_reader *entry, uint64_t *id, bool *common)
{
	uint64_t len = pmc_cfi_bytes(r, 4);
	unsigned int wide = 4;
	const unsigned char *at;

	if (len == 0xffffffff) {
		len = pmc_cfi_bytes(r, 8);
		wide = w->s->debug ? 8 : 4;
	}
	at = pmc_cfi_skip(r, len);
	if (!len || !at || r->bad)
		return false;
	*entry = (struct cfi_reader){ at, at + len, 0 };
	*id = pmc_cfi_bytes(entry, wide);
	*common = w->s->debug ?
		  *id == (wide == 8 ? ~0ULL : 0xffffffffULL) : !*id;
	/* in .eh_frame this is the distance back from this field */
	if (!w->s->debug)
		*id = (uint64_t)(at - w->s->data) - *id;
	return true;
}

static const struct common *common_at(struct walk *w, uint64_t at)
{
	struct common *c = &w->common;
	struct cfi_reader r, entry;
	bool is_common;
	uint64_t id;

	if (c->at == at)
		return c;
	*c = (struct common){ .at = at, .encoding = DW_EH_PE_absptr };
	if (at >= w->s->len)
		return c;
	r = (struct cfi_reader){ w->s->data + at, w->s->data + w->s->len, 0 };
	if (!read_head(w, &r, &entry, &id, &is_common) || !is_common)
		return c;
	read_common(c, entry);
	if (c->ok)
		begin_common(w, c);
	return c;
}

static void skip_terminators(const struct cfi_section *s, struct cfi_reader *r)
{
	static const unsigned char terminator[4];

	while (!s->open && r->end - r->at >= (ptrdiff_t)sizeof(terminator) &&
	       !memcmp(r->at, terminator, sizeof(terminator)))
		r->at += sizeof(terminator);
}

/* False: no more entries */
static bool next_entry(const struct walk *w, struct cfi_reader *r,
		       struct cfi_reader *entry, uint64_t *id, bool *common)
{
	skip_terminators(w->s, r);
	return read_head(w, r, entry, id, common);
}

int pmc_cfi_walk(const struct cfi_section *s, const struct cfi_sink *sink)
{
	struct cfi_reader r = { s->data, s->data + s->len, 0 }, entry;
	uint64_t patience = OPERATIONS_PER_BYTE * s->len;
	struct walk w = {
		.s = s, .sink = sink, .common.at = ~0ULL, .patience = &patience,
	};
	const struct common *c;
	int status = 0;
	bool common;
	uint64_t id;

	while (!status && patience &&
	       next_entry(&w, &r, &entry, &id, &common)) {
		if (common)
			continue;
		c = common_at(&w, id);
		if (c->ok)
			status = read_function(&w, c, entry);
	}
	return status;
}
