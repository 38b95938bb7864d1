// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose stacks are not in memory when they are sampled: their user
 * chains come later and are whole.  Nobody else is asked for one, and who does
 * not come back to user mode keeps what was there.
 */
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "latetally.h"
#include "module.h"
#include "recorder.h"
#include "source.h"
#include "target.h"
#include "test.h"
#include "tracefs.h"
#include "user.h"

#define STACK		(2 << 20)
#define POOL		32	/* threads that a CPU can have waiting */
#define OF_USER		24	/* of one user */

/* A frame that has more than a page to itself. */
#define FRAME	__attribute__((noipa, optimize("no-omit-frame-pointer", \
					       "no-optimize-sibling-calls")))
#define PAD								\
	volatile char pad_[2 * 65536];					\
	pad_[0] = pad_[sizeof(pad_) - 1] = 0

/* ------------------------------------------------------------------------
 * The programs: late_root() -> late_outer() -> late_mid() -> late_leaf() -> a
 * body.  Whether the words that link frames are above the rest of a frame or
 * below it, those of late_outer() are not in memory.
 */
struct job {
	void		(*body)(const struct job *job);
	unsigned int	*rounds;	/* that all have made */
	uintptr_t	top;
	int		fd;	/* what the body reads */
	char		*buf;
	size_t		len;
	int		cpu;
	uid_t		uid;	/* 0: stays root */
};

static volatile unsigned long spent;

FRAME static void spin(void)
{
	unsigned long i;

	for (i = 0; i < 3000000; i++)
		__asm__ volatile("" : "+r" (i));
	spent++;
}

FRAME static void body_spin(const struct job *job)
{
	spin();
	__asm__ volatile("");
}

FRAME static void body_read(const struct job *job)
{
	syscall(SYS_read, job->fd, job->buf, job->len);
	__asm__ volatile("");
}

FRAME static void body_clock(const struct job *job)
{
	struct timespec ts;
	int i;

	for (i = 0; i < 30000; i++)
		clock_gettime(CLOCK_MONOTONIC, &ts);
	spent++;
}

FRAME static void probed(void)
{
	spent++;
	__asm__ volatile("");
}

FRAME static void body_probe(const struct job *job)
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

FRAME static void body_signal(const struct job *job)
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
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	started = 0;
	pthread_attr_init(&attr);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attr, stack, STACK) ||
	    pthread_create(&t, &attr, run_job, (void *)job))
		_exit(1);
}

/* Without the descriptor @closed, unless that is negative. */
static pid_t start_job(struct job job, unsigned int threads, int closed)
{
	pid_t pid;

	if (!job.rounds)
		job.rounds = mmap(NULL, sizeof(*job.rounds),
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job.rounds == MAP_FAILED)
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

/* ------------------------------------------------------------------------
 * Recording
 */
struct recording {
	int		dev;
	int		file;
	uint32_t	id;
	struct log	log;
};

/* @flags: HWPMC_LOG_* */
static int record_begin(struct recording *r, struct hwpmc_allocate a,
			uint32_t flags)
{
	int err;

	r->dev = dev_open();
	r->file = temp_file();
	err = dev_configure_flags(r->dev, r->file, flags);
	return err ? err : dev_run(r->dev, a, &r->id);
}

/* NULL, or what is wrong with the log */
static const char *record_end(struct recording *r)
{
	int err = dev_closelog(r->dev);

	if (err)
		return strerror(-err);
	if (!log_load(&r->log, r->file))
		return "cannot be read";
	return log_check(&r->log, 0);
}

#define ASSERT_END(r) do {						\
	const char *fault_ = record_end(r);				\
	if (fault_)							\
		TH_LOG("%s", fault_);					\
	ASSERT_EQ(NULL, fault_);					\
} while (0)

