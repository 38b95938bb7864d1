// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every event source that perf has: tracepoints with what they tell, probes that
 * tracefs makes, breakpoints, PMUs by their number in sysfs.  What is counted is
 * known beforehand: the calls that a process makes, step by step.
 */
#include <setjmp.h>
#include <sys/syscall.h>

#include "recorder.h"
#include "source.h"
#include "target.h"
#include "test.h"

#define CALLS		1000

/* A system call that nobody else makes, with arguments that are none. */
#define ENTER		"syscalls/sys_enter_getpriority"
#define EXIT		"syscalls/sys_exit_getpriority"
#define WHICH		77

#if defined(__x86_64__)
#define GETPRIORITY	"__x64_sys_getpriority"
#define FIRST_ARG	"%di"
#define CALL_ARG(n)	((n) ? "+0x68(%di)" : "+0x70(%di)")
#else
#define GETPRIORITY	"__arm64_sys_getpriority"
#define FIRST_ARG	"%x0"
#define CALL_ARG(n)	((n) ? "+0x8(%x0)" : "+0x0(%x0)")
#endif

static volatile uint64_t watched __attribute__((aligned(8)));

__attribute__((noipa))
static uint64_t called(uint64_t n)
{
	__asm__ volatile ("");
	return n + 5;
}

/* CALLS of everything that is counted here. */
static void act(void)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		syscall(SYS_getpriority, WHICH, i);
		watched = called(i);
	}
}

static int act_twice(struct target *t, void *arg)
{
	act();
	target_pause(t);
	act();
	return target_pause(t);
}

FIXTURE(sources)
{
	int dev;
	int file;
	struct target t;
	struct log log;
};

FIXTURE_SETUP(sources)
{
	if (!tracefs_mount())
		SKIP(return, "this kernel has no tracefs");
	OPEN_DEVICE(self->dev);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	ASSERT_TRUE(target_begin(&self->t, act_twice, NULL));
}

FIXTURE_TEARDOWN(sources)
{
	target_kill(&self->t);
	close(self->dev);
}

/* Allocates, attaches to the target if that is the mode, and starts. */
static int run_pmc(int dev, pid_t pid, struct hwpmc_allocate a, uint32_t *id)
{
	return a.cpu == HWPMC_CPU_ANY ? dev_run_on(dev, a, pid, id) :
					dev_run(dev, a, id);
}

/* Ends the log, and looks at it. */
static void end_log(META, FIXTURE_DATA(sources) *f, unsigned int flags)
{
	ASSERT_EQ(0, dev_closelog(f->dev));
	log_free(&f->log);
	LOAD_LOG(&f->log, f->file, flags);
}

/* ------------------------------------------------------------------------
 * Tracepoints
 */

/* The target acts once: what @a counts of that */
static void count(META, FIXTURE_DATA(sources) *f, struct hwpmc_allocate a,
		  uint64_t *value)
{
	uint32_t id;

	ASSERT_EQ(0, run_pmc(f->dev, f->t.pid, a, &id));
	ASSERT_TRUE(target_step(&f->t));
	ASSERT_EQ(0, dev_stop(f->dev, id));
	ASSERT_EQ(0, dev_read(f->dev, id, HWPMC_CPU_ALL, value));
}

/* All of it is there. */
static void count_once(META, FIXTURE_DATA(sources) *f, struct hwpmc_allocate a,
		       uint64_t want)
{
	uint64_t value = 0;

	count(_metadata, f, a, &value);
	EXPECT_EQ(want, value);
}

TEST_F(sources, calls_are_counted)
{
	uint64_t id = tracefs_id(ENTER);

	ASSERT_LT(0, id);
	count_once(_metadata, self, pmc_tracepoint(HWPMC_MODE_TC, id), CALLS);
}

TEST_F(sources, calls_are_counted_on_all_cpus)
{
	uint64_t id = tracefs_id(EXIT);

	ASSERT_LT(0, id);
	count_once(_metadata, self, pmc_tracepoint(HWPMC_MODE_SC, id), CALLS);
}

/* So many calls, so many samples, with what was passed. */
static void sample_once(META, FIXTURE_DATA(sources) *f, struct hwpmc_allocate a,
			struct tally *t)
{
	ASSERT_EQ(0, run_pmc(f->dev, f->t.pid, a, &t->pmcid));
	ASSERT_TRUE(target_step(&f->t));
	ASSERT_EQ(0, dev_stop(f->dev, t->pmcid));
	end_log(_metadata, f, 0);
	t->pid = f->t.pid;
	tally(t, &f->log);
	if (t->elsewhere[0])
		TH_LOG("a sample in %s, not in %s", t->elsewhere, t->fn);
	EXPECT_EQ(CALLS, f->log.account.overflows);
	EXPECT_EQ(CALLS, t->n);
	EXPECT_EQ(0, t->loose);
	EXPECT_EQ(0, t->cut);
}

