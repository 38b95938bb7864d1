// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <unistd.h>

#include "crowd.h"
#include "guest.h"

void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

pid_t crowd(unsigned int threads)
{
	pthread_t thread;
	int ready[2], fd;
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork_bound();
	if (!pid) {
		while (--threads)
			if (pthread_create(&thread, NULL, wait_for_ever, NULL))
				_exit(1);
		for (fd = STDERR_FILENO + 1; fd < 64; fd++)
			close(fd);
		wait_for_ever(NULL);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1))
		pid = -1;
	close(ready[0]);
	return pid;
}
