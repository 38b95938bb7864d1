// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "guest.h"
#include "user.h"
#include "userns.h"

/* Users 0 and on of a namespace: its maker, and uids that he has been given. */
#define IN_NAMESPACE	4

int userns_run(uid_t maker, int (*fn)(void))
{
	int ready[2], go[2], err;
	char path[40], map[40], c = 0;
	pid_t child;

	if (pipe(ready) || pipe(go))
		return -errno;
	child = fork_bound();
	if (!child) {
		c = user_stay(maker) && !unshare(CLONE_NEWUSER);
		if (write(ready[1], &c, 1) != 1 || !c || read(go[0], &c, 1) != 1)
			_exit(255);
		_exit(setresuid(0, 0, 0) ? 254 : fn());
	}
	if (read(ready[0], &c, 1) != 1 || !c)
		return wait_for(child);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	snprintf(map, sizeof(map), "0 %u 1\n1 100000 8\n", maker);
	err = !write_text(path, map);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", child);
	snprintf(map, sizeof(map), "0 %u 1\n", maker);
	err |= !write_text(path, map);
	if (err || write(go[1], "", 1) != 1)
		load_end(child);
	return wait_for(child);
}

/* User @uid takes what there is, says how much, and keeps it. */
static void take_and_keep(uid_t uid, bool deeper, char (*take)(void), int told)
{
	char n = -1;

	if (!setresuid(uid, uid, uid) &&
	    (!deeper || !unshare(CLONE_NEWUSER)))
		n = take();
	if (write(told, &n, 1) == 1)
		pause();
	_exit(1);
}

int userns_take(char (*take)(void))
{
	pid_t child[IN_NAMESPACE];
	int told[2], i, sum = 0;
	char n;

	if (pipe(told))
		return 253;
	for (i = 0; i < IN_NAMESPACE; i++) {
		child[i] = fork_bound();
		if (!child[i])
			take_and_keep(i, i == IN_NAMESPACE - 1, take, told[1]);
		if (read(told[0], &n, 1) != 1 || n < 0)
			return 252;
		sum += n;
	}
	while (i--)
		load_end(child[i]);
	return sum;
}
