/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The causes of drops.  Each has a name for records that are printed one by one,
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

extern const char *const drop_names[PMCLOG_DROP_NCAUSE];
extern const char *const drop_texts[PMCLOG_DROP_NCAUSE];

#endif /* READER_CAUSES_H */
