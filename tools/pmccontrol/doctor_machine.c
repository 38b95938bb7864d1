/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes recordings better: a cache, symbols, counters of the processor. */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "kinds.h"
#include "pmccontrol.h"

#define SOURCES	"/sys/bus/event_source/devices"

/* ------------------------------------------------------------------------
 * The cache of unwind tables: what libpmc takes, without making it
 */
/* NULL, or why libpmc does not take this folder */
static const char *fault_of(const struct doctor *d, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return strerror(errno);
	if (!S_ISDIR(st.st_mode))
		return "it is not a folder";
	if (st.st_uid != d->uid)
		return "it belongs to another user";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "others may write to it";
	return euidaccess(path, W_OK | X_OK) ? strerror(errno) : NULL;
}

/* libpmc makes XDG_CACHE_HOME, but not what is above it. */
static const char *fault_of_base(const struct doctor *d, const char *path)
{
	char above[PATH_ROOM], *slash;

	if (!access(path, F_OK) || errno != ENOENT)
		return fault_of(d, path);
	strcpy(above, path);
	slash = strrchr(above, '/');
	slash[slash == above] = '\0';
	return euidaccess(above, W_OK | X_OK) ? strerror(errno) : NULL;
}

/* From the outermost to the innermost that is there */
static const char *find_fault(const struct doctor *d, char path[PATH_ROOM],
			      const char *base, const char *const *below)
{
	const char *fault;
	size_t n;

	n = (size_t)snprintf(path, PATH_ROOM, "%s", base);
	if (n >= PATH_ROOM)
		return "its name is too long";
	fault = fault_of_base(d, path);
	for (; !fault && !access(path, F_OK) && *below; below++) {
		n += (size_t)snprintf(path + n, PATH_ROOM - n, "/%s", *below);
		if (n >= PATH_ROOM)
			return "its name is too long";
		if (!access(path, F_OK) || errno != ENOENT)
			fault = fault_of(d, path);
	}
	return fault;
}

void look_at_cache(struct doctor *d)
{
	static const char *const below[] = {
		".cache", "hwpmc", "unwind", NULL
	};
	const char *xdg = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME"), *fault;
	char path[PATH_ROOM];

	if (xdg && *xdg == '/') {
		fault = find_fault(d, path, xdg, below + 1);
	} else if (home && *home == '/' && !access(home, F_OK)) {
		fault = find_fault(d, path, home, below);
	} else {
		answer(d, MARK_NOTE, "neither XDG_CACHE_HOME nor HOME names a "
		       "folder: each recording compiles all unwind tables again");
		return;
	}
	if (fault)
		answer(d, MARK_NOTE, "%s is of no use (%s): each recording "
		       "compiles all unwind tables again", path, fault);
	else
		answer(d, MARK_OK, "unwind tables are kept from one recording "
		       "to the next, below %s", path);
}

/* ------------------------------------------------------------------------
 * Kernel symbols
 */
/* Is there an address in it? */
static int find_address(void *arg, char *line)
{
	(void)arg;
	return strtoull(line, NULL, 16) != 0;
}

void look_at_symbols(struct doctor *d)
{
	char level[16];
	int shown;

	if (d->reach == REACH_USER || d->reach == REACH_OWN) {
		answer(d, MARK_OK, "not needed in user mode");
		return;
	}
	shown = file_lines(d, "/proc/kallsyms", find_address, NULL);
	if (shown > 0) {
		answer(d, MARK_OK, "/proc/kallsyms shows addresses");
		return;
	}
	if (shown < 0) {
		answer(d, MARK_NOTE, "/proc/kallsyms cannot be read (%s): "
		       "give pmclog a vmlinux", strerror(errno));
		return;
	}
	if (file_line(d, level, sizeof(level),
		      "/proc/sys/kernel/kptr_restrict"))
		strcpy(level, "unknown");
	answer(d, MARK_NOTE, "/proc/kallsyms hides the addresses from this "
	       "user (kernel.kptr_restrict is %s): frames of the kernel and "
	       "its modules have no names", level);
	if (!strcmp(level, "2"))
		mend("sysctl kernel.kptr_restrict=1");
}

/* ------------------------------------------------------------------------
 * Counters of the processor
 */
/* The names of a processor's PMU: amd64, hybrids, arm64 */
static bool is_processor(const char *name)
{
	return !strcmp(name, "cpu") || !strncmp(name, "cpu_", 4) ||
	       !strncmp(name, "armv", 4) || !strncmp(name, "apple_", 6);
}

static bool sysfs_has_counters(const struct doctor *d)
{
	char path[PATH_ROOM];
	bool found = false;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s" SOURCES, d->root);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (e = readdir(dir)))
		found = is_processor(e->d_name);
	closedir(dir);
	return found;
}

/* 1, 0, or -1: the device cannot be asked */
static int module_has_counters(const struct doctor *d)
{
	struct hwpmc_dynevent *events;
	int found = 0;
	size_t n, i;

	if (!d->owner || pmc_owner_events(d->owner, &events, &n))
		return -1;
	for (i = 0; i < n; i++)
		found |= events[i].type == PERF_TYPE_HARDWARE;
	free(events);
	return found;
}

void look_at_counters(struct doctor *d)
{
	char kinds[LINE_ROOM];
	int has = module_has_counters(d);

	if (has < 0)
		has = sysfs_has_counters(d);
	if (has && kinds_text(d, kinds, sizeof(kinds)) > 1)
		answer(d, MARK_OK, "the processor has several kinds of cores, and counts "
		       "an event on each: %s (pmcstat -S cycles samples on all)", kinds);
	else if (has)
		answer(d, MARK_OK, "the processor counts events (pmcstat -S "
		       "cycles)");
	else
		answer(d, MARK_NOTE, "this machine has none, as most virtual "
		       "machines: clocks and software events work (pmcstat -S "
		       "cpu-clock)");
}