/* Does this kernel export what it takes?  (HAVE_TASK_WORK in src/compat.h) */
static bool chains_come_later(void)
{
	struct hwpmc_allocate a = pmc_process_faults(0);
	int dev = dev_open(), err = dev_allocate(dev, &a);

	close(dev);
	return err != -EOPNOTSUPP;
}

#define NEEDS_LATER() do {						\
	if (!chains_come_later())					\
		SKIP(return, "this kernel does not export task_work_add()"); \
} while (0)

static struct hwpmc_allocate switches(void)
{
	return pmc_sampler(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
			   1);
}

/*
 * Seldom enough for the pages to be thrown out between two samples and not to be
 * brought back at once, which makes samples that find them missing.
 */
#define CLOCK_HZ	scaled(997, 251)
#define ROUNDS		100

static bool wait_rounds(const unsigned int *rounds, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < 4500; i++) {
		if (__atomic_load_n(rounds, __ATOMIC_RELAXED) >= n)
			return true;
		sleep_ms(20);
	}
	return false;
}

/* Runs @job under the clock; all that was left for later has come. */
static void check_job(struct __test_metadata *_metadata, struct job job,
		      const char *at, uint32_t flags, struct late_tally *t,
		      struct recording *r)
{
	struct symbols *sy = symbols_elf("/proc/self/exe");
	pid_t pid;

	ASSERT_NE(NULL, sy);
	job.rounds = mmap(NULL, sizeof(*job.rounds), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, job.rounds);
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

TEST(system_call)
{
	struct job job = {
		.body = body_read,
		.fd = open("/dev/zero", O_RDONLY),
		.len = scaled(16 << 20, 1 << 20),
	};
	unsigned int kernel = 0;
	struct pmclog_rec rec;
	struct late_tally t;
	struct recording r;
	struct sample s;

	NEEDS_LATER();
	check_job(_metadata, job, "syscall", HWPMC_LOG_PACKED, &t, &r);
	/* many samples, one answer: of one stay in the kernel */
	LOG_FOR_EACH(&r.log, rec)
		if (log_sample(&rec, &s) && s.late)
			kernel += !s.user;
	EXPECT_LT(20, kernel);
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
	job.rounds = mmap(NULL, sizeof(*job.rounds), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, job.rounds);
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
	symbols_free(sy);
}

/* ------------------------------------------------------------------------
 * Threads that sleep in the kernel, sampled when they leave their CPU
 */

struct sleepers {
	int		pipe[2];
	pid_t		pid;
	struct symbols	*sy;
};

/* All @n threads are asleep in a read of the pipe, which is empty. */
static bool sleep_all(const struct sleepers *z, unsigned int n)
{
	char cmd[64], line[256];
	unsigned int asleep, i;
	int unread;
	FILE *p;

	for (i = 0; i < 2000; i++) {
		snprintf(cmd, sizeof(cmd), "cat /proc/%d/task/*/syscall",
			 z->pid);
		p = popen(cmd, "re");
		for (asleep = 0; p && fgets(line, sizeof(line), p);)
			asleep += line[0] != 'r' &&
				  strtoul(line, NULL, 10) == SYS_read;
		pclose(p);
		if (asleep == n && !ioctl(z->pipe[0], FIONREAD, &unread) &&
		    !unread)
			return true;
		sleep_ms(20);
	}
	return false;
}

static void sleepers_start(struct __test_metadata *_metadata,
			   struct sleepers *z, uid_t uid, unsigned int n)
{
	struct job job = { .body = body_read, .len = 1, .cpu = 0, .uid = uid };

