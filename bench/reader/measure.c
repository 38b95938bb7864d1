// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure COMMAND [ARGUMENT]...
 *
 * Runs COMMAND with its output discarded, and prints the resources used by it and
 * by all processes that it has started and waited for:
 * 	wall=SECONDS cpu=SECONDS rss=KIB (of the largest process)
 * cpu depends less on other load of the machine.  Exits with COMMAND's status.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double begin = now();
	struct rusage ru;
	int status, null;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: measure COMMAND [ARGUMENT]...");
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		null = open("/dev/null", O_WRONLY);
		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			err(2, "/dev/null");
		execvp(argv[1], argv + 1);
		err(127, "%s", argv[1]);
	}
	if (waitpid(pid, &status, 0) != pid || getrusage(RUSAGE_CHILDREN, &ru))
		err(2, "wait");
	printf("wall=%.6f cpu=%.6f rss=%ld\n", now() - begin,
	       seconds(ru.ru_utime) + seconds(ru.ru_stime), ru.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
