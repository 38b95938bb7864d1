/* SPDX-License-Identifier: BSD-2-Clause */
/* The conditions of --only and --not, for the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "pmcstat.h"

#define CGROUPS	"/sys/fs/cgroup/"

/* Opens a cgroup.  The kernel takes its own reference; the caller closes the fd. */
static int open_cgroup(const char *text)
{
	char path[PATH_MAX];
	int fd, n = (int)strcspn(text, ",");

	if (snprintf(path, sizeof(path), "%s%.*s", *text == '/' ? "" : CGROUPS,
		     n, text) >= (int)sizeof(path))
		die(EX_USAGE, "cgroup=%.*s: too long", n, text);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		die(EX_NOINPUT, "cgroup=%.*s: %s", n, text, strerror(errno));
	return fd;
}

static const char *why_not(const struct wanted *f, int err)
{
	size_t i, groups = 0;

	for (i = 0; i < f->n; i++)
		groups += f->cgroup[i] != NULL;
	if (err == ENOTTY)
		return "the hwpmc module is older than this pmcstat";
	if (err == EBADF && groups)
		return "no control group of cgroup2";
	return strerror(err);
}

void filter_set(struct pmc_owner *owner, const struct counter *c)
{
	struct wanted f = c->filter;
	int err = 0;
	size_t i;

	if (!f.n)
		return;
	for (i = 0; i < f.n; i++)
		if (f.cgroup[i])
			f.condition[i].value = open_cgroup(f.cgroup[i]);
	if (pmc_owner_filter(owner, c->id, f.condition, f.n))
		err = errno;
	for (i = 0; i < f.n; i++)
		if (f.cgroup[i])
			close((int)f.condition[i].value);
	if (err && !(f.implied && err == ENOTTY))
		die(err == EPERM || err == EACCES ? EX_NOPERM : EX_UNAVAILABLE,
		    "cannot filter %s: %s", c->event.name, why_not(&f, err));
}

void filter_process(struct options *o, pid_t pid)
{
	struct hwpmc_condition not_pid = {
		.what = HWPMC_COND_PID, .op = HWPMC_COND_NE,
		.value = pid,
	};
	struct wanted *f;
	size_t i;

	for (i = 0; i < o->ncounters; i++) {
		f = &o->counters[i].filter;
		if (o->counters[i].mode != PMC_MODE_SS ||
		    o->counters[i].flags & HWPMC_F_INCLUDE_OWNER ||
		    f->n == HWPMC_NCONDITION)
			continue;
		f->implied = !f->n;
		f->cgroup[f->n] = NULL;
		f->condition[f->n++] = not_pid;
	}
}
