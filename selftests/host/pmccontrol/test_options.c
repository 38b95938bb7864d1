/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: what is changed where, and what is refused. */
#include <stdlib.h>

#include "pmccontrol.h"
#include "cmdline.h"

/* "-0:3 +*:*": row 3 of CPU 0 is disabled, then all are enabled */
static const char *describe(void)
{
	static char text[512];
	const struct change *c;
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < o.nchanges; i++) {
		c = &o.changes[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c%d:%d",
				      i ? " " : "", c->enable ? '+' : '-',
				      c->cpu, c->row);
	}
	return text;
}

static const struct good {
	const char	*line;
	enum action	action;
	const char	*changes;
} good[] = {
	{ "-l", ACTION_ROWS, "" },
	{ "-L", ACTION_EVENTS, "" },
	{ "-s", ACTION_STATS, "" },
	{ "-s -s", ACTION_STATS, "" },
	{ "-h", ACTION_HELP, "" },
	{ "--help -l", ACTION_HELP, "" },
	{ "doctor", ACTION_DOCTOR, "" },
	{ "doctor --help", ACTION_HELP, "" },
	{ "-l --version", ACTION_VERSION, "" },
	{ "-d 0", ACTION_CHANGE, "--1:0" },
	{ "-d*", ACTION_CHANGE, "--1:-1" },
	{ "-e *", ACTION_CHANGE, "+-1:-1" },
	{ "-c2 -d0 -d1", ACTION_CHANGE, "-2:0 -2:1" },
	{ "-c* -e* -c0 -d0", ACTION_CHANGE, "+-1:-1 -0:0" },
	{ "-c 1 -c 0 -d 5", ACTION_CHANGE, "-0:5" },
	{ "-d 1 -c 3 -d 1 -e 2 -c * -d 4", ACTION_CHANGE,
	  "--1:1 -3:1 +3:2 --1:4" },
	{ "-c 128 -d 255 -c 256 -d 128 -c 4095 -e 7", ACTION_CHANGE,
	  "-128:255 -256:128 +4095:7" },
	{ "-d 2147483647", ACTION_CHANGE, "--1:2147483647" },
	{ "-d 007", ACTION_CHANGE, "--1:7" },
};

static const struct bad bad[] = {
	{ "", "nothing to do" },
	{ "doctors", "what is doctors for" },
	{ "-c 1", "-c 1 holds for rows named after it" },
	{ "-d 1 -c *", "-c * holds for rows named after it" },
	{ "-e **", "-e **: not a row" },
	{ "-e 99999999999999999999", "not a row" },
	{ "-l 5", "what is 5 for" },
	{ "-d 1 -- -e", "what is -e for" },
	{ "--help=1", "--help=1 takes no argument" },
};

static const struct bad_each bad_each[] = {
	{ "-c %s -d 1", "-c %s: not a CPU", { "-1", "x", "1x", "*1", "0x1", "2147483648" } },
	{ "-d %s", "-d %s: not a row", { "-1", "1,2" } },
	{ "%s", "at a time", {
	  "-l -s", "-L -l", "-l -d 1", "-e 1 -s", "-c 1 -l", "doctor -l", "doctor -d 1" } },
	{ "%s", "%s needs an argument", { "-c", "-d" } },
	{ "%s", "unknown option %s", { "-x", "--rows" } },
	{ "%s", "what is doctor for", { "doctor doctor", "-l doctor" } },
};

static void test_empty_word(void)
{
	char *argv[] = { (char *)"pmccontrol", (char *)"-d", (char *)"", NULL };

	options_free(&o);
	ok(options_parse(&o, 3, argv, msg, sizeof(msg)) == -1,
	   "refused: an empty word: %s", msg);
}

int main(void)
{
	size_t i;
	int r;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		r = parse(good[i].line);
		ok(!r && o.action == good[i].action &&
		   !strcmp(describe(), good[i].changes), "%s", good[i].line);
		if (r || strcmp(describe(), good[i].changes))
			printf("# got %s\n", r ? msg : describe());
	}
	test_bad(bad, sizeof(bad) / sizeof(bad[0]), -1);
	test_bad_each(bad_each, sizeof(bad_each) / sizeof(bad_each[0]), -1);
	test_empty_word();
	return done();
}
