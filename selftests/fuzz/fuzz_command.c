// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: every command of pmclog on any log. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "reader.h"

#define LOG	"LOG"		/* stands for the log */
#define SHELF	"ROOT"		/* for the files of the recorded machine */
#define KERNEL	"KERNEL"	/* for kernel symbols */
#define FILES	"-k", KERNEL, "-r", SHELF

static const struct {
	int (*run)(int argc, char **argv);
	const char *args[20];
} commands[] = {
	{ cmd_info, { "info", LOG } },
	{ cmd_dump, { "dump", LOG } },
	{ cmd_dump, { "dump", "-j", LOG } },
	{ cmd_dump, { "dump", "--raw", LOG } },
	{ cmd_verify, { "verify", LOG } },
	{ cmd_report, { "report", FILES, LOG } },
	{ cmd_report, { "report", FILES, "--callers", "--flat", "-s",
			"time,cpu,pid,tid,comm,dso,sym", "--slice", "1ms",
			LOG } },
	{ cmd_report, { "report", FILES, "--inline", "--flat", "-s",
			"file,line,sym", "-l", "0", LOG } },
	{ cmd_report, { "report", FILES, "--time", "10%-90%", "--comm", "*",
			"--cpu", "0-65535", LOG } },
	{ cmd_fold, { "fold", FILES, LOG } },
	{ cmd_flame, { "flame", FILES, LOG } },
	{ cmd_diff, { "diff", FILES, LOG, LOG } },
	{ cmd_diff, { "diff", "--flame", FILES, LOG, LOG } },
	{ cmd_html, { "html", FILES, LOG } },
	{ cmd_export, { "export", FILES, "--to", "folded", LOG } },
	{ cmd_export, { "export", FILES, "--to", "pprof", LOG } },
	{ cmd_export, { "export", FILES, "--to", "speedscope", LOG } },
	{ cmd_export, { "export", FILES, "--to", "perf-script", LOG } },
	{ cmd_export, { "export", FILES, "--to", "csv", LOG } },
	{ cmd_export, { "export", FILES, "--to", "jsonl", LOG } },
	{ cmd_export, { "export", FILES, "--to", "firefox", LOG } },
	{ cmd_export, { "export", FILES, "--to", "callgrind", "--instr",
			LOG } },
	{ cmd_export, { "export", FILES, "--to", "clickhouse", LOG } },
	{ cmd_annotate, { "annotate", "-a", FILES, LOG } },
	{ cmd_filter, { "filter", "--user", "-o", "/dev/null", LOG } },
	{ cmd_report, { "report", FILES, "--flat", "--field", "next_comm",
			LOG } },
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *argument(const char *arg, const char *log)
{
	static const char *root, *kernel;

	if (!root) {
		root = fuzz_path("root");
		kernel = fuzz_path("kallsyms");
	}
	if (!strcmp(arg, LOG))
		return log;
	if (!strcmp(arg, SHELF))
		return root;
	return strcmp(arg, KERNEL) ? arg : kernel;
}

/* The first byte is the command's number; more commands leave that as it is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *args[21] = { NULL }, *log;
	size_t which, i;

	which = size ? data[0] % 32 : NCOMMANDS;
	if (which >= NCOMMANDS)
		return 0;
	log = fuzz_file(0, data + 1, size - 1);
	for (i = 0; commands[which].args[i]; i++)
		args[i] = argument(commands[which].args[i], log);
	fuzz_run(commands[which].run, args);
	return 0;
}
