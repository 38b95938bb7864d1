// SPDX-License-Identifier: GPL-2.0-only
/*
 * User chains by unwind tables: of code without frame pointers, with the tables that
 * libpmc makes, and with none, with wrong ones and with hostile ones.
 */
#include <dirent.h>
#include <link.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/userfaultfd.h>
#include <linux/hwpmc_unwind.h>
#include <pmc.h>

#include "limit.h"
#include "recorder.h"
#include "symbols.h"
#include "table.h"
#include "target.h"
#include "test.h"
#include "user.h"

#define PAGE		4096
#define USER		1000
#define TOUCHES		16

/* ------------------------------------------------------------------------
 * The program: plain_outer() -> plain_mid() -> plain_leaf(), which faults.  None
 * has a frame pointer where the architecture lets it do without.
 */
#define PLAIN	__attribute__((noipa, optimize("omit-frame-pointer", \
					       "no-optimize-sibling-calls")))

PLAIN static void plain_leaf(volatile char *page)
{
	*page = 1;
}

PLAIN static long plain_mid(volatile char *page, long a)
{
	volatile long room[20] = { a };

	plain_leaf(page);
	return room[0] + a;
}

PLAIN static long plain_outer(volatile char *page, long a)
{
	return plain_mid(page, a + 1) * 3;
}

static long (*volatile outer)(volatile char *page, long a) = plain_outer;

static const char * const callers[] = {
	"plain_leaf", "plain_mid", "plain_outer",
};

static volatile char *fresh_pages(unsigned int n)
{
	return mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void touch(unsigned int n)
{
	volatile char *p = fresh_pages(n);
	unsigned int i;

	for (i = 0; i < n; i++)
		outer(p + i * PAGE, i);
}

static int toucher(struct target *t, void *arg)
{
	touch(TOUCHES);
	target_pause(t);
	touch(TOUCHES);
	target_pause(t);
	return 0;
}

static int spinner(struct target *t, void *arg)
{
	static volatile char page;

	for (;;)
		outer(&page, 1);
	return 0;
}

/* ------------------------------------------------------------------------ */

FIXTURE(unwind)
{
	struct pmc_owner *owner;
	struct symbols	*symbols;
	struct target	target;
	struct log	log;
	int		dev;
	int		file;
	uint32_t	id;
	unsigned int	told;
};

FIXTURE_SETUP(unwind)
{
	self->symbols = symbols_elf("/proc/self/exe");
	ASSERT_NE(NULL, self->symbols);
	self->owner = pmc_owner_open(0);
	ASSERT_NE(NULL, self->owner);
	self->dev = pmc_owner_fd(self->owner);
	self->file = temp_file();
	ASSERT_EQ(0, dev_configure(self->dev, self->file));
}

FIXTURE_TEARDOWN(unwind)
{
	if (self->target.pid)
		target_kill(&self->target);
	pmc_owner_close(self->owner);
	symbols_free(self->symbols);
	close(self->file);
}

#define META	struct __test_metadata *_metadata

static void begin_by(META, FIXTURE_DATA(unwind) *self, uint32_t flags,
		     int (*body)(struct target *t, void *arg), void *arg)
{
	struct hwpmc_allocate a = pmc_process_faults(flags);

	ASSERT_TRUE(target_begin(&self->target, body, arg));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	self->id = a.id;
	ASSERT_EQ(0, dev_attach(self->dev, a.id, self->target.pid));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
}

static void begin(META, FIXTURE_DATA(unwind) *self,
		  int (*body)(struct target *t, void *arg), void *arg)
{
	begin_by(_metadata, self, HWPMC_F_UNWIND, body, arg);
}

static bool is_wanted(int dev)
{
	struct pollfd fd = { .fd = dev, .events = POLLRDBAND };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLRDBAND);
}

static void end_log(META, FIXTURE_DATA(unwind) *self, unsigned int flags)
{
	ASSERT_EQ(0, dev_closelog(self->dev));
	ASSERT_TRUE(log_load(&self->log, self->file));
	ASSERT_LOG(&self->log, flags);
}

static const char *name(FIXTURE_DATA(unwind) *self, const struct sample *s,
			unsigned int i)
{
	return symbols_name(self->symbols, s->pc[i] - !!i);
}

/* The three, @bias above where the linker has put them, and so to the beginning */
static bool is_whole(FIXTURE_DATA(unwind) *self, const struct sample *s,
		     uint64_t bias)
{
	unsigned int i;

	if (s->npc < 4)
		return false;
	for (i = 0; i < 3; i++)
		if (strcmp(symbols_name(self->symbols, s->pc[i] - bias - !!i),
			   callers[i]))
			return false;
	return !strcmp(name(self, s, s->npc - 1), "_start");
}

