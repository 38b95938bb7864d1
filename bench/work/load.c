// SPDX-License-Identifier: GPL-2.0-only
/*
 * load [-p PROCESSES] [-t FILE] KIND AMOUNT
 * load stamp
 *
 * A fixed amount of work, shared by PROCESSES, and how long it has taken by the
 * machine's cycle counter (under "qemu -icount": instructions). KIND:
 *	user	arithmetic, 20 calls deep
 *	kernel	reads of /proc/version, whose text is the same for all, 20 calls
 *		deep with those in the kernel
 *	fork	a child that exits at once, and is waited for
 *	exec	one process that executes this program again and again
 *	mmap	map a file executable, unmap it
 *	switch	a byte to another process and back: two context switches at least
 * -t has the phases of FILE counted in the time (lib/mark.h).
 * Prints "ns=N cpu=N": time that has passed, and CPU time that the writer of a
 * recording (hwpmc's thread, or perf) has used meanwhile. "load stamp" prints the
 * time.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/mark.h"

#define TEXT	"/proc/version"
#define DEEP	16	/* with the callers 20 frames */
#define SHALLOW	4

typedef long (*work_fn)(long amount);

static const char *self = "/proc/self/exe";
static const char *phases;
static int text_fd;

/* Nanoseconds: QEMU's counters run at 1 GHz (x86) and 62.5 MHz (arm64). */
static uint64_t now_ns(void)
{
#if defined(__x86_64__)
	uint32_t lo, hi;

	__asm__ volatile("lfence; rdtsc" : "=a" (lo), "=d" (hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
	uint64_t count, hz;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r" (count) : : "memory");
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r" (hz));
	return count * (1000000000 / hz);
#endif
}

static void check(int bad, const char *what)
{
	if (bad)
		err(1, "%s", what);
}

__attribute__((noinline)) static long arithmetic(long n)
{
	unsigned long x = n;

	for (long i = 0; i < 1000; i++)
		x = (x << 13 | x >> 51) * 5 + i;
	return x & 1;
}

__attribute__((noinline)) static long one_read(long n)
{
	static char buf[4096];
	ssize_t got = pread(text_fd, buf, sizeof(buf), 0);

	check(got <= 0, TEXT);
	return n + got;
}

__attribute__((noinline)) static long deeper(int depth, long n, work_fn leaf)
{
	if (!depth)
		return leaf(n) + 1;
	return deeper(depth - 1, n, leaf) + 1;
}

static long user_load(long amount)
{
	long sum = 0;

	while (amount--)
		sum += deeper(DEEP, amount, arithmetic);
	return sum;
}

static long kernel_load(long amount)
{
	long sum = 0;

	while (amount--)
		sum += deeper(SHALLOW, amount, one_read);
	return sum;
}

static long fork_load(long amount)
{
	while (amount--) {
		pid_t pid = fork();
		int status;

		check(pid < 0, "fork");
		if (!pid)
			_exit(0);
		check(waitpid(pid, &status, 0) != pid, "waitpid");
	}
	return 0;
}

static void exec_again(long amount)
{
	char number[24];

	snprintf(number, sizeof(number), "%ld", amount);
	execl(self, "load", "chain", number, NULL);
	err(1, "%s", self);
}

static long exec_load(long amount)
{
	pid_t pid = fork();
	int status;

	check(pid < 0, "fork");
	if (!pid)
		exec_again(amount);
	check(waitpid(pid, &status, 0) != pid, "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "the chain of execs has broken");
	return 0;
}

static long mmap_load(long amount)
{
	int fd = open(self, O_RDONLY);

	check(fd < 0, self);
	while (amount--) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       fd, 0);

		check(p == MAP_FAILED, "mmap");
		check(munmap(p, 4096), "munmap");
	}
	return 0;
}

static void answer_bytes(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1 && write(out, &c, 1) == 1)
		;
	_exit(0);
}

static long switch_load(long amount)
{
	int there[2], back[2];
	pid_t pid;
	char c = 0;

	check(pipe(there) || pipe(back), "pipe");
	pid = fork();
	check(pid < 0, "fork");
	if (!pid) {
		close(there[1]);
		answer_bytes(there[0], back[1]);
	}
	while (amount--) {
		check(write(there[1], &c, 1) != 1, "pipe");
		check(read(back[0], &c, 1) != 1, "pipe");
	}
	close(there[1]);
	check(waitpid(pid, NULL, 0) != pid, "waitpid");
	return 0;
}

static const struct {
	const char *name;
	work_fn fn;
} kinds[] = {
	{ "user", user_load },
	{ "kernel", kernel_load },
	{ "fork", fork_load },
	{ "exec", exec_load },
	{ "mmap", mmap_load },
	{ "switch", switch_load },
};

