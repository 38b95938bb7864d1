/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LIBPMC_PROBE_H
#define LIBPMC_PROBE_H

#include "libpmc_event.h"

/* pmc_probe_make() in a tree other than this machine's, for tests */
struct pmc_probe *pmc_probe_make_at(struct pmc_parse *p, const char *spec);

#endif /* LIBPMC_PROBE_H */
