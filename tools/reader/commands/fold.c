// SPDX-License-Identifier: BSD-2-Clause
/* pmclog fold: a line for each distinct stack, for flame graph tools. */

#include "analysis/folded.h"
#include "analysis/quality.h"
#include "commands/cmdline.h"
#include "commands/commands.h"

static const char usage[] =
	"usage: pmclog fold [OPTION]... FILE\n"
	"\n"
	"Prints each distinct stack on a line: the command, the functions\n"
	"from the outermost to the innermost, joined by semicolons, and the\n"
	"number of samples; of events, if it is sampled at a rate.  Kernel\n"
	"functions end in _[k], those of a JIT in _[j].\n"
	"\n"
	ANALYSIS_HELP;

static const struct option options[] = {
	ANALYSIS_LONG,
	{ NULL, 0, NULL, 0 },
};

static int run(void *ctx)
{
	struct analysis *a = ctx;
	int ret = analysis_run(a);

	if (ret)
		return ret;
	analysis_one_event(a);
	chains_tell(a);
	fold_write(a, out_stdout(), UNIT_WEIGHT);
	return out_finish(out_stdout());
}

int cmd_fold(int argc, char **argv)
{
	static const struct cmdline line = {
		"fold", usage, ANALYSIS_SHORT, options, NULL, NULL, run,
	};
	struct analysis a;

	analysis_init(&a);
	return cmdline_analysis(&line, &a, &a, argc, argv);
}
