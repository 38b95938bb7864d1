/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The causes of drops and of cut chains.  Each has a name for records that are printed one by one,
 * which other programs may parse, and for messages about them; and a text for
 * all other output of pmclog, pmcstat and pmccontrol.
 */
#ifndef READER_CAUSES_H
#define READER_CAUSES_H

#include <linux/pmclog.h>

/* X(PMCLOG_DROP_*, name, text) */
#define DROP_CAUSES(X) \
	X(FULL, "full", "ring full") \
	X(NESTED, "nested", "nested too deep") \
	X(CONTENDED, "contended", "interrupted too often") \
	X(NORING, "noring", "no ring")

/* X(PMCLOG_CUT_*, name, text) */
#define CUT_CAUSES(X) \
	X(DEPTH, "depth", "too deep") \
	X(USER, "user", "user stack not in memory") \
	X(KERNEL, "kernel", "the kernel's own, lost") \
	X(TABLE, "table", "no unwind table, or one that does not fit")

extern const char *const drop_names[PMCLOG_DROP_NCAUSE];
extern const char *const drop_texts[PMCLOG_DROP_NCAUSE];
extern const char *const cut_names[PMCLOG_CUT_NCAUSE];
extern const char *const cut_texts[PMCLOG_CUT_NCAUSE];

#endif /* READER_CAUSES_H */
