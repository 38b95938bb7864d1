/* SPDX-License-Identifier: BSD-2-Clause */
/* What exists already, from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/clock.h"
#include "bpf/follow.h"
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

/* A line of /proc/PID/maps; 0: no executable mapping */
static int parse_line(char *line, uint32_t pid, struct mapping *m)
{
	unsigned long long from, to, offset, ino;
	unsigned int major, minor;
	char prot[8], *path;
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &from, &to, prot,
		   &offset, &major, &minor, &ino, &at) < 7 || prot[2] != 'x' ||
	    to <= from)
		return 0;
	path = line + at;
	path[strcspn(path, "\n")] = '\0';
	if (!strcmp(path, "[vsyscall]"))	/* no mapping of the process */
		return 0;
	m->m = (struct pmclog_ext_mapping){
		.pid = pid, .start = from, .len = to - from,
		.prot = (prot[0] == 'r') * PROT_READ |
			(prot[1] == 'w') * PROT_WRITE | PROT_EXEC,
	};
	if (ino) {
		m->m.offset = offset;
		m->m.dev_major = major;
		m->m.dev_minor = minor;
		m->m.ino = ino;
	}
	snprintf(m->path, sizeof(m->path), "%s",
		 ino || !strcmp(path, "[vdso]") ? path : "//anon");
	return 1;
}

/* In /proc/PID/maps "\012" is a newline, or these four characters: the link tells. */
static void read_link(struct mapping *m)
{
	char link[96], path[sizeof(m->path)];
	ssize_t n;

	if (!strstr(m->path, "\\012"))
		return;
	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", m->m.pid,
		 (unsigned long long)m->m.start,
		 (unsigned long long)(m->m.start + m->m.len));
	n = readlink(link, path, sizeof(path) - 1);
	if (n > 0)
		snprintf(m->path, sizeof(m->path), "%.*s", (int)n, path);
}

static void dump_maps(struct followed *t, uint32_t pid)
{
	struct mapping m;
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0)
		if (parse_line(line, pid, &m)) {
			read_link(&m);
			writer_mapping(t->w, &m, clock_raw());
		}
	free(line);
	if (f)
		fclose(f);
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
