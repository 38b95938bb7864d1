/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a log, -R: what the analyses share. */
#ifndef READER_LOG_VIEW_H
#define READER_LOG_VIEW_H

#include "analysis/resolver.h"
#include "elf/lines.h"
#include "freebsd/log_source.h"

#define NAME_MAX_SHOWN	512

/**
 * struct log - a log that is analysed
 * @same:  by function: the first that looks the same; after log_resolve()
 * @kernel: file of the kernel's symbols, or NULL
 * @lines: by image; opened when asked for
 */
struct log {
	const struct reading *o;
	struct image_root root;
	char		*kernel;
	struct profile	p;
	struct resolver	r;
	uint32_t	*same;
	struct lines	**lines;	/* NULL: not asked yet */
	uint32_t	nlines;
};

/* log_view.c */
void log_init(struct log *l, const struct reading *o);
/* Finds the functions of all frames; 0, or an exit status after a message. */
int log_resolve(struct log *l);
void log_free(struct log *l);
/* The frames of a chain that -z leaves, innermost first. */
uint32_t log_depth(const struct log *l, const struct chain *c);
/* @c->frames[i] is a return address (its frame lies a byte before it). */
int log_is_return(const struct log *l, const struct chain *c, uint32_t i);
/*
 * What a frame is taken for: functions are told apart by name and image, and
 * with -A, or where nothing has a name, places are.
 */
uint32_t log_function(const struct log *l, uint32_t frame);
/* The same of frame @i of a chain; with -I, places are where samples were. */
uint32_t log_label(const struct log *l, const struct chain *c, uint32_t i);
/* One word: a raw symbol, or an address. */
void log_name(struct log *l, uint32_t label, char name[NAME_MAX_SHOWN]);
uint32_t log_label_image(const struct log *l, uint32_t label);
/* The path of an image as it is to be shown. */
void log_image(const struct log *l, uint32_t obj, char path[NAME_MAX_SHOWN]);
/* False, and @file and @line as they were: none is known. */
int log_line(struct log *l, const struct place *at, const char **file,
	     int *line);
/* What the reader should know of the log before he trusts it. */
void log_warn(const struct log *l);

/* The analyses: 0, or an exit status after a message. */
int read_graph(struct log *l);
int read_annotate(struct log *l);
int read_annotate_graph(struct log *l);
int read_calltree(struct log *l);
int read_gprof(struct log *l);

#endif /* READER_LOG_VIEW_H */
