// SPDX-License-Identifier: GPL-2.0-only
/*
 * User chains by unwind tables: of code without frame pointers, with the tables
 * that libpmc makes, and with none, with wrong ones and with hostile ones.  How
 * tables are asked for, kept and charged: unwindobject.c.
 */
#include <inttypes.h>
#include <link.h>
#include <sys/auxv.h>

#include "tracefs.h"
#include "unwind.h"

static int spinner(struct target *t, void *arg)
{
	static volatile char page;

	for (;;)
		outer(&page, 1);
	return 0;
}

TEST_F(unwind, whole)
{
	unsigned int n, whole;

	begin(_metadata, self, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_TRUE(is_wanted(self->dev));
	EXPECT_LT(0, pmc_owner_unwind(self->owner));
	finish(_metadata, self);
	n = tally(_metadata, self, 0, &whole);
	EXPECT_EQ(2 * TOUCHES, n);
	/* all since there are tables, but one whose map was stale; none before */
	EXPECT_LE(TOUCHES - 1, whole);
	EXPECT_GE(TOUCHES, whole);
	EXPECT_EQ(whole, self->told);
	EXPECT_LE(TOUCHES, self->log.account.cut_by[PMCLOG_CUT_TABLE] +
			   self->log.account.late);
}

/* Who did not ask for tables has none, and is told so. */
TEST_F(unwind, not_asked)
{
	unsigned int n = 0;
	struct sample s;

	begin_by(_metadata, self, 0, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		n++;
		EXPECT_EQ(0, s.flags & PMCLOG_CC_TABLES);
	}
	EXPECT_LE(TOUCHES, n);
}

/* Each CPU is sampled; what there is of the program is whole. */
TEST_F(unwind, system)
{
	struct hwpmc_allocate a = pmc_clock(200);
	unsigned int whole = 0, n = 0, i;
	struct sample s;

	a.flags |= HWPMC_F_UNWIND;
	ASSERT_TRUE(target_begin(&self->target, spinner, NULL));
	ASSERT_EQ(0, dev_run(self->dev, a, &a.id));
	target_go(&self->target);
	for (i = 0; i < 40; i++) {
		sleep_ms(50);
		pmc_owner_unwind(self->owner);
	}
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	end_log(_metadata, self, LOG_DROPS);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (s.pid != self->target.pid || !s.user || s.late)
			continue;
		n++;
		EXPECT_EQ(!strcmp(name(self, &s, s.npc - 1), "_start"),
			  !!(s.flags & PMCLOG_CC_WHOLE));
		whole += !!(s.flags & PMCLOG_CC_WHOLE);
	}
	TH_LOG("%u of %u whole", whole, n);
	EXPECT_LT(20, n);
	EXPECT_LE(n * 8, whole * 10);	/* the first come before tables */
}

/* Nobody has a table: what was sampled is there, and what frame pointers say. */
TEST_F(unwind, none)
{
	unsigned int n, whole;
	uint32_t id;
	int fd;

	begin(_metadata, self, toucher, NULL);
	id = ask(_metadata, self, &fd);
	close(fd);
	EXPECT_EQ(0, table_give(self->dev, id, NULL, 0));
	finish(_metadata, self);
	n = tally(_metadata, self, 0, &whole);
	EXPECT_EQ(2 * TOUCHES, n);
	EXPECT_EQ(0, whole);
	EXPECT_EQ(0, self->tables);
}

/* A function without a table, which uses the frame pointer's register for a 0 */
static int zero_toucher(struct target *t, void *arg)
{
	volatile char *p = fresh_pages(2 * TOUCHES);
	unsigned int i;

	for (i = 0; i < TOUCHES; i++)
		zero_leaf(p + i * PAGE);
	target_pause(t);
	for (; i < 2 * TOUCHES; i++)
		zero_leaf(p + i * PAGE);
	return 0;
}

