/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves frames to functions, after the log was read. */
#ifndef READER_RESOLVE_H
#define READER_RESOLVE_H

#include "analysis/ksyms.h"
#include "profile/profile.h"

struct objsyms;

/* Number of the function of one frame, with the symbols of its object. */
uint32_t resolve_frame(struct profile *p, const struct ksyms *k,
		       const struct objsyms *s, const struct frame *f);
/* Sets the function of every frame; looks up each place in an object once. */
void resolve_frames(struct profile *p, const struct ksyms *k, const bool *use);

/* Number of the function that agrees with @key in all but @shown. */
uint32_t func_number(struct funcs *t, const struct func *key);
/* Calls @f for the frames of each object: their numbers are [from, to). */
void frames_by_object(const struct profile *p,
		      void (*f)(void *ctx, const uint32_t *from, const uint32_t *to), void *ctx);

/*
 * String number of the text to show for a function: its name, "object+0x1234"
 * if only its start is known, "[object]" if nothing is known.
 */
uint32_t func_shown(struct profile *p, uint32_t func, bool demangle);

/*
 * By function: the first function that is shown the same.  One file can be
 * several objects (copies, upgrades), each with functions of its own; those are
 * to share a row.  The caller frees it.
 */
uint32_t *funcs_same(const struct profile *p);
/* The same where images are shown by path: files of two paths are two. */
uint32_t *funcs_same_by_path(const struct profile *p);

static inline bool func_named(const struct func *f)
{
	return f->name || f->entry;
}

static inline enum obj_kind func_kind(const struct profile *p, uint32_t func)
{
	return p->objs.obj[p->funcs.func[func].obj].kind;
}

#endif /* READER_RESOLVE_H */
