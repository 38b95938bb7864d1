/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: what holds for which PMC, and what is refused. */
#include <linux/perf_event.h>

#include "pmcstat.h"
#include "cmdline.h"

#define CC	PMC_F_CALLCHAIN
#define IDLE	PMC_F_EXCLUDE_IDLE

/* One line: "mode cpu flags period cumulative name" for each counter. */
static const char *describe(void)
{
	static char text[4096];
	const struct counter *c;
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < o.ncounters; i++) {
		c = &o.counters[i];
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
	{ "-S cycles -O x", "SS -2 30000080 4000 0 cycles" },
	{ "-S cpu-clock -O x", "SS -2 10000080 1000000 0 cpu-clock" },
	{ "-S task-clock:u -O x", "SS -2 10000080 1000000 0 task-clock:u" },
	{ "-s cycles", "SC -2 0 0 0 cycles" },
	{ "-n 1000 -s cycles", "SC -2 0 0 0 cycles" },
	{ "-S cycles -n 9 -S cs -O x",
	  "SS -2 30000080 4000 0 cycles;SS -2 10000080 9 0 cs" },
	{ "-n 9 -S cycles -S cpu-clock -O x",
	  "SS -2 10000080 9 0 cycles;SS -2 10000080 9 0 cpu-clock" },
	/* a clock has a period; the last of -n and --freq holds */
	{ "--freq 99 -S cycles -S cpu-clock --freq 2000000000 -P task-clock -O x true",
	  "SS -2 30000080 99 0 cycles;SS -2 10000080 10101010 0 cpu-clock;"
	  "TS -1 10000080 1 0 task-clock" },
	{ "-n 9 --freq 99 -S cs -n 5 -S cs -O x",
	  "SS -2 30000080 99 0 cs;SS -2 10000080 5 0 cs" },
	{ "--freq 99 -s cs", "SC -2 0 0 0 cs" },
	/* with a budget a clock has a rate, wherever the option stands */
	{ "--budget 1 --freq 99 -S cycles -S cpu-clock -O x",
	  "SS -2 30000080 99 0 cycles;SS -2 30000080 99 0 cpu-clock" },
	{ "-S cpu-clock -U -P task-clock:u -O x --budget 1 true",
	  "SS -2 30000080 1000 0 cpu-clock;TS -1 30000180 1000 0 task-clock:u" },
	{ "--freq 50000 -S cpu-clock -O x --budget 1",
	  "SS -2 30000080 50000 0 cpu-clock" },
	/* but not with -n, nor to count */
	{ "--budget 1 -S cs -n 1000000 -S cpu-clock -s cpu-clock --freq 99 "
	  "-S cpu-clock -O x",
	  "SS -2 30000080 4000 0 cs;SS -2 10000080 1000000 0 cpu-clock;"
	  "SC -2 0 0 0 cpu-clock;SS -2 30000080 99 0 cpu-clock" },
	{ "-O x -S cs -N -S cs -N -S cs",
	  "SS -2 30000080 4000 0 cs;SS -2 20000000 4000 0 cs;SS -2 30000080 4000 0 cs" },
	{ "-O x -U -S cs -U -S cs",
	  "SS -2 30000180 4000 0 cs;SS -2 30000080 4000 0 cs" },
	{ "-O x -N -U -S cs", "SS -2 30000180 4000 0 cs" },
	{ "-O x -U -N -S cs", "SS -2 20000000 4000 0 cs" },
	{ "-s cs -C -s cs -C -s cs",
	  "SC -2 0 0 0 cs;SC -2 0 0 1 cs;SC -2 0 0 0 cs" },
	{ "-c 0,2-3 -s cs",
	  "SC 0 0 0 0 cs;SC 2 0 0 0 cs;SC 3 0 0 0 cs" },
	{ "-c 1 -s cs -c * -s faults",
	  "SC 1 0 0 0 cs;SC -2 0 0 0 faults" },
	{ "-O x -c 1 -S cs -s cs",
	  "SS 1 30000080 4000 0 cs;SC 1 0 0 0 cs" },
	{ "-p cs true", "TC -1 0 0 0 cs" },
	{ "-P cs -O x -t 1", "TS -1 30000080 4000 0 cs" },
	{ "-n 7 -U -P task-clock:u -O x true", "TS -1 10000180 7 0 task-clock:u" },
	{ "-N -P cs -O x -C -p cs true",
	  "TS -1 20000000 4000 0 cs;TC -1 0 0 1 cs" },
	{ "-d -p cs -d -p cs -s cs true",
	  "TC -1 2 0 0 cs;TC -1 0 0 0 cs;SC -2 0 0 0 cs" },
	{ "-d -P cs -O x -S cs true",
	  "TS -1 30000082 4000 0 cs;SS -2 30000080 4000 0 cs" },
	{ "-E -p cs -W -p cs -E -p cs -O x true",
	  "TC -1 8 0 0 cs;TC -1 c 0 0 cs;TC -1 4 0 0 cs" },
	{ "-E -W -P cs -S cs -s cs -p cs -O x true",
	  "TS -1 30000080 4000 0 cs;SS -2 30000080 4000 0 cs;SC -2 0 0 0 cs;"
	  "TC -1 c 0 0 cs" },
	{ "-s cs -c 0 -s cs -c * -p cs true",
	  "SC -2 0 0 0 cs;SC 0 0 0 0 cs;TC -1 0 0 0 cs" },
	{ "-c 1 -p cs -s cs true", "TC -1 0 0 0 cs;SC 1 0 0 0 cs" },
	{ "--exclude-idle -S cs -s cs --exclude-idle -S cs -O x",
	  "SS -2 31000080 4000 0 cs;SC -2 0 0 0 cs;SS -2 30000080 4000 0 cs" },
};

