// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers that interrupt: counters' overflow interrupts, taken as NMIs where
 * the machine can do that, over timers' over what processes do.
 */
#include <limits.h>
#include <sys/mman.h>

#include "rate.h"
#include "recorder.h"
#include "target.h"
#include "test.h"

/* Interrupts are off below this function, in any context. */
#define IRQ_OFF_FUNCTION	"hrtimer_interrupt"

struct pmc_tally {
	uint32_t id;
	unsigned int samples;
	unsigned int irq_off;
};

static bool is_irq_off(const struct symbols *kernel, const struct sample *s)
{
	unsigned int i;

	for (i = 0; i < s->npc && addr_is_kernel(s->pc[i]); i++)
		if (!strcmp(IRQ_OFF_FUNCTION,
			    symbols_name(kernel, s->pc[i] - !!i)))
			return true;
	return false;
}

/* Counts until there are more than @samples of each, @irq_off of the last one. */
static bool tally(struct log *log, const struct symbols *kernel,
		  struct pmc_tally *t, unsigned int n, unsigned int samples,
		  unsigned int irq_off)
{
	unsigned int k, few;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s) {
		for (k = few = 0; k < n; k++) {
			if (t[k].id == s.pmcid) {
				t[k].samples++;
				t[k].irq_off += is_irq_off(kernel, &s);
			}
			few += t[k].samples <= samples;
		}
		if (!few && t[n - 1].irq_off >= irq_off)
			return true;
	}
	return false;
}

/* What is asked of a log below, and in how many samples. */
struct nmi_wanted {
	const struct symbols	*kernel;
	const struct pmc_tally	*pmcs;		/* their ids */
	unsigned int		n;		/* 2 at most */
	unsigned int		samples;	/* each */
	unsigned int		irq_off;	/* the last one */
};

/* No more than it needs: while this looks, the log grows. */
static bool has_tally(struct log *log, void *arg)
{
	const struct nmi_wanted *w = arg;
	struct pmc_tally t[2];

	memcpy(t, w->pmcs, w->n * sizeof(t[0]));
	return tally(log, w->kernel, t, w->n, w->samples, w->irq_off);
}

/*
 * A timer's interrupt is itself sampled by counters if their interrupt is not
 * masked there.  The timer of another PMC keeps it busy.
 */
TEST(interrupts_off)
{
	struct symbols *kernel = symbols_kernel();
	/* the timer of nmipmu has a period of 250 us: the two are not to keep a distance */
	unsigned int hz = affordable_hz(1999);
	pid_t loads[2] = { load_kernel(0), load_kernel(1) };
	struct pmc_tally t[2] = {};
	struct nmi_wanted wanted = {
		.kernel = kernel,
		.pmcs = t,
		.n = perf_has(CYCLES) ? 2 : 1,
		.samples = 100,
		.irq_off = overflows_are_nmis() ? 4 : 0,
	};
	int dev = dev_open(), file = temp_file();
	struct log log;
	int i;

	ASSERT_NE(NULL, kernel);
	BEGIN_LOG(dev, file, pmc_clock(hz), &t[0].id);
	if (perf_has(CYCLES))
		ASSERT_EQ(0, dev_run(dev, pmc_sampler(CYCLES, CYCLES_PERIOD),
				     &t[1].id));
	sleep_ms(2000);
	EXPECT_TRUE(wait_log(dev, file, has_tally, &wanted));
	ASSERT_EQ(0, dev_closelog(dev));
	for (i = 0; i < 2; i++)
		load_end(loads[i]);
	LOAD_LOG(&log, file, LOG_DROPS);
	tally(&log, kernel, t, 2, UINT_MAX, 0);
	TH_LOG("asked for %u Hz; cpu-clock: %u samples, %u with interrupts off; cycles: %u, %u",
	       hz, t[0].samples, t[0].irq_off, t[1].samples, t[1].irq_off);
	/* the timer cannot interrupt itself: the criterion is sound */
	EXPECT_LT(100, t[0].samples);
	EXPECT_EQ(0, t[0].irq_off);
	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	EXPECT_LT(100, t[1].samples);
	if (!overflows_are_nmis()) {
		EXPECT_EQ(0, t[1].irq_off);
		SKIP(return, "overflow interrupts are ordinary ones here");
	}
	EXPECT_LT(3, t[1].irq_off);
}

static bool is_everywhere(struct log *log, void *unused)
{
	unsigned int n[2][2] = {}, i;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s)
		if (s.cpu < 2)
			n[s.cpu][s.user]++;
	for (i = 0; i < 2; i++)
		if (n[i][false] < 30 || n[i][true] < 30)
			return false;
	return true;
}

