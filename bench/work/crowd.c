// SPDX-License-Identifier: GPL-2.0-only
/*
 * crowd PROCESSES FILE
 *
 * Makes processes that sleep, creates FILE when they are there, and ends with all
 * of them on SIGTERM.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n, ready[2];
	char c = 0;

	if (argc != 3)
		errx(2, "usage: crowd PROCESSES FILE");
	if (pipe(ready))
		err(1, "pipe");
	for (n = atoi(argv[1]); n > 0; n--) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(ready[1], &c, 1) == 1)
				pause();
			_exit(0);
		}
		if (read(ready[0], &c, 1) != 1)
			err(1, "pipe");
	}
	if (open(argv[2], O_WRONLY | O_CREAT, 0600) < 0)
		err(1, "%s", argv[2]);
	pause();
	return 0;
}
