/* SPDX-License-Identifier: BSD-2-Clause */
/* From frames to functions, after the log was read. */
#ifndef READER_RESOLVE_H
#define READER_RESOLVE_H

#include "analysis/ksyms.h"
#include "profile/profile.h"

struct objsyms;

/* Number of the function of one frame, with the symbols of its object. */
uint32_t resolve_frame(struct profile *p, const struct ksyms *k,
		       const struct objsyms *s, const struct frame *f);
/* Gives every frame its function, each place in an object looked up once. */
void resolve_frames(struct profile *p, const struct ksyms *k, const bool *use);

/* The function that agrees with @key in all but what is shown. */
uint32_t func_number(struct funcs *t, const struct func *key);
/* Frame numbers, those of one object together; the caller frees them. */
uint32_t *frames_by_object(const struct profile *p);

/*
 * Number of the string to show for a function: its name, "object+0x1234" where
 * only its beginning is known, "[object]" where nothing is.
 */
uint32_t func_shown(struct profile *p, uint32_t func, bool demangle);

/*
 * By function: the first that looks the same.  One file can be several objects
 * (copies of it, upgrades) and a function of it several functions; nobody wants
 * two rows for it.  The caller frees it.
 */
uint32_t *funcs_same(const struct profile *p);

static inline bool func_named(const struct func *f)
{
	return f->name || f->entry;
}

static inline enum obj_kind func_kind(const struct profile *p, uint32_t func)
{
	return p->objs.obj[p->funcs.func[func].obj].kind;
}

#endif /* READER_RESOLVE_H */
