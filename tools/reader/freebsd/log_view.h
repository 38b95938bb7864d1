/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a log, -R: common code of the analyses. */
#ifndef READER_LOG_VIEW_H
#define READER_LOG_VIEW_H

#include "analysis/resolver.h"
#include "elf/lines.h"
#include "freebsd/log_source.h"

#define NAME_MAX_SHOWN	2048

/**
 * struct log - a log that is analysed
 * @same:  by function: the first that is shown the same; after log_resolve()
 * @kernel: file of the kernel's symbols, or NULL
 * @lines: by image; opened on first use
 */
struct log {
	const struct reading *o;
	struct image_root root;
	char		*kernel;
	struct profile	p;
	struct resolver	r;
	uint32_t	*same;
	struct lines	**lines;	/* NULL: not used yet */
	uint32_t	nlines;
};

/* log_view.c */
void log_init(struct log *l, const struct reading *o);
/* Finds the functions of all frames; 0, or an exit status after a message. */
int log_resolve(struct log *l);
void log_free(struct log *l);
/* Number of a chain's innermost frames that -z keeps. */
uint32_t log_depth(const struct log *l, const struct chain *c);
/* Is frame @i of @c a return address (its frame lies a byte before it)? */
int log_is_return(const struct log *l, const struct chain *c, uint32_t i);
/*
 * The label of a frame: its function, by name and image; or its place, with -A
 * or if it has no name.
 */
uint32_t log_function(const struct log *l, uint32_t frame);
/* The label of frame @i of a chain; with -I, the place that was sampled. */
uint32_t log_label(const struct log *l, const struct chain *c, uint32_t i);
/* One word: a raw symbol, or an address.  Returns @name. */
const char *log_name(struct log *l, uint32_t label, char name[NAME_MAX_SHOWN]);
uint32_t log_label_image(const struct log *l, uint32_t label);
/* The path of an image, to be shown.  Returns @path. */
const char *log_image(const struct log *l, uint32_t obj, char path[NAME_MAX_SHOWN]);
/* False, and @file and @line unchanged, if no line is known. */
int log_line(struct log *l, const struct place *at, const char **file,
	     int *line);
/* Prints warnings about the quality of the log. */
void log_warn(const struct log *l);

/* The analyses: 0, or an exit status after a message. */
int read_graph(struct log *l);
int read_annotate(struct log *l);
int read_annotate_graph(struct log *l);
int read_calltree(struct log *l);
int read_gprof(struct log *l);

#endif /* READER_LOG_VIEW_H */
