/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory of its own for a program, whose tables of libpmc are kept there. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "abort.h"

static char scratch[] = "/tmp/t.XXXXXX";

__attribute__((format(printf, 1, 2)))
static int shell(const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return system(text);
}

static inline void scratch_make(void)
{
	abort_if(!mkdtemp(scratch));
	setenv("XDG_CACHE_HOME", scratch, 1);
}

/* Makes it, and goes there. */
static inline void scratch_begin(void)
{
	scratch_make();
	abort_if(chdir(scratch));
}

static void scratch_end(void)
{
	if (chdir("/") || shell("rm -rf %s", scratch))
		perror(scratch);
}

#endif /* SCRATCH_H */