/* Its callers are not found, and no chain says that it has none. */
static void record_zero(META, FIXTURE_DATA(unwind) *self, uint32_t flags)
{
	unsigned int n = 0, whole = 0;
	struct sample s;

	begin_by(_metadata, self, flags, zero_toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	if (flags & HWPMC_F_UNWIND)
		EXPECT_LT(0, pmc_owner_unwind(self->owner));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (!s.npc || s.late || strcmp(name(self, &s, 0), "zero_leaf"))
			continue;
		n++;
		EXPECT_EQ(1, s.npc);
		whole += !!(s.flags & PMCLOG_CC_WHOLE);
		EXPECT_EQ(0, s.flags & PMCLOG_CC_TABLES);
	}
	TH_LOG("%u of %u say that they are whole", whole, n);
	EXPECT_LE(TOUCHES - 1, n);
	EXPECT_EQ(0, whole);
}

TEST_F(unwind, zero_by_tables)
{
	record_zero(_metadata, self, HWPMC_F_UNWIND);
}

TEST_F(unwind, zero_by_frame_pointers)
{
	record_zero(_metadata, self, 0);
}

/*
 * A probe of the return of a function has taken the place of its caller on the stack: the
 * chain is cut there, and does not have what is on the stack above.
 */
TEST_F(unwind, uretprobe)
{
	static const char group[] = "hwpmc_unwind/outer";
	char path[200] = "", what[300];
	unsigned int n = 0;
	struct sample s;
	uint64_t offset;

	ASSERT_TRUE(file_offset(plain_outer, &offset));
	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	snprintf(what, sizeof(what), "r:%s %s:0x%" PRIx64, group, path, offset);
	if (!tracefs_probe("uprobe", what))
		SKIP(return, "no uprobes");
	EXPECT_TRUE(tracefs_enable(group, true));
	begin(_metadata, self, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_LT(0, pmc_owner_unwind(self->owner));
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	EXPECT_TRUE(tracefs_enable(group, false));
	tracefs_unprobe("uprobe", group);
	end_log(_metadata, self, 0);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (!s.npc || s.late || strcmp(name(self, &s, 0), "plain_leaf"))
			continue;
		EXPECT_GE(3, s.npc);
		EXPECT_EQ(PMCLOG_CC_CUT(PMCLOG_CUT_TABLE),
			  s.flags & ~(PMCLOG_CC_USERSPACE | PMCLOG_CC_TABLES));
		n += s.npc == 3 && !strcmp(name(self, &s, 2), "plain_outer");
	}
	TH_LOG("%u end at the probe", n);
	EXPECT_LE(TOUCHES - 1, n);
}

/* Rules that lead nowhere, in circles, or out of the program's memory */
static const struct hwpmc_unwind_rule hostile[] = {
	{ .cfa = HWPMC_CFA_SP, .ra = HWPMC_AT_SP, .flags = HWPMC_RULE_SIGNAL },
	{ .cfa = HWPMC_CFA_SP, .ra = HWPMC_AT_SP },
	{ .cfa = HWPMC_CFA_SP, .cfa_offset = -8, .ra = HWPMC_AT_CFA },
	{ .cfa = HWPMC_CFA_SP, .cfa_offset = 3, .ra = HWPMC_AT_CFA },
	{ .cfa = HWPMC_CFA_SP, .cfa_offset = INT32_MIN, .ra = HWPMC_AT_CFA },
	{ .cfa = HWPMC_CFA_SP, .cfa_offset = 8, .ra = HWPMC_AT_CFA,
	  .ra_offset = INT32_MAX - 7 },
	{ .cfa = HWPMC_CFA_FP_DEREF, .cfa_add = INT32_MIN, .ra = HWPMC_AT_FP },
	{ .cfa = HWPMC_CFA_SP_DEREF, .ra = HWPMC_AT_CFA },
	{ .cfa = HWPMC_CFA_REG, .ra = HWPMC_AT_CFA },
	{ .cfa = HWPMC_CFA_REGS - 1, .ra = HWPMC_AT_CFA },
	{ .cfa = HWPMC_CFA_PLT, .cfa_offset = 8, .cfa_add = INT32_MIN,
	  .ra = HWPMC_AT_CFA, .ra_offset = -8 },
	{ .cfa = HWPMC_CFA_SP, .cfa_offset = 8, .ra = HWPMC_AT_SAME },
	{ .cfa = HWPMC_CFA_SP, .cfa_offset = 8, .ra = HWPMC_AT_CFA,
	  .fp = HWPMC_AT_FP, .fp_offset = INT32_MIN },
};

