// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <sys/mman.h>

#include "plain.h"

#define PLAIN	__attribute__((noipa, optimize("omit-frame-pointer", \
					       "no-optimize-sibling-calls")))

PLAIN void plain_leaf(volatile char *page)
{
	*page = 1;
}

PLAIN static long plain_mid(volatile char *page, long a)
{
	volatile long room[20] = { a };

	plain_leaf(page);
	return room[0] + a;
}

PLAIN long plain_outer(volatile char *page, long a)
{
	return plain_mid(page, a + 1) * 3;
}

long (*volatile outer)(volatile char *page, long a) = plain_outer;

#if defined(__x86_64__)
#define ZERO_LEAF	"push %rbp\n xor %ebp, %ebp\n movb $1, (%rdi)\n pop %rbp\n ret"
#else
#define ZERO_LEAF	"stp x29, x30, [sp, -16]!\n mov x29, #0\n strb wzr, [x0]\n" \
			"ldp x29, x30, [sp], 16\n ret"
#endif

__asm__(".text\n"
	".globl zero_leaf\n"
	".type zero_leaf, %function\n"
	"zero_leaf:\n"
	ZERO_LEAF "\n"
	".size zero_leaf, . - zero_leaf");

volatile char *fresh_pages(unsigned int n)
{
	return mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void touch(unsigned int n)
{
	volatile char *p = fresh_pages(n);
	unsigned int i;

	for (i = 0; i < n; i++)
		outer(p + i * PAGE, i);
}

int toucher(struct target *t, void *arg)
{
	touch(TOUCHES);
	target_pause(t);
	touch(TOUCHES);
	return target_pause(t);
}
