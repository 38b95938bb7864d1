// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the fuzzer's children become by exec: a program that does a little of
 * everything that the module follows, and ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

static volatile unsigned int sink;

static void touch(void)
{
	char *p = mmap(NULL, 16384, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (p != MAP_FAILED) {
		for (i = 0; i < 16384; i += 4096)
			p[i] = 1;
		munmap(p, 16384);
	}
	for (i = 0; i < 2000; i++)
		sink += i;
}

/* small WHAT [PATH TIMES]: bits of what to do; then exec PATH, as often */
int small_main(int argc, char **argv)
{
	int what = argc > 1 ? atoi(argv[1]) : 0;
	char left[12];

	if (what & 1)
		touch();
	if (what & 2)
		prctl(PR_SET_NAME, "renamed");
	if (what & 4 && !fork()) {
		touch();
		_exit(0);
	}
	if (what & 8)
		usleep(3000);
	/* with the effective user of a set-uid file */
	if (what & 16 && setuid(geteuid()))
		return 9;
	/* the same again */
	if (argc > 3 && atoi(argv[3])) {
		snprintf(left, sizeof(left), "%d", atoi(argv[3]) - 1);
		argv[3] = left;
		execv(argv[2], argv);
	}
	return what >> 5;
}
