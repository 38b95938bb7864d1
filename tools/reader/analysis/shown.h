/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for human readers. */
#ifndef READER_SHOWN_H
#define READER_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

struct strtab;

#define SHOWN_MAX	2048	/* bytes of a name, with the NUL */

/*
 * Makes a symbol (or any name in a log) safe to show: demangled on request,
 * limited in length, and valid UTF-8 without control and direction characters,
 * which could confuse a terminal or an XML reader.  One that is cut ends in "...#"
 * and a hash of the whole name: names are compared as they are shown.
 */
const char *shown_name(char out[SHOWN_MAX], const char *name, bool demangle);
/* The same for string @id of @t, not demangled.  Both return @out. */
const char *shown_str(char out[SHOWN_MAX], const struct strtab *t, uint32_t id);

/* The same, but neither demangled nor limited; the caller frees it. */
char *shown_whole(const char *name);

/* How many columns of a terminal it takes. */
int shown_columns(const char *s);

#endif /* READER_SHOWN_H */