/* Faults in plain_leaf(), at @bias: all, whole ones, and those that say so (@told) */
static unsigned int tally(META, FIXTURE_DATA(unwind) *self, uint64_t bias,
			  unsigned int *whole)
{
	unsigned int n = 0;
	struct pmclog_rec rec;
	bool is, told;
	struct sample s;

	*whole = 0;
	LOG_FOR_EACH(&self->log, rec) {
		if (!log_sample(&rec, &s) || !s.npc ||
		    strcmp(symbols_name(self->symbols, s.pc[0] - bias),
			   "plain_leaf"))
			continue;
		n++;
		if (s.late)
			continue;
		is = is_whole(self, &s, bias);
		told = s.flags & PMCLOG_CC_WHOLE;
		EXPECT_LE(is, told);
		EXPECT_NE(0, s.flags & PMCLOG_CC_TABLES);
		*whole += is;
		self->told += told;
	}
	return n;
}

TEST_F(unwind, whole)
{
	unsigned int n, whole;

	begin(_metadata, self, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_TRUE(is_wanted(self->dev));
	EXPECT_LT(0, pmc_owner_unwind(self->owner));
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
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
	struct pmclog_rec rec;
	unsigned int n = 0;
	struct sample s;

	begin_by(_metadata, self, 0, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH(&self->log, rec) {
		if (!log_sample(&rec, &s))
			continue;
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
	struct pmclog_rec rec;
	struct sample s;

	a.flags |= HWPMC_F_UNWIND;
	ASSERT_TRUE(target_begin(&self->target, spinner, NULL));
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	target_go(&self->target);
	for (i = 0; i < 40; i++) {
		sleep_ms(50);
		pmc_owner_unwind(self->owner);
	}
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	end_log(_metadata, self, LOG_DROPS);
	LOG_FOR_EACH(&self->log, rec) {
		if (!log_sample(&rec, &s) || s.pid != self->target.pid ||
		    !s.user || s.late)
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

TEST_F(unwind, next)
{
	struct hwpmc_unwindnext a;
	struct stat mine, theirs;
	bool found = false;

	begin(_metadata, self, toucher, NULL);
	EXPECT_FALSE(is_wanted(self->dev));
	EXPECT_EQ(-EAGAIN, table_next(self->dev, &a));
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_TRUE(is_wanted(self->dev));
	ASSERT_EQ(0, stat("/proc/self/exe", &mine));
	while (!table_next(self->dev, &a)) {
		EXPECT_NE(0, a.id);
		if (a.fd < 0)
			continue;
		EXPECT_EQ(FD_CLOEXEC, fcntl(a.fd, F_GETFD));
		EXPECT_EQ(O_PATH, fcntl(a.fd, F_GETFL) & O_PATH);
		ASSERT_EQ(0, fstat(a.fd, &theirs));
		found |= mine.st_ino == theirs.st_ino &&
			 mine.st_dev == theirs.st_dev;
		close(a.fd);
	}
	EXPECT_TRUE(found);
	EXPECT_FALSE(is_wanted(self->dev));
}

static unsigned int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* An answer that cannot be written has not been given. */
TEST_F(unwind, untellable)
{
	struct hwpmc_unwindnext a, *fixed;
	unsigned int before;

	begin(_metadata, self, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	fixed = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, fixed);
	before = open_files();
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev, HWPMC_IOC_UNWINDNEXT, fixed));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->dev, HWPMC_IOC_UNWINDNEXT, fixed));
	EXPECT_EQ(before, open_files());
	EXPECT_TRUE(is_wanted(self->dev));
	EXPECT_EQ(0, table_next(self->dev, &a));
	EXPECT_EQ(1, a.id);
	close(a.fd);
}

/* ------------------------------------------------------------------------
 * Tables
 */
static int give_file(int dev, const void *table, size_t len)
{
	struct hwpmc_unwindtable t = {
		.fd = temp_file(), .data = (uintptr_t)table, .len = len,
	};
	int err = dev_ioctl(dev, HWPMC_IOC_UNWINDTABLE, &t);

	close(t.fd);
	return err;
}

/* Where there is no room, tables of what nobody executes make some in a while. */
TEST_F(unwind, given_back)
{
	int full = 0, later = -ENOSPC;
	unsigned int whole, i;
	size_t len;
	void *table = big_table(&len);

	begin(_metadata, self, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_LT(0, pmc_owner_unwind(self->owner));
	for (i = 0; i < 5000 && !full; i++)
		full = give_file(self->dev, table, len);
	EXPECT_TRUE(!full || full == -ENOSPC);
	for (i = 0; i < 200 && later == -ENOSPC; i++) {
		sleep_ms(100);
		later = give_file(self->dev, table, len);
	}
	EXPECT_EQ(0, later);
	/* what is executed has kept its table */
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
	EXPECT_EQ(2 * TOUCHES, tally(_metadata, self, 0, &whole));
	EXPECT_LE(TOUCHES - 1, whole);
	free(table);
}

/* The id and the file of this program, asked for and not answered */
static uint32_t ask(META, FIXTURE_DATA(unwind) *self, int *fd)
{
	struct hwpmc_unwindnext n;

	ASSERT_TRUE(target_step(&self->target)) return 0;
	ASSERT_EQ(0, table_next(self->dev, &n)) return 0;
	*fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	close(n.fd);
	return n.id;
}

TEST_F(unwind, answered_once)
{
	const struct small good = small_table(usual);
	struct hwpmc_unwindtable t = {
		.data = (uintptr_t)&good, .len = sizeof(good),
	};
	uint32_t id;

	begin(_metadata, self, toucher, NULL);
	id = ask(_metadata, self, &t.fd);
	EXPECT_EQ(0, table_give(self->dev, id, &good, sizeof(good)));
	EXPECT_EQ(-EEXIST, table_give(self->dev, id, &good, sizeof(good)));
	EXPECT_EQ(-EEXIST, dev_ioctl(self->dev, HWPMC_IOC_UNWINDTABLE, &t));
	close(t.fd);
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
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
	n = tally(_metadata, self, 0, &whole);
	EXPECT_EQ(2 * TOUCHES, n);
	EXPECT_EQ(0, whole);
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
	struct pmclog_rec rec;
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
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH(&self->log, rec) {
		if (!log_sample(&rec, &s))
			continue;
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
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_LT(0, pmc_owner_unwind(self->owner));
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
}

/*
 * Each change of a file makes another object of it.  Objects count as memory of the
 * rings, so that a user cannot have any number of them.
 */
static int make_objects(void)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	struct hwpmc_unwindtable t = {};
	struct timespec times[2] = {};
	int dev, err = 0;
	unsigned int n;

	if (!user_become(USER))
		return 1;
	t.fd = temp_file();
	dev = dev_open();
	if (dev < 0 || dev_allocate(dev, &a))
		return 2;
	for (n = 0; n < 10000 && !err; n++) {
		times[1].tv_sec = n;
		if (futimens(t.fd, times))
			return 3;
		err = dev_ioctl(dev, HWPMC_IOC_UNWINDTABLE, &t);
	}
	/* a MiB holds some thousands */
	return err == -EDQUOT && n > 1000 ? 0 : 4;
}

TEST_F(unwind, objects_charged)
{
	ASSERT_TRUE(device_for_group());
	ASSERT_TRUE(limit("max_ringmem", 1));
	EXPECT_EQ(0, elsewhere(make_objects));
	limit_restore();
	device_for_root();
}

/* ------------------------------------------------------------------------
 * The tables of an owner that has closed, while a task still uses them
 */

/* The touch of a page, with a frame pointer that leads to memory that does not come */
static void touch_stuck(volatile char *page, char *stack, char *frame)
{
#if defined(__x86_64__)
	asm volatile("mov %%rsp, %%r12; mov %%rbp, %%r13; mov %1, %%rsp;"
		     "mov %2, %%rbp; movb $1, (%0);"
		     "mov %%r12, %%rsp; mov %%r13, %%rbp"
		     : : "r" (page), "r" (stack), "r" (frame)
		     : "r12", "r13", "memory");
#else
	asm volatile("mov x9, sp; mov x10, x29; mov sp, %1; mov x29, %2;"
		     "strb wzr, [%0]; mov sp, x9; mov x29, x10"
		     : : "r" (page), "r" (stack), "r" (frame)
		     : "x9", "x10", "memory");
#endif
}

static int get_stuck(struct target *t, void *arg)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *p = (char *)fresh_pages(4);
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	r.range.start = (uintptr_t)p + 2 * PAGE;
	r.range.len = 2 * PAGE;
	p[0] = 1;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r))
		return 1;
	touch(TOUCHES);
	target_pause(t);
	touch_stuck(p + PAGE, p + PAGE / 2, p + 2 * PAGE);
	return 0;
}

