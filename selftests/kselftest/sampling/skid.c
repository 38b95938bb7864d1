// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples with the address of an earlier instruction than the other registers, as
 * AMD's IBS takes them: their callers are those that the thread had.  Where the PMU
 * is there that imitates this (selftests/nmipmu).
 */
#include "recorder.h"
#include "unwind.h"

/* A sampler of what @cap says, @skid bytes before, or always at @ip */
static struct hwpmc_allocate skidding(uint32_t cap, uint64_t skid, uint64_t ip)
{
	struct hwpmc_allocate a = pmc_process_sampler(PERF_TYPE_RAW, 0,
						      scaled(2000000, 10000000),
						      HWPMC_F_UNWIND);

	a.caps = cap;
	a.config1 = skid;
	a.config2 = ip;
	return a;
}

#define NEEDS_SKID() do {						\
	if (!perf_can_skid())						\
		SKIP(return, "no PMU here that skids");			\
} while (0)

/* ------------------------------------------------------------------------
 * The program: skid_outer() -> skid_mid() -> a leaf, without frame pointers
 */
#define PLAIN	__attribute__((noipa, optimize("omit-frame-pointer", \
					       "no-optimize-sibling-calls")))

/* Nobody calls it: the leaves have its address on their stack. */
void skid_decoy(void);
void skid_pushes(void (*decoy)(void));
void skid_calls(void);
extern const char skid_before[];

#if defined(__x86_64__)
/*
 * Each instruction that moves the stack pointer has one byte, and SKID bytes before any
 * is an instruction of the same function.  The jumps are for emulators, which let
 * interrupts in only there.
 */
#define SKID	6
asm(".text\n"
    ".type skid_pushes, @function\n"
    "skid_pushes:\n"
    "	.cfi_startproc\n"
    "	.fill 16, 1, 0x90\n"
    "	mov $3000, %ecx\n"
    "1:	.rept 8\n"
    "	push %rdi\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	.endr\n"
    "	jmp 2f\n"
    "2:	.fill 16, 1, 0x90\n"
    "	.rept 8\n"
    "	pop %rdi\n"
    "	.cfi_adjust_cfa_offset -8\n"
    "	.endr\n"
    "	jmp 3f\n"
    "3:	.fill 16, 1, 0x90\n"
    "	dec %ecx\n"
    "	jnz 1b\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size skid_pushes, . - skid_pushes\n"
    ".type skid_calls, @function\n"
    "skid_calls:\n"
    "	.cfi_startproc\n"
    "	sub $24, %rsp\n"
    "	.cfi_adjust_cfa_offset 24\n"
    "	mov $300, %edx\n"
    "skid_before:\n"
    "1:	mov %edx, 8(%rsp)\n"
    "	mov $110, %eax\n"			/* SYS_getppid */
    "	syscall\n"
    "	mov 8(%rsp), %edx\n"
    "	dec %edx\n"
    "	jnz 1b\n"
    "	add $24, %rsp\n"
    "	.cfi_adjust_cfa_offset -24\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size skid_calls, . - skid_calls\n");
#else
#define SKID	4
const char skid_before[1];
void skid_pushes(void (*decoy)(void)) { }
void skid_calls(void) { }
#endif

PLAIN void skid_decoy(void)
{
	__asm__ volatile(".rept 16; nop; .endr" : : : "memory");
}

PLAIN static int skid_mid(bool calls)
{
	if (calls)
		skid_calls();
	else
		skid_pushes((void (*)(void))((uintptr_t)skid_decoy + 8));
	return 1;
}

PLAIN static int skid_outer(bool calls)
{
	return skid_mid(calls) + 1;
}

static int skid_for_ever(struct target *t, void *arg)
{
	for (;;)
		skid_outer(arg);
	return 0;
}

/* What a log says of samples in the leaf */
struct chains {
	unsigned int	n;
	unsigned int	right;
	unsigned int	wrong;		/* nothing says that they are cut */
};

static bool is_called(FIXTURE_DATA(unwind) *self, const struct sample *s)
{
	return s->npc > 2 && !strcmp(name(self, s, 1), "skid_mid") &&
	       !strcmp(name(self, s, 2), "skid_outer");
}

