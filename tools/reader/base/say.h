/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on standard error, and the time. */
#ifndef PMCSTAT_SAY_H
#define PMCSTAT_SAY_H

#include <stdint.h>

/* Prints "pmcstat: ...", with the name that the program was called by. */
void warn_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
uint64_t now_ns(void);

#endif /* PMCSTAT_SAY_H */
