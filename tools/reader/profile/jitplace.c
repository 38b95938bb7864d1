// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any user who can write to /tmp can make such a file, and it stays there after
 * its process has ended and the pid is reused.  So the reader trusts it only if
 * its owner and its time are right.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/pidstart.h"
#include "profile/here.h"
#include "profile/jitplace.h"
#include "profile/live.h"

/* The pid of a process in its own pid namespace. */
static uint32_t inner_pid(uint32_t pid)
{
	char path[48], line[512], *last;
	uint32_t inner = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		if (last)
			inner = (uint32_t)strtoul(last, NULL, 10);
		break;
	}
	if (f)
		fclose(f);
	return inner;
}

/* Has the process a mount namespace of its own?  If that cannot be told, it has. */
static bool has_mounts(uint32_t pid)
{
	struct stat its, ours;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	return stat(path, &its) || stat("/proc/self/ns/mnt", &ours) ||
	       its.st_ino != ours.st_ino;
}

bool jitplace_find(const struct profile *p, uint32_t pid, struct jitplace *at)
{
	uint64_t start = pid_start(pid);
	struct stat st;
	char path[32];

	*at = (struct jitplace){ .inner = pid, .uid = geteuid() };
	if (has_root(p))
		return true;
	if (!logged_here(&p->log))
		return false;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	/* else the pid may be another process's by now */
	if (!live_is(&p->log, pid) || stat(path, &st))
		return true;
	at->alive = true;
	at->uid = st.st_uid;
	at->apart = has_mounts(pid);
	at->inner = inner_pid(pid);
	at->own = (struct image_root){ .pid = pid, .start = start };
	return true;
}

int jitplace_open(const struct profile *p, const struct jitplace *at,
		  const char *path, const char **why)
{
	return image_open_nofollow(at->alive ? &at->own : p->root, path, why);
}

enum fault { UNREADABLE, ALIEN, LARGE, EARLIER, LATER };

/* by enum jit_file */
#define ITS(what)	{ "its map " what, "its jitdump " what }
static const char *const faults[][2] = {
	[UNREADABLE] = ITS("can't be read"),
	[ALIEN] = ITS("is another user's"),
	[LARGE] = ITS("is too large"),
	[EARLIER] = ITS("is of an earlier process"),
	[LATER] = ITS("was made after the recording"),
};

static const off_t limits[] = {
	[JIT_MAP] = (off_t)256 << 20,
	[JIT_DUMP] = (off_t)2 << 30,	/* includes the code */
};

const char *jitplace_why_not(const struct profile *p,
			     const struct jitplace *at, uint32_t pid, int fd,
			     enum jit_file file)
{
	uint64_t in_log = procs_born(&p->procs, pid);
	/* one second less, as a file's time is that of the last tick before */
	int64_t born = at->alive ? live_began(pid) :
		       in_log ? log_wall(&p->log, in_log) - 1 : 0;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st))
		return faults[UNREADABLE][file];
	if (st.stx_uid != at->uid && (st.stx_uid || at->apart))
		return faults[ALIEN][file];
	if ((off_t)st.stx_size > limits[file])
		return faults[LARGE][file];
	if (st.stx_mtime.tv_sec < born)
		return faults[EARLIER][file];
	if (!at->alive && !has_root(p) && st.stx_mask & STATX_BTIME &&
	    st.stx_btime.tv_sec > log_wall_end(&p->log) + 1)
		return faults[LATER][file];
	return NULL;
}
