// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread that answers the module: it may hang in a file, and nobody waits for it
 * then.  Also clean under ThreadSanitizer: make SANITIZE=thread BUILD=DIR.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpmc_answer.h"
#include "pmc.h"
#include "scratch.h"
#include "seconds.h"
#include "tap.h"

struct pmc_owner {
	int	fd;
};

/**
 * struct device - what the module would be
 * @lock: of all
 * @wanted: so many objects are asked for
 * @hang: reads of files do not come back
 * @hanging: so many do not
 * @uses: calls of the device
 * @open: signals that some caller of it would have taken
 * @answers, @bare, @vdso: tables, objects without one, tables of the vdso
 * @err: of a table
 */
static struct {
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	int		file, wanted, hang, hanging;
	unsigned int	uses, open, answers, bare, vdso;
	int		err;
} device = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static int the_fd = -1;

int pmc_owner_fd(const struct pmc_owner *o)
{
	return o->fd;
}

struct pmc_answers *pmc_owner_answers(struct pmc_owner *o)
{
	abort();
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);
ssize_t __wrap_pread64(int fd, void *to, size_t len, off_t at);

ssize_t __wrap_pread64(int fd, void *to, size_t len, off_t at)
{
	pthread_mutex_lock(&device.lock);
	if (device.hang) {
		device.hanging++;
		pthread_cond_broadcast(&device.changed);
		while (device.hang)
			pthread_cond_wait(&device.changed, &device.lock);
		device.hanging--;
		pthread_cond_broadcast(&device.changed);
	}
	pthread_mutex_unlock(&device.lock);
	return syscall(SYS_pread64, fd, to, len, at);
}

static int next(struct hwpmc_unwindnext *n)
{
	if (!device.wanted)
		return EAGAIN;
	n->id = (uint32_t)device.wanted--;
	n->fd = dup(device.file);
	return 0;
}

static int table(const struct hwpmc_unwindtable *a)
{
	if (a->flags & HWPMC_UNWIND_VDSO)
		device.vdso++;
	else if (a->len)
		device.answers++;
	else
		device.bare++;
	return a->len ? device.err : 0;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	sigset_t set;
	int err;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	pthread_mutex_lock(&device.lock);
	abort_if(fd != the_fd);
	device.uses++;
	device.open += !sigismember(&set, SIGTERM) + !sigismember(&set, SIGINT) +
		       !sigismember(&set, SIGCHLD);
	err = request == HWPMC_IOC_UNWINDNEXT ? next(arg) : table(arg);
	pthread_cond_broadcast(&device.changed);
	pthread_mutex_unlock(&device.lock);
	errno = err;
	return err ? -1 : 0;
}

/* @wanted objects, of which the device tells, or has told */
static struct pmc_unwinder *begin(int wanted, int hang, int err)
{
	struct pmc_owner owner;

	pthread_mutex_lock(&device.lock);
	the_fd = owner.fd = eventfd(0, EFD_CLOEXEC);
	device.wanted = wanted;
	device.hang = hang;
	device.err = err;
	device.uses = device.open = device.answers = device.bare = device.vdso = 0;
	pthread_mutex_unlock(&device.lock);
	return pmc_unwinder_begin(&owner);
}

static void close_device(void)
{
	pthread_mutex_lock(&device.lock);
	close(the_fd);
	the_fd = -1;	/* a use of it aborts */
	pthread_mutex_unlock(&device.lock);
}

/* Until @condition, which is of the device, is true */
#define AWAIT(condition)						\
	do {								\
		pthread_mutex_lock(&device.lock);			\
		while (!(condition))					\
			pthread_cond_wait(&device.changed, &device.lock); \
		pthread_mutex_unlock(&device.lock);			\
	} while (0)
#define ANSWERED	(device.answers + device.bare)

static unsigned int uses(void)
{
	unsigned int n;

	pthread_mutex_lock(&device.lock);
	n = device.uses;
	pthread_mutex_unlock(&device.lock);
	return n;
}

static void let_go(void)
{
	pthread_mutex_lock(&device.lock);
	device.hang = 0;
	pthread_cond_broadcast(&device.changed);
	pthread_mutex_unlock(&device.lock);
}

static void test_answers(void)
{
	struct pmc_unwinder *u = begin(3, 0, 0);
	double start;

	AWAIT(ANSWERED >= 3);
	start = now();
	pmc_unwinder_end(u);
	ok(now() - start < 0.9, "it ends at once when it waits");
	ok(device.answers == 3 && !device.bare, "objects that are wanted");
	ok(device.vdso == 1, "the vdso");
	ok(!device.open, "signals are for other threads");
	close_device();
}

static void test_busy(void)
{
	struct pmc_unwinder *u;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		u = begin(3, 0, 0);
		if (i % 4)
			AWAIT(ANSWERED >= i % 4);
		pmc_unwinder_end(u);
		close_device();
	}
	ok(1, "it ends at any moment");
}

static void test_refused(void)
{
	struct pmc_unwinder *u = begin(1, 0, EDQUOT);
	int refused;

	AWAIT(ANSWERED >= 1);
	refused = pmc_unwinder_refused(u);
	pmc_unwinder_end(u);
	close_device();
	ok(refused == EDQUOT && !device.bare, "EDQUOT");
	/* nothing can be wanted: there is no room to note it */
	u = begin(0, 0, EDQUOT);
	while (uses() < 2)
		usleep(1000);
	refused = pmc_unwinder_refused(u);
	pmc_unwinder_end(u);
	close_device();
	ok(refused == EDQUOT, "EDQUOT, and nothing is asked for");
	u = begin(1, 0, ENOSPC);
	AWAIT(ANSWERED >= 1);
	ok(!pmc_unwinder_refused(u), "not ENOSPC");
	pmc_unwinder_end(u);
	close_device();
}

/* As long as it does, and after that: nobody waits, the device is not used again. */
static void test_hang(void)
{
	struct pmc_unwinder *u = begin(2, 1, 0);
	unsigned int before;
	double start;

	AWAIT(device.hanging == 1);
	before = uses();
	start = now();
	pmc_unwinder_end(u);
	start = now() - start;
	close_device();
	ok(start < 5, "it hangs in a file: %.3f s", start);
	let_go();
	AWAIT(device.hanging == 0);
	usleep(300000);
	ok(uses() == before, "the file answers when the owner has gone");
}

/* A child does not have the thread, and does not disturb its parent's. */
static void test_fork(void)
{
	struct pmc_unwinder *u = begin(0, 0, 0);
	unsigned int before;
	int status = -1;
	pid_t pid;

	while (uses() < 2)
		usleep(1000);
	pid = fork();
	if (!pid) {
		alarm(20);
		pmc_unwinder_end(u);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ok(!status, "a child ends it");
	before = uses();
	usleep(200000);
	ok(uses() == before, "its parent's waits on");
	pmc_unwinder_end(u);
	close_device();
}

int main(void)
{
	scratch_begin();
	device.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	test_answers();
	test_busy();
	test_refused();
	test_hang();
	test_fork();
	pmc_unwinder_end(NULL);
	close(device.file);
	scratch_end();
	return done();
}
