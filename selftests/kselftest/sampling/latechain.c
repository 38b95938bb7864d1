// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose stacks are not in memory when they are sampled: their user
 * chains come later and are whole.  Nobody else is asked for one, and who does
 * not come back to user mode keeps what was there.
 */
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "latejob.h"
#include "latetally.h"
#include "source.h"
#include "table.h"
#include "target.h"
#include "test.h"
#include "tracefs.h"

/*
 * Seldom enough for the pages to be thrown out between two samples and not to be
 * brought back at once, which makes samples that find them missing.
 */
#define CLOCK_HZ	scaled(997, 251)
#define ROUNDS		100

static bool wait_rounds(const unsigned int *rounds, unsigned int n)
{
	return WAIT_UNTIL(__atomic_load_n(rounds, __ATOMIC_RELAXED) >= n, 90000);
}

/* Runs @job under the clock; all that was left for later has come. */
static void check_job(META, struct job job, const char *at, uint32_t flags,
		      struct late_tally *t, struct recording *r)
{
	struct symbols *sy = symbols_elf("/proc/self/exe");
	pid_t pid;

	ASSERT_NE(NULL, sy);
	job.rounds = shared_memory(sizeof(*job.rounds));
	ASSERT_NE(NULL, job.rounds);
	pid = start_job(job, 1, -1);
	ASSERT_EQ(0, record_begin(r, pmc_clock(CLOCK_HZ), flags));
	sleep_ms(scaled(2000, 4000));
	EXPECT_TRUE(wait_rounds(job.rounds, ROUNDS));
	ASSERT_END(r);
	load_end(pid);
	late_tally(t, &r->log, pid, sy, at);
	LOG_TALLY(t);
	EXPECT_LT(20, t->late);
	/* nothing is passed over where there is no answer at all */
	EXPECT_LT(10, t->joined);
	EXPECT_EQ(0, t->lied);
	EXPECT_EQ(0, t->passed_over);
	/*
	 * While a signal's handler begins or ends, the registers are exchanged:
	 * the answer is about others than the sample.
	 */
	if (job.body != body_signal)
		EXPECT_EQ(0, t->passed_over_elsewhere);
	EXPECT_EQ(t->at, t->whole_at);
	/* others' first and last instructions have no frame */
	EXPECT_LE(80 * t->joined, 100 * t->whole);
	EXPECT_LE(t->late, r->log.account.late);
	EXPECT_LE(t->answers, r->log.account.late_answered);
	symbols_free(sy);
}

TEST(user_mode)
{
	struct job job = { .body = body_spin };
	struct late_tally t;
	struct recording r;

	NEEDS_LATER();
	check_job(_metadata, job, "spin", 0, &t, &r);
	EXPECT_LT(20, t.at);
}

/*
 * A PMC without unwind tables may sample processes that those of another one of its owner
 * must not be used on: no file of theirs is asked for.
 */
TEST(not_by_tables_of_another)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	struct job job = { .body = body_spin, .rounds = shared_memory(sizeof(*job.rounds)) };
	struct hwpmc_unwindnext next = {};
	struct recording r;
	struct sample s;
	pid_t pid;

	NEEDS_LATER();
	ASSERT_NE(NULL, job.rounds);
	pid = start_job(job, 1, -1);
	ASSERT_EQ(0, record_begin(&r, pmc_clock(CLOCK_HZ), 0));
	ASSERT_EQ(0, dev_allocate(r.dev, &a));
	EXPECT_TRUE(wait_rounds(job.rounds, ROUNDS));
	EXPECT_EQ(-EAGAIN, table_next(r.dev, &next));
	ASSERT_END(&r);
	load_end(pid);
	EXPECT_LT(10, r.log.account.late_answered);
	LOG_FOR_EACH_SAMPLE(&r.log, s)
		EXPECT_EQ(0, s.flags & PMCLOG_CC_TABLES);
}

TEST(system_call)
{
	struct job job = {
		.body = body_read,
		.fd = open("/dev/zero", O_RDONLY),
		.len = scaled(16 << 20, 1 << 20),
	};
	struct late_tally t;
	struct recording r;

	NEEDS_LATER();
	check_job(_metadata, job, "syscall", HWPMC_LOG_PACKED, &t, &r);
	/* many samples, one answer: of one stay in the kernel */
	EXPECT_LT(20, COUNT_SAMPLES(&r.log, s, s.late && !s.user));
	EXPECT_LT(t.answers, t.late);
}

