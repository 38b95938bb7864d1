// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a program on processes, threads and memory.
 *
 * What changes a process for good is for children only.
 */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "executor.h"
#include "guest.h"

#define AREA		((char *)0x200000000UL)
#define AREA_SLOTS	4
#define AREA_SLOT	0x40000UL

int mail[2] = { -1, -1 };
atomic_int extra_threads;

#define STAYS		4		/* a thread */

static pid_t some_pid(uint8_t n)
{
	return sh->pid[n % PIDS];
}

void do_kill(const struct op *op)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGSTOP, SIGCONT, SIGUSR1 };
	pid_t pid = some_pid(op->arg[0]);

	if (pid > 1 && !outside())
		kill(pid, signals[op->arg[1] % 5]);
}

/* As long as it takes, which the end of the program's time bounds. */
void do_wait(const struct op *op)
{
	pid_t pid = some_pid(op->arg[0]);

	if (pid > 1)
		waitpid(pid, NULL, op->arg[1] & 1 ? WNOHANG : 0);
}

static void *thread_body(void *arg)
{
	unsigned int n = (uintptr_t)arg % 32, what = (uintptr_t)arg / 32, i;

	/* as long as its process, or the program */
	while (what == STAYS && !sh->stop)
		usleep(20000);
	if (n & 1)
		prctl(PR_SET_NAME, "fuzz1");
	for (i = 0; i < n; i++)
		sched_yield();
	if (what == 1)
		execl("/fz/plain", "small", "3", NULL);
	if (what == 2 && !fork())
		_exit(n);
	extra_threads--;
	return NULL;
}

/*
 * arg: how long it lives, what it does: 1: exec, 2: fork, 4: it stays; a child's only:
 * 3: it is left alone, by the thread that was first; how many more like it
 */
void do_thread(const struct op *op)
{
	unsigned int what = op->arg[1] % 8, n = 1 + op->arg[2] % 32;
	pthread_attr_t attr;
	pthread_t t;

	if (what > STAYS)
		what -= STAYS;
	if (what & 1 && !in_child())
		what = 0;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 65536);
	for (; n && extra_threads < 8 + op->arg[2] % 32 && !sh->stop; n--) {
		extra_threads++;
		if (pthread_create(&t, &attr, thread_body,
				   (void *)(uintptr_t)(op->arg[0] % 32 + what * 32)))
			extra_threads--;
	}
	pthread_attr_destroy(&attr);
	if (what == 3)
		syscall(SYS_exit, 0);
}

union control {
	struct cmsghdr	h;
	char		room[CMSG_SPACE(sizeof(int))];
};

