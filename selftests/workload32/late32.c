// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program without a C library that computes for ever on a stack most
 * of which is not in memory: outer() -> mid() -> leaf().
 */
typedef unsigned long uintptr_t;

/* i386's; its headers are not here */
#define NR_MMAP2	192
#define NR_MADVISE	219
#define READ_WRITE	3
#define SHARED_MEMORY	0x21	/* MAP_SHARED | MAP_ANONYMOUS */
#define DONTNEED	4

#define PAGE	4096U
#define STACK	(64 * PAGE)

void leaf(uintptr_t top);
void mid(uintptr_t top);
void outer(uintptr_t top);
void begin(void);
void _start(void);

static long call(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a" (ret)
			 : "0" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e)
			 : "memory");
	return ret;
}

/* Shared memory: what is thrown out of the page tables is not lost. */
__attribute__((noipa)) void leaf(uintptr_t top)
{
	uintptr_t from = (uintptr_t)__builtin_frame_address(0) + 2 * PAGE;
	unsigned long i;

	from &= -PAGE;
	for (;;) {
		if (call(NR_MADVISE, from, top - from, DONTNEED, 0, 0))
			*(volatile int *)0 = 0;
		for (i = 0; i < 3000000; i++)
			__asm__ volatile("" : "+r" (i));
	}
}

__attribute__((noipa)) void mid(uintptr_t top)
{
	volatile char pad[4 * PAGE];

	pad[0] = pad[sizeof(pad) - 1] = 0;
	leaf(top);
	__asm__ volatile("");
}

__attribute__((noipa)) void outer(uintptr_t top)
{
	volatile char pad[4 * PAGE];

	pad[0] = pad[sizeof(pad) - 1] = 0;
	mid(top);
	__asm__ volatile("");
}

__attribute__((noipa)) void begin(void)
{
	/* no file, in a call that has room for five arguments */
	long stack = call(NR_MMAP2, 0, STACK, READ_WRITE,
			  SHARED_MEMORY, -1);

	if (stack < 0 && stack > -4096)
		*(volatile int *)0 = 0;
	__asm__ volatile("mov %0, %%esp\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "push %0\n\t"
			 "call outer\n\t"
			 "hlt"
			 : : "r" (stack + STACK) : "memory");
}

/* The outermost frame: nothing is above it. */
__attribute__((naked)) void _start(void)
{
	__asm__ volatile("xor %ebp, %ebp\n\t"
			 "call begin\n\t"
			 "hlt");
}
