/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_FOLDED_H
#define READER_FOLDED_H

#include "analysis/analysis.h"
#include "base/out.h"

/*
 * A line for each distinct stack of the events in use.  @period: with how often
 * the event happened instead of how many samples there are.
 */
void fold_write(struct analysis *a, struct out *out, bool period);

#endif /* READER_FOLDED_H */
