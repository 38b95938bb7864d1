// SPDX-License-Identifier: GPL-2.0-only
#include <sys/socket.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "passing.h"
#include "trial.h"
#include "user.h"

BECOMES(trial_as_user, user_stay(TRIAL_USER))
BECOMES(trial_as_other, user_stay(TRIAL_OTHER))
BECOMES(trial_as_root, true)

static bool become(void *arg)
{
	bool (**fn)(void) = arg;

	return (*fn ?: trial_as_user)();
}

static void stay(void *arg)
{
	for (;;)
		pause();
}

pid_t trial_become(bool (*fn)(void))
{
	return fork_begun(become, stay, &fn);
}

int trial_counter(int dev, uint32_t caps, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_process_counter(TASK_CLOCK, 0);

	a.caps = caps;
	return dev_pmc(dev, a, id);
}

/* In the caller's process. */
static int attempt(const struct trial *t, pid_t target)
{
	int dev, err;
	uint32_t id;

	if (!t->alone)
		target = trial_become(t->target);
	if (target < 0 || !(t->caller ?: trial_as_user)())
		return TRIAL_FAILED;
	dev = t->dev ?: dev_open();
	if (dev < 0)
		return -dev;
	err = trial_counter(dev, 0, &id);
	if (err)
		return -err;
	err = -dev_attach(dev, id, t->pid ?: target);
	dev_release(dev, id);
	return err;
}

int trial_run(struct trial t)
{
	pid_t target = t.alone ? trial_become(t.target) : 0, caller;
	int err;

	caller = group_fork();
	if (!caller)
		_exit(attempt(&t, target));
	err = group_end(caller);
	load_end(target);
	return err;
}

int trial_oneself(bool (*fn)(void), int dev)
{
	struct trial t = { .alone = true, .caller = fn, .dev = dev };
	pid_t child = group_fork();

	if (!child)
		_exit(attempt(&t, 0));
	return group_end(child);
}

int trial_found(pid_t (*find)(void))
{
	struct trial t = { .alone = true, .caller = trial_as_root };
	pid_t child = group_fork();

	if (child)
		return group_end(child);
	t.pid = find();
	_exit(t.pid > 0 ? attempt(&t, 0) : TRIAL_FAILED);
}

int trial_open_as(bool (*fn)(void))
{
	int sock[2], fd = -1, i;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sock))
		return -1;
	if (!IN_CHILD((fn && !fn()) || send_fd(sock[1], dev_open(), 0)))
		fd = await_fd(sock[0]);
	for (i = 0; i < 2; i++)
		close(sock[i]);
	return fd;
}
