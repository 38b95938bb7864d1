// SPDX-License-Identifier: BSD-2-Clause
/* pmclog fold: a line for each distinct stack, for flame graph tools. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/folded.h"
#include "analysis/quality.h"
#include "analysis/shown.h"
#include "commands/cmdline.h"
#include "commands/commands.h"

static const char usage[] =
	"usage: pmclog fold [OPTION]... FILE\n"
	"\n"
	"Prints each distinct stack on a line: the command, the functions\n"
	"from the outermost to the innermost, joined by semicolons, and the\n"
	"number of samples.  Kernel functions end in _[k], those of a JIT in\n"
	"_[j].\n"
	"\n"
	ANALYSIS_HELP;

static const struct option options[] = {
	ANALYSIS_LONG,
	{ NULL, 0, NULL, 0 },
};

static int take(void *ctx, int opt, const char *arg)
{
	return analysis_option(ctx, opt, arg) > 0;
}

static int parse(struct analysis *a, int argc, char **argv)
{
	static const struct cmdline line = {
		"fold", usage, ANALYSIS_SHORT, options, take,
	};
	int ret = cmdline_options(&line, a, argc, argv);

	if (ret >= 0)
		return ret;
	if (!analysis_argument(a, "fold", argc, argv))
		return READER_USAGE;
	return -1;
}

int cmd_fold(int argc, char **argv)
{
	struct analysis a;
	int ret, bad;

	analysis_init(&a);
	ret = parse(&a, argc, argv);
	if (ret >= 0) {
		analysis_forget(&a);
		return ret;
	}
	ret = analysis_run(&a);
	if (ret == READER_OK) {
		analysis_one_event(&a);
		chains_tell(&a);
		fold_write(&a, out_stdout(), false);
		ret = out_finish(out_stdout());
	}
	bad = analysis_close(&a);
	return ret ? ret : bad;
}