static const struct bad bad[] = {
	{ "-S cycles", "-O FILE" },
	{ "-S cycles -n 5 -O x", "-n holds for events named after it" },
	{ "-O x --branch all -S cycles", "--branch all: \"all\": the words are u, k," },
	{ "-O x --branch any,,u -S cycles", "--branch any,,u: \"\": the words" },
	{ "-O x --branch any,none -S cycles", "--branch any,none: \"none\"" },
	{ "-O x -S cycles --branch", "--branch needs an argument" },
	{ "-s cycles:p", "-s cycles:p: only samples are precise" },
	{ "--bpf --branch any -S cycles -O x", "only the module logs what the hardware" },
	{ "--bpf -S cycles:p -O x", "precise events: only with the module" },
	{ "-s profile:hz:97", "-s profile:hz:97: it only samples" },
	{ "-p interval:s:1 true", "-p interval:s:1: it only samples" },
	{ "-O x -P interval:s:1 true", "it is of one CPU" },
	{ "-s kprobe:a-b", "-s kprobe:a-b: a kprobe is FUNCTION" },
	{ "-s nonsense", "-s nonsense: unknown event" },
	{ "--freq 0 -s cs", "--freq 0: not a number of samples" },
	{ "--freq 5x -s cs", "--freq 5x" },
	{ "-n 5 -S cs -O x --budget 1", "--budget needs an event" },
	{ "-n 5 -S cpu-clock -O x --budget 1", "--budget needs an event" },
	{ "-P kprobe:f -O x --budget 1 true", "and no tracepoint" },
	{ "-S mem:0x1000:x -S profile:hz:9 -O x --budget 1", "--budget needs an event" },
	{ "-s cs --budget 1", "--budget needs an event that is sampled at a rate" },
	{ "-p cs --budget 1 true", "--budget needs an event" },
	{ "-S cs -O /tmp --writers", "--writers needs an argument" },
	{ "-S cs -O x --writers 2", "--writers needs a directory for the logs" },
	{ "-S cs -O - --writers 2", "--writers needs a directory" },
	{ "-S cs -T --writers 2", "--writers goes with -O DIR" },
	{ "-P cs -O /tmp --writers 2 true", "--writers goes with -S only" },
	{ "-S cs -P cs -O /tmp --writers 2 true", "--writers goes with -S only" },
	{ "-S cs -s cs -O /tmp --writers 2", "--writers goes with -S only" },
	{ "-p cs -O /tmp --writers 2 true", "--writers goes with -S only" },
	{ "-c 0 -S cs -O /tmp --writers 2", "--writers and -c do not go together" },
	{ "-S cs -O /tmp -Z --writers 2", "--writers and -Z do not go together" },
	{ "-S cs -O /tmp --rotate 1M --writers 2", "--writers and --rotate do not go" },
	{ "-S cs -O /tmp --keep 2 --writers 2", "--writers and --keep do not go" },
	{ "-S cs -O /tmp --flight 4M --writers node", "--writers and --flight do not go" },
	{ "--bpf -S cs -O /tmp --writers 2", "--writers and --bpf do not go together" },
	{ "-c 0-300 -s cs", "more than 256 PMCs" },
	{ "-w 1e99 -s cs", "-w 1e99" },
	{ "-O a -O b -S cs", "-O is given twice" },
	{ "-o a -o b -s cs", "-o is given twice" },
	{ "-R l -Z", "-R reads logs of both kinds: it goes without -Z" },
	{ "-s cs -O l --packed=1", "--packed=1 takes no argument" },
	{ "--help=3", "--help=3 takes no argument" },
	{ "-p cycles", "-P and -p need a process" },
	{ "-P cycles -O x", "-P and -p need a process" },
	{ "-P cycles true", "-P needs a file for the log" },
	{ "-E -s cs -O x", "-E needs -P or -p" },
	{ "-W -P cs -O x true", "-W needs -p" },
	{ "-E -p cs true", "-E needs a file for the log" },
	{ "-p cs -d true", "-d holds for events named after it" },
	{ "-c 1 -p cs true", "-c needs -S or -s" },
	{ "-s cs -c 0 -p cs true", "-c holds for events named after it only: put it before -S or -s" },
	{ "-p cs -d -s cs true", "-d holds for events named after it only: put it before -P or -p" },
	{ "-p cs -d -c 0 -s cs true", "-d holds for" },
	{ "-p cs -E -P cs -O x true", "-E holds for events named after it only: put it before -p" },
	{ "-p cs -W -s cs -O x true", "-W holds for" },
	{ "-R x -G y -o z", "-o takes the text of a log or of -T: it goes without -G" },
	{ "-R x -T -G y", "-T and -G do not go together" },
	{ "-S cs -T -o x -g", "-T and -g do not go together" },
	{ "-R x -m y -o z", "it goes without -m" },
	{ "-S cs -g -o z", "it goes without -g" },
	{ "-t 0 -p cs", "-t 0: not a process" },
	{ "-t 99999999999999999999 -p cs", "not a process" },
	{ "-R log -s cs", "without events" },
	{ "-R log -O log", "-O and -R" },
	{ "-R log -t 1", "without -t" },
	{ "-R log true", "without a command" },
	{ "-R a -R b", "-R is given twice" },
	{ "-T -S cs -s cs", "counting and sampling together" },
	{ "-G out -S cs -O log", "-O and -G" },
	{ "-T -S cs -l 5", "-T and -l" },
	{ "-A -S cs -O x", "-A is for reading a log" },
	{ "-R log -m out -G out", "-m and -G" },
	{ "-R log -m out -a out", "-m and -a" },
	{ "-R log -i -1", "-i -1" },
	{ "-R log -G", "-G needs an argument" },
	{ "--only pid=1 -s cs", "-s cs: --only and --not are for samples" },
	{ "--not user -p cs true", "-p cs: --only and --not are for samples" },
	{ "--not pid=1,nix -S cs -O x", "--not nix: not pid=N" },
	{ "--only user, -S cs -O x", "--only : not pid=N" },
	{ "--only pid=2147483648 -S cs -O x", "pid=2147483648: not a number" },
	{ "--only comm= -S cs -O x", "1 to 15 letters" },
	{ "--only comm=abcdefghijklmnop -S cs -O x", "1 to 15 letters" },
	{ "--only cgroup= -S cs -O x", "--only cgroup=: which control group?" },
	{ "--only tid=1,tid=2,tid=3,tid=4,tid=5,tid=6,tid=7,tid=8,tid=9,tid=10,"
	  "tid=11,tid=12,tid=13,tid=14,tid=15,tid=16,tid=17 -S cs -O x",
	  "more than 16 conditions" },
	{ "--bpf -S cs -O x --flight 4M", "--bpf goes without --flight" },
	{ "--bpf -S cs -O x/", "--bpf goes without logs in a directory" },
	{ "--bpf -S cs -O /tmp --rotate 1M", "--bpf goes without logs in a" },
	{ "--bpf -S cs -O x --packed", "--bpf goes without --packed" },
	{ "--bpf -S cs -O x --budget 1", "--bpf goes without --budget" },
	{ "--bpf -s cs -O x", "--bpf goes without -O without -S or -P" },
	{ "--bpf -E -p cs -S cs -O x true", "--bpf goes without -E and -W" },
	{ "--bpf -W -p cs -S cs -O x true", "--bpf goes without -E and -W" },
	{ "--bpf --only user -S cs -O x", "--bpf goes without --only and --not" },
	{ "--bpf -S type=2,config=1 -O x", "samples of tracepoints" },
	{ "-S cs -O x --bpf=y", "--bpf=y takes no argument" },
	{ "-S cs --flight 4M", "-S needs a file for the log" },
	{ "-S cs -O - --flight 4M", "--flight needs a file or a directory" },
	{ "-S cs -O x --flight 4M -Z", "--flight and -Z do not go together" },
	{ "-S cs -s cs -O - -o -", "-O - and -o - do not go together" },
	{ "-S cs -O - --kallsyms -", "-O - and --kallsyms - do not go" },
	{ "-S cs -O /tmp --flight 4M --rotate 1M", "--flight and --rotate" },
	{ "-s cs -O x --flight 4M", "--flight needs samples" },
	{ "-O x --flight 4M --trigger cs", "--flight needs samples" },
	{ "-S cs -O x --trigger exit", "--trigger goes with --flight" },
	{ "-S cs -O x --flight 4M --trigger nix", "--trigger nix: unknown event" },
	{ "-S cs -O x --flight 4M --trigger cs,count=0", "not a number of events" },
	{ "-S cs -O x --flight 4M --trigger cs,count=1x", "not a number of" },
	{ "-S cs -O x --flight 4M --trigger exit=256", "not a status of 0" },
	{ "-S cs -O x --flight 4M --trigger exit=x", "not a status of 0" },
	{ "-S cs -O x --flight 4M --trigger exit=3 --trigger exit=7",
	  "--trigger exit can be given only once" },
	{ "-S cs -O x --flight 4M --trigger exit=0 --trigger exit", "only once" },
	{ "-S cs -O /tmp/ --rotate", "--rotate needs an argument" },
	{ "-S cs -O /tmp/ --rotate 1M --rotate 2K", "--rotate: two sizes" },
	{ "-S cs -O /tmp/ --rotate 1m --rotate 2h", "--rotate: two times" },
	{ "-S cs -T --rotate 1M", "--rotate goes with -O DIR" },
	{ "-S cs -O - --rotate 1M", "needs a directory for the logs, which - is not" },
	{ "-S cs -O /dev/null --rotate 1M", "which /dev/null is not: -O DIR" },
	{ "-S cs -O a:4000 --keep 2", "--keep needs a directory" },
	{ "-R log -G out -n 100", "-R reads a log: it goes without -n" },
	{ "-R log -T -l 5", "-R reads a log: it goes without -l" },
	{ "-R log -G out -M map", "-M goes with -g" },
	{ "-S cs -G out -M map", "-M goes with -g" },
};

