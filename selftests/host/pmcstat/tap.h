/* SPDX-License-Identifier: BSD-2-Clause */
/* Test results in the Test Anything Protocol. */
#ifndef TAP_H
#define TAP_H

#include <stdio.h>
#include <string.h>

static int tap_count, tap_failures;

/* The name says what was looked at; the condition follows a failure. */
#define ok(cond, ...) do {						\
	int ok_ = !!(cond);						\
									\
	tap_failures += !ok_;						\
	printf("%sok %d - ", ok_ ? "" : "not ", ++tap_count);		\
	printf(__VA_ARGS__);						\
	putchar('\n');							\
	if (!ok_)							\
		printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);	\
} while (0)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures != 0;
}

#endif /* TAP_H */
