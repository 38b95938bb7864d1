/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lines of a tool, for tests of its options.c; the tool's header, which
 * says what struct options is, comes before this one.
 */
#ifndef CMDLINE_H
#define CMDLINE_H

#include <stdio.h>
#include <string.h>

#include "tap.h"

/* What is refused, and a part of the message */
struct bad {
	const char	*line;
	const char	*says;
};

static char msg[512];
static struct options o;

/* Splits a line at spaces; the words, and @o, live until the next call. */
static int parse(const char *line)
{
	static char buf[1024];
	static char *argv[64];
	int argc = 1;
	char *word;

	snprintf(buf, sizeof(buf), "%s", line);
	argv[0] = (char *)"tool";
	for (word = strtok(buf, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	msg[0] = '\0';
	options_free(&o);
	return options_parse(&o, argc, argv, msg, sizeof(msg));
}

/* Is each of @n refused with @status? */
static void test_bad(const struct bad *bad, size_t n, int status)
{
	int r;

	for (; n--; bad++) {
		r = parse(bad->line);
		ok(r == status && strstr(msg, bad->says), "refused: %s: %s",
		   bad->line, msg);
	}
}

#endif /* CMDLINE_H */
