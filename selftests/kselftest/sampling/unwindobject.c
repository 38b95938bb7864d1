// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects and their unwind tables: the module asks for tables, keeps them and
 * charges their memory to a user.  unwind.c tests the chains that tables make.
 */
#include <dirent.h>

#include "fusefile.h"
#include "limit.h"
#include "recorder.h"
#include "unwind.h"
#include "user.h"

#define USER		1000

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

#define BIG		(256UL << 20)

/* Maps a page of code of a file that is large and has no name. */
static int big_mapper(struct target *t, void *arg)
{
	int fd = memfd_create("big", 0);

	(void)arg;
	if (fd < 0 || posix_fallocate(fd, 0, BIG) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	close(fd);
	touch(1);
	target_pause(t);
	return 0;
}

/* No answer comes: the writer thread does not free what the file has. */
TEST_F(unwind, freed_by_others)
{
	pid_t writer = recorder_pid();
	uint64_t ran;

	if (!task_ran(writer))
		SKIP(return, "the kernel does not say how long a thread has run");
	begin(_metadata, self, big_mapper, NULL);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_TRUE(is_wanted(self->dev));
	target_kill(&self->target);
	self->target.pid = 0;
	ran = task_ran(writer);
	ASSERT_TRUE(WAIT_UNTIL(!is_wanted(self->dev), 10000));
	sleep_ms(1000);
	ran = task_ran(writer) - ran;
	TH_LOG("%llu ms", (unsigned long long)(ran / MSEC));
	/* to free it takes 200 ms and more */
	EXPECT_GT(scaled(100, 300) * MSEC, ran);
}

/* ------------------------------------------------------------------------
 * Tables
 */
/* Where there is no room, tables of what nobody executes make some in a while. */
TEST_F_TIMEOUT(unwind, given_back, 600)
{
	const uint64_t end = now_ns() + 200000000000ULL;
	int full = 0, later = -ENOSPC;
	unsigned int whole, i;
	size_t len;
	void *table = big_table(&len);

	begin(_metadata, self, toucher, NULL);
	EXPECT_TRUE(target_step(&self->target));
	EXPECT_LT(0, pmc_owner_unwind(self->owner));
	/* where a table takes long, room is made as fast as it is used */
	for (i = 0; i < 5000 && !full && now_ns() < end; i++)
		full = give_file(self->dev, table, len);
	EXPECT_TRUE(!full || full == -ENOSPC);
	for (i = 0; i < 200 && later == -ENOSPC; i++) {
		sleep_ms(100);
		later = give_file(self->dev, table, len);
	}
	EXPECT_EQ(0, later);
	/* what is executed has kept its table */
	finish(_metadata, self);
	EXPECT_EQ(2 * TOUCHES, tally(_metadata, self, 0, &whole));
	EXPECT_LE(TOUCHES - 1, whole);
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
	EXPECT_EQ(0, elsewhere_with(1, make_objects));
}

/* ------------------------------------------------------------------------
 * The tables of an owner that has closed, while a task still uses them
 */

/*
 * The touch of a page, with a stack, and a frame pointer into it, whose memory does not
 * come.  The compiler must not have any of them in the register of the frame pointer.
 */
static void touch_stuck(volatile char *page, char *stack, char *frame)
{
#if defined(__x86_64__)
	asm volatile("mov %%rsp, %%r12; mov %%rbp, %%r13; mov %1, %%rsp;"
		     "mov %2, %%rbp; movb $1, (%0);"
		     "mov %%r12, %%rsp; mov %%r13, %%rbp"
		     : : "D" (page), "S" (stack), "d" (frame)
		     : "r12", "r13", "memory");
#else
	register volatile char *p asm("x0") = page;
	register char *sp asm("x1") = stack, *fp asm("x2") = frame;

	asm volatile("mov x9, sp; mov x10, x29; mov sp, %1; mov x29, %2;"
		     "strb wzr, [%0]; mov sp, x9; mov x29, x10"
		     : : "r" (p), "r" (sp), "r" (fp)
		     : "x9", "x10", "memory");
#endif
}

/* A file whose pages do not come */
static int stuck_file;

static int get_stuck(struct target *t, void *arg)
{
	volatile char *fresh = fresh_pages(1);
	char *stack = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			   stuck_file, 0);

	if (stack == MAP_FAILED)
		return 1;
	touch(TOUCHES);
	target_pause(t);
	touch_stuck(fresh, stack + PAGE / 2, stack + PAGE / 2 + 64);
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
	struct fusefile *f = shared_memory(sizeof(*f));
	char place[64], path[80];
	pid_t server;

	snprintf(place, sizeof(place), "/tmp/stuck-%d", getpid());
	snprintf(path, sizeof(path), "%s/file", place);
	f->hold_read = true;
	server = fusefile_begin(place, f);
	if (!server)
		SKIP(return, "no FUSE");
	stuck_file = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT_LE(0, stuck_file);
	EXPECT_EQ(0, elsewhere_with(TABLES_MIB, keep_tables_stuck));
	EXPECT_LT(0, f->reads);
	close(stuck_file);
	fusefile_end(place, server);
}

TEST_HARNESS_MAIN
