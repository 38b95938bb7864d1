/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit codes of the commands of pmclog(1). */
#ifndef READER_EXIT_H
#define READER_EXIT_H

#include <stdbool.h>

#include "base/say.h"

/*
 * Exit codes: 0, 1 when a file can't be read or is found faulty, 2 for a
 * wrong command line.
 */
#define READER_OK	0
#define READER_FAIL	1
#define READER_USAGE	2

/* Print a message; READER_FAIL, READER_USAGE. */
#define reader_fail(...)	(warn_line(__VA_ARGS__), READER_FAIL)
int reader_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints what --@option of @cmd takes instead of @arg; returns false. */
bool reader_bad_value(const char *cmd, const char *option, const char *arg,
		      const char *want);

#endif /* READER_EXIT_H */
