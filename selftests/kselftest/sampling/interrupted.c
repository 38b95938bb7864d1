// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that were interrupted, and not called: the log has an address behind their
 * instruction, so that a reader finds it where it looks for a call.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracefs.h"
#include "unwind.h"

/*
 * The first instruction of first() faults.  Right before it is the end of another
 * function, which is where the byte before this instruction is.
 */
void first(volatile char *page);

#if defined(__x86_64__)
#define FAULT_FIRST	"movb $1, (%rdi)"
#else
#define FAULT_FIRST	"strb wzr, [x0]"
#endif
__asm__(".pushsection .text\n"
	".type before_first, %function\n"
	"before_first:\n"
	".cfi_startproc\n"
	"ret\n"
	".cfi_endproc\n"
	".size before_first, . - before_first\n"
	".globl first\n"
	".type first, %function\n"
	"first:\n"
	".cfi_startproc\n"
	FAULT_FIRST "\n"
	"ret\n"
	".cfi_endproc\n"
	".size first, . - first\n"
	".popsection\n");

__attribute__((noipa)) static void call_first(volatile char *page)
{
	first(page);
	__asm__ volatile("");
}

static volatile char *touched;

/* Faults itself, by way of plain_outer(), and lets first() go on. */
__attribute__((noipa)) static void on_fault(int sig, siginfo_t *info, void *uc)
{
	outer(touched, 1);
	touched += PAGE;
	mprotect(info->si_addr, PAGE, PROT_READ | PROT_WRITE);
}

__attribute__((noipa)) static void interrupt_first(unsigned int n)
{
	volatile char *p = mmap(NULL, n * PAGE, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	touched = fresh_pages(n);
	for (i = 0; i < n; i++)
		call_first(p + i * PAGE);
	__asm__ volatile("");
}

static int handle(struct target *t)
{
	interrupt_first(1);
	target_pause(t);
	interrupt_first(TOUCHES);
	target_pause(t);
	return 0;
}

static int handler(struct target *t, void *arg)
{
	struct sigaction sa = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO,
	};

	return sigaction(SIGSEGV, &sa, NULL) ? 1 : handle(t);
}

static bool is_at(FIXTURE_DATA(unwind) *self, const struct sample *s,
		  unsigned int i, const char *want)
{
	return i < s->npc && !strcmp(name(self, s, i), want);
}

/* The handler's faults, and those of their chains that lead to first() and on */
static unsigned int tally_handled(META, FIXTURE_DATA(unwind) *self,
				  unsigned int *right)
{
	unsigned int n = 0, i;
	struct sample s;

	*right = 0;
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (!is_at(self, &s, 0, "plain_leaf") || s.late)
			continue;
		n++;
		for (i = 1; i < s.npc && !is_at(self, &s, i, "on_fault"); i++)
			;
		/* between the two is what the handler returns to */
		if (is_at(self, &s, i + 2, "first") &&
		    is_at(self, &s, i + 3, "call_first") &&
		    is_at(self, &s, i + 4, "interrupt_first"))
			(*right)++;
		else if (n == TOUCHES)
			for (i = 0; i < s.npc; i++)
				TH_LOG("  %llx %s", (unsigned long long)s.pc[i],
				       name(self, &s, i));
	}
	return n;
}

static void check_handled(META, FIXTURE_DATA(unwind) *self,
			  int (*body)(struct target *t, void *arg))
{
	unsigned int n, right;

	begin(_metadata, self, body, NULL);
	finish_by_tables(_metadata, self);
	n = tally_handled(_metadata, self, &right);
	TH_LOG("%u faults in the handler, %u of them under first()", n, right);
	EXPECT_LE(TOUCHES, n);
	/* all since there are tables, but those of a stale map */
	EXPECT_LE(TOUCHES - 2, right);
}

TEST_F(unwind, by_signal)
{
	check_handled(_metadata, self, handler);
}

