// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "latejob.h"
#include "user.h"

#define STACK		(2 << 20)

/* A frame that has more than a page to itself. */
#define FRAME	__attribute__((noipa, optimize("no-omit-frame-pointer", \
					       "no-optimize-sibling-calls")))
#define PAD								\
	volatile char pad_[2 * 65536];					\
	pad_[0] = pad_[sizeof(pad_) - 1] = 0

static volatile unsigned long spent;

FRAME static void spin(void)
{
	unsigned long i;

	for (i = 0; i < 3000000; i++)
		__asm__ volatile("" : "+r" (i));
	spent++;
}

FRAME void body_spin(const struct job *job)
{
	spin();
	__asm__ volatile("");
}

FRAME void body_read(const struct job *job)
{
	syscall(SYS_read, job->fd, job->buf, job->len);
	__asm__ volatile("");
}

FRAME void body_clock(const struct job *job)
{
	struct timespec ts;
	int i;

	for (i = 0; i < 30000; i++)
		clock_gettime(CLOCK_MONOTONIC, &ts);
	spent++;
}

FRAME void probed(void)
{
	spent++;
	__asm__ volatile("");
}

FRAME void body_probe(const struct job *job)
{
	probed();
	__asm__ volatile("");
}

FRAME static void evict(uintptr_t from, uintptr_t to)
{
	if (syscall(SYS_madvise, from, to - from, MADV_DONTNEED))
		abort();
	__asm__ volatile("");
}

/* What the last round has thrown out. */
static struct {
	uintptr_t	from;
	uintptr_t	to;
} thrown_out;

/* Who was sampled on the way here has brought it back. */
FRAME static void handler(int sig)
{
	evict(thrown_out.from, thrown_out.to);
	spin();
	__asm__ volatile("");
}

FRAME void body_signal(const struct job *job)
{
	syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGUSR1);
	__asm__ volatile("");
}

/*
 * The memory is shared, so what is thrown out of the page tables is not lost.
 * The body's frames and this one stay, those of the callers do not.
 */
FRAME static void late_leaf(const struct job *job)
{
	uintptr_t page = getpagesize();
	uintptr_t from = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(from);

	from = (from + page - 1) & -page;
	thrown_out.from = from;
	thrown_out.to = job->top;
	for (;;) {
		evict(from, job->top);
		job->body(job);
		__atomic_add_fetch(job->rounds, 1, __ATOMIC_RELAXED);
	}
}

FRAME static void late_mid(const struct job *job)
{
	PAD;

	late_leaf(job);
	__asm__ volatile("");
}

FRAME static void late_outer(struct job *job)
{
	PAD;

	job->top = (uintptr_t)__builtin_frame_address(0);
	job->top = (job->top + getpagesize()) & -getpagesize();
	late_mid(job);
	__asm__ volatile("");
}

FRAME static void late_root(struct job *job)
{
	PAD;

	late_outer(job);
	__asm__ volatile("");
}

static volatile pid_t started;

static void *run_job(void *arg)
{
	struct job *job = malloc(sizeof(*job));

	*job = *(struct job *)arg;
	started = syscall(SYS_gettid);
	pin_to(job->cpu);
	late_root(job);
	return NULL;
}

static bool is_asleep(pid_t tid)
{
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	return read_line(path, line, sizeof(line)) && line[0] != 'r' &&
	       strtoul(line, NULL, 10) == SYS_read;
}

/* A thread on a stack of its own that can be thrown out. */
static void start_thread(const struct job *job)
{
	void *stack = shared_memory(STACK);
	pthread_attr_t attr;
	pthread_t t;

	started = 0;
	pthread_attr_init(&attr);
	if (!stack || pthread_attr_setstack(&attr, stack, STACK) ||
	    pthread_create(&t, &attr, run_job, (void *)job))
		_exit(1);
}

/* Without the descriptor @closed, unless that is negative. */
pid_t start_job(struct job job, unsigned int threads, int closed)
{
	pid_t pid;

	if (!job.rounds)
		job.rounds = shared_memory(sizeof(*job.rounds));
	if (!job.rounds)
		return -1;
	pid = fork_bound();
	if (pid)
		return pid;
	if (job.uid && !user_stay(job.uid))
		_exit(1);
	signal(SIGUSR1, handler);
	if (closed >= 0)
		close(closed);
	job.buf = malloc(job.len);
	while (threads--) {
		start_thread(&job);
		/* no other one drives it from its CPU before it sleeps */
		while (threads && !is_asleep(started))
			sleep_ms(1);
	}
	for (;;)
		pause();
}

/* @flags: HWPMC_LOG_* */
int record_begin(struct recording *r, struct hwpmc_allocate a,
			uint32_t flags)
{
	int err;

	r->dev = dev_open();
	r->file = temp_file();
	err = dev_configure_flags(r->dev, r->file, flags);
	return err ? err : dev_run(r->dev, a, &r->id);
}

/* NULL, or what is wrong with the log */
const char *record_end(struct recording *r)
{
	int err = dev_closelog(r->dev);

	if (err)
		return strerror(-err);
	if (!log_load(&r->log, r->file))
		return "cannot be read";
	return log_check(&r->log, 0);
}

/* Does this kernel export what it takes?  (HAVE_TASK_WORK in src/compat.h) */
bool chains_come_later(void)
{
	struct hwpmc_allocate a = pmc_process_faults(0);
	int dev = dev_open(), err = dev_allocate(dev, &a);

	close(dev);
	return err != -EOPNOTSUPP;
}

uint64_t answers_of(int dev)
{
	return OWNER_STAT(dev, account.late_answered);
}

bool wait_answers(int dev, uint64_t n)
{
	return WAIT_UNTIL(answers_of(dev) >= n, 60000);
}
