// SPDX-License-Identifier: GPL-2.0-only
/*
 * HOSTILE: code that is sampled with a stack pointer, a frame pointer and a return
 * address that nobody would have, and that is mapped in one way after the other at
 * the same place.
 *
 * The code itself uses no stack.  Signals have to wait: their frames would.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stddef.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "executor.h"

#define PAGE		4096
#define CODE_AT		0x300000000UL
#define CODE_ROOM	0x40000UL
#define CODE_PAGES	3		/* the code's own, and one on each side */
#define STACK_PAGES	8
#define FRESH_PAGES	16

/* arg 5 */
#define AWAY		0x01	/* the stack is not in memory */
#define MANY		0x02	/* ways of mapping: from this one on */
#define ODD_RETURN	0x04	/* address */
#define NEVER		0x08	/* the stack will not be in memory */
#define UNMAP		0x10	/* what was mapped, at the end */
#define RULES		0x20	/* files without names, each of them with a table */

/**
 * struct hostile - what the code has, and where it keeps what is ours
 * @page, @npages: it writes to so many pages from there on
 * @spins: then it turns so often
 */
struct hostile {
	uint64_t	sp;
	uint64_t	fp;
	uint64_t	ra;
	uint64_t	page;
	uint64_t	npages;
	uint64_t	spins;
	uint64_t	kept[4];
};

#ifdef __aarch64__
__asm__(".text\n.balign 64\n.globl hostile_code\nhostile_code:\n"
	"	stp	x29, x30, [x0, #48]\n"
	"	mov	x9, sp\n"
	"	str	x9, [x0, #64]\n"
	"	ldp	x9, x29, [x0]\n"
	"	ldp	x30, x11, [x0, #16]\n"
	"	ldp	x12, x13, [x0, #32]\n"
	"	mov	sp, x9\n"
	"	mov	x1, x9\n"
	"	mov	x2, x29\n"
	"	mov	x14, x30\n"
	"1:	cbz	x12, 2f\n"
	"	strb	w12, [x11]\n"
	"	add	x11, x11, #4096\n"
	"	sub	x12, x12, #1\n"
	"	b	1b\n"
	"2:	cbz	x13, 3f\n"
	"	sub	x13, x13, #1\n"
	"	b	2b\n"
	"3:	ldr	x9, [x0, #64]\n"
	"	mov	sp, x9\n"
	"	ldp	x29, x30, [x0, #48]\n"
	"	ret\n"
	".globl hostile_end\nhostile_end:\n");
#else
__asm__(".text\n.balign 64\n.globl hostile_code\nhostile_code:\n"
	"	mov	%rsp, 48(%rdi)\n"
	"	mov	%rbp, 56(%rdi)\n"
	"	mov	24(%rdi), %rsi\n"
	"	mov	32(%rdi), %rcx\n"
	"	mov	40(%rdi), %rdx\n"
	"	mov	(%rdi), %rsp\n"
	"	mov	8(%rdi), %rbp\n"
	"	mov	%rsp, %r8\n"
	"	mov	%rbp, %r9\n"
	"	mov	16(%rdi), %r10\n"
	"1:	test	%rcx, %rcx\n"
	"	jz	2f\n"
	"	movb	$1, (%rsi)\n"
	"	add	$4096, %rsi\n"
	"	dec	%rcx\n"
	"	jmp	1b\n"
	"2:	test	%rdx, %rdx\n"
	"	jz	3f\n"
	"	dec	%rdx\n"
	"	jmp	2b\n"
	"3:	mov	48(%rdi), %rsp\n"
	"	mov	56(%rdi), %rbp\n"
	"	ret\n"
	".globl hostile_end\nhostile_end:\n");
#endif
extern const char hostile_end[];

static size_t hostile_size(void)
{
	return (uintptr_t)hostile_end - (uintptr_t)hostile_code;
}

/* A thread's own place for code: nobody else maps anything there. */
static char *code_place(void)
{
	static atomic_uint threads;
	static _Thread_local unsigned int mine;

	if (!mine)
		mine = 1 + threads++ % 8;
	return (char *)CODE_AT + (mine - 1) * CODE_ROOM;
}

