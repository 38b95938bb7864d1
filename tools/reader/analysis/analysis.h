/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Common code of the commands that name samples (report, fold, flame, html, diff,
 * annotate, filter, archive, export): options, reading, resolving.
 */
#ifndef READER_ANALYSIS_H
#define READER_ANALYSIS_H

#include <getopt.h>

#include "analysis/resolve.h"

struct analysis {
	/* options */
	const char *path;
	const char *kernel;	/* -k */
	const char *event;	/* --event, NULL: the command's default */
	const char *output, *title;	/* -o, -t: of commands that have them */
	struct image_root root;	/* -r */
	bool demangle;
	bool inlines;		/* show inlined functions as frames */
	bool lines;		/* functions have files and lines */
	bool by_line;		/* ... and are grouped by them */
	struct filter filter;
	/* set by the command before analysis_run(): see struct profile */
	unsigned int by;
	double slice;		/* seconds, with BY_SLICE */
	const char *field;	/* with BY_FIELD */
	void (*on_sample)(void *ctx, const struct sample *s);
	void (*on_samples)(void *ctx, const struct sample *s, uint32_t n);
	bool (*on_begin)(void *ctx);	/* see struct profile */
	void *on_sample_ctx;
	bool innermost;		/* callers are not needed */
	bool lists;		/* callers are needed, but no call tree */
	bool resolves;		/* the command resolves by itself */
	/* results */
	char *in_archive, *archive_root;	/* of @path and @root */
	struct profile p;
	struct ksyms k;
	bool ids_last;		/* names were found before the build-ids */
	bool *use;		/* by event: the user asked for it */
};

#define ANALYSIS_DEBUGINFOD	0x700	/* no letter */

/* for the tables of getopt_long() */
#define ANALYSIS_SHORT	"hk:r:e:"
#define ANALYSIS_LONG						\
	{ "help", no_argument, NULL, 'h' },			\
	{ "kernel", required_argument, NULL, 'k' },		\
	{ "root", required_argument, NULL, 'r' },		\
	{ "event", required_argument, NULL, 'e' },		\
	{ "no-demangle", no_argument, NULL, 'D' },		\
	{ "inline", no_argument, NULL, 'I' },			\
	{ "by-line", no_argument, NULL, 'B' },			\
	{ "debuginfod", no_argument, NULL, ANALYSIS_DEBUGINFOD }, \
	FILTER_LONG

#define ANALYSIS_HELP	ANALYSIS_HELP_WITH(ANALYSIS_HELP_FRAMES)
#define ANALYSIS_HELP_FRAMES						\
	"      --inline       what was inlined is shown as called\n"	\
	"      --by-line      functions are told apart by source line\n"
/* @frames: what a command without frames does not have, "" */
#define ANALYSIS_HELP_WITH(frames)					\
	"  -e, --event NAME   only this event; \"all\" for all of them\n" \
	"  -k, --kernel FILE  kernel symbols: kallsyms, System.map or " \
	"vmlinux\n"						\
	"  -r, --root DIR     where the recorded machine's files are\n" \
	"      --no-demangle  symbols as they are in the files\n"	\
	frames								\
	"      --debuginfod   fetch symbols from the servers in "	\
	"DEBUGINFOD_URLS\n"						\
	FILTER_HELP

void analysis_init(struct analysis *a);
/* Selects an event; false after a message if one was. */
bool analysis_event(struct analysis *a, const char *arg);
/* As filter_option(). */
int analysis_option(struct analysis *a, int opt, const char *arg);
/* Takes the one required argument; false after a message. */
bool analysis_argument(struct analysis *a, const char *cmd, int argc,
		       char **argv);
/* If @path is an unpacked archive, sets @path and @root to its contents. */
void analysis_enter(struct analysis *a);
/*
 * False after a message: the archive's files are not in the archive.  Every
 * command that takes files from one asks for it.
 */
bool analysis_root_is_own(const struct analysis *a);
/*
 * Reads and resolves; returns an exit code.  READER_OK also for a log that is
 * damaged further on: see analysis_close().
 */
int analysis_run(struct analysis *a);
/* Can it be read once only? */
bool analysis_is_stream(const char *path);
/*
 * Clock of the last record, for windows in fractions of the log; false after a
 * message.
 */
bool analysis_find_end(const char *path, uint64_t *last);
/* Prints which event is shown, if others have samples, too. */
void analysis_tell_others(const struct analysis *a, uint32_t shown);
/* For commands that show one event: keeps one in use, and prints which. */
void analysis_one_event(struct analysis *a);
uint64_t analysis_samples(const struct analysis *a);
/* The clock at the beginning and at the end of what --time asks for of the log. */
void analysis_window(const struct analysis *a, uint64_t *from, uint64_t *to);
/* Are all events in use sampled at a rate, so that their weights are alike? */
bool analysis_weighs(const struct analysis *a);
/*
 * The same for a view that adds up the events in use.  If not, it counts samples
 * from now on, since a period and a sample can't be added up.
 */
bool analysis_mix(struct analysis *a);

/* what is counted: the weights of chains, samples, or how often events happened */
enum unit { UNIT_WEIGHT, UNIT_SAMPLES, UNIT_PERIOD };
uint64_t analysis_count(const struct profile *p, const struct chain *c,
			enum unit unit);
/* Frees what exists before analysis_run(), for callers that do not run it. */
void analysis_forget(struct analysis *a);
/* Frees all; returns the exit code for the state of the log. */
int analysis_close(struct analysis *a);

#endif /* READER_ANALYSIS_H */
