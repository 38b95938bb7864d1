/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Root becomes somebody else, and root again.
 */
#ifndef TEST_USER_H
#define TEST_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define DEV_GROUP	1500	/* may open the device */

/* The device is DEV_GROUP's, as the example of a udev rule has it, or root's. */
bool device_for_group(void);
void device_for_root(void);

/*
 * Real and effective ids, without capabilities; no other groups but DEV_GROUP.
 * The saved ones stay root's for user_root().  The process can be looked into
 * by its user, as if it had been so from its start.
 */
bool user_become(uid_t uid);
bool user_root(void);
/* There is no way back, all ids are @uid. */
bool user_stay(uid_t uid);

/* A function that makes the process what it is named for; false: it could not */
#define BECOMES(name, ...)	bool name(void) { return __VA_ARGS__; }

/*
 * A child that leads a group, and its end: its exit status.  Those it leaves
 * behind may not be its user's, so that its death is not theirs; ours they are.
 */
pid_t group_fork(void);
int group_end(pid_t leader);

#endif /* TEST_USER_H */