static work_fn kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].fn;
	errx(2, "there is no load \"%s\"", name);
}

/*
 * Calls fn(amount) as the outermost frame of a chain: libc's start code uses
 * the frame pointer for other data, and unwinders disagree about its frames.
 */
long bottom(work_fn fn, long amount);
#if defined(__x86_64__)
__asm__(".text\n.type bottom, @function\nbottom:\n"
	"	push	%rbp\n"
	"	xor	%ebp, %ebp\n"
	"	mov	%rdi, %rax\n"
	"	mov	%rsi, %rdi\n"
	"	call	*%rax\n"
	"	pop	%rbp\n"
	"	ret\n.size bottom, . - bottom\n");
#elif defined(__aarch64__)
__asm__(".text\n.type bottom, @function\nbottom:\n"
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, #0\n"
	"	mov	x2, x0\n"
	"	mov	x0, x1\n"
	"	blr	x2\n"
	"	ldp	x29, x30, [sp], #16\n"
	"	ret\n.size bottom, . - bottom\n");
#endif

static int read_text(const char *dir, const char *file, char *buf, size_t size)
{
	char path[300];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", dir, file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n > 0 ? 0 : -1;
}

/* CPU time of all threads that write a recording. */
static uint64_t writers_cpu(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	char text[128];
	uint64_t sum = 0;

	check(!proc, "/proc");
	while ((d = readdir(proc))) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9' ||
		    read_text(d->d_name, "comm", text, sizeof(text)))
			continue;
		if (strncmp(text, "hwpmc/", 6) && strcmp(text, "perf\n"))
			continue;
		if (!read_text(d->d_name, "schedstat", text, sizeof(text)))
			sum += strtoull(text, NULL, 10);
	}
	closedir(proc);
	return sum;
}

static void one_byte(int fd, int out)
{
	char c = 0;

	check((out ? write(fd, &c, 1) : read(fd, &c, 1)) != 1, "pipe");
}

static pid_t helper(work_fn fn, long amount, int go, int done)
{
	pid_t pid = fork();

	check(pid < 0, "fork");
	if (pid)
		return pid;
	text_fd = open(TEXT, O_RDONLY);
	check(text_fd < 0, TEXT);
	one_byte(done, 1);
	one_byte(go, 0);
	bottom(fn, amount);
	one_byte(done, 1);
	pause();
	_exit(0);
}

/* All processes start together; they end after the time was read. */
static uint64_t run_many(work_fn fn, long amount, int processes)
{
	int go[2], done[2], i;
	uint64_t begin, end;
	pid_t *pids = calloc(processes, sizeof(*pids));

	check(!pids || pipe(go) || pipe(done), "pipe");
	for (i = 0; i < processes; i++)
		pids[i] = helper(fn, amount / processes, go[0], done[1]);
	for (i = 0; i < processes; i++)
		one_byte(done[0], 0);
	begin = now_ns();
	for (i = 0; i < processes; i++)
		one_byte(go[1], 1);
	for (i = 0; i < processes; i++)
		one_byte(done[0], 0);
	end = now_ns();
	for (i = 0; i < processes; i++) {
		kill(pids[i], 9);
		waitpid(pids[i], NULL, 0);
	}
	return end - begin;
}

static uint64_t run_one(work_fn fn, long amount)
{
	uint64_t begin, end;

	if (phases) {
		mark_phases(phases);
		mark(MARK_START);
	}
	begin = now_ns();
	bottom(fn, amount);
	end = now_ns();
	if (phases)
		mark(MARK_STOP);
	return end - begin;
}

int main(int argc, char **argv)
{
	int processes = 1, opt;
	uint64_t cpu, ns;
	work_fn fn;
	long amount;

	if (argc == 3 && !strcmp(argv[1], "chain")) {
		amount = atol(argv[2]);
		if (amount > 1)
			exec_again(amount - 1);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "stamp")) {
		printf("%" PRIu64 "\n", now_ns());
		return 0;
	}
	while ((opt = getopt(argc, argv, "p:t:")) != -1) {
		switch (opt) {
		case 'p':
			processes = atoi(optarg);
			break;
		case 't':
			phases = optarg;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || processes < 1)
		errx(2, "usage: load [-p PROCESSES] [-t FILE] KIND AMOUNT");
	fn = kind_of(argv[optind]);
	amount = atol(argv[optind + 1]);
	text_fd = open(TEXT, O_RDONLY);
	check(text_fd < 0, TEXT);
	cpu = writers_cpu();
	ns = processes > 1 ? run_many(fn, amount, processes) :
			     run_one(fn, amount);
	printf("ns=%" PRIu64 " cpu=%" PRIu64 "\n", ns, writers_cpu() - cpu);
	return 0;
}
