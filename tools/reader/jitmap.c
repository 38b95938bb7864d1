// SPDX-License-Identifier: BSD-2-Clause
/*
 * Such a map is anybody's who can write to /tmp, and stays there when its
 * process is gone and the number is another's: it is believed only if it is the
 * right user's and of the right time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "here.h"
#include "jitmap.h"
#include "live.h"
#include "pidstart.h"
#include "segs.h"

#define SIZE_LIMIT	((off_t)256 << 20)
#define SYMS_LIMIT	(4U << 20)

/**
 * struct maplines - the lines of a map; of two that overlap the later counts
 * @name: where each one's name is in the names
 */
struct maplines {
	struct segs segs;
	size_t *name;
	uint32_t n, cap;
	char *names;
	size_t len, size;
};

/**
 * struct place - where a process' map is, or should be
 * @own:   the file system that the process sees, if it is @alive
 * @inner: the number that it has there
 * @alive: the process still runs
 * @uid:   its user
 */
struct place {
	struct image_root own;
	uint32_t inner;
	bool alive;
	uid_t uid;
};

/* ------------------------------------------------------------------------
 * Finding it
 */

/* The number that a process has in its own namespace. */
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

/* False: there is no sense in looking. */
static bool find_place(const struct profile *p, uint32_t pid,
		       struct place *at)
{
	bool rooted = p->root && p->root->dir && *p->root->dir;
	uint64_t start = pid_start(pid);
	struct stat st;
	char path[32];

	*at = (struct place){ .inner = pid, .uid = geteuid() };
	if (rooted)
		return true;
	if (!logged_here(&p->log))
		return false;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	/* else the number is another's by now */
	if (!live_is(&p->log, pid) || stat(path, &st))
		return true;
	at->alive = true;
	at->uid = st.st_uid;
	at->inner = inner_pid(pid);
	at->own = (struct image_root){ .pid = pid, .start = start };
	return true;
}

static int open_map(const struct profile *p, const struct place *at,
		    const char **why)
{
	char path[48];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", at->inner);
	return image_open_nofollow(at->alive ? &at->own : p->root, path, why);
}

bool jitmap_exists(struct profile *p, uint32_t pid)
{
	struct place at;
	const char *why;
	int fd;

	if (!pid || pid == PMCLOG_PID_KERNEL || !find_place(p, pid, &at))
		return false;
	fd = open_map(p, &at, &why);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || strcmp(why, "no such file");
}

/* ------------------------------------------------------------------------
 * Believing it
 */
static const char *why_not(const struct profile *p, const struct place *at,
			   uint32_t pid, int fd)
{
	uint64_t in_log = procs_born(&p->procs, pid);
	int64_t born = at->alive ? live_began(pid) :
		       in_log ? log_wall(&p->log, in_log) : 0;
	bool rooted = p->root && p->root->dir && *p->root->dir;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st))
		return "its map can't be read";
	if (st.stx_uid && st.stx_uid != at->uid)
		return "its map is another user's";
	if ((off_t)st.stx_size > SIZE_LIMIT)
		return "its map is too large";
	if (st.stx_mtime.tv_sec < born)
		return "its map is of an earlier process";
	if (!at->alive && !rooted && st.stx_mask & STATX_BTIME &&
	    st.stx_btime.tv_sec > log_wall(&p->log, p->log.end) + 1)
		return "its map was made after the recording";
	return NULL;
}

/* ------------------------------------------------------------------------
 * Reading it
 */
static size_t add_name(struct maplines *l, const char *name)
{
	size_t len = strlen(name) + 1, at = l->len;

	while (l->size - l->len < len) {
		l->size = l->size ? 2 * l->size : 65536;
		l->names = xreallocarray(l->names, l->size, 1);
	}
	memcpy(l->names + at, name, len);
	l->len += len;
	return at;
}

/* "START SIZE name to the end of the line", hexadecimal */
static void take_line(struct maplines *l, char *s)
{
	uint64_t start, size;
	char *end;

	s[strcspn(s, "\r\n")] = '\0';
	start = strtoull(s, &end, 16);
	if (end == s || *end != ' ')
		return;
	s = end + 1;
	size = strtoull(s, &end, 16);
	if (end == s || *end != ' ' || !size || !end[1])
		return;
	GROW(l->name, l->n, l->cap);
	l->name[l->n] = add_name(l, end + 1);
	segs_add(&l->segs, start, start + size < start ? UINT64_MAX :
		 start + size, l->n++);
}

static void add_all(struct symtab *t, struct maplines *l)
{
	size_t i;

	segs_flatten(&l->segs);
	for (i = 0; i < l->segs.n; i++) {
		const struct seg *g = &l->segs.seg[i];
		struct sym s = {
			.start = g->start, .end = g->end, .rank = SYM_GLOBAL,
			.name = l->names + l->name[g->owner],
		};

		symtab_add(t, &s);
	}
}

int jitmap_open(const struct profile *p, uint32_t pid, const char **why)
{
	struct place at;
	int fd;

	*why = "it has no map here";
	fd = find_place(p, pid, &at) ? open_map(p, &at, why) : -1;
	if (fd < 0)
		return -1;
	*why = why_not(p, &at, pid, fd);
	if (!*why)
		return fd;
	close(fd);
	return -1;
}

const char *jitmap_load(struct symtab *t, const struct profile *p,
			uint32_t pid)
{
	struct maplines l = { 0 };
	const char *why;
	char *line = NULL;
	size_t cap = 0;
	FILE *f;
	int fd;

	fd = jitmap_open(p, pid, &why);
	if (fd < 0)
		return why;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return "its map can't be read";
	}
	while (l.n < SYMS_LIMIT && ftello(f) < SIZE_LIMIT &&
	       getline(&line, &cap, f) > 0)
		take_line(&l, line);
	fclose(f);
	if (l.n)
		add_all(t, &l);
	why = l.n ? NULL : "its map is empty";
	free(line);
	segs_free(&l.segs);
	free(l.name);
	free(l.names);
	return why;
}
