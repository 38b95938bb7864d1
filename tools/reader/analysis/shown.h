/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as people are to read them. */
#ifndef READER_SHOWN_H
#define READER_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN_MAX	512	/* bytes of a name, with the NUL */

/*
 * A symbol (or any name of a log) as it is to be shown: demangled if asked
 * for, capped, and free of what a terminal or an XML reader could stumble on:
 * that is valid UTF-8 without control and direction characters.
 */
void shown_name(char out[SHOWN_MAX], const char *name, bool demangle);

/* The same in full, as it is in the log; the caller frees it. */
char *shown_whole(const char *name);

#endif /* READER_SHOWN_H */
