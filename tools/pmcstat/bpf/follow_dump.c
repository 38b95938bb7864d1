/* SPDX-License-Identifier: BSD-2-Clause */
/* What exists already, from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/clock.h"
#include "bpf/follow.h"
#include "bpf/maps.h"
#include "record/targets.h"

static void dump_thread(struct followed *t, struct proc *p, uint32_t tid)
{
	char file[32], name[64];

	snprintf(file, sizeof(file), "task/%u/comm", tid);
	if (proc_read_line((int)p->pid, file, name, sizeof(name)))
		return;
	follow_set_name(t, p, tid, name);
	if (p->followed)
		writer_name(t->w, p->pid, tid, name, clock_raw());
}

/* Calls @f for each entry of @path that is a number; -1: it cannot be opened */
static int each_number(struct followed *t, struct proc *p, const char *path,
		       void (*f)(struct followed *t, struct proc *p, uint32_t n))
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return -1;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			f(t, p, (uint32_t)strtoul(e->d_name, NULL, 10));
	closedir(dir);
	return 0;
}

/*
 * Mappings that cannot be read are a loss, and the first process is named.  They have
 * the stamp of before they are read: perf's records of changes meanwhile are later.
 */
/* The first that hangs and the first that cannot be read are named. */
static void name_unread(struct followed *t, uint32_t pid, int err)
{
	const unsigned int kind = err == ETIMEDOUT ? 1 : 2;

	if (!t->quiet && !(t->named & kind))
		warn_line("cannot read the mappings of process %u: %s", pid,
			  err == ETIMEDOUT ? "it holds them" : strerror(err));
	t->named |= kind;
	t->unread++;
}

static void dump_maps(struct followed *t, uint32_t pid)
{
	struct mapping next;
	struct maps m;
	uint64_t tsc = clock_raw();
	int err = maps_read(&m, pid);
	size_t at = 0;

	if (err)
		name_unread(t, pid, err);
	while (!err && maps_next(&m, &at, &next))
		writer_mapping(t->w, &next, tsc);
	maps_free(&m);
}

static int dump_process(struct followed *t, struct proc *p)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task", p->pid);
	/* the process is named first: a reader creates it then */
	dump_thread(t, p, p->pid);
	if (each_number(t, p, path, dump_thread))
		return ESRCH;
	if (p->followed)
		dump_maps(t, p->pid);
	return 0;
}

static void dump_number(struct followed *t, struct proc *none, uint32_t pid)
{
	struct proc *p = follow_add(t, pid, clock_raw());

	(void)none;
	if (dump_process(t, p))
		follow_remove(t, p);
}

int follow_dump(struct followed *t, uint32_t pid)
{
	struct proc *p;

	if (!pid)
		return each_number(t, NULL, "/proc", dump_number) ? ESRCH : 0;
	p = follow_add(t, pid, clock_raw());
	p->followed = 1;
	return dump_process(t, p);
}