/* Tables until there is no room */
static int give_all(int dev, const void *table, size_t len)
{
	int n = 0;

	while (n < 1000 && !give_file(dev, table, len))
		n++;
	return n;
}

static int room_for_another(const void *table, size_t len)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	int dev = dev_open(), n = -1;

	if (dev >= 0 && !dev_allocate(dev, &a))
		n = give_all(dev, table, len);
	close(dev);
	return n;
}

#define TABLES_MIB	16

static int keep_tables_stuck(void)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	struct hwpmc_unwindnext next;
	int dev, before, n, i;
	struct target t = {};
	size_t len;
	void *table = big_table(&len);

	a.caps = HWPMC_CAP_USER;
	if (!user_stay(USER))
		return 1;
	dev = dev_open();
	if (dev < 0 || dev_configure(dev, temp_file()) || dev_allocate(dev, &a))
		return 2;
	if (!target_begin(&t, get_stuck, NULL) ||
	    dev_attach(dev, a.id, t.pid) || dev_start(dev, a.id) ||
	    !target_step(&t))
		return 3;
	while (!table_next(dev, &next)) {
		table_give(dev, next.id, NULL, 0);
		close(next.fd);
	}
	before = give_all(dev, table, len);
	target_go(&t);
	sleep_ms(500);
	if (!wait_asleep(t.pid, t.pid))
		return 4;
	close(dev);
	n = room_for_another(table, len);
	printf("# %d tables, %d while they are in use\n", before, n);
	target_kill(&t);
	if (before < 8 || n < 0 || n >= before)
		return 5;
	for (i = 0; i < 100 && n < before; i++) {
		sleep_ms(20);
		n = room_for_another(table, len);
	}
	free(table);
	return n >= before ? 0 : 6;
}

