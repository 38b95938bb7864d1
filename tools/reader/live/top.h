/* SPDX-License-Identifier: BSD-2-Clause */
/* The live view, -T. */
#ifndef READER_TOP_H
#define READER_TOP_H

#include <signal.h>
#include <stdbool.h>

#include "freebsd/log_view.h"

#define TOP_COLUMNS	1024	/* no screen is wider */

enum top_view { VIEW_CALLGRAPH, VIEW_CALLTREE, VIEW_N };

/* samples, and their weight */
struct top_count {
	uint64_t	n, weight;
};

/**
 * struct top - state of the live view
 * @o:      the options, as changed by keys
 * @before: by chain: the samples before the period on the screen, for deltas
 * @now:    by chain: the samples when the screen was drawn
 * @weight: of @samples
 * @lost_before, @lost_now: the same for lost samples, by event
 * @event:  the first of the shown events
 * @merge:  show all PMCs that count the same, not only one
 * @delta:  show the samples of the last period, not all
 * @total, @samples: samples of all events, and of those shown
 * @unresolved: those of @samples at unmapped addresses
 * @lost:   lost samples of the events shown
 * @untold: the log does not record losses
 */
struct top {
	struct reading	o;
	struct log	log;
	struct top_count *before, *now;
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
	uint64_t	total, samples, weight, unresolved, lost;
	int		untold;
};

/* Lines of a screen, in columns, without control characters. */
struct top_text {
	char		**line;
	size_t		n, cap;
	unsigned int	width, height;
};

/*
 * Of the process that records, to top_run(): its recording has failed, so nothing is read
 * any more.
 */
#define TOP_NO_RECORDING	SIGUSR1

/* terminal.c: does a screen go on it? */
bool terminal_is_usable(void);

/* top.c: exit statuses of sysexits(3) */
/* What top_run() would find out when a recording has begun */
int top_check(const struct reading *o);
int top_run(const struct reading *o, struct input *in);

/* top_view.c: draws all samples so far, and begins the next period. */
void top_draw(struct top *t, struct top_text *text);
/* Draws the last period again, with the samples since then. */
void top_redraw(struct top *t, struct top_text *text);
/* Are there samples that top_draw() has not seen? */
int top_fresh(const struct top *t);
/* Switches to the next event with another name, or to the next PMC. */
void top_next_event(struct top *t);
void top_event_name(const struct top *t, char name[NAME_MAX_SHOWN]);
void top_text_free(struct top_text *text);

#endif /* READER_TOP_H */