/* The vdso has code without frames of its own. */
TEST(vdso)
{
	struct job job = { .body = body_clock };
	struct space *space = space_new();
	const struct space_map *map;
	unsigned int in_vdso = 0;
	struct pmclog_rec rec;
	struct late_tally t;
	struct recording r;
	struct sample s;

	NEEDS_LATER();
	check_job(_metadata, job, NULL, 0, &t, &r);
	LOG_FOR_EACH(&r.log, rec) {
		space_apply(space, &rec);
		if (!log_sample(&rec, &s) || !s.late || !s.user)
			continue;
		map = space_find(space, s.pid, s.pc[0]);
		in_vdso += map && !strcmp(map->path, "[vdso]");
	}
	TH_LOG("%u in the vdso", in_vdso);
	space_free(space);
	if (!in_vdso)
		SKIP(return, "this machine's clock is not read in the vdso");
}

/* A handler's caller is the kernel's trampoline, then who was interrupted. */
TEST(signal_handler)
{
	struct job job = { .body = body_signal };
	struct late_tally t;
	struct recording r;

	NEEDS_LATER();
	check_job(_metadata, job, "spin", 0, &t, &r);
	EXPECT_LT(20, t.at);
}

/*
 * When the chain comes, the thread is about to execute a copy of the instruction that
 * has the probe, or has done already what that does.
 */
TEST(uprobe)
{
	struct job job = { .body = body_probe };
	struct symbols *sy = symbols_elf("/proc/self/exe");
	char path[200] = "", what[300];
	struct late_tally t;
	struct recording r;
	uint64_t offset;
	pid_t pid;

	NEEDS_LATER();
	ASSERT_NE(NULL, sy);
	ASSERT_TRUE(file_offset(probed, &offset));
	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	snprintf(what, sizeof(what), "p:hwpmc_l/enter %s:0x%" PRIx64, path,
		 offset);
	if (!tracefs_probe("uprobe", what))
		SKIP(return, "no uprobes");
	job.rounds = shared_memory(sizeof(*job.rounds));
	ASSERT_NE(NULL, job.rounds);
	pid = start_job(job, 1, -1);
	ASSERT_EQ(0, record_begin(&r, pmc_tracepoint(HWPMC_MODE_SS,
					tracefs_id("hwpmc_l/enter")), 0));
	sleep_ms(scaled(1000, 3000));
	EXPECT_TRUE(wait_rounds(job.rounds, ROUNDS));
	ASSERT_END(&r);
	load_end(pid);
	close(r.dev);
	tracefs_unprobe("uprobe", "hwpmc_l/enter");
	late_tally(&t, &r.log, pid, sy, "probed");
	LOG_TALLY(&t);
	EXPECT_LT(10, t.late);
	EXPECT_LE(9 * t.late, 10 * t.joined);
	EXPECT_LE(9 * t.joined, 10 * t.whole_at);
}

/* ------------------------------------------------------------------------
 * Others
 */

/*
 * A kernel that has no way for a chain to come later: it is cut, which is counted,
 * and no process can be followed.
 */
TEST(cut_where_none_comes_later)
{
	struct symbols *sy = symbols_elf("/proc/self/exe");
	struct job job = { .body = body_spin };
	struct hwpmc_allocate a;
	struct late_tally t;
	struct recording r;
	pid_t pid;

	if (chains_come_later())
		SKIP(return, "this kernel exports task_work_add()");
	ASSERT_NE(NULL, sy);
	pid = start_job(job, 1, -1);
	ASSERT_EQ(0, record_begin(&r, pmc_clock(CLOCK_HZ), 0));
	sleep_ms(scaled(2000, 4000));
	a = pmc_process_sampler(TASK_CLOCK, 1000000, 0);
	EXPECT_EQ(-EOPNOTSUPP, dev_allocate(r.dev, &a));
	ASSERT_END(&r);
	load_end(pid);
	late_tally(&t, &r.log, pid, sy, "spin");
	LOG_TALLY(&t);
	EXPECT_LT(100, t.samples);
	EXPECT_GT(t.samples / 2, t.whole_at_once);
	EXPECT_EQ(0, t.late);
	EXPECT_EQ(0, t.answers);
	EXPECT_EQ(0, r.log.account.late);
	EXPECT_LE(t.samples / 2, r.log.account.cut_by[PMCLOG_CUT_USER]);
	EXPECT_LE(r.log.account.cut_by[PMCLOG_CUT_USER], r.log.account.cut);
}