static const struct bad_each bad_each[] = {
	{ "-R log %s", "-R reads a log: it goes without %s", {
	  "--rotate 1M", "--keep 1", "--only user", "--only user -c 0", "--writers 2",
	  "--budget 1", "--flight 16M", "--packed", "--kallsyms f", "-l 5", "-n 5 -c 0",
	  "--ring 4K", "--bpf", "--trigger exit", "--trigger cs", "--unwind fp",
	  "--unwind tables" } },
	{ "-R x %s", "-R reads a log: it goes without %s", { "--branch any", "--data" } },
	{ "-S cs -O x --budget %s", "--budget %s: not a percentage", {
	  "0", "0.00001", "101", "100.001", "-1", "x", "1%", "0x2", "nan" } },
	{ "-S cs -O /tmp/ --rotate %s", "--rotate %s: neither a size", {
	  "100", "M", "0M", "-1M", "1MB", "1x" } },
	{ "-S cs -O /tmp/ --rotate %s", "%s: neither", { "9999999999G", "99999999999s" } },
	{ "-S cs -O /tmp/ --keep %s", "--keep %s: not a number of files", { "0", "1x" } },
	{ "-S cs -O /tmp --writers %s", "--writers %s: neither a number of logs nor node", {
	  "0", "-1", "1025", "nodes" } },
	{ "-l %s -s cs", "-l %s", { "0", "-1", "nan", "inf", "5x" } },
	{ "-n %s -s cs", "-n %s", {
	  "0", "-5", "1e6", "99999999999999999999", "9223372036854775808" } },
	{ "-c %s -s cs", "not a list of CPUs", { "1-0", "4095" } },
	{ "-S cs -O x --ring %s", "--ring %s: not a size of at most 256M", {
	  "4", "4s", "1G" } },
	{ "-S cs -O x --flight %s", "--flight %s: not a size", { "4", "4s" } },
	{ "--only %s -S cs -O x", "--only %s: not a number", { "pid=0", "pid=1x", "tid=" } },
	{ "--only %s -S cs -O x", "--only %s: not pid=N, tid=N, comm=NAME", {
	  "x=1", "user=1" } },
	{ "-R log %s", "%s goes with -g", { "-e", "-D dir", "-M map" } },
	{ "-R log %s", "%s goes with", { "-f threshold=5", "-A", "-I -o text", "-z 3" } },
	{ "-R log -z %s -G out", "-z %s", { "0", "x" } },
	{ "-S cs -O x %s", "%s needs an argument", { "--budget", "--ring", "--flight" } },
	{ "%s", "%s needs an argument", { "-s", "--kallsyms", "--only" } },
	{ "%s", "unknown option %s", { "--nonsense", "-x" } },
	{ "%s", "%s needs samples", { "-G out", "-T", "-T -s cs" } },
	{ "%s", "%s needs a log", { "-m out -S cs", "-a out" } },
	{ "%s", "no event", { "", "sleep 1" } },
	{ "%s -s cs", "%s needs -P or -p", { "-t 1", "-d" } },
	{ "-S cs -O x %s", "%s holds for events named after it", {
	  "--only pid=1", "--not pid=1", "--include-self" } },
	{ "-O x -S cycles %s", "%s holds for events named after it", {
	  "--branch any", "--data" } },
	{ "-s cs %s", "%s holds for events named after it", {
	  "--exclude-idle", "--raw", "--freq 5" } },
	{ "-s cs %s", "%s goes with -O", { "--kallsyms k", "--packed", "-Z", "--ring 4K" } },
	{ "-s cs %s", "%s goes with -O DIR", { "--rotate 1M", "--keep 3" } },
};

