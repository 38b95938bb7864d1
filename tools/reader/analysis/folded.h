/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_FOLDED_H
#define READER_FOLDED_H

#include "analysis/analysis.h"
#include "base/out.h"

/* Writes a line for each distinct stack of the events in use. */
void fold_write(struct analysis *a, struct out *out, enum unit unit);

#endif /* READER_FOLDED_H */