/* Overflow interrupts come from both CPUs, from user and kernel mode. */
TEST(cycles_everywhere)
{
	pid_t loads[4] = {
		load_user(0), load_user(1), load_kernel(0), load_kernel(1),
	};
	int dev = dev_open(), file = temp_file();
	struct log log;
	int i;

	if (!perf_has(CYCLES))
		SKIP(return, "no hardware counters on this machine");
	BEGIN_LOG(dev, file, pmc_sampler(CYCLES, CYCLES_PERIOD), NULL);
	EXPECT_TRUE(wait_log(dev, file, is_everywhere, NULL));
	ASSERT_EQ(0, dev_closelog(dev));
	for (i = 0; i < 4; i++)
		load_end(loads[i]);
	LOAD_LOG(&log, file, 0);
	EXPECT_TRUE(is_everywhere(&log, NULL));
	EXPECT_EQ(0, log.account.dropped[PMCLOG_DROP_NESTED]);
}

#ifdef __x86_64__
/* A system call and a fault in turn, each at its place */
extern const char entry_call[], entry_fault[];
void entry_loop(volatile char *page, volatile char *frame);

__asm__(".text\n"
	".type entry_loop, @function\n"
	"entry_loop:\n"
	"	push %rbp\n"
	"	mov %rsi, %rbp\n"	/* not that of the caller, and readable */
	"1:	mov $28, %eax\n"	/* madvise */
	"	mov $4096, %esi\n"
	"	mov $4, %edx\n"	/* MADV_DONTNEED */
	"	syscall\n"
	"entry_call:\n"
	"	nop\n"
	"entry_fault:\n"
	"	movb $1, (%rdi)\n"
	"	jmp 1b\n"
	".size entry_loop, . - entry_loop");

static void enter(void)
{
	static char frame[16] __attribute__((aligned(16)));

	entry_loop(mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), frame);
}

/* The first user address of a sample of the kernel, or 0 */
static uint64_t entered_at(const struct sample *s)
{
	unsigned int n = sample_kernel_part(s);

	return !s->user && n && n < s->npc ? s->pc[n] : 0;
}

/* Which of the two entries the kernel code is of; NULL: of either */
static const char *entry_of(const struct symbols *kernel, const struct sample *s)
{
	const char *name = symbols_name(kernel, s->pc[0]);

	if (!strncmp(name, "entry_SYSCALL_64", 16))
		return entry_call;
	return !strcmp(name, "asm_exc_page_fault") ? entry_fault : NULL;
}

/* Samples of the code that enters the kernel; checkers make the other code slower. */
#define ENTRIES	scaled(60, 8)

static bool has_entries(struct log *log, void *arg)
{
	unsigned int n = 0;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(log, s)
		n += !s.user && entry_of(arg, &s);
	return n > ENTRIES;
}

/*
 * The code that enters the kernel is hit before it has saved the user registers.  The
 * sample, by @a, is not that of the entry before.
 */
static void check_entries(META, struct hwpmc_allocate a)
{
	unsigned int n = 0, wrong = 0, without = 0, cut = 0;
	struct symbols *kernel = symbols_kernel();
	int dev = dev_open(), file = temp_file();
	const char *at;
	struct sample s;
	struct log log;
	pid_t pid;

	ASSERT_NE(NULL, kernel);
	pid = fork_pinned(0, enter);
	BEGIN_LOG(dev, file, a, NULL);
	EXPECT_TRUE(wait_log(dev, file, has_entries, kernel));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(&log, file, LOG_DROPS);
	LOG_FOR_EACH_SAMPLE(&log, s) {
		at = s.pid == (uint32_t)pid && !s.user ? entry_of(kernel, &s) : NULL;
		if (!at)
			continue;
		n++;
		wrong += entered_at(&s) && entered_at(&s) != (uintptr_t)at;
		without += !entered_at(&s);
		cut += !entered_at(&s) && s.flags & PMCLOG_CC_CUT(PMCLOG_CUT_USER);
	}
	TH_LOG("%u samples of entries: %u of the other place, %u without a place",
	       n, wrong, without);
	EXPECT_LT(ENTRIES / 2, n);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(without, cut);
}

TEST(entries)
{
	if (!perf_has(CYCLES) || !overflows_are_nmis())
		SKIP(return, "no NMIs on this machine");
	check_entries(_metadata, pmc_sampler(CYCLES, CYCLES_PERIOD / 5));
}

/* Each address is one byte too low, as that of a PMU which replaces it. */
TEST(entries_by_replaced_address)
{
	struct hwpmc_allocate a = pmc_sampler(PERF_TYPE_RAW, 0, CYCLES_PERIOD / 5);

	if (!perf_can_skid())
		SKIP(return, "no PMU here that skids");
	a.config1 = 1;
	check_entries(_metadata, a);
}