static void test_good(void)
{
	size_t i;
	int r;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		r = parse(good[i].line);
		ok(!r && !strcmp(describe(), good[i].counters),
		   "%s", good[i].line);
		if (strcmp(describe(), good[i].counters))
			printf("# got %s\n", r ? msg : describe());
	}
}

static void test_others(void)
{
	ok(!parse("-qvs cs -l 2.5 -w .5 -o t -O l --kallsyms k") &&
	   o.quiet && o.verbose && o.limit == 2.5 && o.interval == 0.5 &&
	   !strcmp(o.text_path, "t") && !strcmp(o.log_path, "l") &&
	   !strcmp(o.kallsyms_path, "k") && !o.command, "the other options");
	ok(!parse("-s cs ls -l /") && !o.limit && o.command &&
	   !strcmp(o.command[0], "ls") && !strcmp(o.command[1], "-l") &&
	   !o.command[3], "the command's options are its own");
	ok(!parse("-s cs -- -x") && !strcmp(o.command[0], "-x"),
	   "a command behind --");
	ok(!parse("-s cs") && o.interval == DEFAULT_INTERVAL &&
	   !options_sampling(&o), "defaults");
	ok(!parse("-O - -S cs") && options_sampling(&o), "-O -");
	ok(!parse("-p cs -t 17 -t ^ba(sh|r)$ true") && o.ntargets == 2 &&
	   !strcmp(o.targets[0], "17") && !strcmp(o.targets[1], "^ba(sh|r)$") &&
	   o.command && o.action == ACTION_RUN, "targets and a command");
	ok(!parse("-u nonsense") && o.action == ACTION_DESCRIBE &&
	   !strcmp(o.describe, "nonsense"), "-u");
	ok(!parse("-L") && o.action == ACTION_LIST, "-L needs no event");
	ok(!parse("-L sched:* cpu*") && o.action == ACTION_LIST &&
	   !strcmp(o.command[0], "sched:*") && !strcmp(o.command[1], "cpu*"),
	   "-L takes patterns");
	ok(!parse("-n 5 -O l -S profile:hz:100 -S cs -P profile:ms:3 true") &&
	   o.counters[0].period == 10000000 && o.counters[1].period == 5 &&
	   o.counters[2].period == 3000000, "a rate in the event itself counts");
	ok(!parse("-O l -S interval:s:1") && o.ncounters == 1 &&
	   o.counters[0].cpu >= 0, "an interval is on one CPU");
	ok(!parse("-O l -c 3-5 -S interval:s:1") && o.ncounters == 1 &&
	   o.counters[0].cpu == 3, "the first of those that are named");
	ok(!parse("-O l -S mem:0x1000/8:w -n 7 -S mem:0x1000:x") &&
	   o.counters[0].period == 1 && o.counters[1].period == 7 &&
	   !strcmp(o.counters[0].spec, "mem:0x1000/8:w"),
	   "a breakpoint's period is 1 if none is given");
	ok(!parse("-O l --raw -S cs -P kprobe:f -p kprobe:f true") &&
	   !(o.counters[0].flags & PMC_F_RAW) &&
	   (o.counters[1].flags & PMC_F_RAW) &&
	   !(o.counters[2].flags & PMC_F_RAW),
	   "--raw is for samples of tracepoints");
	ok(!parse("-O l --branch any,u --data -S cycles -s cycles --branch k "
		  "-P cycles --branch none --data -S cycles true") &&
	   o.counters[0].branch == (PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER) &&
	   (o.counters[0].flags & PMC_F_BRANCH) && (o.counters[0].flags & PMC_F_DATA) &&
	   !o.counters[1].branch &&
	   !(o.counters[1].flags & (PMC_F_BRANCH | PMC_F_DATA)) &&
	   o.counters[2].branch == (PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL) &&
	   (o.counters[2].flags & PMC_F_BRANCH) &&
	   !o.counters[3].branch && !(o.counters[3].flags & (PMC_F_BRANCH | PMC_F_DATA)),
	   "--branch and --data are for samples of the events that follow");
	ok(!parse("-O l -S cs --budget 2.5") && o.budget_ppm == 25000,
	   "--budget: a part of a per cent");
	ok(!parse("-O /tmp -S cs --writers 3") && o.writers == 3, "--writers: a number");
	ok(!parse("--writers node -O /tmp -S cs -l 1 true") &&
	   o.writers == WRITERS_OF_NODES, "--writers: by node");
	ok(!parse("-O l -S cs --budget 0.0001") && o.budget_ppm == 1,
	   "--budget: the least");
	ok(!parse("-O l -S cs --budget 100") && o.budget_ppm == 1000000,
	   "--budget: all");
	ok(!parse("-h") && o.action == ACTION_HELP, "-h needs no event");
	ok(!parse("--version") && o.action == ACTION_VERSION, "--version");
}

