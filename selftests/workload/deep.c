// SPDX-License-Identifier: GPL-2.0-only
/*
 * deep [FRAMES]
 *
 * Spends its time FRAMES (19) below main(), which are main() -> walk() -> ... ->
 * walk() -> one of two functions, four times -> leaf().  Runs for ever.
 */
#include <stdlib.h>

#define NOINLINE	__attribute__((noinline))
#define TURNS		4

void nothing(void);
void leaf(unsigned int n);
void left(unsigned int turns, unsigned int way);
void right(unsigned int turns, unsigned int way);
void walk(unsigned int depth, unsigned int way);

NOINLINE void nothing(void)
{
	__asm__ volatile("");
}

NOINLINE void leaf(unsigned int n)
{
	unsigned int x = n;

	nothing();
	while (n--)
		__asm__ volatile("" : "+r" (x));
	nothing();
}

static void turn(unsigned int turns, unsigned int way)
{
	if (!turns)
		leaf(20000);
	else if (way & 1)
		left(turns - 1, way >> 1);
	else
		right(turns - 1, way >> 1);
}

NOINLINE void left(unsigned int turns, unsigned int way)
{
	turn(turns, way);
	nothing();
}

NOINLINE void right(unsigned int turns, unsigned int way)
{
	turn(turns, way);
	nothing();
}

NOINLINE void walk(unsigned int depth, unsigned int way)
{
	if (depth)
		walk(depth - 1, way);
	else
		turn(TURNS, way);
	nothing();
}

int main(int argc, char **argv)
{
	unsigned int frames = argc > 1 ? atoi(argv[1]) : 19;
	unsigned int seed = 1;

	if (frames < TURNS + 2)
		return 2;
	for (;;) {
		seed = seed * 1103515245 + 12345;
		walk(frames - TURNS - 2, seed >> 16);
	}
}
