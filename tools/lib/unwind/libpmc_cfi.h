/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DWARF's call frame information, as rules for the module's unwinder.
 */
#ifndef LIBPMC_CFI_H
#define LIBPMC_CFI_H

#include <stddef.h>
#include <stdint.h>
#include <linux/hwpmc_unwind.h>

/**
 * struct cfi_section - .eh_frame, or .debug_frame
 * @data, @len: what is in it; may end with its terminator
 * @addr: where it is loaded
 * @debug: it is .debug_frame
 * @machine: EM_X86_64 or EM_AARCH64
 */
struct cfi_section {
	const unsigned char *data;
	size_t		len;
	uint64_t	addr;
	int		debug;
	unsigned int	machine;
};

/**
 * struct cfi_sink - where the rules of a section go
 * @function: those that follow are for what is from @start to @end
 * @row: from @addr of it on; addresses go up.  A rule whose CFA is UNTOLD: the
 *	information cannot be told in a rule
 *
 * Each returns 0, or not: the walk ends with that.
 */
struct cfi_sink {
	int	(*function)(void *arg, uint64_t start, uint64_t end);
	int	(*row)(void *arg, uint64_t addr,
		       const struct hwpmc_unwind_rule *rule);
	void	*arg;
};

/*
 * All functions of a section, in its order.  What is malformed is left out with
 * what follows it; of a section that would take for ever, so is the rest.  0, or what the sink has returned.
 */
int pmc_cfi_walk(const struct cfi_section *s, const struct cfi_sink *sink);

/*
 * libpmc_cfi_rule.c: the registers' rules, as DWARF has them.
 */
enum cfi_kind {
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,		/* at CFA + offset */
	CFI_EXPRESSION,		/* at what the expression says */
	CFI_REGISTER,		/* in register offset */
	CFI_OTHER,		/* a value */
};

struct cfi_reg {
	enum cfi_kind	kind;
	int64_t		offset;
	const unsigned char *expr;
	size_t		len;
};

/* @expr: the CFA is what it says; else NULL, and it is @reg + @offset */
struct cfi_state {
	uint64_t	reg;
	int64_t		offset;
	const unsigned char *expr;
	size_t		len;
	struct cfi_reg	ra, fp, rbx;
};

/* @signal: of a signal's trampoline */
void pmc_cfi_rule(struct hwpmc_unwind_rule *rule, const struct cfi_state *s,
		  unsigned int machine, int signal);

/* libpmc_cfi_read.c: what is read up to @end; past it, all is 0 and @bad set */
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

/* Most of what there is to read is one byte, millions of times. */
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
