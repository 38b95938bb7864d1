// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "inject.h"

#define DEBUGFS	"/sys/kernel/debug/"

static const char * const dirs[] = {
	"failslab", "fail_page_alloc", "fail_usercopy",
};
#define NDIR		(sizeof(dirs) / sizeof(dirs[0]))
#define FIRST_COPY	2	/* dirs[] from here on are INJECT_COPY's */

static void set(const char *dir, const char *name, const char *value)
{
	char path[120];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", dir, name);
	write_text(path, value);
}

static void set_addr(const char *dir, const char *name, uint64_t addr)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, addr);
	set(dir, name, text);
}

/* The lowest address of those of @symbol (NULL: of all) that are above @above. */
static uint64_t lowest(FILE *f, const char *symbol, uint64_t above)
{
	size_t len = symbol ? strlen(symbol) : 0;
	char line[512], name[256];
	unsigned long long addr;
	uint64_t found = 0;

	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %*c %255s", &addr, name) != 2 ||
		    addr <= above || (found && addr >= found))
			continue;
		/* the compiler may have made "name.isra.0" of it */
		if (!symbol || (!strncmp(name, symbol, len) &&
				strchr(".", name[len])))
			found = addr;
	}
	return found;
}

bool code_of_function(const char *name, struct code *c)
{
	FILE *f = fopen("/proc/kallsyms", "re");

	c->start = f ? lowest(f, name, 0) : 0;
	c->end = c->start ? lowest(f, NULL, c->start) : 0;
	if (f)
		fclose(f);
	return c->end;
}

bool code_of_module(struct code *c)
{
	unsigned long long size, addr;
	FILE *f = fopen("/proc/modules", "re");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "hwpmc %llu %*s %*s %*s %llx", &size,
			       &addr) == 2;
	if (f)
		fclose(f);
	c->start = found ? addr : 0;
	c->end = found ? addr + size : 0;
	return found;
}

bool inject_init(void)
{
	struct code kmemleak;
	unsigned int i;

	if (access("/proc/self/fail-nth", W_OK) ||
	    access(DEBUGFS "failslab/require-start", W_OK))
		return false;
	code_of_function("__alloc_object", &kmemleak);
	for (i = 0; i < NDIR; i++) {
		set(dirs[i], "verbose", "0");
		set(dirs[i], "probability", "0");
		set(dirs[i], "times", "-1");
		set(dirs[i], "task-filter", "Y");
		set(dirs[i], "ignore-gfp-wait", "N");
		set(dirs[i], "ignore-gfp-highmem", "N");
		set(dirs[i], "min-order", "0");
		set(dirs[i], "stacktrace-depth", "32");
		set_addr(dirs[i], "reject-start", kmemleak.start);
		set_addr(dirs[i], "reject-end", kmemleak.end);
	}
	return true;
}

void inject_select(enum inject_kind kind, const struct code *from)
{
	static const struct code anywhere = { 0, UINT64_MAX },
				 nowhere = { 1, 1 };
	unsigned int i;

	/* a page fault of ours must not be what fails; not inherited */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	for (i = 0; i < NDIR; i++) {
		const struct code *c = from ?: &anywhere;

		if ((i >= FIRST_COPY) != (kind == INJECT_COPY))
			c = &nowhere;
		set_addr(dirs[i], "require-start", c->start);
		set_addr(dirs[i], "require-end", c->end);
	}
}

/* The caller's own is kept open: to open a file takes memory, and copies. */
static int fail_nth(pid_t tid)
{
	static int own = -1;
	static pid_t owner;
	char path[40];

	if (tid) {
		snprintf(path, sizeof(path), "/proc/%d/fail-nth", tid);
		return open(path, O_RDWR | O_CLOEXEC);
	}
	if (own < 0 || owner != gettid()) {
		own = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
		owner = gettid();
	}
	return own;
}

bool inject_arm(pid_t tid, unsigned int nth)
{
	int fd = fail_nth(tid);
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);
	bool good = pwrite(fd, text, len, 0) == len;

	if (tid)
		close(fd);
	return good;
}

bool inject_disarm(pid_t tid)
{
	int fd = fail_nth(tid);
	char text[16] = "";
	/* a failure here is the one that was left, in the copy of the text */
	bool hit = pread(fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	while (pwrite(fd, "0", 1, 0) != 1 && !tid)
		;
	if (tid)
		close(fd);
	return hit;
}

static void set_number(const char *name, unsigned int n)
{
	char text[16];
	unsigned int i;

	snprintf(text, sizeof(text), "%u", n);
	for (i = 0; i < NDIR; i++)
		set(dirs[i], name, text);
}

void inject_everywhere(bool on)
{
	set_number("task-filter", !on);
	set_number("probability", on ? 100 : 0);
}

void inject_percent(unsigned int percent)
{
	static int self = -1;

	if (self < 0)
		self = open("/proc/self/make-it-fail", O_WRONLY | O_CLOEXEC);
	while (self >= 0 && pwrite(self, "0", 1, 0) != 1)
		;
	set_number("probability", percent);
	if (percent)
		pwrite(self, "1", 1, 0);
}
