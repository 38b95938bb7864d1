// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread whose chains take long to read: the reading is sampled itself, also on
 * another CPU than the one that it began for.  The thread gets on with what it does.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "fusefile.h"
#include "latejob.h"
#include "target.h"
#include "test.h"

#define PAGE		4096
#define NPAGES		(FUSEFILE_SIZE / PAGE)
#define STACK_AT	0x700000000UL
#define FRAME_AT	(STACK_AT + 64)		/* one in each page */
/* Reading a chain takes NPAGES * READ_MS, and the thread is moved meanwhile. */
#define READ_MS		4
#define MOVE_MS		scaled(10, 50)
#define MEASURE_MS	scaled(3000, 10000)
/*
 * The thread reads its chain whenever it was moved, and counts in between.  One that
 * reads without end does not count at all.
 */
#define FACTOR		200

/* Shared with the process and the server of the file */
struct progress {
	struct fusefile	file;
	volatile unsigned long done;
};

static int file;
static int cpus[2];
static volatile pid_t worker;

/* Frames that lead from page to page; the code is never returned to. */
static void fill_stack(char *content)
{
	unsigned int i;

	for (i = 0; i < NPAGES; i++) {
		uint64_t frame[2] = { 0, (uintptr_t)fill_stack };

		if (i + 1 < NPAGES)
			frame[0] = FRAME_AT + (i + 1) * PAGE;
		memcpy(content + FRAME_AT - STACK_AT + i * PAGE, frame,
		       sizeof(frame));
	}
}

/* Counts system calls, on a stack that is not used. */
static void count_calls(volatile unsigned long *done)
{
#if defined(__x86_64__)
	asm volatile("mov %1, %%rsp; mov %2, %%rbp;"
		     "1: mov %3, %%eax; syscall; incq (%0); jmp 1b"
		     : : "r" (done), "r" (STACK_AT), "r" (FRAME_AT),
		     "i" (SYS_getppid) : "rax", "rcx", "r11", "memory");
#else
	asm volatile("mov sp, %1; mov x29, %2; mov x9, %0; mov x8, %3;"
		     "1: svc 0; ldr x10, [x9]; add x10, x10, 1;"
		     "str x10, [x9]; b 1b"
		     : : "r" (done), "r" (STACK_AT), "r" (FRAME_AT),
		     "i" (SYS_getppid) : "x0", "x8", "x9", "x10", "memory");
#endif
}

static void *work(void *done)
{
	worker = syscall(SYS_gettid);
	count_calls(done);
	return NULL;
}

static void *move(void *arg)
{
	unsigned int i = 0;
	cpu_set_t set;

	for (;; i = !i) {
		CPU_ZERO(&set);
		CPU_SET(cpus[i], &set);
		if (worker)
			sched_setaffinity(worker, sizeof(set), &set);
		sleep_ms(MOVE_MS);
	}
	return arg;
}

/* The stack does not stay in memory. */
static int move_and_work(struct target *t, void *arg)
{
	struct progress *p = arg;
	char *stack = mmap((void *)STACK_AT, FUSEFILE_SIZE, PROT_READ,
			   MAP_PRIVATE | MAP_FIXED, file, 0);
	pthread_t thread;

	if (stack == MAP_FAILED || madvise(stack, FUSEFILE_SIZE, MADV_RANDOM) ||
	    pthread_create(&thread, NULL, work, (void *)&p->done) ||
	    pthread_create(&thread, NULL, move, NULL))
		return 1;
	for (;;) {
		madvise(stack, FUSEFILE_SIZE, MADV_DONTNEED);
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		sleep_ms(1);
	}
	return 0;
}

static unsigned long measure(const struct progress *p)
{
	unsigned long before = p->done;

	sleep_ms(MEASURE_MS);
	return p->done - before;
}

static bool has_begun(const struct progress *p)
{
	return WAIT_UNTIL(p->done, 10000);
}

TEST(moved)
{
	struct hwpmc_allocate a = pmc_sampler(SWITCHES, 1);
	struct progress *p = shared_memory(sizeof(*p));
	unsigned long alone, recorded;
	char place[64], path[80];
	struct recording r;
	struct target t;
	pid_t server;

	NEEDS_LATER();
	if (online_cpus(cpus, 2) < 2)
		SKIP(return, "one CPU only");
	snprintf(place, sizeof(place), "/tmp/slow-%d", getpid());
	snprintf(path, sizeof(path), "%s/stack", place);
	fill_stack(p->file.content);
	p->file.read_ms = READ_MS;
	server = fusefile_begin(place, &p->file);
	if (!server)
		SKIP(return, "no FUSE");
	file = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT_LE(0, file);
	ASSERT_TRUE(target_begin(&t, move_and_work, p));
	target_go(&t);
	EXPECT_TRUE(has_begun(p));
	alone = measure(p);
	ASSERT_EQ(0, record_begin(&r, a, 0));
	recorded = measure(p);
	ASSERT_END(&r);
	target_kill(&t);
	close(file);
	fusefile_end(place, server);
	TH_LOG("%lu calls alone, %lu recorded, %llu chains late, %llu answers",
	       alone, recorded, (unsigned long long)r.log.account.late,
	       (unsigned long long)r.log.account.late_answered);
	EXPECT_LT(0, r.log.account.late_answered);
	EXPECT_LE(alone, FACTOR * recorded);
	close(r.dev);
}

TEST_HARNESS_MAIN
