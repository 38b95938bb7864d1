// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wild.h"

#define STUB_ROOM	256
#define PAGE		4096UL

/*
 * wild_stub(struct wild_regs *): saves what a function has to keep, takes all
 * registers that it can do without from the structure, and counts down.  Its
 * code runs wherever it is copied to.  The labels are global: with local ones,
 * arm64's linker gives both the same address.
 */
extern const char wild_stub[], wild_stub_end[];

#ifdef __x86_64__
asm(".pushsection .text\n"
    ".balign 16\n"
    ".globl wild_stub, wild_stub_end\n"
    "wild_stub:\n"
    "	push	%rbx\n"
    "	push	%rbp\n"
    "	push	%r12\n"
    "	push	%r13\n"
    "	push	%r14\n"
    "	push	%r15\n"
    "	mov	%rsp, 0(%rdi)\n"
    "	mov	%rdi, %r15\n"
    "	mov	8(%r15), %r14\n"
    "	mov	16(%r15), %r13\n"
    "	mov	32(%r15), %rbp\n"
    "	mov	40(%r15), %rax\n"
    "	mov	48(%r15), %rbx\n"
    "	mov	56(%r15), %rcx\n"
    "	mov	64(%r15), %rdx\n"
    "	mov	72(%r15), %rsi\n"
    "	mov	80(%r15), %rdi\n"
    "	mov	88(%r15), %r8\n"
    "	mov	96(%r15), %r9\n"
    "	mov	104(%r15), %r10\n"
    "	mov	112(%r15), %r11\n"
    "	mov	120(%r15), %r12\n"
    "	mov	24(%r15), %rsp\n"
    "1:	dec	%r14\n"
    "	movb	%al, (%r13)\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    "	jnz	1b\n"
    "	mov	0(%r15), %rsp\n"
    "	pop	%r15\n"
    "	pop	%r14\n"
    "	pop	%r13\n"
    "	pop	%r12\n"
    "	pop	%rbp\n"
    "	pop	%rbx\n"
    "	ret\n"
    "wild_stub_end:\n"
    ".popsection\n");
#else
asm(".pushsection .text\n"
    ".balign 16\n"
    ".globl wild_stub, wild_stub_end\n"
    "wild_stub:\n"
    "	stp	x29, x30, [sp, #-96]!\n"
    "	stp	x19, x20, [sp, #16]\n"
    "	stp	x21, x22, [sp, #32]\n"
    "	stp	x23, x24, [sp, #48]\n"
    "	stp	x25, x26, [sp, #64]\n"
    "	stp	x27, x28, [sp, #80]\n"
    "	mov	x9, sp\n"
    "	str	x9, [x0]\n"
    "	mov	x28, x0\n"
    "	ldp	x27, x26, [x28, #8]\n"
    "	ldp	x9, x29, [x28, #24]\n"
    "	mov	sp, x9\n"
    "	ldp	x0, x1, [x28, #40]\n"
    "	ldp	x2, x3, [x28, #56]\n"
    "	ldp	x4, x5, [x28, #72]\n"
    "	ldp	x6, x7, [x28, #88]\n"
    "	ldp	x8, x9, [x28, #104]\n"
    "	ldp	x10, x11, [x28, #120]\n"
    "	ldp	x12, x13, [x28, #136]\n"
    "	ldp	x14, x15, [x28, #152]\n"
    "	ldp	x16, x17, [x28, #168]\n"
    "	ldp	x19, x20, [x28, #184]\n"
    "	ldp	x21, x22, [x28, #200]\n"
    "	ldp	x23, x30, [x28, #216]\n"
    "1:	sub	x27, x27, #1\n"
    "	strb	w0, [x26]\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    "	nop\n"
    "	cbnz	x27, 1b\n"
    "	ldr	x9, [x28]\n"
    "	mov	sp, x9\n"
    "	ldp	x19, x20, [sp, #16]\n"
    "	ldp	x21, x22, [sp, #32]\n"
    "	ldp	x23, x24, [sp, #48]\n"
    "	ldp	x25, x26, [sp, #64]\n"
    "	ldp	x27, x28, [sp, #80]\n"
    "	ldp	x29, x30, [sp], #96\n"
    "	ret\n"
    "wild_stub_end:\n"
    ".popsection\n");
#endif

/* ------------------------------------------------------------------------
 * Files: the same code at each multiple of STUB_ROOM
 */
static void name_of(unsigned int n, char name[40])
{
	snprintf(name, 40, "/tmp/hwpmc-wild-%u", n);
}

static bool file_make(unsigned int n, const void *data)
{
	char name[40];
	bool good;
	int fd;

	name_of(n, name);
	unlink(name);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	good = fd >= 0 && write(fd, data, WILD_FILE_SIZE) == WILD_FILE_SIZE;
	close(fd);
	return good;
}

