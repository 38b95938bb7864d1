/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source lines and inlined functions of a profile's frames.
 *
 * An address in inlined code becomes several frames.  A function that is
 * grouped by line becomes several functions.  So code that uses chains and
 * functions needs no change for inlining and lines.
 */
#ifndef READER_SOURCE_H
#define READER_SOURCE_H

#include "analysis/ksyms.h"
#include "profile/profile.h"

/* Call it after resolve_frames().  @inlines: add frames for inlined functions;
 * @lines: set the functions' files and lines. */
void source_expand(struct profile *p, const struct ksyms *k, bool inlines,
		   bool lines);

#endif /* READER_SOURCE_H */
