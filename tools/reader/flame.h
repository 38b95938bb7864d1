/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a flame graph's page: its look and its behaviour. */
#ifndef READER_FLAME_H
#define READER_FLAME_H

#define FLAME_WIDTH	1200	/* until the script knows the window's */
#define FLAME_PAD	10
#define FLAME_HEAD	92	/* height of what is above the frames */
#define FLAME_ROW	18
#define FLAME_CHAR	6.63	/* width of a character, 11 px monospace */

extern const char flame_style[];
extern const char flame_script[];

#endif /* READER_FLAME_H */
