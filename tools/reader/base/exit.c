// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>

#include "base/exit.h"

int reader_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	return READER_USAGE;
}

bool reader_bad_value(const char *cmd, const char *option, const char *arg,
		      const char *want)
{
	return !reader_usage("pmclog %s: --%s %s: %s\n", cmd, option, arg, want);
}
