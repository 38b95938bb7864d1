// SPDX-License-Identifier: BSD-2-Clause
/* Messages on standard error, with the name that the program was called by. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/say.h"

/*
 * Messages may have names of files and logs, which a terminal would obey: ASCII's control
 * characters, and those from U+0080 to U+009F.
 */
static void make_plain(char *line)
{
	for (; *line; line++)
		if (iscntrl((unsigned char)*line) ? *line != '\n' && *line != '\t' :
		    (unsigned char)line[0] == 0xc2 && (unsigned char)line[1] < 0xa0)
			*line = '?';
}

static void vwarn_line(const char *fmt, va_list ap)
{
	char *line;

	if (vasprintf(&line, fmt, ap) < 0)
		line = NULL;
	if (line)
		make_plain(line);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, line ? line : fmt);
	free(line);
}

void warn_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn_line(fmt, ap);
	va_end(ap);
}

void die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn_line(fmt, ap);
	va_end(ap);
	exit(status);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}
