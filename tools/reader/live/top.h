/* SPDX-License-Identifier: BSD-2-Clause */
/* The live view, -T. */
#ifndef READER_TOP_H
#define READER_TOP_H

#include "freebsd/log_view.h"

#define TOP_COLUMNS	1024	/* no screen is wider */

enum top_view { VIEW_CALLGRAPH, VIEW_CALLTREE, VIEW_N };

/**
 * struct top - what is shown
 * @o:      the options as keys have changed them
 * @before: by chain: the samples before the period on the screen, for deltas
 * @now:    by chain: the samples when that was drawn
 * @lost_before, @lost_now: the same of what was lost, by event
 * @event:  the first of those shown
 * @merge:  all PMCs that count the same, not one of them
 * @delta:  the samples since the last time, not all
 * @total, @samples: of all events, of those shown
 * @unresolved: of the latter, those that nothing was mapped for
 * @lost:   that could not be recorded, of those shown
 * @untold: the log does not tell that
 */
struct top {
	struct reading	o;
	struct log	log;
	uint64_t	*before, *now;
	uint32_t	nbefore, nnow;
	uint64_t	*lost_before, *lost_now;
	uint32_t	nlost_before, nlost_now;
	uint32_t	event;
	enum top_view	view;
	int		merge;
	int		delta;
	int		pause;
	int		skiplink;
	double		threshold;	/* percent */
	uint64_t	total, samples, unresolved, lost;
	int		untold;
};

/* Lines of a screen, in columns, without anything a terminal obeys. */
struct top_text {
	char		**line;
	size_t		n, cap;
	unsigned int	width, height;
};

/* top.c: an exit status of sysexits(3) */
int top_run(const struct reading *o, struct input *in);

/* top_view.c: what the samples have come to; the next period begins. */
void top_draw(struct top *t, struct top_text *text);
/* The period that was drawn last, and what has come since. */
void top_redraw(struct top *t, struct top_text *text);
/* There are samples that top_draw() has not seen. */
int top_fresh(const struct top *t);
/* The next event that has a name of its own, or the next PMC. */
void top_next_event(struct top *t);
void top_event_name(const struct top *t, char name[NAME_MAX_SHOWN]);
void top_text_free(struct top_text *text);

#endif /* READER_TOP_H */
