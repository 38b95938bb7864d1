// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints where it hurts: with the scheduler's locks held, in interrupts, in
 * our own wake-up, in the allocator, everywhere at once.  Nothing hangs, and what
 * is not in the log is counted.
 *
 * Those of preemptirq are too many for the machines that have them.
 */
#include <sys/syscall.h>

#include "recorder.h"
#include "source.h"
#include "target.h"
#include "test.h"

static const char * const heavy[] = {
	"sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup",
	"sched/sched_stat_runtime", "sched/sched_process_exec",
	"sched/sched_process_fork", "sched/sched_process_exit",
	"task/task_newtask", "task/task_rename", "kmem/kmalloc",
	"kmem/kmem_cache_alloc", "kmem/kmem_cache_free", "kmem/mm_page_alloc",
	"irq/irq_handler_entry", "irq/softirq_entry", "irq/softirq_raise",
	"irq_vectors/irq_work_entry", "irq_vectors/irq_work_exit",
	"irq_vectors/local_timer_entry", "ipi/ipi_raise", "ipi/ipi_send_cpu",
	"timer/hrtimer_start", "timer/timer_start", "timer/hrtimer_expire_entry",
	"rcu/rcu_utilization", "lock/contention_begin", "printk/console",
	"exceptions/page_fault_user", "exceptions/page_fault_kernel",
	"raw_syscalls/sys_enter", "raw_syscalls/sys_exit", "writeback/writeback_dirty_folio",
	"signal/signal_generate", "workqueue/workqueue_queue_work",
	"power/cpu_idle", "filelock/posix_lock_inode",
};

/* What this begins with comes so often that each one is too much. */
static const char * const often[] = {
	"kmem/", "raw_syscalls/", "sched/sched_s", "sched/sched_w", "irq/",
	"irq_vectors/", "timer/", "rcu/", "lock/", "exceptions/",
};

static unsigned int period_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(often); i++)
		if (!strncmp(name, often[i], strlen(often[i])))
			return scaled(10, 50);
	return 1;
}

/*
 * The one that does not count how often it is hit, but the nanoseconds that somebody
 * has run: at each tick, with a lock of the scheduler held.  With a period of a few
 * of those, each tick would bring as many samples as perf lets it.
 */
static uint64_t unit_of(const char *name)
{
	return strcmp(name, "sched/sched_stat_runtime") ? 1 : 100000;
}

/* Sleep, system calls and computing, on both CPUs. */
static void heavy_load(pid_t *load)
{
	load[0] = load_sleeper(0);
	load[1] = load_sleeper(1);
	load[2] = load_kernel(0);
	load[3] = load_user(1);
}

static unsigned int run_heavy(int dev, const char * const *names, unsigned int n,
			      uint64_t period)
{
	unsigned int i, running = 0;

	for (i = 0; i < n; i++) {
		struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_SS,
						     tracefs_id(names[i]));

		if (!a.config)
			continue;	/* not in this kernel */
		a.count = period * unit_of(names[i]);
		a.flags |= HWPMC_F_RAW;
		running += !dev_run(dev, a, NULL);
	}
	return running;
}

static bool account_holds(int dev)
{
	struct hwpmc_driverstats st;
	const struct pmclog_account *a = &st.account;
	uint64_t dropped = 0;
	int i;

	if (dev_stats(dev, HWPMC_STATS_OWNER, &st))
		return false;
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		dropped += a->dropped[i];
	return a->overflows && a->overflows == a->committed + dropped + a->filtered &&
	       a->committed == a->written + a->discarded + a->in_rings;
}

static void fork_some(unsigned int n)
{
	while (n--) {
		pid_t pid = fork_bound();

		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(127);
		}
		wait_for(pid);
		kill(getpid(), 0);
		fault_pages(16);
	}
}

/* All of them at once, into a pipe that somebody reads; and then the account. */
TEST(everywhere)
{
	unsigned int running, rounds;
	pid_t load[4], reader;
	int dev, p[2];

	ASSERT_EQ(0, pipe(p));
	reader = reader_process(p[0]);
	close(p[0]);
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, p[1]));
	close(p[1]);
	heavy_load(load);
	running = run_heavy(dev, heavy, ARRAY_SIZE(heavy), scaled(50, 500));
	TH_LOG("%u tracepoints", running);
	EXPECT_LT(10, running);
	for (rounds = 0; rounds < 5; rounds++) {
		fork_some(1);
		ASSERT_TRUE(wait_committed(dev, 100));
	}
	for (rounds = 0; rounds < 4; rounds++)
		load_end(load[rounds]);
	EXPECT_EQ(0, dev_closelog(dev));
	EXPECT_TRUE(account_holds(dev));
	close(dev);
	wait_for(reader);
}

