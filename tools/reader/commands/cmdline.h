/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a command. */
#ifndef READER_CMDLINE_H
#define READER_CMDLINE_H

#include <getopt.h>

/**
 * struct cmdline - options of a command
 * @name:    name of the command
 * @usage:   text for --help, which is 'h' in @options
 * @letters: short options, as for getopt_long()
 * @take:    takes an option: 1; if it is wrong 0, or -1 after a message.  For
 *           cmdline_analysis(): one that is not of analysis_option(), 0 after a message;
 *           NULL: there is none
 * @check:   for cmdline_analysis(): checks the arguments at @optind; -1: continue;
 *           else an exit code.  NULL: the log is the only one
 * @run:     for cmdline_analysis(): calls analysis_run(); returns an exit code
 */
struct cmdline {
	const char *name, *usage, *letters;
	const struct option *options;
	int (*take)(void *ctx, int opt, const char *arg);
	int (*check)(void *ctx, int argc, char **argv);
	int (*run)(void *ctx);
};

/* -1: continue with the arguments at @optind; else an exit code. */
int cmdline_options(const struct cmdline *c, void *ctx, int argc, char **argv);
/* cmdline_analysis.c: runs a command that analyses a log; frees @a.  An exit code. */
struct analysis;
int cmdline_analysis(const struct cmdline *c, struct analysis *a, void *ctx,
		     int argc, char **argv);

/* Runs a command that takes one file and no options; returns its exit code. */
int cmdline_file(const char *usage, int argc, char **argv,
		 int (*run)(const char *path));

#endif /* READER_CMDLINE_H */
