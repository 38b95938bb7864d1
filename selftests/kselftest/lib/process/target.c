// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "target.h"

#define STEP_MS		2
#define STEPS		20000

/*
 * The kernel answers "running" unless the thread is off its CPU; its state alone
 * is set before it is.
 */
static bool wait_off_cpu(pid_t pid, pid_t tid, bool any, long nr)
{
	char path[80], line[200];
	int i;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	for (i = 0; i < STEPS; i++) {
		if (!read_line(path, line, sizeof(line)))
			return false;
		if (strncmp(line, "running", 7) &&
		    (any || strtol(line, NULL, 10) == nr))
			return true;
		sleep_ms(STEP_MS);
	}
	return false;
}

bool wait_asleep(pid_t pid, pid_t tid)
{
	return wait_off_cpu(pid, tid, true, 0);
}

bool wait_in_call(pid_t pid, pid_t tid, long nr)
{
	return wait_off_cpu(pid, tid, false, nr);
}

void wait_zombie(pid_t pid)
{
	siginfo_t info;

	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
}

bool wait_ended(pid_t pid, unsigned int ms)
{
	siginfo_t info = {};

	for (; ms && !info.si_pid; ms--) {
		waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG);
		sleep_ms(1);
	}
	return info.si_pid;
}

bool wait_true(volatile bool *what, unsigned int ms)
{
	for (; ms && !*what; ms--)
		sleep_ms(1);
	return *what;
}

pid_t gone_pid(void)
{
	pid_t pid = fork_bound();

	if (!pid)
		_exit(0);
	wait_for(pid);
	return pid;
}

bool target_paused(struct target *t)
{
	char c;

	return read(t->back[0], &c, 1) == 1 && wait_asleep(t->pid, t->pid);
}

bool target_prepare(struct target *t)
{
	t->pid = 0;
	return !pipe2(t->go, O_CLOEXEC) && !pipe2(t->back, O_CLOEXEC);
}

bool target_arrived(struct target *t, const uint32_t *pid)
{
	char c;

	if (read(t->back[0], &c, 1) != 1)
		return false;
	t->pid = *pid;
	return wait_asleep(t->pid, t->pid);
}

/* The device is not to stay open with whoever it is that outlives the test. */
static void close_devices(void)
{
	char path[40], to[40] = "";
	int fd;

	for (fd = 3; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		memset(to, 0, sizeof(to));
		if (readlink(path, to, sizeof(to) - 1) > 0 &&
		    !strcmp(to, "/dev/hwpmc"))
			close(fd);
	}
}

bool target_begin(struct target *t, int (*body)(struct target *t, void *arg),
		  void *arg)
{
	if (!target_prepare(t))
		return false;
	t->pid = fork_bound();
	if (!t->pid) {
		close(t->go[1]);
		close(t->back[0]);
		close_devices();
		target_pause(t);
		_exit(body(t, arg));
	}
	close(t->go[0]);
	close(t->back[1]);
	return t->pid > 0 && target_paused(t);
}

int target_pause(struct target *t)
{
	char c = 0;

	if (write(t->back[1], &c, 1) != 1 || read(t->go[0], &c, 1) != 1)
		_exit(99);
	return 0;
}

void target_go(struct target *t)
{
	char c = 0;

	if (write(t->go[1], &c, 1) != 1)
		perror("target");
}

bool target_step(struct target *t)
{
	target_go(t);
	return target_paused(t);
}

int target_end(struct target *t)
{
	int status;

	target_go(t);
	status = wait_for(t->pid);
	close(t->go[1]);
	close(t->back[0]);
	return status;
}

void target_kill(struct target *t)
{
	if (t->pid <= 0)
		return;
	kill(t->pid, SIGKILL);
	wait_for(t->pid);
	close(t->go[1]);
	close(t->back[0]);
}

char *pages_new(unsigned int pages)
{
	size_t len = (size_t)pages * sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(98);
	madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

void pages_touch(char *p, unsigned int from, unsigned int pages)
{
	long page = sysconf(_SC_PAGESIZE);

	for (; pages--; from++)
		((volatile char *)p)[from * page] = 1;
}

void fault_pages(unsigned int pages)
{
	char *p = pages_new(pages);

	pages_touch(p, 0, pages);
	munmap(p, (size_t)pages * sysconf(_SC_PAGESIZE));
}

void compute_ms(unsigned int ms)
{
	uint64_t end = thread_ns() + ms * 1000000ULL;
	volatile unsigned int i;

	do {
		for (i = 0; i < 20000; i++)
			;
	} while (thread_ns() < end);
}

void exec_waiter(const char *path, int input)
{
	dup2(input, STDIN_FILENO);
	execl(path, path, NULL);
	_exit(127);
}

static void mapper_name(pid_t pid, char name[256])
{
	memset(name, 'd', 200);
	memcpy(name, "/tmp/", 5);
	snprintf(name + 200, 20, "%d", pid);
}

/* Of one page, again and again: no two of them become one. */
static bool map_often(const char *name, unsigned int maps)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	if (fd < 0 || ftruncate(fd, 4096))
		return false;
	while (maps--)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			 0) == MAP_FAILED)
			return false;
	return true;
}

pid_t mapper_begin(unsigned int maps)
{
	volatile int *done = shared_memory(sizeof(*done));
	pid_t pid = fork_bound();
	char name[256];

	if (!pid) {
		mapper_name(getpid(), name);
		*done = map_often(name, maps) ? 1 : -1;
		for (;;)
			pause();
	}
	while (pid > 0 && !*done)
		sleep_ms(5);
	if (*done > 0)
		return pid;
	mapper_end(pid);
	return -1;
}

void mapper_end(pid_t pid)
{
	char name[256];

	load_end(pid);
	mapper_name(pid, name);
	unlink(name);
}
