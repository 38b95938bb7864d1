// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "commands/cmdline.h"
#include "commands/commands.h"

int cmdline_options(const struct cmdline *c, void *ctx, int argc, char **argv)
{
	int opt, taken;

	optind = 0;
	while ((opt = getopt_long(argc, argv, c->letters, c->options,
				  NULL)) != -1) {
		if (opt == 'h') {
			fputs(c->usage, stdout);
			return READER_OK;
		}
		taken = opt == '?' ? 0 : c->take(ctx, opt, optarg);
		if (taken <= 0)
			return taken ? READER_USAGE :
			       reader_usage("try: pmclog %s --help\n", c->name);
	}
	return -1;
}

int cmdline_file(const char *usage, int argc, char **argv,
		 int (*run)(const char *path))
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c != 'h')
			return reader_usage("%s", usage);
		fputs(usage, stdout);
		return READER_OK;
	}
	if (argc - optind > 1)
		fprintf(stderr, "%s: one log at a time\n", argv[0]);
	if (argc - optind != 1)
		return reader_usage("%s", usage);
	return run(argv[optind]);
}
