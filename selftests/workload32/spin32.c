// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program without a C library that computes for ever:
 * _start() -> outer() -> middle() -> inner().
 */
void nothing(void);
void inner(void);
void middle(void);
void outer(void);
void _start(void);

/* A function that calls no other might do without a frame. */
__attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void inner(void)
{
	unsigned long i;

	nothing();
	for (i = 0; i < 1000000; i++)
		__asm__ volatile("" : "+r" (i));
	nothing();
}

__attribute__((noinline)) void middle(void)
{
	inner();
	__asm__ volatile("");
}

__attribute__((noinline)) void outer(void)
{
	for (;;)
		middle();
}

/* The outermost frame: nothing is above it. */
__attribute__((naked)) void _start(void)
{
	__asm__ volatile("xor %ebp, %ebp\n\t"
			 "call outer\n\t"
			 "hlt");
}
