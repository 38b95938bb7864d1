/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that -t means: a pid, or all processes whose names match a
 * pattern when pmcstat starts.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_event.h"
#include "pmcstat.h"
#include "reader/base/order.h"
#include "record/targets.h"

int proc_read_line(int pid, const char *file, char *line, int len)
{
	char path[64];
	char *got;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return -1;
	got = fgets(line, len, f);
	fclose(f);
	if (!got)
		return -1;
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

/* The name in brackets can contain brackets, blanks and newlines. */
static int read_stat(int pid, int *parent, unsigned long long *start)
{
	char line[1024];
	char *p;
	int i;

	if (pmc_file_text(line, sizeof(line), "/proc/%d/stat", pid) < 0)
		return -1;
	p = strrchr(line, ')');
	if (!p || sscanf(p + 1, " %*c %d", parent) != 1)
		return -1;
	for (i = 2; p && i < 22; i++)	/* fields are numbered as in proc(5) */
		p = strchr(p + 1, ' ');
	if (!p)
		return -1;
	*start = strtoull(p + 1, NULL, 10);
	return 0;
}

static void add(struct targets *t, int pid, int named,
		unsigned long long start)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (t->target[i].pid != pid)
			continue;
		t->target[i].named |= named;
		return;
	}
	t->target = realloc(t->target, (t->n + 1) * sizeof(*t->target));
	if (!t->target)
		die(EX_OSERR, "out of memory");
	t->target[t->n++] = (struct target){ pid, named, start };
}

/* The process of a thread, which has a directory in /proc, too; @tid if it cannot be read */
static int process_of(int tid)
{
	char path[64], line[128];
	int pid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static void add_number(struct targets *t, const char *spec)
{
	int pid = atoi(spec), parent;
	unsigned long long start;

	if (read_stat(pid, &parent, &start))
		die(EX_DATAERR, "no process %d", pid);
	if (process_of(pid) != pid)
		die(EX_DATAERR, "%d is a thread of process %d: give the number of the process",
		    pid, process_of(pid));
	add(t, pid, 1, start);
}

/* Skips processes that end meanwhile. */
static size_t add_matches(struct targets *t, const regex_t *pattern)
{
	DIR *dir = opendir("/proc");
	unsigned long long start;
	struct dirent *entry;
	char name[64];
	int pid, parent, self = getpid();
	size_t n = 0;

	if (!dir)
		die(EX_OSFILE, "cannot read /proc: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = atoi(entry->d_name);
		if (proc_read_line(pid, "comm", name, sizeof(name)) ||
		    regexec(pattern, name, 0, NULL, 0) ||
		    read_stat(pid, &parent, &start) ||
		    pid == self || parent == self)
			continue;
		add(t, pid, 0, start);
		n++;
	}
	closedir(dir);
	return n;
}

static void add_pattern(struct targets *t, const char *spec)
{
	regex_t pattern;
	char why[128];
	int err;

	err = regcomp(&pattern, spec, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &pattern, why, sizeof(why));
		die(EX_USAGE, "-t %s: %s", spec, why);
	}
	if (!add_matches(t, &pattern))
		die(EX_DATAERR, "-t %s: no process has such a name", spec);
	regfree(&pattern);
}

/* A parent is older than its children. */
DEFINE_ORDER(by_start, struct target, ORDER(a->start, b->start) ?: ORDER(a->pid, b->pid))

void targets_find(struct targets *t, const char *const *specs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strspn(specs[i], "0123456789") == strlen(specs[i]))
			add_number(t, specs[i]);
		else
			add_pattern(t, specs[i]);
	}
	if (t->n)
		qsort(t->target, t->n, sizeof(*t->target), by_start);
}

void targets_free(struct targets *t)
{
	free(t->target);
	t->target = NULL;
	t->n = 0;
}