	ASSERT_EQ(0, pipe(z->pipe));
	job.fd = z->pipe[0];
	z->pid = start_job(job, n, z->pipe[1]);
	ASSERT_TRUE(sleep_all(z, n));
}

static void sleepers_begin_as(struct __test_metadata *_metadata,
			      struct sleepers *z, struct recording *r,
			      uid_t uid, unsigned int n)
{
	z->sy = symbols_elf("/proc/self/exe");
	ASSERT_NE(NULL, z->sy);
	ASSERT_EQ(0, record_begin(r, switches(), 0));
	sleepers_start(_metadata, z, uid, n);
}

static void sleepers_begin(struct __test_metadata *_metadata,
			   struct sleepers *z, struct recording *r,
			   unsigned int n)
{
	sleepers_begin_as(_metadata, z, r, 0, n);
}

/* The only one. */
static void wake(struct sleepers *z)
{
	if (write(z->pipe[1], "", 1) != 1)
		abort();
}

static uint64_t answers_of(int dev)
{
	struct hwpmc_driverstats st;

	return dev_stats(dev, HWPMC_STATS_OWNER, &st) ? 0 :
	       st.account.late_answered;
}

static bool wait_answers(int dev, uint64_t n)
{
	unsigned int i;

	for (i = 0; i < 3000 && answers_of(dev) < n; i++)
		sleep_ms(20);
	return i < 3000;
}

/*
 * One sample, and the answer when it is awake again.  Now and then it is taken
 * from its CPU, and its stack brought back, before it has got to sleep.
 */
TEST(asleep)
{
	struct recording r;
	struct late_tally t;
	struct sleepers z;
	unsigned int i;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, 1);
	for (i = 0; i < 20; i++) {
		wake(&z);
		ASSERT_TRUE(sleep_all(&z, 1));
	}
	ASSERT_END(&r);
	load_end(z.pid);
	late_tally(&t, &r.log, z.pid, z.sy, "syscall");
	LOG_TALLY(&t);
	EXPECT_LE(10, t.late);
	EXPECT_LE(10, t.whole);
	EXPECT_EQ(0, t.lied);
}

/*
 * They never come back: the samples stay, without their callers.  More than one,
 * for the reason above.
 */
TEST(killed_asleep)
{
	const unsigned int n = 16;
	struct recording r;
	struct late_tally t;
	struct sleepers z;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, n);
	kill(z.pid, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, wait_for(z.pid));
	ASSERT_END(&r);
	late_tally(&t, &r.log, z.pid, z.sy, NULL);
	LOG_TALLY(&t);
	EXPECT_LT(t.joined, t.late);
	EXPECT_LE(t.late, r.log.account.late);
}

/* User chains in @log that are for samples from before it. */
static unsigned int foreign_answers(struct log *log)
{
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(log, rec)
		n += pmclog_iter_ext_subtype(&rec) == PMCLOG_EXT_USERCHAIN &&
		     PMCLOG_FIELD64(&rec, struct pmclog_ext_userchain, first) <
		     log->first_tsc;
	return n;
}

static bool users_become(int users)
{
	int i;

	for (i = 0; i < 3000 && module_users() != users; i++)
		sleep_ms(20);
	return module_users() == users;
}

/*
 * The log ends while they sleep: nothing is written when they wake up, not to
 * the next log either, and the module is free again.
 */
TEST(log_ends_asleep)
{
	int users = module_users(), waiting;
	struct recording r, next;
	struct sleepers z;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, 16);
	ASSERT_END(&r);
	sleep_ms(200);		/* the writer thread is gone */
	waiting = module_users() - users - 1;
	EXPECT_LT(0, waiting);
	ASSERT_EQ(0, record_begin(&next, pmc_clock(100), 0));
	close(z.pipe[1]);
	sleep_ms(scaled(500, 2000));
	ASSERT_END(&next);
	EXPECT_EQ(0, foreign_answers(&next.log));
	close(r.dev);
	close(next.dev);
	/* their parent sleeps on, and may have been sampled too */
	load_end(z.pid);
	EXPECT_TRUE(users_become(users));
}

/*
 * More of them than there is room for, even if only some get to sleep without
 * their stacks: the others are cut, and counted.
 */
