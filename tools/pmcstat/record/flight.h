/* SPDX-License-Identifier: BSD-2-Clause */
/* --flight: the kernel keeps the last part of the log; snapshots go to files. */
#ifndef PMCSTAT_FLIGHT_H
#define PMCSTAT_FLIGHT_H

#include "pmcstat.h"

/* Sets up --trigger and --flight; ends the program on failure. */
void flight_begin(const struct options *o, struct pmc_owner *owner);
/* Takes a snapshot now.  0, or -1 with a message: it could not be written. */
int flight_ask(void);
/* Reports a trigger's snapshot, if one was taken, and arms the next.  0, or -1 */
int flight_look(void);
/* True if -O FILE has its snapshot, so that no more can be taken. */
int flight_is_over(void);
/* Finishes the last snapshot; 0 or an exit status */
int flight_end(void);

#endif /* PMCSTAT_FLIGHT_H */
