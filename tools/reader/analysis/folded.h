/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_FOLDED_H
#define READER_FOLDED_H

#include "analysis/analysis.h"
#include "base/out.h"

/*
 * Writes a line for each distinct stack of the events in use.  @period: with
 * counts of the event instead of counts of samples.
 */
void fold_write(struct analysis *a, struct out *out, bool period);

#endif /* READER_FOLDED_H */