static void be_hostile(META, const struct hwpmc_unwind_rule *rule)
{
	struct small table = small_table(*rule);
	FIXTURE_DATA(unwind) data = {}, *self = &data;
	unsigned int n = 0, i;
	struct sample s;
	uint32_t id;
	int fd;

	self->dev = dev_open();
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
	begin(_metadata, self, toucher, NULL);
	id = ask(_metadata, self, &fd);
	close(fd);
	EXPECT_EQ(0, table_give(self->dev, id, &table, sizeof(table)));
	finish(_metadata, self);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		n++;
		for (i = 0; i < s.npc; i++)
			EXPECT_FALSE(addr_is_kernel(s.pc[i]));
	}
	EXPECT_LE(2 * TOUCHES, n);
	log_free(&self->log);
	close(self->dev);
	close(self->file);
}

TEST_F(unwind, hostile)
{
	unsigned int i;

	for (i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		be_hostile(_metadata, &hostile[i]);
}

/* ------------------------------------------------------------------------
 * The same code at another place, and then other code there
 */
struct copy {
	uintptr_t	base;		/* where pages of the program are to be */
	uintptr_t	from;		/* the page that plain_outer() is in */
	off_t		offset;		/* of that page, in the file */
};

#define COPY_PAGES	4
#define COPY_AT		0x500000000UL

static void call_copy(const struct copy *c, int shift)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uintptr_t delta = c->base - c->from + shift * PAGE;

	mmap((void *)c->base, (COPY_PAGES + 1) * PAGE, PROT_READ | PROT_EXEC,
	     MAP_PRIVATE | MAP_FIXED, fd, c->offset - shift * PAGE);
	close(fd);
	outer = (void *)((uintptr_t)plain_outer + delta);
	touch(TOUCHES);
}

static int copier(struct target *t, void *arg)
{
	call_copy(arg, 0);
	target_pause(t);
	call_copy(arg, 0);
	/* the same addresses are other places of the file */
	call_copy(arg, 1);
	target_pause(t);
	return 0;
}

static bool find_copy(struct copy *c)
{
	const ElfW(Phdr) *ph = (const void *)getauxval(AT_PHDR);
	uintptr_t a = (uintptr_t)plain_leaf, b = (uintptr_t)plain_outer;
	uintptr_t first = a < b ? a : b;
	unsigned long i;

	c->from = first & -PAGE;
	for (i = 0; i < getauxval(AT_PHNUM); i++, ph++)
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) &&
		    first - ph->p_vaddr < ph->p_filesz)
			c->offset = ph->p_offset + (c->from - ph->p_vaddr);
	c->base = COPY_AT;
	return c->offset >= PAGE;
}

/* The copier's log, with tables from its pause on */
static void record_copies(META, FIXTURE_DATA(unwind) *self, struct copy *copy)
{
	begin(_metadata, self, copier, copy);
	finish_by_tables(_metadata, self);
}

/* ------------------------------------------------------------------------
 * Code without a file is moved.
 */
#define MOVED_TO	0x600000000UL

__attribute__((noipa, optimize("no-omit-frame-pointer")))
static void touch_by(uintptr_t code, unsigned int n)
{
	volatile char *p = fresh_pages(n);
	unsigned int i;

	for (i = 0; i < n; i++)
		((void (*)(volatile char *))code)(p + i * PAGE);
	__asm__ volatile("");
}

/* A function that touches the page that is passed to it */
#if defined(__x86_64__)
static const unsigned char code[] = { 0xc6, 0x07, 0x01, 0xc3 };
#else
static const uint32_t code[] = { 0x52800021, 0x39000001, 0xd65f03c0 };
#endif

static int mover(struct target *t, void *arg)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(p, code, sizeof(code));
	__builtin___clear_cache(p, p + sizeof(code));
	touch_by((uintptr_t)p, TOUCHES);
	if (mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   (void *)MOVED_TO) == MAP_FAILED)
		return 1;
	touch_by(MOVED_TO, TOUCHES);
	target_pause(t);
	return 0;
}

