/* SPDX-License-Identifier: BSD-2-Clause */
/* --flight: the kernel keeps the last part of the log, files get snapshots of it. */
#ifndef PMCSTAT_FLIGHT_H
#define PMCSTAT_FLIGHT_H

#include "pmcstat.h"

/* What --trigger and --flight say; ends the program when it cannot be. */
void flight_begin(const struct options *o, struct pmc_owner *owner);
/* A snapshot now.  0, or -1: it could not be written, which is said. */
int flight_ask(void);
/* A trigger's snapshot may be there: says so, and arms the next.  As above */
int flight_look(void);
/* There will be no more: a single file has its snapshot. */
int flight_is_over(void);
/* The last one; 0 or an exit status */
int flight_end(void);

#endif /* PMCSTAT_FLIGHT_H */