static void sample_calls(META, FIXTURE_DATA(sources) *f, uint32_t mode)
{
	struct hwpmc_allocate a = pmc_tracepoint(mode, tracefs_id(ENTER));
	struct tally t = { .want = WHICH };

	ASSERT_LT(0, a.config);
	ASSERT_TRUE(tracefs_field(ENTER, "which", &t.arg));
	ASSERT_TRUE(tracefs_field(ENTER, "who", &t.nth));
	a.flags |= HWPMC_F_RAW;
	sample_once(_metadata, f, a, &t);
	EXPECT_EQ(CALLS, t.raws);
	EXPECT_EQ(CALLS, t.right);
	/* where it came from: the registers are the user's */
	EXPECT_EQ(f->log.samples, f->log.user);
}

TEST_F(sources, calls_of_a_process)
{
	sample_calls(_metadata, self, HWPMC_MODE_TS);
}

TEST_F(sources, calls_of_the_system)
{
	sample_calls(_metadata, self, HWPMC_MODE_SS);
}

/* Packed logs have such samples as they are. */
TEST_F(sources, packed)
{
	ASSERT_EQ(0, dev_closelog(self->dev));
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure_flags(self->dev, self->file,
					 HWPMC_LOG_PACKED));
	sample_calls(_metadata, self, HWPMC_MODE_TS);
}

/* Without the flag there is nothing behind a sample. */
TEST_F(sources, not_raw)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TS, tracefs_id(ENTER));
	struct tally t = {};

	sample_once(_metadata, self, a, &t);
	EXPECT_EQ(0, t.raws);
}

/* Every third call. */
TEST_F(sources, period)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TS, tracefs_id(ENTER));
	uint32_t id;

	a.count = 0;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(1, a.count);
	a.count = 3;
	ASSERT_EQ(0, run_pmc(self->dev, self->t.pid, a, &id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	end_log(_metadata, self, 0);
	EXPECT_EQ(CALLS / 3, self->log.samples);
}

/* What is released samples no more; what is not goes on, in the same log. */
TEST_F(sources, released)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TS, tracefs_id(ENTER));
	struct tally gone = { .pid = self->t.pid }, left = gone;

	ASSERT_LT(0, a.config);
	ASSERT_EQ(0, run_pmc(self->dev, self->t.pid, a, &gone.pmcid));
	ASSERT_EQ(0, run_pmc(self->dev, self->t.pid, a, &left.pmcid));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_release(self->dev, gone.pmcid));
	ASSERT_TRUE(target_step(&self->t));
	end_log(_metadata, self, 0);
	tally(&gone, &self->log);
	tally(&left, &self->log);
	EXPECT_EQ(CALLS, gone.n);
	EXPECT_EQ(2 * CALLS, left.n);
}

/* ------------------------------------------------------------------------
 * Somebody else's doing
 */
#define ECHOES	200

static int echo(struct target *t, void *arg)
{
	const int *from = arg, *to = from + 2;
	unsigned int i;
	char c;

	for (i = 0; i < ECHOES; i++)
		if (read(from[0], &c, 1) != 1 || write(to[1], &c, 1) != 1)
			return 1;
	return target_pause(t);
}

/* Who is woken up does not count it, nor does his log tell of who did it. */
TEST_F(sources, wakeups_are_who_wakes)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TS,
					tracefs_id("sched/sched_waking"));
	struct hwpmc_allocate counter = pmc_tracepoint(HWPMC_MODE_TC, a.config);
	unsigned int i, others = 0, own = 0;
	uint32_t id, count, pid;
	uint64_t value;
	struct sample s;
	int pipes[4];
	char c = 0;

	target_kill(&self->t);
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, pipe(pipes + 2));
	ASSERT_TRUE(target_begin(&self->t, echo, pipes));
	ASSERT_EQ(0, run_pmc(self->dev, self->t.pid, a, &id));
	ASSERT_EQ(0, run_pmc(self->dev, self->t.pid, counter, &count));
	pid = self->t.pid;
	target_go(&self->t);
	/* each waits for the other */
	for (i = 0; i < ECHOES; i++) {
		ASSERT_TRUE(wait_in_call(self->t.pid, self->t.pid, SYS_read));
		ASSERT_EQ(1, write(pipes[1], &c, 1));
		ASSERT_EQ(1, read(pipes[2], &c, 1));
	}
	ASSERT_TRUE(target_arrived(&self->t, &pid));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	ASSERT_EQ(0, dev_stop(self->dev, count));
	ASSERT_EQ(0, dev_read(self->dev, count, HWPMC_CPU_ALL, &value));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		own += s.pid == pid;
		others += s.pid != pid;
	}
	TH_LOG("%u of its own, %" PRIu64 " counted", own, value);
	EXPECT_EQ(0, others);
	EXPECT_EQ(own, value);
}