void unmap_hostile(void)
{
	munmap((void *)CODE_AT, 8 * CODE_ROOM);
}

/* ------------------------------------------------------------------------
 * Where the code is
 */
static char *copy_code(char *to)
{
	to += (uintptr_t)hostile_code % PAGE;
	memcpy(to, hostile_code, hostile_size());
	__builtin___clear_cache(to, to + hostile_size());
	return to;
}

/* Pages of the file, so that the code is @shift pages behind the first. */
static char *map_file(const char *path, char *at, unsigned int shift)
{
	uint32_t offset = code_offset();
	off_t from = (offset & -PAGE) - (off_t)shift * PAGE;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *p = MAP_FAILED;

	if (fd >= 0 && from >= 0)
		p = mmap(at, CODE_PAGES * PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, from);
	close(fd);
	return p == MAP_FAILED ? NULL : p + shift * PAGE + offset % PAGE;
}

static char *map_memory(char *at, int fd, int flags)
{
	char *p = mmap(at, CODE_PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_FIXED | flags, fd, 0);

	return p == MAP_FAILED ? NULL : copy_code(p);
}

static char *map_nameless(const struct op *op, char *at, unsigned int n)
{
	int fd = memfd_create("jit", MFD_CLOEXEC);
	char *code = NULL;

	if (!ftruncate(fd, CODE_PAGES * PAGE))
		code = map_memory(at, fd, MAP_SHARED);
	if (code && op->arg[5] & RULES)
		give_rule(op, fd, op->arg[3] * 256 + op->arg[1] + n);
	close(fd);
	return code;
}

/* As compilers at run time do: written first, then executed */
static char *map_written(char *at)
{
	char *code = map_memory(at, -1, MAP_PRIVATE | MAP_ANONYMOUS);

	if (!code || mprotect(at, CODE_PAGES * PAGE, PROT_READ | PROT_WRITE) ||
	    mprotect(at, CODE_PAGES * PAGE, PROT_READ | PROT_EXEC))
		return NULL;
	return code;
}

/* Elsewhere first */
static char *map_moved(char *at)
{
	char *from = at + CODE_ROOM / 2;
	char *code = map_file("/proc/self/exe", from, 0);

	if (!code || mremap(from, CODE_PAGES * PAGE, CODE_PAGES * PAGE,
			    MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED)
		return NULL;
	return at + (code - from);
}

static char *map_code(const struct op *op, unsigned int n)
{
	char *at = code_place();

	if (op->arg[5] & RULES)
		return map_nameless(op, at, n);
	switch ((op->arg[0] + n) % 9) {
	case 0:
		return (char *)hostile_code;
	case 1:
		return map_file("/proc/self/exe", at, 0);
	case 2:
		return map_file("/proc/self/exe", at, 1);
	case 3:
		return map_file("/fz/plain", at, 1);
	case 4:
		return map_memory(at, -1, MAP_PRIVATE | MAP_ANONYMOUS);
	case 5:
		return map_nameless(op, at, n);
	case 6:
		return map_written(at);
	case 7:
		return map_moved(at);
	default:	/* a file on both sides of what is of none */
		return map_file("/proc/self/exe", at, 0) ?
		       map_memory(at + PAGE, -1, MAP_PRIVATE | MAP_ANONYMOUS) :
		       NULL;
	}
}

/* ------------------------------------------------------------------------
 * The stack
 */

/* Words that a walk may take for addresses of code, of frames, or of neither */
static void fill_stack(uint64_t *stack, const char *code, unsigned int kind)
{
	const uint64_t n = STACK_PAGES * PAGE / 8, base = (uintptr_t)stack;
	uint64_t i;

	for (i = 0; i < n; i++) {
		uint64_t up = base + (i + 2) % n * 8;

		switch ((kind + i * (kind / 8)) % 8) {
		case 0:
		case 1:		/* frame records, each of the next one */
			stack[i] = i & 1 ? (uintptr_t)code + 4 : up;
			break;
		case 2:
			stack[i] = (uintptr_t)code + i % 64;
			break;
		case 3:		/* of itself */
			stack[i] = base + i * 8;
			break;
		case 4:
			stack[i] = 0;
			break;
		case 5:
			stack[i] = ~0UL << (i % 60);
			break;
		case 6:
			stack[i] = (uintptr_t)fill_stack;
			break;
		default:
			stack[i] = i & 1 ? CODE_AT + i * 64 : up + 1;
		}
	}
}

/* An address for a register; @n: which */
static uint64_t odd_address(uint64_t stack, unsigned int n)
{
	const uint64_t end = stack + STACK_PAGES * PAGE;

	switch (n % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
		return stack + n / 16 * 16;
	case 4:
		return end - 8 - n / 16 * 8;
	case 5:
		return end;		/* a page that nobody may read */
	case 6:
		return stack + 1 + n / 16;
	case 7:
		return 0;
	case 8:
		return 8;
	case 9:
		return ~7UL - n / 16 * 8;
	case 10:
		return 1UL << (40 + n / 16);
	case 11:		/* around where user memory ends */
		return (1UL << (n & 16 ? 47 : 48)) - 8 - n / 32 * 4096;
	case 12:
		return (uintptr_t)hostile_code;
	case 13:
		return (uintptr_t)&sh;
	case 14:		/* what the operation has now */
		return (uintptr_t)__builtin_frame_address(0);
	default:
		return 0xFFFF000000000000UL + n * 8;
	}
}

/*
 * Who reads the stack waits for somebody that never comes.  What the kernel reads
 * waits too where the caller is privileged.
 */
static void never_there(char *stack)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = {
		.range = { (uintptr_t)stack, STACK_PAGES * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &r))
		return;
	madvise(stack, STACK_PAGES * PAGE, MADV_DONTNEED);
}

