// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that serve the page faults of their own process, whose frame pointer is not
 * one: it has the address of a page that only the thread itself can supply.  A chain
 * that comes later does not wait for that page.
 */
#include <sys/syscall.h>

#include <linux/userfaultfd.h>

#include "latejob.h"
#include "table.h"
#include "target.h"
#include "test.h"

#define PAGE		4096

/*
 * @fd: the userfaultfd, of all faults, also those of the kernel
 * @stack: a page; the thread's stack pointer is in it while it spins
 * @absent: the page above it
 * @whole: the page of the stack is registered, too
 * @enough: shared: the thread need not spin any more
 */
struct own {
	int		fd;
	char		*stack;
	char		*absent;
	bool		whole;
	volatile int	*enough;
};

static bool own_pages(struct own *own)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	own->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	own->stack = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (own->fd < 0 || own->stack == MAP_FAILED)
		return false;
	own->absent = own->stack + PAGE;
	own->stack[0] = 1;
	r.range.start = (uintptr_t)(own->whole ? own->stack : own->absent);
	r.range.len = own->whole ? 2 * PAGE : PAGE;
	return !ioctl(own->fd, UFFDIO_API, &api) &&
	       !ioctl(own->fd, UFFDIO_REGISTER, &r);
}

/* Waits for @enough in user mode. */
static void spin_with(volatile int *enough, char *stack, char *frame)
{
#if defined(__x86_64__)
	asm volatile("mov %%rsp, %%r12; mov %%rbp, %%r13; mov %1, %%rsp;"
		     "mov %2, %%rbp; 1: cmpl $0, (%0); je 1b;"
		     "mov %%r12, %%rsp; mov %%r13, %%rbp"
		     : : "r" (enough), "r" (stack), "r" (frame)
		     : "r12", "r13", "memory", "cc");
#else
	asm volatile("mov x9, sp; mov x10, x29; mov sp, %1; mov x29, %2;"
		     "1: ldr w11, [%0]; cbz w11, 1b;"
		     "mov sp, x9; mov x29, x10"
		     : : "r" (enough), "r" (stack), "r" (frame)
		     : "x9", "x10", "x11", "memory");
#endif
}

/* Supplies the page, which nobody has asked for, and reads it. */
static int serve_own(struct target *t, void *arg)
{
	struct own *own = arg;
	static char content[PAGE] __attribute__((aligned(PAGE))) = { 7 };
	struct uffdio_copy copy = { .src = (uintptr_t)content, .len = PAGE };
	struct pollfd asked;

	if (!own_pages(own))
		return 1;
	target_pause(t);
	spin_with(own->enough, own->stack + PAGE / 2, own->absent);
	asked = (struct pollfd){ .fd = own->fd, .events = POLLIN };
	if (poll(&asked, 1, 0))
		return 2;
	copy.dst = (uintptr_t)own->absent;
	if (ioctl(own->fd, UFFDIO_COPY, &copy))
		return 3;
	return own->absent[0] == 7 ? 0 : 4;
}

/* No code has a table: frame pointers lead on. */
static void give_none(int dev)
{
	struct hwpmc_unwindnext next;

	while (!table_next(dev, &next)) {
		table_give(dev, next.id, NULL, 0);
		if (next.fd >= 0)
			close(next.fd);
	}
}

static void check_own(META, struct own own, uint32_t flags)
{
	struct hwpmc_allocate a = pmc_clock(scaled(997, 251));
	struct recording r;
	struct target t;
	int status, i;

	own.enough = shared_memory(sizeof(*own.enough));
	ASSERT_TRUE(target_begin(&t, serve_own, &own));
	a.flags |= flags;
	ASSERT_EQ(0, record_begin(&r, a, 0));
	ASSERT_TRUE(target_step(&t));
	target_go(&t);
	for (i = 0; i < 10; i++) {
		sleep_ms(scaled(50, 200));
		if (flags & HWPMC_F_UNWIND)
			give_none(r.dev);
	}
	*own.enough = 1;
	ASSERT_TRUE(WAIT_UNTIL(waitpid(t.pid, &status, WNOHANG) == t.pid, 20000)) {
		kill(t.pid, SIGKILL);
	}
	EXPECT_EQ(0, status);
	ASSERT_END(&r);
	EXPECT_LT(0, r.log.account.late);
	close(r.dev);
}

#define NEEDS_FAULTS() do {						\
	int fd_ = syscall(SYS_userfaultfd, O_CLOEXEC);			\
	NEEDS_LATER();							\
	if (fd_ < 0)							\
		SKIP(return, "no userfaultfd");				\
	close(fd_);							\
} while (0)

TEST(own_page)
{
	NEEDS_FAULTS();
	check_own(_metadata, (struct own){ .whole = false }, 0);
}

TEST(own_page_tables)
{
	NEEDS_FAULTS();
	check_own(_metadata, (struct own){ .whole = false }, HWPMC_F_UNWIND);
}

/* The mapping is the one that the thread has its stack in. */
TEST(own_stack)
{
	NEEDS_FAULTS();
	check_own(_metadata, (struct own){ .whole = true }, 0);
}

TEST_HARNESS_MAIN