/* ------------------------------------------------------------------------
 * Where in the kernel
 */
static int signal_oneself(struct target *t, void *arg)
{
	unsigned int i;

	signal(SIGURG, SIG_IGN);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_kill, getpid(), SIGURG);
	return target_pause(t);
}

/* A function's first byte: no call returns there. */
static uint64_t of_the_kernel;
static sigjmp_buf jumped;

static void come_back(int sig)
{
	siglongjmp(jumped, sig);
}

static int jump_into_kernel(struct target *t, void *arg)
{
	volatile unsigned int i;

	signal(SIGSEGV, come_back);
	for (i = 0; i < CALLS; i++)
		if (!sigsetjmp(jumped, 1))
			((void (*)(void))(uintptr_t)of_the_kernel)();
	return target_pause(t);
}

/*
 * A program cannot make its chain look like the kernel's: the address is 0, and no
 * frame of the kernel.
 */
TEST_F(sources, jump_into_kernel)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TS,
					tracefs_id("signal/signal_generate"));
	unsigned int n = 0, none = 0, forged = 0, i;
	struct sample s;
	uint32_t id;

	of_the_kernel = kallsyms_addr("schedule");
	ASSERT_NE(0, of_the_kernel);
	target_kill(&self->t);
	ASSERT_TRUE(target_begin(&self->t, jump_into_kernel, NULL));
	ASSERT_EQ(0, run_pmc(self->dev, self->t.pid, a, &id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		n++;
		for (i = 0; i < s.npc; i++) {
			forged += s.pc[i] == of_the_kernel;
			none += !s.pc[i];
		}
	}
	EXPECT_EQ(CALLS, n);
	EXPECT_EQ(0, forged);
	EXPECT_EQ(CALLS, none);
}

/* The first pc is in the function that has the tracepoint, the call follows. */
TEST_F(sources, chain_of_a_tracepoint)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TS,
					tracefs_id("signal/signal_generate"));
	/* not inlined everywhere */
	bool apart = kallsyms_addr("trace_signal_generate");
	struct tally t = {
		.fn = apart ? "trace_signal_generate" : "__send_signal",
		.symbols = symbols_kernel(),
	};
	unsigned int twice = 0, calls = 0, i;
	struct sample s;

	target_kill(&self->t);
	ASSERT_TRUE(target_begin(&self->t, signal_oneself, NULL));
	ASSERT_NE(NULL, t.symbols);
	sample_once(_metadata, self, a, &t);
	EXPECT_EQ(CALLS, t.there);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		twice += s.npc > 1 && s.pc[0] == s.pc[1];
		for (i = 0; i < s.npc; i++)
			if (strstr(symbols_name(t.symbols, s.pc[i]),
				   "_sys_kill"))
				break;
		calls += i < s.npc;
	}
	EXPECT_EQ(0, twice);
	EXPECT_EQ(CALLS, calls);
}

static int exec_programs(struct target *t, void *arg)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		pid_t pid = fork_bound();

		if (!pid) {
			execl(arg, arg, "x", NULL);
			_exit(127);
		}
		wait_for(pid);
	}
	return target_pause(t);
}

