// SPDX-License-Identifier: BSD-2-Clause
/* Functions for the tests to find; nobody runs them. */
#include <stdlib.h>

int calls(int x);

__attribute__((noinline)) static int leaf(int x)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
	return x * 3;
}

__attribute__((noinline)) int calls(int x)
{
	return leaf(x) + leaf(x + 1);
}

/* One behind the other, whatever the compiler thinks of it. */
#define IN_ORDER __attribute__((noinline, section(".text.order")))

int after(int x);
void stops(void);

IN_ORDER __attribute__((noreturn)) void stops(void)
{
	/* the return address of this call is the start of the next function */
	abort();
	__builtin_unreachable();
}

IN_ORDER int after(int x)
{
	return x ^ 0x55;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 99)
		stops();
	return calls(argc) + after(argc);
}
