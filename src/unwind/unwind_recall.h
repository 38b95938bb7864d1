/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of the previous walk.  Samples of a thread have their outer frames in
 * common.  When a walk reaches a frame that is as it was then, it reads only
 * the stack words that led on from there.  While these words are unchanged, so
 * is the chain.
 *
 * A frame here is a place and its registers.  The rule for a place never
 * changes within a map of code.  So nothing here depends on memory that is not
 * compared, and all addresses have been read before.  Plain C, as
 * unwind_step.h.
 */
#ifndef HWPMC_UNWIND_RECALL_H
#define HWPMC_UNWIND_RECALL_H

#include "unwind_step.h"

#define RECALL_MAX	64

/**
 * struct recall_frame - a frame that a rule was applied to
 * @ra_at: place of the return address, from the caller's @sp.  0: leaving this
 *	   frame takes more than reading words at known places
 * @fp_at: likewise the caller's frame pointer; 0: unchanged
 * @kept_at: likewise the register that is @kept in struct unwind_frame
 */
struct recall_frame {
	u64	pc;
	u64	sp;
	u64	fp;
	s32	ra_at;
	s32	fp_at;
	s32	kept_at;
};

/**
 * struct unwind_recall - one walk's frames, for the next walk
 * @map: id of their map; 0: none
 * @n, @seen: outermost first, from 1 on; @seen[0] is never written to.  The
 *	      caller of a frame with @ra_at is the one before it
 * @nfresh, @fresh: frames of the current walk which are not in @seen, innermost
 *	first.  More than RECALL_MAX: they are not kept
 */
struct unwind_recall {
	u64	map;
	u32	n;
	u32	nfresh;
	struct recall_frame seen[RECALL_MAX + 1];
	struct recall_frame fresh[RECALL_MAX];
};

/**
 * struct recall_walk - a walk
 * @at: the walk may still meet @r->seen up to here
 * @from: where in @r->seen the walk met its current frame, which is
 *	  @r->seen[@at] then; 0: it did not
 */
struct recall_walk {
	struct unwind_recall *r;
	u32	at;
	u32	from;
};

/*
 * No subscript: a compiler's bounds check would call out of the user access
 * section.
 */
static __always_inline struct recall_frame *recall_seen(struct unwind_recall *r,
							u32 i)
{
	return (struct recall_frame *)r->seen + i;
}

static __always_inline void recall_begin(struct recall_walk *w,
					 struct unwind_recall *r, u64 map)
{
	if (r->map != map) {
		r->map = map;
		r->n = 0;
	}
	r->nfresh = 0;
	*w = (struct recall_walk){ .r = r, .at = r->n };
}

/* Is the frame only its place and registers?  It is after a usual rule. */
static __always_inline bool recall_can(const struct unwind_frame *f)
{
	return f->sp_known && f->fp_known && !f->exact && !f->regs;
}

static __always_inline void recall_add(struct unwind_recall *r,
				       const struct recall_frame *e)
{
	if (r->nfresh < RECALL_MAX)
		*((struct recall_frame *)r->fresh + r->nfresh) = *e;
	r->nfresh += r->nfresh <= RECALL_MAX;
}

/* The outermost of the passed frames that saved @f->kept gives its place. */
static __always_inline void recall_kept(const struct recall_walk *w,
					struct unwind_frame *f)
{
	const struct recall_frame *e;
	u32 i;

	for (i = w->at + 1; i <= w->from; i++) {
		e = recall_seen(w->r, i);
		if (!e->kept_at)
			continue;
		f->kept = unwind_add((e - 1)->sp, e->kept_at);
		f->kept_known = true;
		f->kept_saved = true;
		return;
	}
}

/*
 * recall_at - the walk is at @f, and about to leave it by @rule
 * @usual: by the CFA alone; saved registers are at a fixed distance from it,
 *	   not 0
 */
static __always_inline void recall_at(struct recall_walk *w,
				      struct unwind_frame *f,
				      const struct hwpmc_unwind_rule *rule,
				      bool usual)
{
	struct recall_frame e;

	if (w->from && rule->ra != HWPMC_AT_UNDEFINED)
		recall_kept(w, f);
	if (w->from || !recall_can(f))
		return;
	e = (struct recall_frame){
		.pc = f->pc, .sp = f->sp, .fp = f->fp,
		.ra_at = usual ? rule->ra_offset : 0,
		.fp_at = usual && rule->fp == HWPMC_AT_CFA ? rule->fp_offset : 0,
		.kept_at = usual && rule->lr == HWPMC_AT_CFA ?
			   rule->lr_offset : 0,
	};
	recall_add(w->r, &e);
}

/* recall_left - the walk steps to a caller that it does not recall */
static __always_inline void recall_left(struct recall_walk *w)
{
	if (!w->from)
		return;
	for (; w->from >= w->at; w->from--)
		recall_add(w->r, recall_seen(w->r, w->from));
	w->from = 0;
	w->at--;
}

/* Do the words say that @e's caller is @e - 1, as before? */
static __always_inline bool recall_same(const struct recall_frame *e,
					unwind_read read, void *arg,
					u64 (*strip)(u64 pc))
{
	const struct recall_frame *up = e - 1;
	u64 word;

	if (!read(arg, unwind_add(up->sp, e->ra_at), &word) ||
	    strip(word) != up->pc)
		return false;
	if (!e->fp_at)
		return true;
	return read(arg, unwind_add(up->sp, e->fp_at), &word) && word == up->fp;
}

/*
 * recall_follow - continue from @f along the previous walk, as far as it
 * matches
 *
 * Adds the passed frames to the @n at @pc, up to @max; @f becomes the last
 * frame.  Returns the number of pcs.
 */
static __always_inline unsigned int
recall_follow(struct recall_walk *w, struct unwind_frame *f, u64 *pc,
	      unsigned int n, unsigned int max, unwind_read read, void *arg,
	      u64 (*strip)(u64 pc))
{
	const struct recall_frame *e;

	e = recall_seen(w->r, w->at);
	while (e->sp < f->sp && e != w->r->seen)
		e--;
	w->at = e - w->r->seen;
	if (!w->at || e->sp != f->sp || e->pc != f->pc || e->fp != f->fp ||
	    !recall_can(f))
		return n;
	while (e->ra_at && e > w->r->seen + 1 && n < max &&
	       recall_same(e, read, arg, strip)) {
		pc[n++] = e->pc;
		e--;
	}
	w->from = w->at;
	w->at = e - w->r->seen;
	f->pc = e->pc;
	f->sp = e->sp;
	f->fp = e->fp;
	return n;
}

/* The walk has ended: its frames replace those of the previous walk. */
static __always_inline void recall_end(struct recall_walk *w)
{
	struct unwind_recall *r = w->r;
	u32 i;

	if (!w->from && !r->nfresh)
		return;
	if (r->nfresh > RECALL_MAX || w->from + r->nfresh > RECALL_MAX)
		return;
	for (i = r->nfresh; i; i--)
		r->seen[++w->from] = r->fresh[i - 1];
	r->n = w->from;
}

#endif /* HWPMC_UNWIND_RECALL_H */
