/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules for code that has no call frame information, and is known by its instructions.
 */
#ifndef LIBPMC_CODE_H
#define LIBPMC_CODE_H

#include "libpmc_cfi.h"
#include "libpmc_elf.h"

/*
 * The sections through which a file calls other files.  The sink must prefer what call
 * frame information says of the same code.
 *
 * Returns 0; the sink's value, if another; or -1 with errno: the file cannot be read now.
 */
int pmc_code_plt(const struct elf *e, const struct cfi_sink *sink);

/*
 * What runs when a file has been loaded and before it is unloaded; amd64, as above.  The
 * first instruction is sampled often: its page is not in memory.
 */
int pmc_code_init(const struct elf *e, const struct cfi_sink *sink);

/* The functions to which the kernel lets signal handlers return; as above. */
int pmc_code_restorers(const struct elf *e, const struct cfi_sink *sink);

#endif
