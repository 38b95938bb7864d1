/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SFrame, versions 2 and 3, see sourceware.org/binutils/docs/sframe-spec.
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
 * Passes all functions of a .sframe section to @sink, as pmc_cfi_walk() does for
 * .eh_frame.  Leaves out malformed parts.
 */
int pmc_sframe_walk(const struct cfi_section *s, const struct cfi_sink *sink);

/* Number of functions according to the section; 0: not an SFrame section */
uint32_t pmc_sframe_functions(const struct cfi_section *s);

#endif
