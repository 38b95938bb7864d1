/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: what holds for which PMC, and what is refused. */
#include <stdarg.h>
#include <stdlib.h>

#include "pmcstat.h"
#include "tap.h"

#define CC	PMC_F_CALLCHAIN
#define UCC	PMC_F_USERCALLCHAIN
#define IDLE	PMC_F_EXCLUDE_IDLE

static char msg[512];

/* Splits a line at spaces; the words live until the next call. */
static int parse(struct options *o, const char *line)
{
	static char buf[1024];
	static char *argv[64];
	int argc = 1;
	char *word;

	snprintf(buf, sizeof(buf), "%s", line);
	argv[0] = (char *)"pmcstat";
	for (word = strtok(buf, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	msg[0] = '\0';
	return options_parse(o, argc, argv, msg, sizeof(msg));
}

/* One line: "mode cpu flags period cumulative name" for each counter. */
static const char *describe(const struct options *o)
{
	static char text[4096];
	const struct counter *c;
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < o->ncounters; i++) {
		c = &o->counters[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s%s %d %x %llu %d %s", i ? ";" : "",
				      pmc_name_of_mode(c->mode), c->cpu,
				      c->flags, (unsigned long long)c->period,
				      c->cumulative, c->event.name);
	}
	return text;
}

static const struct good {
	const char	*line;
	const char	*counters;
} good[] = {
	{ "-S cycles -O x", "SS -2 80 65536 0 cycles" },
	{ "-S cpu-clock -O x", "SS -2 80 1000000 0 cpu-clock" },
	{ "-S task-clock:u -O x", "SS -2 80 1000000 0 task-clock:u" },
	{ "-s cycles", "SC -2 0 0 0 cycles" },
	{ "-n 1000 -s cycles", "SC -2 0 0 0 cycles" },
	{ "-S cycles -n 9 -S cs -O x",
	  "SS -2 80 65536 0 cycles;SS -2 80 9 0 cs" },
	{ "-n 9 -S cycles -S cpu-clock -O x",
	  "SS -2 80 9 0 cycles;SS -2 80 9 0 cpu-clock" },
	{ "-O x -S cs -N -S cs -N -S cs",
	  "SS -2 80 65536 0 cs;SS -2 0 65536 0 cs;SS -2 80 65536 0 cs" },
	{ "-O x -U -S cs -U -S cs",
	  "SS -2 180 65536 0 cs;SS -2 80 65536 0 cs" },
	{ "-O x -N -U -S cs", "SS -2 180 65536 0 cs" },
	{ "-O x -U -N -S cs", "SS -2 0 65536 0 cs" },
	{ "-s cs -C -s cs -C -s cs",
	  "SC -2 0 0 0 cs;SC -2 0 0 1 cs;SC -2 0 0 0 cs" },
	{ "-c 0,2-3 -s cs",
	  "SC 0 0 0 0 cs;SC 2 0 0 0 cs;SC 3 0 0 0 cs" },
	{ "-c 1 -s cs -c * -s faults",
	  "SC 1 0 0 0 cs;SC -2 0 0 0 faults" },
	{ "-O x -c 1 -S cs -s cs",
	  "SS 1 80 65536 0 cs;SC 1 0 0 0 cs" },
	{ "--exclude-idle -s cs --exclude-idle -s cs",
	  "SC -2 1000000 0 0 cs;SC -2 0 0 0 cs" },
};

static const struct bad {
	const char	*line;
	const char	*says;
} bad[] = {
	{ "", "no event" },
	{ "sleep 1", "no event" },
	{ "-S cycles", "-O FILE" },
	{ "-S cycles -n 5 -O x", "-n holds for events named after it" },
	{ "-s cs --exclude-idle", "--exclude-idle holds" },
	{ "-s", "-s needs an argument" },
	{ "-s nonsense", "-s nonsense: unknown event" },
	{ "-n 0 -s cs", "-n 0" },
	{ "-n -5 -s cs", "-n -5" },
	{ "-n 1e6 -s cs", "-n 1e6" },
	{ "-n 99999999999999999999 -s cs", "-n 9999" },
	{ "-n 9223372036854775808 -s cs", "-n 9223" },
	{ "-c 1-0 -s cs", "not a list of CPUs" },
	{ "-c 4095 -s cs", "not a list of CPUs" },
	{ "-c 0-300 -s cs", "more than 256 PMCs" },
	{ "-l 0 -s cs", "-l 0" },
	{ "-l -1 -s cs", "-l -1" },
	{ "-l nan -s cs", "-l nan" },
	{ "-l inf -s cs", "-l inf" },
	{ "-l 5x -s cs", "-l 5x" },
	{ "-w 1e99 -s cs", "-w 1e99" },
	{ "-O a -O b -S cs", "-O is given twice" },
	{ "-o a -o b -s cs", "-o is given twice" },
	{ "-s cs --kallsyms k", "--kallsyms goes with -O" },
	{ "--kallsyms", "--kallsyms needs an argument" },
	{ "--help=3", "--help=3 takes no argument" },
	{ "--nonsense", "unknown option --nonsense" },
	{ "-x", "unknown option -x" },
	{ "-p cycles", "process-mode" },
	{ "-t 1 -s cs", "process-mode" },
	{ "-R log", "pmclog(1)" },
	{ "-G out", "pmclog(1)" },
};

static void test_good(void)
{
	struct options o;
	size_t i;
	int r;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		r = parse(&o, good[i].line);
		ok(!r && !strcmp(describe(&o), good[i].counters),
		   "%s", good[i].line);
		if (strcmp(describe(&o), good[i].counters))
			printf("# got %s\n", r ? msg : describe(&o));
		options_free(&o);
	}
}

