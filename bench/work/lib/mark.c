// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "mark.h"

#if defined(__x86_64__)

#define RETURN	0xc3

/* The constants are part of the instructions, so these are made at run time. */
static void tell(uint32_t command, uint32_t argument)
{
	static uint8_t *code;
	const uint32_t words[4] = {
		MARK_NOP, MARK_MAGIC + command, MARK_NOP, argument,
	};

	if (!code)
		code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		err(1, "mmap");
	memcpy(code, words, sizeof(words));
	code[sizeof(words)] = RETURN;
	((void (*)(void))code)();
}

void mark_phases(const char *file)
{
	FILE *f = fopen(file, "r");
	unsigned long long addr;
	char rest[200];

	if (!f)
		err(1, "%s", file);
	tell(MARK_CLEAR, 0);
	while (fscanf(f, "%llx%199[^\n]", &addr, rest) == 2)
		tell(MARK_ADD, addr);
	fclose(f);
}

void mark(unsigned int command)
{
	tell(command, 0);
}

#else

void mark_phases(const char *file)
{
	errx(2, "%s: phases are counted on x86 only", file);
}

void mark(unsigned int command)
{
	(void)command;
}

#endif