static struct chains chains_of(FIXTURE_DATA(unwind) *self, const char *leaf)
{
	struct chains c = {};
	struct sample s;

	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (!s.user || !s.npc || strcmp(name(self, &s, 0), leaf))
			continue;
		c.n++;
		if (is_called(self, &s))
			c.right++;
		else if (!s.late && !(s.flags & PMCLOG_CC_CUT_ANY))
			c.wrong++;
	}
	return c;
}

/* Chains that have come later for samples at @leaf */
static unsigned int answers_at(FIXTURE_DATA(unwind) *self, const char *leaf)
{
	const size_t pcs = offsetof(struct pmclog_ext_userchain, pc);
	struct pmclog_rec rec;
	unsigned int n = 0;

	LOG_FOR_EACH(&self->log, rec) {
		if (!IS_EXT(&rec, USERCHAIN) ||
		    rec.len < sizeof(struct pmclog_ext_userchain) + 8)
			continue;
		n += !strcmp(symbols_name(self->symbols,
					  pmclog_get64(rec.data + pcs)), leaf);
	}
	return n;
}

static void sample_skidding(META, FIXTURE_DATA(unwind) *self,
			    struct hwpmc_allocate a, bool calls)
{
	unsigned int i;

	ASSERT_TRUE(target_begin(&self->target, skid_for_ever,
				 calls ? self : NULL));
	ASSERT_EQ(0, dev_run_on(self->dev, a, self->target.pid, &a.id));
	target_go(&self->target);
	for (i = 0; i < 60; i++) {
		sleep_ms(50);
		pmc_owner_unwind(self->owner);
	}
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	end_log(_metadata, self, LOG_DROPS);
}

static void check_chains(META, FIXTURE_DATA(unwind) *self, const char *leaf)
{
	struct chains c = chains_of(self, leaf);

	TH_LOG("%u in %s: %u right, %u wrong, others cut or late; %u came later", c.n,
	       leaf, c.right, c.wrong, answers_at(self, leaf));
	EXPECT_LT(50, c.n);
	/* the first come before tables */
	EXPECT_LE(8 * c.n, 10 * c.right);
	EXPECT_LE(50 * c.wrong, c.n);
	EXPECT_LT(0, answers_at(self, leaf));
}

/* The stack pointer has moved since the instruction of the sample. */
TEST_F(unwind, user)
{
	NEEDS_SKID();
	sample_skidding(_metadata, self, skidding(HWPMC_CAP_USER, SKID, 0),
			false);
	check_chains(_metadata, self, "skid_pushes");
}

/*
 * The instruction was of user mode, and the interrupt has hit the system call that
 * came next: samples of user mode with the stack pointer of the kernel.
 */
TEST_F(unwind, user_before_call)
{
	uint64_t at = (uintptr_t)skid_before;

	NEEDS_SKID();
	sample_skidding(_metadata, self, skidding(HWPMC_CAP_SYSTEM, 0, at),
			true);
	check_chains(_metadata, self, "skid_calls");
}

/* Frames of a 32-bit program are 32-bit ones, whatever code segment perf passes. */
TEST(program_of_32_bits)
{
	static const char * const names[] = { "inner", "middle", "outer" };
	struct hwpmc_allocate a = skidding(HWPMC_CAP_USER, 1, 0);
	unsigned int n = 0, right = 0, i;
	int dev = dev_open(), file = temp_file();
	struct symbols *sy;
	struct sample s;
	struct log log;
	pid_t pid;

	NEEDS_SKID();
	if (!workload_path("spin32"))
		SKIP(return, "no 32-bit programs here");
	sy = symbols_elf(workload_path("spin32"));
	ASSERT_NE(NULL, sy);
	pid = workload_start("spin32", 0);
	sleep_ms(200);
	if (waitpid(pid, NULL, WNOHANG))
		SKIP(return, "this kernel runs no 32-bit programs");
	a.flags &= ~HWPMC_F_UNWIND;
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_run_on(dev, a, pid, NULL));
	EXPECT_TRUE(wait_committed(dev, 200));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(&log, file, LOG_DROPS);
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if (!s.user)
			continue;
		n++;
		for (i = 0; i < 3 && i < s.npc; i++)
			if (strcmp(names[i], symbols_name(sy, s.pc[i] - !!i)))
				break;
		right += i == 3;
	}
	TH_LOG("%u samples, %u right", n, right);
	EXPECT_LE(200, n);
	EXPECT_LE(9 * n, 10 * right);
	close(dev);
}

TEST_HARNESS_MAIN