static void test_bad(void)
{
	struct options o;
	size_t i;
	int r;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r = parse(&o, bad[i].line);
		ok(r == -1 && strstr(msg, bad[i].says), "refused: %s: %s",
		   bad[i].line, msg);
		options_free(&o);
	}
}

static void test_others(void)
{
	struct options o;

	ok(!parse(&o, "-qvs cs -l 2.5 -w .5 -o t -O l --kallsyms k") &&
	   o.quiet && o.verbose && o.limit == 2.5 && o.interval == 0.5 &&
	   !strcmp(o.text_path, "t") && !strcmp(o.log_path, "l") &&
	   !strcmp(o.kallsyms_path, "k") && !o.command, "the other options");
	options_free(&o);
	ok(!parse(&o, "-s cs ls -l /") && !o.limit && o.command &&
	   !strcmp(o.command[0], "ls") && !strcmp(o.command[1], "-l") &&
	   !o.command[3], "the command's options are its own");
	options_free(&o);
	ok(!parse(&o, "-s cs -- -x") && !strcmp(o.command[0], "-x"),
	   "a command behind --");
	options_free(&o);
	ok(!parse(&o, "-s cs") && o.interval == DEFAULT_INTERVAL &&
	   !options_sampling(&o), "defaults");
	options_free(&o);
	ok(!parse(&o, "-O - -S cs") && options_sampling(&o), "-O -");
	options_free(&o);
	ok(!parse(&o, "-L") && o.action == ACTION_LIST, "-L needs no event");
	ok(!parse(&o, "-h") && o.action == ACTION_HELP, "-h needs no event");
	ok(!parse(&o, "--version") && o.action == ACTION_VERSION, "--version");
}

static void test_cpulists(void)
{
	static const char *const refused[] = {
		"", ",", "0,", ",0", "-", "1-", "-1", "2-1", "0--1", "a", "0x1",
		"0 1", "**", "*,1", "4095", "99999999999999999999", "0-4095",
		"0,1;2",
	};
	struct cpulist l;
	size_t i, n = 0;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ok(cpulist_parse(&l, refused[i]) == -1,
		   "no list of CPUs: \"%s\"", refused[i]);
	ok(!cpulist_parse(&l, "*") && l.all, "all CPUs");
	ok(!cpulist_parse(&l, "7,0-2,2") && !l.all && l.set[0] && l.set[1] &&
	   l.set[2] && !l.set[3] && l.set[7], "7,0-2,2");
	ok(!cpulist_parse(&l, "0-4094"), "as many CPUs as there can be");
	for (i = 0; i < CPU_LIMIT; i++)
		n += l.set[i];
	ok(n == CPU_LIMIT, "%zu of them", n);
}

int main(void)
{
	test_good();
	test_bad();
	test_others();
	test_cpulists();
	return tap_done();
}
