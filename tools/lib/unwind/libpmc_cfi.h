/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts DWARF's call frame information to rules for the module's unwinder.
 */
#ifndef LIBPMC_CFI_H
#define LIBPMC_CFI_H

#include <stddef.h>
#include <stdint.h>
#include <linux/hwpmc_unwind.h>

/**
 * struct cfi_section - .eh_frame, or .debug_frame
 * @data, @len: contents of the section
 * @addr: address at which the section is loaded
 * @debug: the section is .debug_frame
 * @machine: EM_X86_64 or EM_AARCH64
 * @open: @len is too large: the section ends with its terminator.  Others may have
 *	terminators inside, between what was linked
 */
struct cfi_section {
	const unsigned char *data;
	size_t		len;
	uint64_t	addr;
	int		debug;
	unsigned int	machine;
	int		open;
};

/**
 * struct cfi_sink - receiver of the rules of a section
 * @function: the following rows are for the function from @start to @end
 * @row: the rule from @addr on; addresses increase.  UNTOLD as the CFA: a rule
 *	cannot express the information
 *
 * A return value other than 0 ends the walk, which returns it.
 */
struct cfi_sink {
	int	(*function)(void *arg, uint64_t start, uint64_t end);
	int	(*row)(void *arg, uint64_t addr,
		       const struct hwpmc_unwind_rule *rule);
	void	*arg;
};

/*
 * Passes all functions of a section to @sink, in the section's order.  Leaves out a
 * malformed part and what follows it, and the rest of a section that would take too
 * long.  Returns 0, or the value that @sink has returned.
 */
int pmc_cfi_walk(const struct cfi_section *s, const struct cfi_sink *sink);

/*
 * libpmc_cfi_rule.c: DWARF's rules for registers.
 */
enum cfi_kind {
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,		/* at CFA + offset */
	CFI_EXPRESSION,		/* at the address that the expression gives */
	CFI_REGISTER,		/* in the register with number offset */
	CFI_OTHER,		/* a value: what @expr gives; NULL: CFA + offset * factor */
};

struct cfi_reg {
	enum cfi_kind	kind;
	int64_t		offset;
	const unsigned char *expr;
	size_t		len;
};

/*
 * @expr: gives the CFA; NULL: the CFA is @reg + @offset
 * @sp: the caller's stack pointer; CFI_SAME: it is the CFA
 */
struct cfi_state {
	uint64_t	reg;
	int64_t		offset;
	const unsigned char *expr;
	size_t		len;
	struct cfi_reg	ra, fp, rbx, sp;
};

/* @signal: the function is a signal trampoline */
void pmc_cfi_rule(struct hwpmc_unwind_rule *rule, const struct cfi_state *s,
		  unsigned int machine, int signal);

/* libpmc_cfi_read.c: reads up to @end; beyond it reads return 0 and set @bad */
struct cfi_reader {
	const unsigned char *at;
	const unsigned char *end;
	int		bad;
};

uint64_t pmc_cfi_bytes(struct cfi_reader *r, unsigned int n);
uint64_t pmc_cfi_long_uleb(struct cfi_reader *r);
int64_t pmc_cfi_sleb(struct cfi_reader *r);
/* A block of @n bytes, or NULL */
const unsigned char *pmc_cfi_skip(struct cfi_reader *r, uint64_t n);

/* Inline, because most reads are of one byte, millions of times. */
static inline uint64_t pmc_cfi_byte(struct cfi_reader *r)
{
	return r->at < r->end ? *r->at++ : pmc_cfi_bytes(r, 1);
}

static inline uint64_t pmc_cfi_uleb(struct cfi_reader *r)
{
	return r->at < r->end && *r->at < 0x80 ? *r->at++ :
						 pmc_cfi_long_uleb(r);
}

#endif
