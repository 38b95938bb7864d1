// SPDX-License-Identifier: BSD-2-Clause
/* pmclog top: the live view of pmcstat -T, for a log that is being written. */
#include <getopt.h>
#include <stdlib.h>
#include <sysexits.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "commands/commands.h"
#include "elf/imagefile.h"
#include "freebsd/log_source.h"
#include "live/top.h"
#include "sample/filter.h"

#define INTERVAL	1.0

static const char top_usage[] =
	"usage: pmclog top [OPTION]... FILE\n"
	"\n"
	"Shows what is sampled most while a log grows: a file, - for standard\n"
	"input, or host:port to take one from the network.  Without a terminal\n"
	"the screens follow each other as text.\n"
	"\n"
	"  -k, --kernel FILE    kernel symbols: kallsyms, System.map or vmlinux\n"
	"  -r, --root DIR       where the recorded machine's files are\n"
	"  -w, --interval TIME  between screens (1s)\n"
	"  -z, --depth N        at most N callers of a function\n"
	"  -t, --threshold N    leave out what has less than N percent (0.5)\n"
	"  -o, --output FILE    the screens as text\n"
	"\n"
	"Keys: q quits, space stops the picture, n next view, p next PMC,\n"
	"m merges PMCs, c then a or d accumulates or shows what is new,\n"
	"A addresses, I offsets, f functions with few samples as dots.\n";

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "kernel", required_argument, NULL, 'k' },
	{ "root", required_argument, NULL, 'r' },
	{ "interval", required_argument, NULL, 'w' },
	{ "depth", required_argument, NULL, 'z' },
	{ "threshold", required_argument, NULL, 't' },
	{ "output", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 },
};

static bool wrong(const char *what, const char *arg)
{
	return !reader_usage("pmclog top: --%s %s makes no sense\n", what, arg);
}

static bool depth(struct reading *r, const char *arg)
{
	unsigned long n;
	char *end;

	n = strtoul(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || !n || n > UINT16_MAX)
		return wrong("depth", arg);
	r->depth = (unsigned int)n;
	return true;
}

/* The view takes it as -f of pmcstat has it. */
static bool threshold(struct reading *r, const char **plugin, const char *arg)
{
	char *end;
	double n = strtod(arg, &end);

	if (end == arg || *end || !(n >= 0 && n <= 100))
		return wrong("threshold", arg);
	free((void *)*plugin);
	*plugin = xasprintf("threshold=%s", arg);
	r->plugin = plugin;
	r->nplugin = 1;
	return true;
}

static bool take(struct reading *r, const char **plugin, int opt,
		 const char *arg)
{
	switch (opt) {
	case 'k':
		r->kernel_dir = arg;
		return true;
	case 'r':
		r->root = arg;
		return image_root_is(arg);
	case 'w':
		if (!filter_seconds(arg, &r->interval) || r->interval <= 0 ||
		    r->interval > 1e6)
			return wrong("interval", arg);
		return true;
	case 'z':
		return depth(r, arg);
	case 't':
		return threshold(r, plugin, arg);
	case 'o':
		r->text_path = arg;
		return true;
	default:
		return false;
	}
}

static int parse(struct reading *r, const char **plugin, int argc, char **argv)
{
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "hk:r:w:z:t:o:", options,
				  NULL)) != -1) {
		if (opt == 'h') {
			fputs(top_usage, stdout);
			return READER_OK;
		}
		if (!take(r, plugin, opt, optarg))
			return reader_usage("try: pmclog top --help\n");
	}
	if (optind != argc - 1)
		return reader_usage("pmclog top: name one log; see pmclog top "
				    "--help\n");
	r->path = argv[optind];
	return -1;
}

/* sysexits(3) are pmcstat's ways. */
static int exit_code(int status)
{
	return !status ? READER_OK : status == EX_USAGE ? READER_USAGE :
	       READER_FAIL;
}

static int view(struct reading *r)
{
	struct input in;
	int status = input_open_log(&in, r->path, -1);

	if (!status) {
		status = r->text_path && outfile_is(r->text_path, in.fd) ?
			 EX_CANTCREAT : top_run(r, &in);
		input_close(&in);
	}
	return exit_code(status);
}

int cmd_top(int argc, char **argv)
{
	struct reading r = {
		.top = 1, .cpus.all = 1, .interval = INTERVAL,
	};
	const char *plugin = NULL;
	int ret = parse(&r, &plugin, argc, argv);

	if (ret < 0)
		ret = view(&r);
	free((void *)plugin);
	return ret;
}
