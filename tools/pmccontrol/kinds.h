/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef KINDS_H
#define KINDS_H

#include <stddef.h>

struct doctor;

/*
 * kinds.c: "cpu_atom on CPUs 8-15, cpu_core on CPUs 0-7", cut to @size.  The number of
 * them; a processor that is no hybrid has one or none.
 */
unsigned int kinds_text(const struct doctor *d, char *text, size_t size);

#endif /* KINDS_H */
