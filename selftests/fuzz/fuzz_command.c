// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: every command of pmclog on any log, and all that pmcstat -R makes. */
#include <string.h>
#include <unistd.h>

#include "../../tools/pmcstat/pmcstat.h"
#include "commands/commands.h"
#include "export/export.h"
#include "fuzz.h"

#define LOG	"LOG"		/* stands for the log */
#define SHELF	"ROOT"		/* for the files of the recorded machine */
#define KERNEL	"KERNEL"	/* for kernel symbols */
#define ARCHIVE	"ARCHIVE"	/* for what is packed */
#define GMON	"GMON"		/* for the directory of profiles for gprof */
#define PART	"PART"		/* for what is filtered */
#define FILES	"-k", KERNEL, "-r", SHELF

/*
 * Its exit statuses are those of sysexits(3): all is well, the log is bad, or the
 * kernel's symbols are not those of that log.
 */
static int pmcstat(int argc, char **argv)
{
	struct options o;
	char msg[512];
	int status = options_parse(&o, argc, argv, msg, sizeof(msg));

	if (!status)
		status = read_run(&o);
	options_free(&o);
	if (!status)
		return READER_OK;
	return status == EX_DATAERR || status == EX_NOINPUT ? READER_FAIL :
							      READER_USAGE;
}

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
	{ cmd_filter, { "filter", "--user", "-o", PART, LOG } },
	{ cmd_report, { "report", FILES, "--flat", "--field", "next_comm",
			LOG } },
	{ cmd_filter, { "filter", FILES, "--sym", "m*", "--not", "--dso",
			"?kernel?", "--not", "--time", "60%-", "-o", PART,
			LOG } },
	{ cmd_filter, { "filter", FILES, "--not", "--sym", "inner", "--not",
			"--field", "next_comm=x", "-o", PART, LOG } },
	{ cmd_fold, { "fold", FILES, "--not", "--comm", "p*", "--not",
			"--cpu", "1", LOG } },
	{ cmd_diff, { "diff", "--total", FILES, LOG, LOG } },
	{ cmd_archive, { "archive", FILES, "-o", ARCHIVE, LOG } },
	{ cmd_top, { "top", FILES, LOG } },
	{ pmcstat, { "pmcstat", "-R", LOG } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-G", "-" } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-F", "-" } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-m", "-" } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-a", "-" } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-g", "-e", "-D", GMON,
		     "-M", "-" } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-A", "-I", "-z", "3",
		     "-G", "-", "-F", "-" } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-c", "0", "-i", "7", "-v",
		     "-a", "-" } },
	{ pmcstat, { "pmcstat", FILES, "-R", LOG, "-T", "-f", "threshold=1",
		     "-c", "0-3", "-z", "2", "-q" } },
	{ cmd_filter, { "filter", FILES, "--sym", "t*", "--sym", "main",
			"--dso", "shapes", "-e", "cpu-clock", "-Z", "-o", PART,
			LOG } },
	{ cmd_filter, { "filter", "-r", SHELF, "--field", "prev_pid=0x7",
			"--field", "prev_pid=-1", "-o", PART, LOG } },
	{ cmd_filter, { "filter", "-r", SHELF, "--field", "next_comm=*",
			"--not", "--field", "prev_prio=7", "--not", "-e",
			"cpu-clock", "-o", PART, LOG } },
	{ cmd_report, { "report", "-r", SHELF, "--flat", "--field", "filename",
			LOG } },
	{ cmd_filter, { "filter", "-r", SHELF, "--sym", "main(*", "-o", PART,
			LOG } },
	{ cmd_export, { "export", FILES, "--to", "bolt", LOG } },
	{ cmd_report, { "report", FILES, "--flat", "-s",
			"mem,weight,mispredict,symbol_from,symbol_to", LOG } },
};

/* What is made of a byte takes them all. */
#define SLOTS		64
/* further bits of that byte: the log comes through a pipe, a part of it later */
#define PIPE		64
#define LATER		128
_Static_assert(sizeof(commands) / sizeof(commands[0]) <= SLOTS,
	       "fuzz.sh has that number");

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *argument(const char *arg, const char *log)
{
	static struct {
		const char *arg;
		const char *name;
		const char *path;
	} places[] = {
		{ SHELF, "root", NULL },
		{ KERNEL, "kallsyms", NULL },
		{ ARCHIVE, "archive.tar", NULL },
		{ GMON, "gmon", NULL },
		{ PART, "part.pmclog", NULL },
	};
	size_t i;

	if (!strcmp(arg, LOG))
		return log;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strcmp(arg, places[i].arg))
			continue;
		if (!places[i].path)
			places[i].path = fuzz_path(places[i].name);
		return places[i].path;
	}
	return arg;
}

/* What is written is a log again, of a part of the other. */
static void read_part(void)
{
	const char *part = argument(PART, NULL);
	const char *args[] = { "report", "-r", argument(SHELF, NULL), part,
			       NULL };

	if (!access(part, F_OK))
		fuzz_run(cmd_report, args);
}

static void run(size_t which, const char *log)
{
	const char *args[21] = { NULL };
	bool writes = commands[which].run == cmd_filter;
	size_t i;

	if (writes)
		unlink(argument(PART, NULL));

	for (i = 0; commands[which].args[i]; i++)
		args[i] = argument(commands[which].args[i], log);
	fuzz_run(commands[which].run, args);
	if (writes)
		read_part();
}

/* The first byte is the command's number; more commands leave that as it is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t which = size ? data[0] % SLOTS : NCOMMANDS;
	const char *log = NULL;

	if (which >= NCOMMANDS)
		return 0;
	if (data[0] & PIPE)
		log = fuzz_pipe(data + 1, size - 1, data[0] & LATER ?
				(size - 1) / 2 : size - 1);
	if (log) {
		run(which, log);
		fuzz_pipe_end();
		return 0;
	}
	run(which, fuzz_file(0, data + 1, size - 1));
	return 0;
}