/* One at a time, as a log that adds up; some have to have come. */
TEST(each)
{
	unsigned int i, some = 0;
	pid_t load[4];

	heavy_load(load);
	for (i = 0; i < ARRAY_SIZE(heavy); i++) {
		int dev = dev_open(), file = temp_file();
		struct log log;

		ASSERT_EQ(0, dev_configure(dev, file));
		if (run_heavy(dev, &heavy[i], 1, period_of(heavy[i]))) {
			fork_some(2);
			sleep_ms(30);
			END_LOG(dev, file, &log, LOG_DROPS | LOG_PROC_DROPS);
			some += log.samples > 0;
			log_free(&log);
		}
		close(dev);
		close(file);
	}
	for (i = 0; i < 4; i++)
		load_end(load[i]);
	TH_LOG("%u were hit", some);
	EXPECT_LT(8, some);
}

/* Maps code with a frame pointer that leads to @frame. */
__attribute__((noipa))
static void *map_code(const volatile void *frame)
{
	const unsigned long flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(__x86_64__)
	register unsigned long arg4 __asm__("r10") = flags;
	register unsigned long arg5 __asm__("r8") = -1;
	register unsigned long arg6 __asm__("r9") = 0;
	unsigned long ret;

	__asm__ volatile("mov %%rbp, %%rbx; mov %[frame], %%rbp; syscall; "
			 "mov %%rbx, %%rbp"
			 : "=a" (ret)
			 : "a" ((unsigned long)SYS_mmap), "D" (0UL),
			   "S" (65536UL),
			   "d" ((unsigned long)(PROT_READ | PROT_EXEC)),
			   "r" (arg4), "r" (arg5), "r" (arg6),
			   [frame] "r" (frame)
			 : "rbx", "rcx", "r11", "memory");
	return (void *)ret;
#else
	register unsigned long x0 __asm__("x0") = 0;
	register unsigned long x1 __asm__("x1") = 65536;
	register unsigned long x2 __asm__("x2") = PROT_READ | PROT_EXEC;
	register unsigned long x3 __asm__("x3") = flags;
	register unsigned long x4 __asm__("x4") = -1;
	register unsigned long x5 __asm__("x5") = 0;
	register unsigned long nr __asm__("x8") = SYS_mmap;

	__asm__ volatile("mov x19, x29; mov x29, %[frame]; svc #0; mov x29, x19"
			 : "+r" (x0)
			 : "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x5),
			   "r" (nr), [frame] "r" (frame)
			 : "x19", "memory");
	return (void *)x0;
#endif
}

/* Each time, what holds the frame is not in memory. */
__attribute__((noipa))
static unsigned int map_codes(unsigned int n)
{
	volatile char far[4 * 65536];
	char *frame = (char *)(((uintptr_t)far + 65536) & ~65535UL);
	unsigned int done = 0;

	far[0] = far[sizeof(far) - 1] = 0;
	while (n--) {
		void *p;

		if (madvise(frame, 65536, MADV_DONTNEED))
			break;
		p = map_code(frame + 1024);
		done += !munmap(p, 65536);
	}
	return done;
}

/*
 * The module's own kprobe on mappings is stepped over, and what is hit meanwhile
 * reads user memory that is not there.  arm64 does not bear a fault then.
 */
TEST(within_the_step_over_a_kprobe)
{
	static const char * const names[] = {
		"preemptirq/irq_disable", "preemptirq/irq_enable",
	};
	int dev = dev_open(), file = temp_file();
	unsigned int i, running = 0;
	struct log log;

	ASSERT_TRUE(tracefs_mount());
	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TS,
						     tracefs_id(names[i]));

		if (!a.config)
			SKIP(return, "only kernels for debugging have them");
		running += !dev_run(dev, a, NULL);
	}
	EXPECT_EQ(ARRAY_SIZE(names), running);
	EXPECT_EQ(50, map_codes(50));
	END_LOG(dev, file, &log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(50, log.samples);
	close(dev);
}

TEST_HARNESS_MAIN
