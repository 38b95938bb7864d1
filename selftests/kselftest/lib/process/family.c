// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "guest.h"
#include "target.h"

struct family *family_new(void)
{
	return shared_memory(sizeof(struct family));
}

void family_kill(const struct family *f)
{
	unsigned int i;

	for (i = 0; i < f->n; i++)
		kill(f->m[i].pid, SIGKILL);
}

void family_enter(struct family *f, uint32_t parent, bool exec)
{
	unsigned int i = atomic_fetch_add(&f->n, 1);

	if (i >= FAMILY_MAX)
		_exit(97);
	/* neither the C library's idea of a pid, after a raw clone */
	f->m[i].pid = syscall(SYS_getpid);
	f->m[i].tid = syscall(SYS_gettid);
	f->m[i].parent = parent;
	f->m[i].exec = exec;
	f->complete++;
}

struct life {
	struct family	*f;
	uint32_t	parent;
	unsigned int	pages;
};

static int live(void *arg)
{
	struct life *l = arg;

	family_enter(l->f, l->parent, false);
	fault_pages(l->pages);
	return 0;
}

static pid_t same_memory(struct life *l)
{
	size_t size = 65536;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid = clone(live, stack + size, CLONE_VM | SIGCHLD, l);

	if (pid > 0)
		waitpid(pid, NULL, 0);
	munmap(stack, size);
	return pid;
}

pid_t family_child(struct family *f, enum birth how, unsigned int pages)
{
	struct life l = { .f = f, .parent = getpid(), .pages = pages };
	unsigned int n = f->complete;
	pid_t pid = -1;

	switch (how) {
	case BIRTH_FORK:
		pid = fork();
		break;
	case BIRTH_VFORK:
		pid = vfork();
		break;
	case BIRTH_SAME_MEMORY:
		return same_memory(&l);
	case BIRTH_SIBLING:
		pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		if (!pid)
			_exit(live(&l));
		/* it cannot be waited for otherwise */
		while (pid > 0 && f->complete == n)
			usleep(1000);
		return pid;
	default:
		break;
	}
	if (!pid)
		_exit(live(&l));
	waitpid(pid, NULL, 0);
	return pid;
}

void family_line(struct family *f, unsigned int depth, unsigned int pages)
{
	uint32_t parent = getpid();
	pid_t pid;

	if (!depth)
		return;
	pid = fork();
	if (!pid) {
		family_enter(f, parent, false);
		fault_pages(pages);
		family_line(f, depth - 1, pages);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *live_thread(void *arg)
{
	live(arg);
	return NULL;
}

void family_thread(struct family *f, unsigned int pages)
{
	struct life l = { .f = f, .parent = getpid(), .pages = pages };
	pthread_t t;

	if (!pthread_create(&t, NULL, live_thread, &l))
		pthread_join(t, NULL);
}

void family_exec(struct family *f, const char *program)
{
	uint32_t parent = getpid();
	pid_t pid = fork();

	if (!pid) {
		family_enter(f, parent, true);
		execl(program, program, NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}
