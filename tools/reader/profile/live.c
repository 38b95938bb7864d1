// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/order.h"
#include "elf/imagefile.h"
#include "elf/pidstart.h"
#include "profile/here.h"
#include "profile/live.h"

#define LOOK_AGAIN	2	/* seconds: a log may be read while it grows */

int64_t live_began(uint32_t pid)
{
	uint64_t ticks = pid_start(pid);
	struct timespec now, up;

	if (!ticks)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	/* one second less, as the clocks are not read at the same time */
	return now.tv_sec - up.tv_sec - 1 - (now.tv_nsec < up.tv_nsec) +
	       (int64_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool live_is(const struct log_facts *log, uint32_t pid)
{
	int64_t began = logged_here(log) ? live_began(pid) : 0;

	return began && began <= log_wall_end(log);
}

/* ------------------------------------------------------------------------
 * Running processes
 */

/* False also without permission. */
static bool view_of(const char *pid, struct view *v)
{
	struct stat mounts, root;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.16s/ns/mnt", pid);
	if (stat(path, &mounts))
		return false;
	snprintf(path, sizeof(path), "/proc/%.16s/root", pid);
	if (stat(path, &root))
		return false;
	*v = (struct view){
		.mounts = mounts.st_ino, .dev = root.st_dev, .ino = root.st_ino,
	};
	return true;
}

static int by_view(const struct view *a, const struct view *b)
{
	return ORDER(a->mounts, b->mounts) ?: ORDER(a->dev, b->dev) ?:
	       ORDER(a->ino, b->ino);
}

DEFINE_ORDER(by_view_and_pid, struct live, by_view(&a->view, &b->view) ?: ORDER(a->pid, b->pid))

static void add(struct profile *p, const char *name, const struct view *own)
{
	struct lives *t = &p->lives;
	struct live l;

	if (!view_of(name, &l.view) || !by_view(&l.view, own))
		return;
	l.pid = (uint32_t)strtoul(name, NULL, 10);
	l.start = pid_start(l.pid);
	if (!l.start || !live_is(&p->log, l.pid))
		return;
	APPEND(t->live, t->n, t->cap) = l;
}

static void look(struct profile *p)
{
	struct lives *t = &p->lives;
	struct timespec now;
	struct view own;
	struct dirent *e;
	DIR *dir;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec < t->until)
		return;
	t->until = now.tv_sec + LOOK_AGAIN;
	t->n = 0;
	dir = logged_here(&p->log) && view_of("self", &own) ?
	      opendir("/proc") : NULL;
	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)*e->d_name))
			add(p, e->d_name, &own);
	closedir(dir);
	if (t->n)
		qsort(t->live, t->n, sizeof(*t->live), by_view_and_pid);
}

/* ------------------------------------------------------------------------
 * Processes that mapped an object
 */
static bool has_mapped(struct profile *p, uint32_t pid, uint32_t obj)
{
	return aspace_has(procs_space(&p->procs, pid), obj);
}

bool live_root(struct profile *p, uint32_t obj, uint32_t *at,
	       struct image_root *root)
{
	const struct lives *t = &p->lives;
	const struct live *l;

	if (!*at)
		look(p);
	while (*at < t->n) {
		l = &t->live[(*at)++];
		if (!has_mapped(p, l->pid, obj))
			continue;
		*root = (struct image_root){ .pid = l->pid, .start = l->start };
		/* skip processes with the same view: same files */
		while (*at < t->n && !by_view(&t->live[*at].view, &l->view))
			(*at)++;
		return true;
	}
	return false;
}