TEST(too_many_asleep)
{
	const unsigned int n = 6 * POOL;
	struct recording r;
	struct late_tally t;
	struct sleepers z;
	uint64_t before;

	NEEDS_LATER();
	sleepers_begin(_metadata, &z, &r, n);
	/* the end of the pipe is for all of them, again and again */
	before = answers_of(r.dev);
	close(z.pipe[1]);
	EXPECT_TRUE(wait_answers(r.dev, before + 2 * POOL));
	ASSERT_END(&r);
	load_end(z.pid);
	late_tally(&t, &r.log, z.pid, z.sy, "syscall");
	LOG_TALLY(&t);
	EXPECT_LE(OF_USER, t.late);
	EXPECT_LE(OF_USER / 2, t.whole);
	EXPECT_LE(1, r.log.account.cut_by[PMCLOG_CUT_USER]);
}

/* One user's do not take the room that another user's need. */
TEST(asleep_of_another_user)
{
	struct sleepers z, other;
	struct recording r;
	struct late_tally t;

	NEEDS_LATER();
	sleepers_begin_as(_metadata, &z, &r, 1000, 6 * POOL);
	sleepers_start(_metadata, &other, 0, 6);
	ASSERT_END(&r);
	load_end(z.pid);
	load_end(other.pid);
	late_tally(&t, &r.log, z.pid, z.sy, NULL);
	LOG_TALLY(&t);
	EXPECT_LE(OF_USER, t.late);
	late_tally(&t, &r.log, other.pid, z.sy, NULL);
	LOG_TALLY(&t);
	EXPECT_LE(2, t.late);
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
	a = pmc_process_sampler(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK,
				1000000, 0);
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
	symbols_free(sy);
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
		if (pmclog_iter_ext_subtype(&rec) != PMCLOG_EXT_USERCHAIN ||
		    PMCLOG_FIELD32(&rec, struct pmclog_ext_userchain, pid) !=
								(uint32_t)pid)
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
	symbols_free(sy);
}

/* System calls with a frame pointer to where nothing can be read. */
static int unreadable_body(struct target *t, void *arg)
{
	unsigned long fp = (unsigned long)arg;
	int i;

	(void)t;
	for (i = 0; i < 100; i++) {
		int fd = eventfd(0, 0);
#if defined(__x86_64__)
		long nr = SYS_close;

		asm volatile("push %%rbp; mov %2, %%rbp; syscall; pop %%rbp"
			     : "+a" (nr) : "D" ((long)fd), "r" (fp)
			     : "rcx", "r11", "memory");
#else
		register long x8 asm("x8") = SYS_close;
		register long x0 asm("x0") = fd;

		asm volatile("mov x9, x29; mov x29, %2; svc #0; mov x29, x9"
			     : "+r" (x0) : "r" (x8), "r" (fp) : "x9", "memory");
#endif
	}
	return 0;
}

/*
 * The work for a chain frees memory, and is sampled there itself.  That sample does
 * not ask for work again: the task would never come to an end with it.
 */
TEST(own_work)
{
	/* above the stack, so that it may be a frame */
	void *fp = (void *)0x7ffffffff000UL - 0x1000;
	struct hwpmc_allocate a;
	struct recording r;
	struct target t;
	uint64_t id;
	int i;

	NEEDS_LATER();
	id = tracefs_id("kmem/kfree");
	if (!id)
		SKIP(return, "no tracepoint kmem:kfree");
	a = pmc_tracepoint(HWPMC_MODE_SS, id);
	ASSERT_TRUE(target_begin(&t, unreadable_body, fp));
	ASSERT_EQ(0, record_begin(&r, a, 0));
	target_go(&t);
	for (i = 0; i < 200; i++) {
		if (waitpid(t.pid, NULL, WNOHANG) == t.pid)
			break;
		sleep_ms(100);
	}
	EXPECT_GT(200, i);
	kill(t.pid, SIGKILL);
	close(r.dev);
}

TEST_HARNESS_MAIN