/* 32-bit frames. */
TEST(program_of_32_bits)
{
	static const char * const callers[] = { "leaf", "mid", "outer" };
	unsigned int answered = 0, whole = 0, late = 0, i, npc;
	const char *path = workload_path("late32");
	struct pmclog_rec rec;
	struct recording r;
	struct symbols *sy;
	struct sample s;
	pid_t pid;

	NEEDS_LATER();
	if (!path)
		SKIP(return, "no 32-bit programs here");
	sy = symbols_elf(path);
	ASSERT_NE(NULL, sy);
	pid = workload_start("late32", 0);
	sleep_ms(200);
	if (waitpid(pid, NULL, WNOHANG))
		SKIP(return, "this kernel runs no 32-bit programs");
	ASSERT_EQ(0, record_begin(&r, pmc_clock(CLOCK_HZ), 0));
	/* others have hardly any */
	EXPECT_TRUE(wait_answers(r.dev, 100));
	ASSERT_END(&r);
	load_end(pid);
	LOG_FOR_EACH(&r.log, rec) {
		if (log_sample(&rec, &s) && s.pid == (uint32_t)pid)
			late += s.late;
		if (!IS_EXT(&rec, USERCHAIN) ||
		    REC32(&rec, ext_userchain, pid) != (uint32_t)pid)
			continue;
		answered++;
		npc = (rec.len - sizeof(struct pmclog_ext_userchain)) / 8;
		for (i = 0; i < 3 && i < npc; i++)
			if (strcmp(callers[i], symbols_name(sy,
					pmclog_get64(rec.data + 8 * i +
					offsetof(struct pmclog_ext_userchain,
						 pc)) - !!i)))
				break;
		whole += i == 3;
	}
	TH_LOG("%u late, %u answers, %u whole", late, answered, whole);
	EXPECT_LT(20, late);
	EXPECT_LT(20, answered);
	EXPECT_LE(9 * answered, 10 * whole);
}

/* Above the stack, so that it may be a frame, but nothing can be read there. */
#if defined(__x86_64__)
#define UNREADABLE	((1UL << 47) - 0x2000)
#else
#define UNREADABLE	((1UL << 48) - 0x2000)
#endif

/* A system call with a frame pointer to where nothing can be read. */
static void call_unreadable(long nr, long arg)
{
#if defined(__x86_64__)
	asm volatile("push %%rbp; mov %2, %%rbp; syscall; pop %%rbp"
		     : "+a" (nr) : "D" (arg), "r" (UNREADABLE)
		     : "rcx", "r11", "memory");
#else
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = arg;

	asm volatile("mov x9, x29; mov x29, %2; svc #0; mov x29, x9"
		     : "+r" (x0) : "r" (x8), "r" (UNREADABLE) : "x9", "memory");
#endif
}

/* Computes and reads in turn, without end, with such a frame pointer all the time. */
static void compute_and_read(void)
{
	const long len = scaled(4 << 20, 64 << 10), turns = scaled(600000, 1500000);
	const long fd = open("/dev/zero", O_RDONLY);
	char *buf = malloc(len);

#if defined(__x86_64__)
	asm volatile("mov %4, %%rbp\n"
		     "1:	mov %3, %%rax\n"
		     "2:	dec %%rax\n"
		     "	jnz 2b\n"
		     "	xor %%eax, %%eax\n"	/* read */
		     "	syscall\n"
		     "	jmp 1b"
		     : : "D" (fd), "S" (buf), "d" (len), "r" (turns), "r" (UNREADABLE)
		     : "rax", "rcx", "r11", "memory");
#else
	register long x0 asm("x0") = fd, x2 asm("x2") = len, x8 asm("x8") = SYS_read;
	register char *x1 asm("x1") = buf;

	asm volatile("mov x29, %4\n"
		     "	mov x10, x0\n"
		     "1:	mov x9, %3\n"
		     "2:	subs x9, x9, #1\n"
		     "	b.ne 2b\n"
		     "	mov x0, x10\n"
		     "	svc #0\n"
		     "	b 1b"
		     : "+r" (x0) : "r" (x1), "r" (x2), "r" (turns), "r" (UNREADABLE), "r" (x8)
		     : "x9", "x10", "memory");
#endif
	__builtin_unreachable();
}

