/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a command. */
#ifndef READER_CMDLINE_H
#define READER_CMDLINE_H

#include <getopt.h>

/**
 * struct cmdline - what a command takes
 * @name:    of the command
 * @usage:   for --help, which is 'h' in @options
 * @letters: of short options, as getopt_long() takes them
 * @take:    an option: 1; 0 or -1 if it is wrong, -1 if all has been said
 */
struct cmdline {
	const char *name, *usage, *letters;
	const struct option *options;
	int (*take)(void *ctx, int opt, const char *arg);
};

/* -1: go on with the arguments at @optind; else an exit code. */
int cmdline_options(const struct cmdline *c, void *ctx, int argc, char **argv);

/* Runs a command that takes one file and no options; its exit code. */
int cmdline_file(const char *usage, int argc, char **argv,
		 int (*run)(const char *path));

#endif /* READER_CMDLINE_H */
