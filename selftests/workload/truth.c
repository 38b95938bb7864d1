// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth [SECONDS]
 *
 * Spends 60, 30 and 10 percent of its time in three functions whose loops are
 * the same, called main() -> mid() -> leaf_NN().  Runs for ever by default.
 */
#include <stdlib.h>
#include <time.h>

#define UNIT	200UL

#define NOINLINE	__attribute__((noinline))

void nothing(void);
void leaf_60(unsigned long n);
void leaf_30(unsigned long n);
void leaf_10(unsigned long n);
void mid(unsigned long unit);

NOINLINE void nothing(void)
{
	__asm__ volatile("");
}

/* A function that calls no other might do without a frame. */
#define LEAF(name)							\
NOINLINE void name(unsigned long n)					\
{									\
	unsigned long x = n;						\
									\
	nothing();							\
	while (n--)							\
		__asm__ volatile("" : "+r" (x));			\
	nothing();							\
}

LEAF(leaf_60)
LEAF(leaf_30)
LEAF(leaf_10)

NOINLINE void mid(unsigned long unit)
{
	leaf_60(60 * unit);
	leaf_30(30 * unit);
	leaf_10(10 * unit);
}

/* Rounds of changing length, so that no sampling period is in step with them. */
static unsigned long next_unit(void)
{
	static unsigned int seed = 1;

	seed = seed * 1103515245 + 12345;
	return UNIT * (1 + (seed >> 16) % 8);
}

int main(int argc, char **argv)
{
	time_t seconds = argc > 1 ? atoi(argv[1]) : 0;
	time_t end = time(NULL) + seconds;

	do {
		mid(next_unit());
	} while (!seconds || time(NULL) < end);
	return 0;
}