static int closing_body(struct target *t, void *arg)
{
	int i;

	for (i = 0; i < 100; i++)
		call_unreadable(SYS_close, eventfd(0, 0));
	return 0;
}

/* Two processes take the CPU from each other. */
static int yielding_body(struct target *t, void *arg)
{
	pid_t other;
	int i;

	pin_to(0);
	other = fork();
	if (!other)
		for (;;)
			sched_yield();
	for (i = 0; i < scaled(200, 30); i++)
		call_unreadable(SYS_sched_yield, 0);
	load_end(other);
	return 0;
}

/* The target comes to its end under all samples of the tracepoint @name, by @pmcs PMCs. */
static void check_end(META, const char *name,
		      int (*body)(struct target *t, void *arg), unsigned int pmcs)
{
	const uint64_t id = tracefs_id(name);
	struct recording r;
	struct target t;

	if (!id)
		SKIP(return, "no such tracepoint");
	ASSERT_TRUE(target_begin(&t, body, NULL));
	ASSERT_EQ(0, record_begin(&r, pmc_tracepoint(HWPMC_MODE_SS, id), 0));
	while (--pmcs)
		ASSERT_EQ(0, dev_run(r.dev, pmc_tracepoint(HWPMC_MODE_SS, id), NULL));
	target_go(&t);
	EXPECT_TRUE(WAIT_UNTIL(waitpid(t.pid, NULL, WNOHANG) == t.pid, 20000));
	kill(t.pid, SIGKILL);
	ASSERT_END(&r);
	TH_LOG("%llu chains late", (unsigned long long)r.log.account.late);
	EXPECT_LT(0, r.log.account.late);
	close(r.dev);
}

/*
 * The work for a chain frees memory, and is sampled there itself.  That sample does
 * not ask for work again: the task would never come to an end with it.
 */
TEST(own_work)
{
	NEEDS_LATER();
	check_end(_metadata, "kmem/kfree", closing_body, 1);
}

/*
 * What is sampled after the work, on the way to user mode, asks for work again.  The
 * task comes to user mode all the same.
 */
TEST(after_the_work)
{
	NEEDS_LATER();
	check_end(_metadata, "rseq/rseq_update", yielding_body, 1);
}

/* No sample of a pass asks for more work, however many there are. */
TEST(after_the_work_by_several)
{
	NEEDS_LATER();
	check_end(_metadata, "rseq/rseq_update", yielding_body, 4);
}

/* Is it of the work for a chain, which asks for no other? */
static bool is_of_work(const struct symbols *kernel, const struct sample *s)
{
	unsigned int i;

	for (i = 0; i < s->npc && addr_is_kernel(s->pc[i]); i++)
		if (!strcmp("deferred_work", symbols_name(kernel, s->pc[i] - !!i)))
			return true;
	return false;
}

/*
 * A task that is seen in user mode comes there: its samples of the kernel ask for work
 * as long as it runs.
 */
TEST(between_user_mode)
{
	struct symbols *sy = symbols_kernel();
	unsigned int kernel, user, late;
	struct recording r;
	uint32_t pid;

	NEEDS_LATER();
	ASSERT_NE(NULL, sy);
	pid = fork_pinned(0, compute_and_read);
	ASSERT_EQ(0, record_begin(&r, pmc_clock(scaled(1999, 499)), 0));
	EXPECT_TRUE(wait_samples(r.dev, r.file, 1000, .pid = pid));
	ASSERT_END(&r);
	load_end(pid);
	user = COUNT_SAMPLES(&r.log, s, s.pid == pid && s.user);
	kernel = COUNT_SAMPLES(&r.log, s, s.pid == pid && !s.user && !is_of_work(sy, &s));
	late = COUNT_SAMPLES(&r.log, s, s.pid == pid && !s.user && s.late &&
			     !is_of_work(sy, &s));
	TH_LOG("%u samples of user mode, %u of the kernel, %u of these late", user, kernel, late);
	EXPECT_LT(50, user);
	EXPECT_LT(10, kernel);
	EXPECT_LE(95 * kernel, 100 * late);
	symbols_free(sy);
}

TEST_HARNESS_MAIN
