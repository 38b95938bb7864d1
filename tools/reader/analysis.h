/* SPDX-License-Identifier: BSD-2-Clause */
/* What report, fold and flame have in common: options, reading, resolving. */
#ifndef READER_ANALYSIS_H
#define READER_ANALYSIS_H

#include <getopt.h>

#include "resolve.h"

struct analysis {
	/* options */
	const char *path;
	const char *kernel;	/* -k */
	const char *event;	/* --event, NULL: the command's default */
	struct image_root root;	/* -r */
	bool demangle;
	/* results */
	struct profile p;
	struct ksyms k;
	bool *use;		/* by event: it was asked for */
};

/* for the tables of getopt_long() */
#define ANALYSIS_SHORT	"hk:r:e:"
#define ANALYSIS_LONG						\
	{ "help", no_argument, NULL, 'h' },			\
	{ "kernel", required_argument, NULL, 'k' },		\
	{ "root", required_argument, NULL, 'r' },		\
	{ "event", required_argument, NULL, 'e' },		\
	{ "no-demangle", no_argument, NULL, 'D' }

#define ANALYSIS_HELP							\
	"  -e, --event NAME   only this event; \"all\" for all of them\n" \
	"  -k, --kernel FILE  kernel symbols: kallsyms, System.map or " \
	"vmlinux\n"						\
	"  -r, --root DIR     where the recorded machine's files are\n" \
	"      --no-demangle  symbols as they are in the files\n"

void analysis_init(struct analysis *a);
/* Takes an option; false if it is not one of these. */
bool analysis_option(struct analysis *a, int opt, const char *arg);
/* The one argument there has to be; false after a message. */
bool analysis_argument(struct analysis *a, const char *cmd, int argc,
		       char **argv);
/*
 * Reads and resolves; an exit code.  READER_OK also for a log that is damaged
 * further on: see analysis_close().
 */
int analysis_run(struct analysis *a);
/* For commands that show one event: leaves one of those in use, says which. */
void analysis_one_event(struct analysis *a);
uint64_t analysis_samples(const struct analysis *a);
/* The exit code that the log itself deserves. */
int analysis_close(struct analysis *a);

#endif /* READER_ANALYSIS_H */
