// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "module.h"

#define MODULE		"hwpmc"
#define MODULE_PATH	"/hwpmc/hwpmc.ko"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

int module_load(const char *params)
{
	const char *path = getenv("HWPMC_MODULE");
	int fd = open(path ? path : MODULE_PATH, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, MODULE, O_NONBLOCK) ? -errno : 0;
}

int module_unload_soon(void)
{
	int i, err;

	for (i = 0; i < 3000; i++) {
		err = module_unload();
		if (err != -EAGAIN && err != -EBUSY)
			return err;
		sleep_ms(20);
	}
	return err;
}

int module_users(void)
{
	char line[32];

	return read_line("/sys/module/" MODULE "/refcnt", line, sizeof(line)) ?
	       atoi(line) : -1;
}

bool module_wait_for_device(void)
{
	int i;

	for (i = 0; i < 3000 && access(DEV_PATH, F_OK); i++)
		sleep_ms(20);
	return i < 3000;
}

uint64_t kernel_memory_kib(void)
{
	static const char * const keys[] = { "Slab", "VmallocUsed", "Percpu" };
	uint64_t sum = 0, value;
	unsigned int i;

	write_text("/proc/sys/vm/drop_caches", "3");
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (read_key("/proc/meminfo", keys[i], &value))
			sum += value;
	return sum;
}

bool no_leaks(void)
{
	char line[256];
	bool none = true;
	FILE *f;

	if (access(KMEMLEAK, F_OK))
		return true;
	sleep_ms(6000);		/* younger objects are not reported */
	write_text(KMEMLEAK, "scan");
	sleep_ms(1000);
	write_text(KMEMLEAK, "scan");
	f = fopen(KMEMLEAK, "re");
	while (f && fgets(line, sizeof(line), f)) {
		printf("# %s", line);
		none = false;
	}
	if (f)
		fclose(f);
	return none;
}
