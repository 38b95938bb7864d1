/* SPDX-License-Identifier: BSD-2-Clause */
/* Demangled names of C++, Rust and D. */
#ifndef READER_DEMANGLE_H
#define READER_DEMANGLE_H

#include "analysis/shown.h"

#define DEMANGLED_MAX	(SHOWN_MAX + 1)	/* more than is shown: it is cut then */

/*
 * @buf, or NULL if the name is none of these languages, or takes too long.  A name that
 * is too long for @buf is cut.
 */
const char *demangled_name(char buf[DEMANGLED_MAX], const char *name);

#endif /* READER_DEMANGLE_H */
