// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "analysis/analysis.h"
#include "base/outfile.h"
#include "commands/cmdline.h"
#include "commands/commands.h"

struct taking {
	const struct cmdline *c;
	struct analysis *a;
	void *ctx;
};

static int take(void *ctx, int opt, const char *arg)
{
	const struct taking *t = ctx;
	int taken = analysis_option(t->a, opt, arg);

	if (!t->c->take)
		return taken > 0;
	return taken ? taken : t->c->take(t->ctx, opt, arg) ? 1 : -1;
}

int cmdline_analysis(const struct cmdline *c, struct analysis *a, void *ctx,
		     int argc, char **argv)
{
	struct taking t = { c, a, ctx };
	struct cmdline all = *c;
	int ret, bad;

	all.take = take;
	ret = cmdline_options(&all, &t, argc, argv);
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
