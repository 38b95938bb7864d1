/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pmclog verify says to a log that has been made: every case is a sound
 * log with one thing made wrong.
 */
#ifndef EXPECT_VERIFY_H
#define EXPECT_VERIFY_H

#include <string.h>

#include "loggen.h"

#define PID	100
#define START	0x555555555000ULL

/* The log that is being made */
extern struct loggen g;

/* Begins it, with one PMC. */
void begin(void);
/* verify finds @what at @offset. */
void expect(size_t offset, const char *what);
/* ... in the record that was made last */
void expect_last(const char *what);
void expect_ok(const char *summary);
/* @what at @offset, or nothing, and @summary, if @what is NULL */
void expect_either(size_t offset, const char *what, const char *summary);
/* The plan; the program's exit status. */
int verify_done(void);

/* verify finds @what in the record that @make adds to a log with one PMC. */
#define EXPECT_WRONG(make, what)	(begin(), make, expect_last(what))

/* The field of the record at @at becomes @value. */
#define SET(at, type, field, value)					\
	do {								\
		__typeof__(((struct type *)0)->field) v_ = (value);	\
		memcpy(g.buf + (at) + offsetof(struct type, field),	\
		       &v_, sizeof(v_));				\
	} while (0)

#endif /* EXPECT_VERIFY_H */
