/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs (program.h) as text, one operation a line:
 *
 *	user USER [system] [narrow]
 *	NAME[@WORKER] [dDEV] [pPMC] [(ARG,ARG...)] [fail=N] [word=I:V] [bad=I]
 *		[size=N]
 *
 * USER is root, plain or namespace; system lets anybody allocate PMCs of system
 * modes, narrow is for limits that are reached soon.  "#" begins a comment.
 */
#ifndef FUZZ_TEXT_H
#define FUZZ_TEXT_H

#include <stdio.h>

#include "program.h"

/* Returns the program's bytes; 0: @why says what is wrong, and where. */
size_t text_read(FILE *f, struct program *p, char *why, size_t size);
/* What a guest would do with @len bytes at @data. */
void text_write(FILE *f, const uint8_t *data, size_t len);

#endif /* FUZZ_TEXT_H */
