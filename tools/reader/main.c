// SPDX-License-Identifier: BSD-2-Clause
/* pmclog: reads the logs of hwpmc. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/idtab.h"
#include "base/stdfds.h"
#include "commands/commands.h"
#include "elf/debuginfod.h"
#include "export/export.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "info", cmd_info, "what is in a log: machine, PMCs, samples, loss" },
	{ "dump", cmd_dump, "every record as a line of text, or as JSON" },
	{ "verify", cmd_verify, "check structure, order and account" },
	{ "report", cmd_report, "profile and call tree with symbols" },
	{ "fold", cmd_fold, "folded stacks" },
	{ "flame", cmd_flame, "flame graph as SVG" },
	{ "html", cmd_html, "interactive report for a browser, in one file" },
	{ "top", cmd_top, "what is sampled most, live, on the terminal" },
	{ "archive", cmd_archive, "a log with the files its names come from" },
	{ "filter", cmd_filter, "a part of a log, as a log" },
	{ "diff", cmd_diff, "what has changed between two logs" },
	{ "export", cmd_export, "samples for other programs" },
	{ "annotate", cmd_annotate, "samples of each instruction and line" },
	{ "symbolize", cmd_symbolize, "functions and lines of addresses" },
};

static void help(FILE *f)
{
	size_t i;

	fputs("usage: pmclog COMMAND [OPTION]... FILE\n"
	      "Reads a log of hwpmc, or a directory of logs; - is standard input.\n"
	      "\n", f);
	for (i = 0; i < nitems(commands); i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\npmclog COMMAND --help tells more; pmclog --version.\n", f);
}

/* getopt_long() begins its messages with argv[0]: it should name the program, too. */
static int run(const struct command *c, int argc, char **argv)
{
	static char name[32];

	snprintf(name, sizeof(name), "pmclog %s", c->name);
	argv[0] = name;
	return c->run(argc, argv);
}

static int run_named(const char *name, int argc, char **argv)
{
	size_t i;

	for (i = 0; i < nitems(commands); i++)
		if (!strcmp(name, commands[i].name))
			return run(&commands[i], argc, argv);
	return reader_usage("pmclog: no command \"%s\"; see pmclog --help\n", name);
}

/* "help COMMAND" is "COMMAND --help" */
static int help_of(const char *name)
{
	char dashes[] = "--help";
	char *argv[] = { dashes, dashes, NULL };

	return run_named(name, 2, argv);
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		help(stderr);
		return READER_USAGE;
	}
	if (!strcmp(name, "help") && argc > 2)
		return help_of(argv[2]);
	if (!strcmp(name, "--help") || !strcmp(name, "-h") ||
	    !strcmp(name, "help")) {
		help(stdout);
		return READER_OK;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("pmclog " TOOLS_VERSION " (logs of all versions)");
		return READER_OK;
	}
	return run_named(name, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int ret;

	stdfds_keep();
	debuginfod_hide();
	hash_be_secret();
	ret = dispatch(argc, argv);
	/* help and version; what commands print is written and checked by them */
	if (!ret && (fflush(stdout) || ferror(stdout))) {
		ret = reader_fail("cannot write: %s", strerror(errno));
	}
	return ret;
}