/* System calls with a stack pointer to all the area that has the stacks for entries */
void __attribute__((noreturn)) sp_loop(void);

__asm__(".text\n"
	".type sp_loop, @function\n"
	"sp_loop:\n"
	"	movabs $0xfffffe0000000000, %rsp\n"
	"1:	mov $110, %eax\n"	/* getppid */
	"	syscall\n"
	"	add $0x1000, %rsp\n"
	"	jmp 1b\n"
	".size sp_loop, . - sp_loop");

/* A program's stack pointer is still there where the kernel is entered. */
TEST(entries_with_any_sp)
{
	int dev = dev_open(), file = temp_file();
	struct log log;
	pid_t pid;

	if (!perf_has(CYCLES) || !overflows_are_nmis())
		SKIP(return, "no NMIs on this machine");
	pid = fork_pinned(0, sp_loop);
	BEGIN_LOG(dev, file, pmc_sampler(CYCLES, CYCLES_PERIOD / 5), NULL);
	EXPECT_TRUE(wait_samples(dev, file, 4000, .pid = pid, .kernel = true));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(&log, file, LOG_DROPS);
	EXPECT_LE(4000, log.kernel);
}

/* The same in user mode */
void __attribute__((noreturn)) sp_walk(void);

__asm__(".text\n"
	".type sp_walk, @function\n"
	"sp_walk:\n"
	"	movabs $0xfffffe0000000000, %rsp\n"
	"1:	mov $1000, %eax\n"
	"2:	dec %eax\n"
	"	jnz 2b\n"
	"	add $0x1000, %rsp\n"
	"	jmp 1b\n"
	".size sp_walk, . - sp_walk");

/*
 * A program learns nothing about the kernel's stacks by its own stack pointer and by
 * which of its samples are cut.
 */
TEST(user_mode_with_any_sp)
{
	struct hwpmc_allocate a = pmc_sampler(PERF_TYPE_RAW, 0, CYCLES_PERIOD / 5);
	int dev = dev_open(), file = temp_file();
	unsigned int user, cut;
	struct log log;
	uint32_t pid;

	if (!perf_can_skid())
		SKIP(return, "no PMU here that skids");
	a.config1 = 1;
	pid = fork_pinned(0, sp_walk);
	BEGIN_LOG(dev, file, a, NULL);
	EXPECT_TRUE(wait_samples(dev, file, 2000, .pid = pid, .user = true));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(&log, file, LOG_DROPS);
	user = COUNT_SAMPLES(&log, s, s.pid == pid && s.user);
	cut = COUNT_SAMPLES(&log, s, s.pid == pid && s.user &&
			    s.flags & PMCLOG_CC_CUT(PMCLOG_CUT_USER));
	TH_LOG("%u samples of user mode, %u cut", user, cut);
	EXPECT_LE(2000, user);
	EXPECT_EQ(0, cut);
}
#endif

/* Faults and switches without end. */
static void churn(void)
{
	for (;;) {
		fault_pages(64);
		usleep(100);
	}
}

/* All kinds of producers at once, as often as they may. */
#define NPMC	5

TEST(nested_producers)
{
	/* before anything else runs here */
	unsigned int hz = affordable_hz(7000);
	pid_t loads[4] = {
		fork_pinned(0, churn), fork_pinned(1, churn), load_kernel(0), load_kernel(1),
	};
	struct hwpmc_allocate a[NPMC] = {
		pmc_sampler(FAULTS, 1),
		pmc_sampler(SWITCHES, 1),
		pmc_clock(hz),
		pmc_clock(affordable_hz(3000)),
		perf_has(CYCLES) ? pmc_sampler(CYCLES, CYCLES_PERIOD / 5) :
				   pmc_clock(affordable_hz(5000)),
	};
	struct symbols *none = symbols_kernel();
	struct pmc_tally t[NPMC] = {};
	int dev = dev_open(), file = temp_file();
	struct log log;
	unsigned int i;

	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < NPMC; i++)
		ASSERT_EQ(0, dev_run(dev, a[i], &t[i].id));
	sleep_ms(scaled(1500, 5000));
	EXPECT_TRUE(wait_committed(dev, NPMC * 1000));
	ASSERT_EQ(0, dev_closelog(dev));
	for (i = 0; i < 4; i++)
		load_end(loads[i]);
	LOAD_LOG(&log, file, LOG_DROPS | LOG_PROC_DROPS);
	tally(&log, none, t, NPMC, UINT_MAX, 0);
	for (i = 0; i < NPMC; i++) {
		TH_LOG("%x: %u samples", t[i].id, t[i].samples);
		EXPECT_LT(20, t[i].samples);
	}
	EXPECT_EQ(0, log.account.dropped[PMCLOG_DROP_NORING]);
}

TEST_HARNESS_MAIN
