/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LIBPMC_UNWINDER_H
#define LIBPMC_UNWINDER_H

#include "pmc.h"

/*
 * For the end of a program, also in a signal handler: the thread, which keeps the device
 * open while it waits, ends soon.
 */
void pmc_unwinder_stop(struct pmc_unwinder *u);

#endif
