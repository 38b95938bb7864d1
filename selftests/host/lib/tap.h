/* SPDX-License-Identifier: BSD-2-Clause */
/* TAP for test programs: ok() for every check, done() at the end. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "abort.h"

static unsigned int tap_n, tap_failed;
static bool tap_good;

/*
 * The name, which may have what the condition has found, says what was looked at;
 * the condition follows a failure.
 */
#define ok(good, ...) \
	(tap_good = (good), tap_ok(__FILE__, __LINE__, #good, __VA_ARGS__))

__attribute__((format(printf, 4, 5), unused))
static bool tap_ok(const char *file, int line, const char *condition,
		   const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u - ", tap_good ? "" : "not ", ++tap_n);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!tap_good)
		printf("# %s:%d: %s\n", file, line, condition);
	fflush(stdout);
	tap_failed += !tap_good;
	return tap_good;
}

__attribute__((unused))
static int done(void)
{
	printf("1..%u\n", tap_n);
	return tap_failed ? 1 : 0;
}

#endif /* TAP_H */