/* "what op value-or-name", for each condition of a PMC */
static const char *conditions(const struct counter *c)
{
	static char text[1024];
	const struct hwpmc_condition *k;
	size_t n = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < c->filter.n; i++) {
		k = &c->filter.condition[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u %u ",
				      i ? ";" : "", k->what, k->op);
		if (c->filter.cgroup[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
					      c->filter.cgroup[i]);
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "%lld%s", (long long)k->value,
					      k->comm);
	}
	return text;
}

static void test_filters(void)
{
	ok(!parse("-s cs --only pid=12,tid=13,comm=foo -S cs --not "
		  "cgroup=/a,user --only kernel -S cs --only all -s cs -O x") &&
	   !o.counters[0].filter.n && !o.counters[3].filter.n &&
	   !strcmp(conditions(&o.counters[1]), "1 0 12;2 0 13;3 0 0foo") &&
	   !strcmp(conditions(&o.counters[2]),
		   "1 0 12;2 0 13;3 0 0foo;4 1 /a,user;5 1 0;5 1 0"),
	   "conditions hold for what is named after them");
	ok(!parse("--not kernel,comm=fifteen-letters -P cs -O x true") &&
	   !strcmp(conditions(&o.counters[0]), "5 0 0;3 1 0fifteen-letters"),
	   "conditions of processes");
	ok(!parse("--only user,pid=5,kernel,cgroup=/a -S cs --only all --only kernel --only user -S cs "
		  "--only all --only user --not user -S cs -O x") &&
	   !strcmp(conditions(&o.counters[0]), "1 0 5;4 0 /a") && !o.counters[1].filter.n &&
	   !strcmp(conditions(&o.counters[2]), "5 0 0;5 1 0"), "user and kernel are all");
	ok(!parse("-n 5 -S software/config=2,period=100000/ --freq 7 -S software/config=2,freq=99/ "
		  "-S software/config=2/ -O x") && o.counters[0].period == 100000 &&
	   o.counters[1].period == 99 && o.counters[2].period == 7 &&
	   !(o.counters[0].flags & PMC_F_FREQ) && o.counters[1].flags & PMC_F_FREQ,
	   "an event's own period or rate");
	ok(!parse("-n 5 -S cs --unwind fp -P cs -O x true") &&
	   o.counters[0].flags == PMC_F_CALLCHAIN &&
	   o.counters[1].flags == PMC_F_CALLCHAIN, "--unwind fp");
	ok(!parse("--unwind tables -S cs -O x") &&
	   o.counters[0].flags & PMC_F_UNWIND, "--unwind tables");
	ok(parse("--unwind dwarf -S cs -O x") == EX_USAGE, "--unwind dwarf");
	ok(!parse("--include-self -S cs -P cs -s cs -O x true") &&
	   o.counters[0].flags & HWPMC_F_INCLUDE_OWNER &&
	   !(o.counters[1].flags & HWPMC_F_INCLUDE_OWNER) &&
	   !(o.counters[2].flags & HWPMC_F_INCLUDE_OWNER), "--include-self");
}

