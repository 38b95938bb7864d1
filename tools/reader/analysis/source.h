/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source lines and inlined functions of a profile's frames.
 *
 * An address that is in inlined code becomes several frames, and a function of
 * which lines are wanted several functions; so all that is made of chains and
 * functions has them without knowing.
 */
#ifndef READER_SOURCE_H
#define READER_SOURCE_H

#include "analysis/ksyms.h"
#include "profile/profile.h"

/* After resolve_frames(): @inlines: frames for what was inlined; @lines: the
 * functions' files and lines. */
void source_expand(struct profile *p, const struct ksyms *k, bool inlines,
		   bool lines);

#endif /* READER_SOURCE_H */
