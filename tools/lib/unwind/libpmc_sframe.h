/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SFrame, versions 2 and 3, as sourceware.org/binutils/docs/sframe-spec has it.
 */
#ifndef LIBPMC_SFRAME_H
#define LIBPMC_SFRAME_H

#include "libpmc_cfi.h"

#define PT_SFRAME		0x6474e554	/* PT_GNU_SFRAME */

#define SFRAME_MAGIC		0xdee2
#define SFRAME_F_START_PCREL	0x04
#define SFRAME_ABI_AARCH64	2
#define SFRAME_ABI_AMD64	3

/*
 * All functions of a .sframe section, as pmc_cfi_walk() has those of .eh_frame.  What
 * is malformed is left out.
 */
int pmc_sframe_walk(const struct cfi_section *s, const struct cfi_sink *sink);

/* How many functions there are, as the section says; 0: it is none */
uint32_t pmc_sframe_functions(const struct cfi_section *s);

#endif