static void test_flight(void)
{
	ok(!parse("-S cs --flight 16M -O x --trigger faults:u,count=500 "
		  "--trigger exit=3 --trigger exit=3") && o.flight_size == 16 << 20 &&
	   o.exit_what == HWPMC_EXIT_STATUS && o.exit_status == 3 &&
	   !strcmp(describe(), "SS -2 30000080 4000 0 cs;"
		   "SS -2 8000000 500 0 faults:u"), "a flight recorder");
	ok(!parse("--trigger faults -P cs --flight 1G -O /tmp/ --keep 3 "
		  "--packed --trigger exit true") && o.log_dir &&
	   o.exit_what == HWPMC_EXIT_FAILED && o.keep == 3 &&
	   !strcmp(describe(), "TS -1 8000002 1 0 faults;"
		   "TS -1 30000080 4000 0 cs"), "one of processes");
	ok(!parse("-P cs -S cs --flight 1M -O x --trigger faults true") &&
	   !strcmp(describe(), "TS -1 30000080 4000 0 cs;SS -2 30000080 4000 0 cs;"
		   "SS -2 8000000 1 0 faults"), "one of both");
	ok(!parse("--branch any -S cycles --flight 1M -O x --trigger faults") &&
	   o.counters[0].branch && !o.counters[o.ncounters - 1].branch,
	   "a trigger has no branches");
	ok(!parse("-S cs --flight 1M -O x --trigger kprobe:vfs_read,count=5") &&
	   !strcmp(describe(), "SS -2 30000080 4000 0 cs;"
		   "SS -2 8000000 5 0 kprobe:vfs_read") &&
	   !strcmp(o.counters[1].spec, "kprobe:vfs_read"),
	   "a probe is made of what comes before the count");
	ok(!parse("--flight 1M --budget 1 --trigger cpu-clock,count=5000000000 -S cycles -O x") &&
	   !strcmp(describe(), "SS -2 8000000 5000000000 0 cpu-clock;"
		   "SS -2 30000080 4000 0 cycles"), "a budget leaves a trigger alone");
	ok(!parse("--flight 1M -S cs -O x --trigger profile:s:10") && o.counters[1].cpu == -2 &&
	   o.counters[1].period == 10000000000, "each ten seconds, on each CPU");
	ok(!parse("--flight 1M -S cs -O x --trigger interval:s:10,count=3") &&
	   o.counters[1].cpu >= 0 && o.counters[1].period == 30000000000, "on one");
	ok(parse("--flight 1M -P cs -O x --trigger interval:s:10 true") == EX_USAGE &&
	   strstr(msg, "not of processes"), "which is not a process: %s", msg);
	ok(parse("--flight 1M -S cs -O x --trigger profile:s:10,count=9999999999") == EX_USAGE &&
	   strstr(msg, "centuries"), "too many: %s", msg);
	ok(!parse("--flight 1M -S cs -O x --only pid=5 --trigger faults --trigger interval:s:10") &&
	   !strcmp(conditions(&o.counters[1]), "1 0 5") && !o.counters[2].filter.n,
	   "conditions are for what happens, and not for a timer");
	ok(parse("-S cs -O x --flight 1M --only pid=5 --trigger interval:s:10") == EX_USAGE &&
	   strstr(msg, "--only holds"), "of which is said: %s", msg);
	ok(parse("-S cs -n 5 --flight 1M -O x --trigger faults") == EX_USAGE &&
	   parse("-P cs --raw --flight 1M -O x --trigger exit true") == EX_USAGE &&
	   parse("-S cs -c 0 --flight 1M -O x --trigger faults") == EX_USAGE &&
	   strstr(msg, "-c holds for"), "no modifier is for a trigger: %s", msg);
}

