/* SPDX-License-Identifier: GPL-2.0-only */
/* User namespaces, and how much the users in one have. */
#ifndef TEST_USERNS_H
#define TEST_USERNS_H

#include <sys/types.h>

/* What @fn returns in a namespace that user @maker has made, as its user 0. */
int userns_run(uid_t maker, int (*fn)(void));
/*
 * In a namespace: what @take returns, summed up over its users, who have it all at
 * once.  The last one is in a namespace of its own.
 */
int userns_take(char (*take)(void));

#endif /* TEST_USERNS_H */
