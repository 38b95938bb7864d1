// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "module.h"

#define MODULE		"hwpmc"
#define MODULE_PATH	"/hwpmc/hwpmc.ko"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

static bool find_file(const char *dir, const char *file, char *path)
{
	struct dirent *e;
	bool found = false;
	char sub[PATH_MAX];
	DIR *d = opendir(dir);

	while (d && !found && (e = readdir(d))) {
		if (e->d_name[0] == '.' ||
		    snprintf(sub, sizeof(sub), "%s/%s", dir, e->d_name) >=
		    (int)sizeof(sub))
			continue;
		if (e->d_type == DT_DIR) {
			found = find_file(sub, file, path);
		} else if (!strcmp(e->d_name, file)) {
			strcpy(path, sub);
			found = true;
		}
	}
	if (d)
		closedir(d);
	return found;
}

bool other_module_find(const char *name, char path[PATH_MAX])
{
	char file[80];

	snprintf(file, sizeof(file), "%s.ko", name);
	return find_file("/lib/modules", file, path);
}

static int load_file(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

int other_module_load(const char *path)
{
	return load_file(path, "");
}

int other_module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

int module_load(const char *params)
{
	return load_file(getenv("HWPMC_MODULE") ?: MODULE_PATH, params);
}

int module_unload(void)
{
	return other_module_unload(MODULE);
}

int module_unload_soon(void)
{
	int err;

	WAIT_UNTIL((err = module_unload()) != -EAGAIN && err != -EBUSY, 60000);
	/* a thread that sleeps with a deferred chain, perhaps: where do they sleep? */
	if (err == -EAGAIN &&
	    system("grep -s . /proc/[0-9]*/task/*/comm /proc/[0-9]*/task/*/syscall | sed 's/^/# /'"))
		printf("# /proc cannot be read\n");
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
	return WAIT_UNTIL(!access(DEV_PATH, F_OK), 60000);
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
