/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the walk before saw of a stack.  Samples of a thread have their outer frames
 * in common: where a walk comes to a frame that is as it was then, it reads only the
 * words that led on from there.  While they are as they were, so is the chain.
 *
 * A frame here is a place and its registers; what the rule for that place says is
 * always the same within a map of code.  So nothing here is believed that depends on
 * memory, and all addresses have been read before.  Plain C, as unwind_step.h.
 */
#ifndef HWPMC_UNWIND_RECALL_H
#define HWPMC_UNWIND_RECALL_H

#include "unwind_step.h"

#define RECALL_MAX	64

/**
 * struct recall_frame - a frame that a rule was applied to
 * @ra_at: from the caller's @sp: where the return address is.  0: this frame is not
 *	left by reading words at known places only
 * @fp_at: likewise the caller's frame pointer; 0: it is the same
 * @kept_at: likewise the register that struct unwind_frame has as @kept
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
 * struct unwind_recall - one walk's frames, for the next
 * @map: whose they are; 0: nobody's
 * @n, @seen: outermost first, from 1 on; @seen[0] is never written to.  The caller of
 *	a frame with @ra_at is the one before it
 * @nfresh, @fresh: those of the walk that is under way which are not in @seen,
 *	innermost first.  More than RECALL_MAX: they are not kept
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
 * @at: @r->seen up to here may be met again
 * @from: where the frame that the walk is at has been met in @r->seen; 0: it has not.
 *	It is @r->seen[@at] then
 */
struct recall_walk {
	struct unwind_recall *r;
	u32	at;
	u32	from;
};

/* Not by subscript: bounds that the compiler checks lead out of where user memory is open. */
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

/* Is the frame nothing but its place and its registers?  After a usual rule it is. */
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

/* The outermost of the frames that were passed which has saved @f->kept gives its place. */
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
 * @usual: by the CFA alone; what is saved is a fixed distance from there, not 0
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

/* recall_left - there is a caller.  If it is not the one of then, it is another way. */
static __always_inline void recall_left(struct recall_walk *w)
{
	if (!w->from)
		return;
	for (; w->from >= w->at; w->from--)
		recall_add(w->r, recall_seen(w->r, w->from));
	w->from = 0;
	w->at--;
}

/* Do the words say that @e's caller is @e - 1, as then? */
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
 * recall_follow - the walk has come to @f: goes on for as long as it has been there
 *
 * The frames that it passes are added to the @n at @pc, up to @max; @f is where it ends.
 * Returns how many there are now.
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

/* The walk has ended: it is remembered instead of the one before. */
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
