// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "analysis/analysis.h"
#include "base/outfile.h"
#include "commands/cmdline.h"
#include "commands/commands.h"

static int take(void *ctx, int opt, const char *arg)
{
	return analysis_option(ctx, opt, arg) > 0;
}

int cmdline_analysis(const struct cmdline *c, struct analysis *a, void *ctx,
		     int argc, char **argv)
{
	struct cmdline own = *c;
	int ret, bad;

	if (!own.take)
		own.take = take;
	ret = cmdline_options(&own, c->take ? ctx : a, argc, argv);
	if (ret < 0 && c->check)
		ret = c->check(ctx, argc, argv);
	else if (ret < 0 && !analysis_argument(a, c->name, argc, argv))
		ret = READER_USAGE;
	else if (ret < 0 && strchr(c->letters, 'o') &&
		 outfile_is_log(a->output, a->path))
		ret = READER_FAIL;
	if (ret >= 0) {
		analysis_forget(a);
		return ret;
	}
	ret = c->run(ctx);
	bad = analysis_close(a);
	return ret ? ret : bad;
}