static void test_files(void)
{
	ok(!parse("-S cs -O /tmp --rotate 100M --rotate 10m --keep 7") &&
	   o.log_dir && o.rotate_size == 100 << 20 && o.keep == 7 &&
	   o.rotate_seconds == 600, "files in a directory");
	ok(!parse("-S cs -O nonesuch/") && o.log_dir && !o.rotate_size &&
	   !o.keep && !(o.rotate_seconds > 0), "a slash makes it a directory");
	ok(!parse("-S cs -O /tmp") && !o.log_dir, "nothing else does");
	ok(!parse("-S cs -O /tmp --rotate 2d") &&
	   o.rotate_seconds == 2 * 86400, "days");
	ok(!parse("-S cs -O /tmp --rotate 1T") &&
	   o.rotate_size == 1ULL << 40, "a large file");
}

static void test_reading(void)
{
	const struct reading *r = &o.read;

	ok(!parse("-R - -gGgraph -eFtree -D dir -M map -z 12 -r /root "
		      "-k kernels -i 77 -AI -c 1,3 -f threshold=5 -f skiplink=1") &&
	   o.action == ACTION_READ && !strcmp(r->path, "-") && r->gprof &&
	   !strcmp(r->graph, "graph") && r->gprof_wide &&
	   !strcmp(r->calltree, "tree") && !strcmp(r->gprof_dir, "dir") &&
	   !strcmp(r->gprof_map, "map") && r->depth == 12 &&
	   !strcmp(r->root, "/root") && !strcmp(r->kernel_dir, "kernels") &&
	   r->one_lwp && r->lwp == 77 && r->no_symbols && r->offsets &&
	   !r->cpus.all && r->cpus.set[3] && !r->cpus.set[2] && !r->top &&
	   r->nplugin == 2 && !strcmp(r->plugin[1], "skiplink=1"), "all there is for a reader");
	ok(!parse("-R log") && r->cpus.all && !r->one_lwp && !r->depth &&
	   !r->annotate && !r->annotate_graph, "-R alone");
	ok(!parse("-R log -i 0") && r->one_lwp && !r->lwp, "-i 0: the idle threads");
	ok(!parse("-R log -m x") && !strcmp(r->annotate, "x"), "-m");
	ok(!parse("-R log -a x") && !strcmp(r->annotate_graph, "x"), "-a");
	ok(!parse("-R log -T -w 2 -o text") && o.action == ACTION_READ && r->top &&
	   o.interval == 2 && !strcmp(o.text_path, "text"), "-T of a log");
	ok(!parse("-T -S cs") && o.action == ACTION_LIVE && r->top &&
	   !o.log_path, "-T of what happens");
	ok(!parse("-G graph -z 3 -P cs true") && o.action == ACTION_LIVE,
	   "-G of what happens");
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
	test_bad(bad, sizeof(bad) / sizeof(bad[0]), EX_USAGE);
	test_bad_each(bad_each, sizeof(bad_each) / sizeof(bad_each[0]), EX_USAGE);
	test_others();
	test_filters();
	test_files();
	test_flight();
	test_reading();
	test_cpulists();
	return done();
}