#if defined(__x86_64__)
/* As in musl and in Go: no call frame information says what it is. */
void bare_restorer(void);
__asm__(".pushsection .text\n"
	"nop\n"
	".globl bare_restorer\n"
	"bare_restorer:\n"
	"mov $15, %rax\n"
	"syscall\n"
	".popsection\n");

/* The C library would set a restorer of its own. */
static int bare_handler(struct target *t, void *arg)
{
	struct {
		void		*handler;
		unsigned long	flags;
		void		*restorer;
		unsigned long	mask;
	} sa = { on_fault, SA_SIGINFO | 0x04000000, bare_restorer, 0 };

	if (syscall(SYS_rt_sigaction, SIGSEGV, &sa, NULL, sizeof(sa.mask)))
		return 1;
	return handle(t);
}

TEST_F(unwind, by_signal_of_bare_restorer)
{
	check_handled(_metadata, self, bare_handler);
}

/* ------------------------------------------------------------------------
 * The kernel's own code, by a fault at memory of the program
 */
static int reader(struct target *t, void *arg)
{
	unsigned int i;

	for (i = 0; i < TOUCHES; i++)
		syscall(SYS_uname, fresh_pages(1));
	target_pause(t);
	return 0;
}

static uint32_t sample_with(META, int dev, struct hwpmc_allocate a, pid_t pid)
{
	a.caps = HWPMC_CAP_SYSTEM;
	ASSERT_EQ(0, dev_allocate(dev, &a)) return 0;
	EXPECT_EQ(0, dev_attach(dev, a.id, pid));
	EXPECT_EQ(0, dev_start(dev, a.id));
	return a.id;
}

/* The callers of a sample that are at, or one behind, what the others begin with */
static unsigned int callers_at(const struct sample *s, const uint64_t *first,
			       unsigned int n, unsigned int behind)
{
	unsigned int found = 0, i, k;

	for (i = 1; i < sample_kernel_part(s); i++) {
		for (k = 0; k < n && first[k] + behind != s->pc[i]; k++)
			;
		found += k < n;
	}
	return found;
}

/* A fault's sample begins with the instruction, those of its handling have it later. */
TEST(by_fault)
{
	unsigned int n = 0, nfirst = 0, behind = 0, at = 0;
	struct hwpmc_allocate trace;
	uint64_t first[8 * TOUCHES];
	uint32_t faults, traces;
	struct target target;
	struct sample s;
	struct log log;
	int dev, file = temp_file();

	if (!tracefs_mount() || !tracefs_id("exceptions/page_fault_kernel"))
		SKIP(return, "no tracepoint of faults here");
	trace = pmc_process_sampler(PERF_TYPE_TRACEPOINT,
				    tracefs_id("exceptions/page_fault_kernel"),
				    1, 0);
	ASSERT_TRUE(target_begin(&target, reader, NULL));
	OPEN_DEVICE(dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	faults = sample_with(_metadata, dev, pmc_process_faults(0), target.pid);
	traces = sample_with(_metadata, dev, trace, target.pid);
	EXPECT_TRUE(target_step(&target));
	EXPECT_EQ(0, target_end(&target));
	END_LOG(dev, file, &log, 0);
	LOG_FOR_EACH_SAMPLE(&log, s)
		if (s.pmcid == faults && nfirst < 8 * TOUCHES)
			first[nfirst++] = s.pc[0];
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if (s.pmcid != traces)
			continue;
		n++;
		at += callers_at(&s, first, nfirst, 0);
		behind += callers_at(&s, first, nfirst, 1);
	}
	TH_LOG("%u faults; %u samples, %u at the instruction of one", nfirst, n,
	       behind);
	EXPECT_LE(TOUCHES, n);
	EXPECT_LE(TOUCHES, behind);
	EXPECT_EQ(0, at);
	log_free(&log);
	close(dev);
}
#endif

TEST_HARNESS_MAIN