void mail_send(int fd)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	union control c = { .h = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &c, .msg_controllen = sizeof(c),
	};

	memcpy(CMSG_DATA(&c.h), &fd, sizeof(fd));
	sendmsg(mail[0], &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void do_send(const struct op *op)
{
	mail_send(sh->dev[op->dev % DEVS]);
}

/* A descriptor from mail[1], or -1. */
int mail_receive(void)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union control c;
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &c, .msg_controllen = sizeof(c),
	};
	int fd = -1;

	if (recvmsg(mail[1], &m, MSG_DONTWAIT) <= 0)
		return -2;
	if (CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

void do_receive(const struct op *op)
{
	int fd = mail_receive();

	if (fd >= FD_OWN)
		close(fd);
	else if (fd >= 0)
		sh->dev[op->arg[0] % DEVS] = fd;
}

/* arg: kind, slot */
void do_map(const struct op *op)
{
	char *at = AREA + op->arg[1] % AREA_SLOTS * AREA_SLOT;
	char deep[24];
	int fd;

	snprintf(deep, sizeof(deep), "/proc/self/fd/%u", FD_DEEP);
	switch (op->arg[0] % 9) {
	case 0:
	case 1:
		fd = open(op->arg[2] & 4 ? deep : op->arg[2] & 2 ?
			  "/fz/over/plain" : op->arg[2] & 1 ? "/fz/plain" :
			  "/proc/self/exe", O_RDONLY);
		mmap(at, 0x10000, PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | MAP_FIXED, fd, 0);
		close(fd);
		break;
	case 2:
		mmap(at, 0x10000, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 3:
		munmap(at + (op->arg[2] & 1) * 0x4000, 0x8000);
		break;
	case 4:
		mprotect(at, 0x8000, op->arg[2] & 1 ? PROT_READ | PROT_EXEC :
						      PROT_READ);
		break;
	case 5:		/* longer, in place */
		if (mremap(at, 0x10000, 0x18000, 0) == MAP_FAILED)
			break;
		break;
	case 6:
		madvise(at, 0x8000, MADV_DONTNEED);
		break;
	case 7:		/* of a file without a name */
		fd = memfd_create("code", 0);
		(void)!ftruncate(fd, 0x10000);
		mmap(at, 0x10000, PROT_READ | PROT_EXEC,
		     MAP_SHARED | MAP_FIXED, fd, op->arg[2] % 4 * 4096);
		close(fd);
		break;
	default:
		if (mremap(at, 0x4000, 0x8000, MREMAP_MAYMOVE | MREMAP_FIXED,
			   AREA + op->arg[2] % AREA_SLOTS * AREA_SLOT +
			   0x20000) == MAP_FAILED)
			break;
	}
}

void unmap_all(void)
{
	munmap(AREA, AREA_SLOTS * AREA_SLOT);
}

void do_prctl(const struct op *op)
{
	char name[16];

	switch (op->arg[0] % 3) {
	case 0:
		snprintf(name, sizeof(name), "fuzz%u", op->arg[1] % 4);
		prctl(PR_SET_NAME, name);
		break;
	case 1:
		prctl(PR_SET_KEEPCAPS, op->arg[1] & 1);
		break;
	default:
		if (in_child())
			prctl(PR_SET_DUMPABLE, op->arg[1] & 1);
	}
}

/* arg: file, what it does, -, how often it is exec'd again */
static void exec_now(const struct op *op)
{
	char deep[24];
	char * const paths[] = {
		"/proc/self/exe", "/fz/plain", "/fz/setuid", "/fz/unreadable",
		"/fz/arm32", "/usr/bin/busybox", "/fz/over/plain",
		deep,
	};
	char *path = paths[op->arg[0] % SIZE(paths)], what[8], again[8];
	char *args[] = { "small", what, path, again, NULL };

	snprintf(deep, sizeof(deep), "/proc/self/fd/%u", FD_DEEP);
	snprintf(what, sizeof(what), "%u", op->arg[1]);
	snprintf(again, sizeof(again), "%u", op->arg[3] % 32);
	execv(path, args);
	_exit(7);
}

void do_exec(const struct op *op)
{
	pid_t pid = in_child() ? 0 : fork();

	if (!pid)
		exec_now(op);
	if (pid > 0)
		sh->pid[sh->npids++ % PIDS] = pid;
}

/* arg: user, which ids */
void do_setuid(const struct op *op)
{
	static const unsigned int users[] = { 1000, 1001, 0, 65534 };
	unsigned int id = users[op->arg[0] % 4];
	gid_t groups[] = { 5, id, 2000 };

	if (!in_child())
		return;
	if (op->arg[1] & 8)
		setgroups(op->arg[1] & 16 ? 2 : 3, groups);
	if (op->arg[1] & 1)
		(void)!setresgid(id, id, id);
	if (op->arg[1] & 2)
		(void)!setresuid(-1, id, -1);
	else
		(void)!setresuid(id, id, id);
	if (op->arg[1] & 4)
		prctl(PR_SET_DUMPABLE, 1);
}

void do_unshare(const struct op *op)
{
	if (in_child())
		unshare(op->arg[0] & 1 ? CLONE_NEWPID : CLONE_NEWUSER);
}

static void fault(unsigned int n)
{
	char *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (p == MAP_FAILED)
		return;
	for (i = 0; i < n && !sh->stop; i++)
		p[i * 4096] = 1;
	munmap(p, n * 4096);
}

/* arg: what, and 0x10 for a lot of it; how much */
void do_load(const struct op *op)
{
	unsigned int i, n = op->arg[1] % 32;
	volatile unsigned int x = 0;

	if (op->arg[0] & 0x10)
		n *= 16;

	if (op->arg[0] & 1)
		fault(n + 1);
	if (op->arg[0] & 2)
		for (i = 0; i < n && !sh->stop; i++)
			syscall(SYS_getppid);
	if (op->arg[0] & 4)
		for (i = 0; i < n && !sh->stop; i++)
			sched_yield();
	if (op->arg[0] & 8)
		for (i = 0; i < op->arg[1] % 32 * 10000 && !sh->stop; i++)
			x++;
}

/* ------------------------------------------------------------------------
 * A stack that is not in memory: what samples it cannot read it there and then.
 */
#define STACK_BYTES	(256U << 10)
#define FRAME	__attribute__((noipa, optimize("no-omit-frame-pointer", \
					       "no-optimize-sibling-calls")))
#define FRAME_OF_PAGES							\
	volatile char pad[3 * 4096];					\
	pad[0] = pad[sizeof(pad) - 1] = 0

/* The memory is shared: what is thrown out of the page tables is not lost. */
FRAME static void stack_leaf(const struct op *op, uintptr_t top)
{
	uintptr_t from = (uintptr_t)__builtin_frame_address(0) + 4096;
	unsigned int i;

	from &= ~4095UL;
	for (i = 0; i <= op->arg[2] % 4 && !sh->stop; i++) {
		madvise((void *)from, top - from, MADV_DONTNEED);
		do_load(op);
	}
	__asm__ volatile("");
}

FRAME static void stack_mid(const struct op *op, uintptr_t top)
{
	FRAME_OF_PAGES;

	stack_leaf(op, top);
	__asm__ volatile("");
}

FRAME static void stack_outer(const struct op *op)
{
	FRAME_OF_PAGES;

	stack_mid(op, ((uintptr_t)__builtin_frame_address(0) + 4096) & ~4095UL);
	__asm__ volatile("");
}

static void *stack_body(void *arg)
{
	FRAME_OF_PAGES;

	stack_outer(arg);
	return NULL;
}

/* arg: as LOAD, how often */
void do_stack(const struct op *op)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	if (stack == MAP_FAILED)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_BYTES);
	if (!pthread_create(&t, &attr, stack_body, (void *)op))
		pthread_join(t, NULL);
	pthread_attr_destroy(&attr);
	munmap(stack, STACK_BYTES);
}

/* arg: ms; 64 ms more, so often: longer than the module waits for a table */
void do_sleep(const struct op *op)
{
	unsigned int i;

	usleep(op->arg[0] % 64 * 1000);
	for (i = 0; i < op->arg[1] % 40 && !sh->stop; i++)
		usleep(64000);
}