/* All samples of the page @at have callers, now or later. */
static void check_deep(META, FIXTURE_DATA(unwind) *self, uint64_t at)
{
	unsigned int n = 0, deep = 0;
	struct sample s;

	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		if (!s.npc || s.pc[0] - at >= PAGE)
			continue;
		n++;
		deep += s.late || s.npc > 1;
	}
	TH_LOG("%u of %u have callers", deep, n);
	EXPECT_EQ(TOUCHES, n);
	EXPECT_EQ(n, deep);
}

TEST_F(unwind, moved_without_file)
{
	begin(_metadata, self, mover, NULL);
	finish(_metadata, self);
	check_deep(_metadata, self, MOVED_TO);
}

TEST_F(unwind, mapped_later)
{
	unsigned int n, whole;
	struct copy copy = {};

	if (!find_copy(&copy))
		SKIP(return, "the program is not laid out for it");
	record_copies(_metadata, self, &copy);
	n = tally(_metadata, self, copy.base - copy.from, &whole);
	EXPECT_EQ(2 * TOUCHES, n);
	EXPECT_LE(TOUCHES - 1, whole);
	/* the first of them leads to a new map */
	n = tally(_metadata, self, copy.base - copy.from + PAGE, &whole);
	EXPECT_EQ(TOUCHES, n);
	EXPECT_LE(TOUCHES - 1, whole);
}

/* ------------------------------------------------------------------------
 * More code than a map has room for: without files, and below that of files
 */
#define AREAS		5000	/* of which the lowest 4096 have room */
#define AREAS_AT	0x200000000UL

/* The last one touches the page that is passed to it. */
static uintptr_t make_areas(void)
{
	char *p = NULL;
	unsigned int i;

	for (i = 0; i < AREAS; i++)
		p = mmap((void *)(AREAS_AT + 2 * i * PAGE), PAGE,
			 PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(p, code, sizeof(code));
	__builtin___clear_cache(p, p + sizeof(code));
	return (uintptr_t)p;
}

static int areas_toucher(struct target *t, void *arg)
{
	uintptr_t last = make_areas();

	/* a process may spend a tenth of its time on maps, and has built some by now */
	sleep_ms(scaled(200, 3000));
	call_copy(arg, 0);
	target_pause(t);
	/* that map may not have come: a slow worker can have kept the lock for too long */
	sleep_ms(scaled(200, 3000));
	touch(TOUCHES);
	touch_by(last, TOUCHES);
	target_pause(t);
	return 0;
}

TEST_F(unwind, too_many_areas)
{
	unsigned int n, whole;
	struct copy copy = {};

	if (!find_copy(&copy))
		SKIP(return, "the program is not laid out for it");
	begin(_metadata, self, areas_toucher, &copy);
	finish_by_tables(_metadata, self);
	check_deep(_metadata, self, AREAS_AT + 2 * (AREAS - 1) * PAGE);
	n = tally(_metadata, self, copy.base - copy.from, &whole);
	TH_LOG("%u of %u whole", whole, n);
	EXPECT_EQ(2 * TOUCHES, n);
	EXPECT_LE(TOUCHES - 1, whole);
}

/*
 * The handler finds no map of the process' code, or one of before a mapping: the task
 * logs the chain itself.  A chain that ends in code without a table yet has that cause.
 */
TEST_F(unwind, late)
{
	unsigned int whole = 0, untold = 0, pcs;
	struct pmclog_rec rec;
	struct copy copy = {};
	uint32_t ends;

	if (!find_copy(&copy))
		SKIP(return, "the program is not laid out for it");
	record_copies(_metadata, self, &copy);
	LOG_FOR_EACH(&self->log, rec) {
		if (!IS_EXT(&rec, USERCHAIN))
			continue;
		ends = PMCLOG_USERCHAIN_FLAGS(
			rec.data[offsetof(struct pmclog_ext, flags)]);
		pcs = (rec.len - offsetof(struct pmclog_ext_userchain, pc)) / 8;
		EXPECT_EQ(pcs > 1, !!(ends & PMCLOG_CC_TABLES));
		whole += !!(ends & PMCLOG_CC_WHOLE);
		untold += !!(ends & PMCLOG_CC_CUT(PMCLOG_CUT_TABLE));
	}
	EXPECT_LT(0, untold);
	EXPECT_LT(0, whole);
	EXPECT_EQ(self->log.late_answered, whole + untold);
}

TEST_HARNESS_MAIN
