// SPDX-License-Identifier: GPL-2.0-only
/*
 * waiter
 *
 * For each byte of its standard input, touches a page of memory that it has not
 * touched before; ends with the input.
 */
#include <sys/mman.h>
#include <unistd.h>

#define PAGES	64

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int n = 0;
	char c;

	if (p == MAP_FAILED)
		return 1;
	while (read(STDIN_FILENO, &c, 1) == 1)
		p[n++ % PAGES * page] = 1;
	return 0;
}
