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

/* ... the same of each of some words: %s in the line, and their first word in the message */
struct bad_each {
	const char	*line;
	const char	*says;
	const char	*words[32];
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

static void test_bad_each(const struct bad_each *each, size_t n, int status)
{
	char line[128], first[64], says[128];
	const struct bad bad = { line, says };
	const char *const *word;

	for (; n--; each++)
		for (word = each->words; *word; word++) {
			snprintf(line, sizeof(line), each->line, *word);
			snprintf(first, sizeof(first), "%.*s", (int)strcspn(*word, " "), *word);
			snprintf(says, sizeof(says), each->says, first);
			test_bad(&bad, 1, status);
		}
}

#endif /* CMDLINE_H */
