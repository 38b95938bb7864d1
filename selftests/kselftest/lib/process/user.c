// SPDX-License-Identifier: GPL-2.0-only
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "user.h"

bool device_for_group(void)
{
	return !chown(DEV_PATH, 0, DEV_GROUP) && !chmod(DEV_PATH, 0660);
}

void device_for_root(void)
{
	if (!chown(DEV_PATH, 0, 0))
		chmod(DEV_PATH, 0600);
}

static bool be(uid_t uid, gid_t saved)
{
	static const gid_t groups[] = { DEV_GROUP };

	return !setgroups(1, groups) && !setresgid(uid, uid, saved) &&
	       !setresuid(uid, uid, saved) && !prctl(PR_SET_DUMPABLE, 1);
}

bool user_become(uid_t uid)
{
	return be(uid, 0);
}

bool user_stay(uid_t uid)
{
	return be(uid, uid);
}

bool user_root(void)
{
	return !setresuid(0, 0, 0) && !setresgid(0, 0, 0) &&
	       !setgroups(0, NULL) && !prctl(PR_SET_DUMPABLE, 1);
}

pid_t group_fork(void)
{
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork_bound();
	if (!pid)
		setpgid(0, 0);
	return pid;
}

int group_end(pid_t leader)
{
	int status = wait_for(leader);

	kill(-leader, SIGKILL);
	while (waitpid(-leader, NULL, 0) > 0)
		;
	return status;
}