/* One that we hook ourselves; and a string that comes with it. */
TEST_F(sources, exec_tells_of_the_file)
{
#define EXEC	"sched/sched_process_exec"
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_SS, tracefs_id(EXEC));
	struct symbols *sy = symbols_kernel();
	unsigned int n = 0, right = 0, own = 0;
	struct tracefs_field name;
	struct pmclog_rec rec;
	char path[] = "/bin/true";
	bool sampled = false;
	struct sample s;
	uint32_t id;

	target_kill(&self->t);
	ASSERT_TRUE(target_begin(&self->t, exec_programs, path));
	ASSERT_TRUE(tracefs_field(EXEC, "filename", &name));
	a.flags |= HWPMC_F_RAW;
	ASSERT_EQ(0, run_pmc(self->dev, 0, a, &id));
	ASSERT_TRUE(target_step(&self->t));
	ASSERT_EQ(0, dev_stop(self->dev, id));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH(&self->log, rec) {
		if (IS_EXT(&rec, RAW) && sampled) {
			n++;
			right += !strcmp(path, tracefs_string(&name, rec.data +
				offsetof(struct pmclog_ext_raw, data),
				REC32(&rec, ext_raw, len)));
		}
		sampled = log_sample(&rec, &s);
		if (sampled && strstr(symbols_name(sy, s.pc[0]), "exec") &&
		    !strstr(symbols_name(sy, s.pc[0]), "trace"))
			own++;
		else if (sampled)
			TH_LOG("first pc in %s", symbols_name(sy, s.pc[0]));
	}
	EXPECT_LE(10, n);
	EXPECT_EQ(n, self->log.samples);
	EXPECT_EQ(n, own);
	EXPECT_LE(10, right);
}

/* ------------------------------------------------------------------------
 * Probes that tracefs makes of functions
 */

/* Made of a function, used, and taken away; then there is no such event. */
static void sample_probe(META, FIXTURE_DATA(sources) *f, const char *kind,
			 const char *event, const char *what, struct tally *t)
{
	struct hwpmc_allocate a;
	char text[400];

	snprintf(text, sizeof(text), "%c:%s %s", strstr(event, "leave") ? 'r' : 'p',
		 event, what);
	tracefs_unprobe(kind, event);
	ASSERT_TRUE(tracefs_probe(kind, text));
	a = pmc_tracepoint(HWPMC_MODE_TS, tracefs_id(event));
	EXPECT_LT(0, a.config);
	a.flags |= HWPMC_F_RAW;
	if (strstr(what, "nth="))
		ASSERT_TRUE(tracefs_field(event, "nth", &t->nth));
	if (strstr(what, "arg="))
		ASSERT_TRUE(tracefs_field(event, "arg", &t->arg));
	sample_once(_metadata, f, a, t);
	EXPECT_EQ(CALLS, t->raws);
	EXPECT_EQ(CALLS, t->right);
	EXPECT_EQ(0, dev_release(f->dev, t->pmcid));
	tracefs_unprobe(kind, event);
	EXPECT_EQ(0, tracefs_id(event));
	EXPECT_EQ(-EINVAL, dev_allocate(f->dev, &a));
}

TEST_F(sources, kprobe_at_entry)
{
	struct tally t = {
		.want = WHICH,
		.fn = GETPRIORITY,
		.symbols = symbols_kernel(),
	};
	char what[200];

	snprintf(what, sizeof(what), GETPRIORITY " arg=%s:s32 nth=%s:s32",
		 CALL_ARG(0), CALL_ARG(1));
	sample_probe(_metadata, self, "kprobe", "hwpmc_k/enter", what, &t);
	EXPECT_EQ(CALLS, t.there);
	EXPECT_EQ(CALLS, self->log.kernel);
}

TEST_F(sources, kprobe_at_return)
{
	struct tally t = { .want = -EINVAL };

	sample_probe(_metadata, self, "kprobe", "hwpmc_k/leave",
		     GETPRIORITY " arg=$retval:s32", &t);
}

