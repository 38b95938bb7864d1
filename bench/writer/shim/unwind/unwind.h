/* SPDX-License-Identifier: GPL-2.0-only */
/* What the writer thread uses of src/unwind/unwind.h. */
#ifndef HWPMC_UNWIND_H
#define HWPMC_UNWIND_H

struct hwpmc_owner;

bool hwpmc_unwind_tidy(struct hwpmc_owner *o);
void hwpmc_unwind_rest(struct hwpmc_owner *o);
void hwpmc_unwind_sync_lapsed(struct hwpmc_owner *o);

#endif /* HWPMC_UNWIND_H */