TEST_F(unwind, in_use_charged)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || !write_text("/proc/sys/vm/unprivileged_userfaultfd", "1"))
		SKIP(return, "no userfaultfd");
	close(fd);
	ASSERT_TRUE(device_for_group());
	ASSERT_TRUE(limit("max_ringmem", TABLES_MIB));
	EXPECT_EQ(0, elsewhere(keep_tables_stuck));
	limit_restore();
	device_for_root();
	write_text("/proc/sys/vm/unprivileged_userfaultfd", "0");
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

static int mover(struct target *t, void *arg)
{
#if defined(__x86_64__)
	static const unsigned char code[] = { 0xc6, 0x07, 0x01, 0xc3 };
#else
	static const uint32_t code[] = { 0x52800021, 0x39000001, 0xd65f03c0 };
#endif
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

TEST_F(unwind, moved_without_file)
{
	unsigned int n = 0, deep = 0;
	struct pmclog_rec rec;
	struct sample s;

	begin(_metadata, self, mover, NULL);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_EQ(0, target_end(&self->target));
	end_log(_metadata, self, 0);
	LOG_FOR_EACH(&self->log, rec) {
		if (!log_sample(&rec, &s) || !s.npc ||
		    s.pc[0] - MOVED_TO >= PAGE)
			continue;
		n++;
		deep += s.late || s.npc > 1;
	}
	TH_LOG("%u of %u have callers", deep, n);
	EXPECT_EQ(TOUCHES, n);
	EXPECT_EQ(n, deep);
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

/*
 * The handler finds no map of the process' code, or one of before a mapping: the task
 * logs the chain itself.  A chain that ends in code without a table yet has that cause.
 */
TEST_F(unwind, late)
{
	unsigned int whole = 0, untold = 0;
	struct pmclog_rec rec;
	struct copy copy = {};
	uint32_t ends;

	if (!find_copy(&copy))
		SKIP(return, "the program is not laid out for it");
	record_copies(_metadata, self, &copy);
	LOG_FOR_EACH(&self->log, rec) {
		if (pmclog_iter_ext_subtype(&rec) != PMCLOG_EXT_USERCHAIN)
			continue;
		ends = PMCLOG_USERCHAIN_FLAGS(
			rec.data[offsetof(struct pmclog_ext, flags)]);
		EXPECT_NE(0, ends & PMCLOG_CC_TABLES);
		whole += !!(ends & PMCLOG_CC_WHOLE);
		untold += !!(ends & PMCLOG_CC_CUT(PMCLOG_CUT_TABLE));
	}
	EXPECT_LT(0, untold);
	EXPECT_LT(0, whole);
	EXPECT_EQ(self->log.late_answered, whole + untold);
}

TEST_HARNESS_MAIN
