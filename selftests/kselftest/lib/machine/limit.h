/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's limits, for tests that lower them.
 */
#ifndef TEST_LIMIT_H
#define TEST_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Sets a parameter of the module; root's. */
bool limit(const char *name, unsigned int value);
/* MiB that the rings of an owner take. */
unsigned int owner_mib(void);
/* Users of the group may open the device, for system modes, too. Root's, or -1. */
int limit_open(void);
/* The defaults; the caller becomes root again, and all CPUs are online. */
void limit_restore(void);

/*
 * What @fn returns in a child, which may become another user; every user may open the device,
 * and has @mib for rings and tables.  Returns -1 if the limits cannot be set.
 */
int elsewhere_with(unsigned int mib, int (*fn)(void));
/* Allocates a PMC that counts the user mode of processes. */
int user_process_pmc(int dev, uint32_t flags, uint32_t *id);

#endif /* TEST_LIMIT_H */
