// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscaller [SECONDS]
 *
 * Lists /proc again and again: main() -> walk() -> list() -> getdents64(2).
 * Runs for ever by default.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void nothing(void);
long list(int fd);
void walk(int fd);

/* A function that calls no other might do without a frame. */
__attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

/* The system call itself, so that libc's frame is not in between. */
__attribute__((noinline)) long list(int fd)
{
	static char buf[32768];
	long n;

	nothing();
#if defined(__x86_64__)
	__asm__ volatile("syscall" : "=a" (n)
			 : "a" (SYS_getdents64), "D" (fd), "S" (buf),
			   "d" (sizeof(buf))
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_getdents64;
	register long x0 __asm__("x0") = fd;
	register char *x1 __asm__("x1") = buf;
	register long x2 __asm__("x2") = sizeof(buf);

	__asm__ volatile("svc 0" : "+r" (x0) : "r" (x8), "r" (x1), "r" (x2)
			 : "memory");
	n = x0;
#else
#error "which instruction enters the kernel?"
#endif
	nothing();
	return n;
}

__attribute__((noinline)) void walk(int fd)
{
	lseek(fd, 0, SEEK_SET);
	while (list(fd) > 0)
		;
}

int main(int argc, char **argv)
{
	time_t seconds = argc > 1 ? atoi(argv[1]) : 0;
	time_t end = time(NULL) + seconds;
	int fd = open("/proc", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return 1;
	do {
		walk(fd);
	} while (!seconds || time(NULL) < end);
	return 0;
}
