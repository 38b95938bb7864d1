// SPDX-License-Identifier: GPL-2.0-only
/*
 * probed N: does each of these N times: calls two functions, asks for its parent,
 * writes to a variable.  probed address: where that is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int probed(int n);
int probed_too(int n);

volatile long watched;

int __attribute__((noinline, noclone)) probed(int n)
{
	__asm__ volatile("" : "+r" (n));
	return n + 1;
}

int __attribute__((noinline, noclone)) probed_too(int n)
{
	__asm__ volatile("" : "+r" (n));
	return n + 2;
}

int main(int argc, char **argv)
{
	int i, n, sum = 0;

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "address"))
		return printf("%#lx\n", (unsigned long)&watched) < 0;
	n = atoi(argv[1]);
	for (i = 0; i < n; i++) {
		sum += probed(i) + probed_too(i);
		watched = i;
		sum += (int)syscall(SYS_getppid) == -1;
	}
	return sum == -1;
}