/* A page at the end of it is closed. */
static char *new_stack(void)
{
	char *p = mmap(NULL, (STACK_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	mprotect(p + STACK_PAGES * PAGE, PAGE, PROT_NONE);
	return p;
}

/* ------------------------------------------------------------------------ */

static void run_code(char *code, struct hostile *h)
{
	void (*run)(struct hostile *h) = (void *)code;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	run(h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void run_once(const struct op *op, char *stack, char *code)
{
	const unsigned int how = op->arg[5];
	char *fresh = mmap(NULL, FRESH_PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hostile h = {
		.sp = odd_address((uintptr_t)stack, op->arg[1]),
		.fp = odd_address((uintptr_t)stack, op->arg[2]),
		.ra = how & ODD_RETURN ? odd_address((uintptr_t)stack, op->arg[3]) :
				(uintptr_t)code + op->arg[3] % 64,
		.page = (uintptr_t)fresh,
		.npages = 1 + op->arg[4] % 16,
		.spins = op->arg[4] / 16 * 20000,
	};

	if (fresh == MAP_FAILED)
		return;
	fill_stack((uint64_t *)stack, code, op->arg[3]);
	if (how & AWAY)		/* shared: it is not lost */
		madvise(stack, STACK_PAGES * PAGE, MADV_DONTNEED);
	if (how & NEVER)
		never_there(stack);
	run_code(code, &h);
	munmap(fresh, FRESH_PAGES * PAGE);
}

static void run_all(const struct op *op, char *stack)
{
	unsigned int i, times = op->arg[5] & RULES ? 12 : op->arg[5] & MANY ? 4 : 1;

	/* one file over the other, and over what is of none */
	for (i = 0; i < times && !sh->stop; i++) {
		char *code = map_code(op, i);

		if (code)
			run_once(op, stack, code);
	}
}

/* What never ends is a child's, which is killed. */
static void run_in_child(const struct op *op, char *stack)
{
	pid_t pid = fork();

	if (!pid) {
		run_all(op, stack);
		_exit(0);
	}
	if (pid < 0)
		return;
	usleep(60000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * arg: how the code is mapped, stack pointer, frame pointer, what is on the stack and
 * the return address, how much it does, AWAY and so on
 */
void do_hostile(const struct op *op)
{
	char *stack = new_stack();

	if (!stack)
		return;
	if (op->arg[5] & NEVER)
		run_in_child(op, stack);
	else
		run_all(op, stack);
	if (op->arg[5] & UNMAP)
		munmap(code_place(), CODE_ROOM);
	munmap(stack, (STACK_PAGES + 1) * PAGE);
}
