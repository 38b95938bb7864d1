// SPDX-License-Identifier: GPL-2.0-only
/*
 * User chains of code that signs its return addresses (arm64: pointer authentication).
 * The codes are in the bits above an address.  There are more of these bits where the
 * processor's addresses are narrower than those that the kernel was built for.
 */
#include <sys/auxv.h>

#include <pmc.h>

#include "target.h"
#include "test.h"

/* STORE: between a function's first and last instructions in any case */
#if defined(__aarch64__)
#define SIGNS		target("branch-protection=pac-ret+leaf"),
#define CAN_SIGN	(getauxval(AT_HWCAP) & (1UL << 30))	/* HWCAP_PACA */
#define STORE(page)							\
	__asm__ volatile("strb wzr, [%0]" : : "r" (page) : "memory")
#else
#define SIGNS
#define CAN_SIGN	false
#define STORE(page)	(*(page) = 0)
#endif

#define CODE	__attribute__((noipa, SIGNS optimize("no-omit-frame-pointer", \
						     "no-optimize-sibling-calls")))
#define PAGE		4096
#define DEPTH		20
#define TOUCHES		20

/* What the program reports about itself */
static struct {
	uint64_t	ret[DEPTH];	/* where signed_down() returns to, innermost last */
	unsigned int	coded;		/* of these, how many have a code on the stack */
	unsigned int	n;
} *told;

/* ------------------------------------------------------------------------
 * The program: signed_down() calls itself and at last a function that faults, with
 * its return address in a frame or in a register.
 */
CODE static void nothing(void)
{
	__asm__ volatile("");
}

CODE static void signed_leaf(volatile char *page)
{
	STORE(page);
}

CODE static void signed_frame(volatile char *page)
{
	nothing();
	STORE(page);
	nothing();
}

typedef void last_fn(volatile char *page);

CODE static void signed_down(volatile char *page, unsigned int n, last_fn *last)
{
	uint64_t raw = ((uint64_t *)__builtin_frame_address(0))[1];
	uint64_t ret = (uintptr_t)__builtin_return_address(0);

	told->ret[told->n++] = ret;
	told->coded += raw != ret;
	if (n)
		signed_down(page, n - 1, last);
	else
		last(page);
	nothing();
}

static void touch(last_fn *last)
{
	volatile char *page = mmap(NULL, TOUCHES * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	for (i = 0; i < TOUCHES; i++) {
		told->n = 0;
		signed_down(page + i * PAGE, DEPTH - 1, last);
	}
}

static int program(struct target *t, void *last)
{
	touch(last);
	target_pause(t);
	touch(last);
	return 0;
}

/* ------------------------------------------------------------------------ */

FIXTURE(signed)
{
	struct pmc_owner *owner;
	struct symbols	*symbols;
	struct target	target;
	struct log	log;
	int		file;
};

FIXTURE_SETUP(signed)
{
	if (!CAN_SIGN)
		SKIP(return, "this processor does not sign addresses");
	told = shared_memory(sizeof(*told));
	self->symbols = symbols_elf("/proc/self/exe");
	ASSERT_NE(NULL, self->symbols);
	self->owner = pmc_owner_open(0);
	ASSERT_NE(NULL, self->owner);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(pmc_owner_fd(self->owner), self->file));
}

FIXTURE_TEARDOWN(signed)
{
	if (!self->owner)
		return;
	pmc_owner_close(self->owner);
}

/* Samples the faults of program(); tables come in the middle if @flags ask for them. */
static void record(META, FIXTURE_DATA(signed) *self, last_fn *last,
		   uint32_t flags)
{
	struct hwpmc_allocate a = pmc_process_faults(flags);
	int dev = pmc_owner_fd(self->owner);

	ASSERT_TRUE(target_begin(&self->target, program, last));
	ASSERT_EQ(0, dev_run_on(dev, a, self->target.pid, &a.id));
	EXPECT_TRUE(target_step(&self->target));
	if (flags & HWPMC_F_UNWIND)
		EXPECT_LT(0, pmc_owner_unwind(self->owner));
	EXPECT_EQ(0, target_end(&self->target));
	END_LOG(dev, self->file, &self->log, 0);
	TH_LOG("%u of %u return addresses have a code", told->coded,
	       2 * TOUCHES * DEPTH);
	/* a code of few bits may be 0 */
	EXPECT_LT(TOUCHES * DEPTH, told->coded);
}

/* The callers in @pc, which begins in the function that faults */
static bool is_true(FIXTURE_DATA(signed) *self, const uint64_t *pc,
		    unsigned int npc)
{
	unsigned int i;

	if (npc < DEPTH + 2 ||
	    strcmp(symbols_name(self->symbols, pc[1] - 1), "signed_down"))
		return false;
	for (i = 0; i < DEPTH; i++)
		if (pc[2 + i] != told->ret[DEPTH - 1 - i])
			return false;
	return !strcmp(symbols_name(self->symbols, pc[npc - 1] - 1), "_start");
}

/* Chains taken at once of @name; of these, those with the true callers */
static unsigned int at_once(FIXTURE_DATA(signed) *self, const char *name,
			    unsigned int *all)
{
	unsigned int n = 0;
	struct sample s;

	*all = 0;
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (s.late ||
		    strcmp(symbols_name(self->symbols, s.pc[0]), name))
			continue;
		++*all;
		n += (s.flags & PMCLOG_CC_WHOLE) && is_true(self, s.pc, s.npc);
	}
	return n;
}

TEST_F(signed, by_frame_pointers)
{
	unsigned int all, n;

	record(_metadata, self, signed_frame, 0);
	n = at_once(self, "signed_frame", &all);
	EXPECT_EQ(2 * TOUCHES, all);
	EXPECT_EQ(all, n);
}

static void check_tables(META, FIXTURE_DATA(signed) *self, last_fn *last,
			 const char *name)
{
	unsigned int all, n;

	record(_metadata, self, last, HWPMC_F_UNWIND);
	n = at_once(self, name, &all);
	TH_LOG("%u of %u at once are true", n, all);
	/* but for one whose map was stale */
	EXPECT_LE(TOUCHES - 1, n);
}

TEST_F(signed, by_tables)
{
	check_tables(_metadata, self, signed_frame, "signed_frame");
}

TEST_F(signed, by_tables_of_a_leaf)
{
	check_tables(_metadata, self, signed_leaf, "signed_leaf");
}

TEST_HARNESS_MAIN