static bool own_function(char *what, size_t size, const char *args)
{
	char path[200] = "";
	uint64_t offset;

	if (!file_offset(called, &offset) ||
	    readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return false;
	snprintf(what, size, "%s:0x%" PRIx64 " %s", path, offset, args);
	return true;
}

TEST_F(sources, uprobe_at_entry)
{
	struct tally t = {};
	char what[300];

	ASSERT_TRUE(own_function(what, sizeof(what), "nth=" FIRST_ARG ":u64"));
	sample_probe(_metadata, self, "uprobe", "hwpmc_u/enter", what, &t);
	EXPECT_EQ(CALLS, self->log.user);
	EXPECT_EQ(CALLS, COUNT_SAMPLES(&self->log, s, s.pc[0] == (uintptr_t)called));
}

TEST_F(sources, uprobe_at_return)
{
	struct tally t = { .plus = 5 };
	char what[300];

	ASSERT_TRUE(own_function(what, sizeof(what), "nth=$retval:u64"));
	sample_probe(_metadata, self, "uprobe", "hwpmc_u/leave", what, &t);
	EXPECT_EQ(CALLS, self->log.user);
}

/* ------------------------------------------------------------------------
 * Breakpoints
 */
TEST_F(sources, writes_are_counted)
{
	count_once(_metadata, self,
		   pmc_breakpoint(HWPMC_MODE_TC, BP_W, &watched, 8), CALLS);
}

TEST_F(sources, instructions_are_counted)
{
	count_once(_metadata, self,
		   pmc_breakpoint(HWPMC_MODE_TC, BP_X, called, BP_X_LEN), CALLS);
}

/* Where who samples has to step over them himself it is not offered. */
TEST_F(sources, writes_are_sampled)
{
	struct hwpmc_allocate a = pmc_breakpoint(HWPMC_MODE_TS, BP_W, &watched, 8);
	struct tally t = {};

	if (!BREAKS_SAMPLE) {
		EXPECT_EQ(-EOPNOTSUPP, dev_allocate(self->dev, &a));
		return;
	}
	sample_once(_metadata, self, a, &t);
	EXPECT_EQ(CALLS, self->log.user);
}

TEST_F(sources, instructions_are_sampled)
{
	struct hwpmc_allocate a = pmc_breakpoint(HWPMC_MODE_TS, BP_X, called,
						 BP_X_LEN);
	struct tally t = {};

	if (!BREAKS_SAMPLE)
		SKIP(return, "breakpoints cannot be sampled here");
	sample_once(_metadata, self, a, &t);
	EXPECT_EQ(CALLS, COUNT_SAMPLES(&self->log, s, s.pc[0] == (uintptr_t)called));
}

/* A function of the kernel, on all CPUs. */
TEST_F(sources, breakpoint_in_the_kernel)
{
	uint64_t addr = kallsyms_addr(GETPRIORITY);
	struct hwpmc_allocate a = pmc_breakpoint(HWPMC_MODE_SC, BP_X,
				(void *)(uintptr_t)addr,
				BP_X_LEN);
	struct tally t = { .fn = GETPRIORITY, .symbols = symbols_kernel() };
	uint64_t value = 0;

	ASSERT_NE(0, addr);
	a.caps = 0;
	count(_metadata, self, a, &value);
	EXPECT_LE(CALLS, value);
	if (!BREAKS_SAMPLE) {
		/* an interrupt during arm64's step over it: it is hit again */
		EXPECT_GT(20 * CALLS, value);
		symbols_free(t.symbols);
		return;
	}
	EXPECT_EQ(CALLS, value);
	a.mode = HWPMC_MODE_SS;
	a.flags = HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN;
	sample_once(_metadata, self, a, &t);
	EXPECT_EQ(CALLS, t.there);
}

/* ------------------------------------------------------------------------
 * PMUs by their number
 */
static const struct dynamic {
	const char	*name;
	uint64_t	config;
	bool		samples;
} dynamics[] = {
	{ "armv8_pmuv3_0",	0x11, true },		/* cycles */
	{ "armv8_pmuv3",	0x11, true },
	{ "armv8_cortex_a57",	0x11, true },
	{ "msr",		0, false },		/* the time stamp counter */
};

TEST_F(sources, dynamic_pmus)
{
	unsigned int i, found = 0;
	uint64_t value;
	uint32_t id;

	for (i = 0; i < ARRAY_SIZE(dynamics); i++) {
		const struct dynamic *d = &dynamics[i];
		int type = pmu_type(d->name);
		struct hwpmc_allocate a = pmc_counter(type, d->config);

		if (type < 0)
			continue;
		found++;
		TH_LOG("%s is %d", d->name, type);
		ASSERT_EQ(0, dev_run(self->dev, a, &id));
		sleep_ms(50);
		ASSERT_EQ(0, dev_read(self->dev, id, HWPMC_CPU_ALL, &value));
		EXPECT_LT(0, value);
		a = pmc_process_counter(type, d->config, 0);
		ASSERT_EQ(0, dev_allocate(self->dev, &a));
		a = pmc_sampler(type, d->config, CYCLES_PERIOD);
		if (!d->samples) {
			EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
			continue;
		}
		ASSERT_EQ(0, dev_run(self->dev, a, &id));
		EXPECT_TRUE(wait_committed(self->dev, 20));
		ASSERT_EQ(0, dev_release(self->dev, id));
	}
	end_log(_metadata, self, 0);
	if (!found)
		SKIP(return, "no such PMU on this machine");
}

TEST_HARNESS_MAIN