bool wild_files_make(void)
{
	size_t size = wild_stub_end - wild_stub, at;
	char *data = calloc(1, WILD_FILE_SIZE);
	unsigned int n;
	bool good = data && size && size <= STUB_ROOM;

	for (at = 0; good && at < WILD_FILE_SIZE; at += STUB_ROOM)
		memcpy(data + at, wild_stub, size);
	for (n = 0; good && n < WILD_FILES; n++)
		good = file_make(n, data);
	free(data);
	return good;
}

void wild_files_remove(void)
{
	char name[40];
	unsigned int n;

	for (n = 0; n < WILD_FILES; n++) {
		name_of(n, name);
		unlink(name);
	}
}

int wild_file_open(unsigned int n)
{
	char name[40];

	name_of(n, name);
	return open(name, O_RDONLY | O_CLOEXEC);
}

/* To the module it is another file from now on: its old table is withdrawn. */
static void file_renew(struct rng *r, unsigned int n)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT }, { .tv_sec = rng_below(r, 1 << 30) },
	};
	char name[40];

	name_of(n, name);
	utimensat(AT_FDCWD, name, times, 0);
}

/* ------------------------------------------------------------------------
 * Mappings
 */
static void *code_at(unsigned int n)
{
	return (void *)(WILD_CODE + n * WILD_BLOCK);
}

/* Another thread may be running there: what it runs is the same everywhere. */
static void map_code(struct rng *r, unsigned int n)
{
	int fd = wild_file_open(rng_below(r, WILD_FILES));
	off_t offset = PAGE * rng_below(r, WILD_BLOCK / PAGE);
	long page = sysconf(_SC_PAGESIZE);

	if (mmap(code_at(n), WILD_BLOCK, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_FIXED, fd, offset & -page) == MAP_FAILED)
		_exit(97);
	close(fd);
}

void wild_code_begin(struct rng *r)
{
	unsigned int n;

	for (n = 0; n < WILD_NCODE; n++)
		map_code(r, n);
}

/* No thread runs there, but return addresses lead there. */
static void change_ghost(struct rng *r, unsigned int n)
{
	void *at = code_at(n);

	switch (rng_below(r, 4)) {
	case 0:
		munmap(at, WILD_BLOCK);
		break;
	case 1:
		mprotect(at, WILD_BLOCK / 2, PROT_READ);
		break;
	case 2:
		mmap(at, WILD_BLOCK, PROT_READ | PROT_EXEC, MAP_PRIVATE |
		     MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	default:
		map_code(r, n);
	}
}

void wild_code_change(struct rng *r)
{
	unsigned int n = rng_below(r, WILD_NCODE + WILD_NGHOSTS);

	if (rng_once(r, 6))
		file_renew(r, rng_below(r, WILD_FILES));
	if (n < WILD_NCODE)
		map_code(r, n);
	else
		change_ghost(r, n);
}

void wild_run(struct rng *r, struct wild_regs *regs)
{
	char *at = code_at(rng_below(r, WILD_NCODE));
	void (*stub)(struct wild_regs *regs);

	stub = (void *)(at + STUB_ROOM * rng_below(r, WILD_BLOCK / STUB_ROOM));
	stub(regs);
}

/* ------------------------------------------------------------------------
 * Words
 */
extern const char __executable_start[], etext[];

static uint64_t hostile_word(struct rng *r)
{
	static const uint64_t special[] = {
		0, 1, 8, 0x7fffffffeff8, 0x7ffffffff000, 0x800000000000,
		0xffff7fffffffffff, 0xffff800000000000, 0xffffffffff600000,
		0xffffffff81000000, 0xffff800080000000, 0xfffffffffffffff8,
		0xfffffffffff8, 0xfffffffffffffff, 0x00fffffffffffff8,
		0x8000000000000000,
	};

	switch (rng_below(r, 4)) {
	case 0:
		return special[rng_below(r, sizeof(special) / sizeof(*special))];
	case 1:				/* nothing is mapped there */
		return WILD_STACKS_END + rng_below(r, 1 << 30);
	case 2:
		return rng_next(r) | 1ULL << 63;
	default:
		return rng_next(r) >> rng_below(r, 64);
	}
}

uint64_t wild_word(struct rng *r, unsigned int code)
{
	if (code == 100)
		return WILD_CODE + rng_below(r, WILD_NCODE * WILD_BLOCK);
	if (rng_below(r, 100) < code) {
		if (rng_once(r, 16))
			return (uint64_t)__executable_start +
			       rng_below(r, etext - __executable_start);
		return WILD_CODE + rng_below(r, (WILD_NCODE + WILD_NGHOSTS) *
						WILD_BLOCK);
	}
	if (rng_once(r, 3))
		return hostile_word(r);
	return WILD_STACKS + (rng_below(r, WILD_NSTACKS * WILD_BLOCK) &
			      (rng_once(r, 8) ? -1U : -8U));
}
