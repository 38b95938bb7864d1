/* SPDX-License-Identifier: BSD-2-Clause */
/* Flame graphs: a call tree as an SVG page with its style and script. */
#ifndef READER_FLAME_H
#define READER_FLAME_H

#include "analysis/shown.h"
#include "base/out.h"
#include "profile/calltree.h"

#define FLAME_WIDTH	1200	/* until the script knows the window width */
#define FLAME_PAD	10
#define FLAME_HEAD	92	/* height of the area above the frames */
#define FLAME_ROW	18
#define FLAME_CHAR	6.63	/* width of a character, 11 px monospace */
#define FLAME_HUES	8	/* maximum number of hues */

extern const char flame_style[];
extern const char flame_script[];

/**
 * struct flame_hue - the colours of one kind of frame
 * @what: text for the legend, NULL: not in the legend
 * @h, @s, @l: hue, saturation, lightness, and how far each varies (by name, or
 *	by strength: then lightness goes from @l up to @l + @dl as it fades)
 */
struct flame_hue {
	const char *what;
	int h, dh, s, ds, l, dl;
	bool fades;
};

/**
 * struct flame_look - appearance of a frame
 * @name:  safe to print, but not yet quoted for XML; may point into @buf
 * @hue:   number of a hue
 * @strength: 0 to 1, of hues that fade
 */
struct flame_look {
	const char *name;
	unsigned int hue;
	double strength;
	char buf[SHOWN_MAX];
};

/**
 * struct flame_note - more text for a frame's tooltip
 * @obj:   its object, or NULL; may point into @buf
 */
struct flame_note {
	const char *obj;
	char text[96];
	char buf[SHOWN_MAX];
};

/**
 * struct flame_graph - a graph to draw
 * @look:  called several times for a frame, to sort; all but @strength is set
 * @note:  called for frames that are drawn; no note if it sets nothing
 * @hues:  @nhues hues; the first is the root's and not in the legend
 * @title, @subtitle: any text
 * @events: what is counted are events, not samples
 */
struct flame_graph {
	const struct calltree *t;
	void (*look)(void *ctx, uint32_t node, struct flame_look *l);
	void (*note)(void *ctx, uint32_t node, struct flame_note *n);
	void *ctx;
	const struct flame_hue *hues;
	unsigned int nhues;
	const char *title, *subtitle;
	bool events;
};

/* The tree must not be empty. */
void flame_draw(const struct flame_graph *g, struct out *out);

#endif /* READER_FLAME_H */
