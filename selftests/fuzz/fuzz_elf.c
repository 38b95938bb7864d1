// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: symbols, lines and inlined functions of any ELF file. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "commands/commands.h"

#define ADDRESSES	6
#define ROOT		"elf"		/* of fuzz.sh: nothing else is there */

/* Below --root, where /proc/self/fd is not, and no file of this machine */
static void put(const uint8_t *data, size_t size)
{
	static const char *path;
	static int fd;

	if (!path) {
		path = fuzz_path(ROOT "/object");
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	abort_if(ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size);
}

/* The first bytes are addresses, in units of 16 bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *root;
	char addr[ADDRESSES][24];
	const char *args[6 + ADDRESSES] = { "symbolize", "-r", NULL, "-e" };
	size_t i;

	if (size < 2 * ADDRESSES)
		return 0;
	if (!root)
		root = fuzz_path(ROOT);
	args[2] = root;
	for (i = 0; i < ADDRESSES; i++) {
		snprintf(addr[i], sizeof(addr[i]), "%#x",
			 (data[2 * i] << 8 | data[2 * i + 1]) * 16U);
		args[5 + i] = addr[i];
	}
	args[4] = "/object";
	put(data + 2 * ADDRESSES, size - 2 * ADDRESSES);
	fuzz_run(cmd_symbolize, args);
	return 0;
}
