/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/events.h"

/* As src/pmc/pmc.c and src/event/source.c fill it in */
static void fill_attr(struct perf_event_attr *a, const struct counter *c)
{
	const struct pmc_event_desc *e = &c->event;
	int user = !!(e->caps & PMC_CAP_USER);
	int system = !!(e->caps & PMC_CAP_SYSTEM);

	*a = (struct perf_event_attr){
		.size = sizeof(*a), .type = e->type, .config = e->config,
		.config1 = e->config1, .config2 = e->config2, .disabled = 1,
		.exclude_user = system && !user,
		.exclude_kernel = user && !system,
		.exclude_hv = user && !system,
		.exclude_guest = 1,
		.exclude_idle = e->type == PERF_TYPE_SOFTWARE &&
				(c->flags & PMC_F_EXCLUDE_IDLE),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	if (e->type == PERF_TYPE_BREAKPOINT)
		a->bp_type = e->bp_type;
	a->freq = !!(c->flags & PMC_F_FREQ);
	if (PMC_IS_SAMPLING_MODE(c->mode))
		a->sample_period = c->period;	/* or sample_freq */
	if (PMC_IS_VIRTUAL_MODE(c->mode)) {
		a->inherit = 1;
		a->inherit_thread = !(c->flags & PMC_F_DESCENDANTS);
	}
}

static int open_event(const struct counter *c, int pid, int cpu)
{
	struct perf_event_attr attr;
	int fd;

	fill_attr(&attr, c);
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 || errno != EINVAL || c->event.type < PERF_TYPE_MAX)
		return fd;
	attr.exclude_guest = 0;		/* many PMUs know no guests */
	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static int add_event(struct events *e, const struct counter *c, int pid, int cpu)
{
	struct event *event = realloc(e->event, (e->n + 1) * sizeof(*event));
	int fd;

	if (!event)
		return -1;
	e->event = event;
	fd = open_event(c, pid, cpu);
	if (fd < 0)
		return -1;
	event[e->n++] = (struct event){ .fd = fd, .cpu = cpu };
	return 0;
}

int events_of_cpus(struct events *e, struct counter *c, unsigned int ncpu)
{
	unsigned int cpu;
	int err = ENODEV;

	if (c->cpu >= 0)
		return add_event(e, c, -1, c->cpu);
	/* a hybrid's CPUs have the events of their kind only */
	for (cpu = 0; cpu < ncpu; cpu++) {
		if (!add_event(e, c, -1, (int)cpu))
			continue;
		if (errno != ENODEV && errno != ENOENT)
			return -1;
		if (errno == ENOENT)
			err = ENOENT;
	}
	errno = err;
	return e->n ? 0 : -1;
}

/* The threads of a process; returns how many, and the caller frees @tids. */
static size_t list_threads(int pid, int **tids)
{
	struct dirent *d;
	char path[64];
	size_t n = 0;
	int *more;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		more = realloc(*tids, (n + 1) * sizeof(*more));
		if (!more)
			die(EX_OSERR, "out of memory");
		*tids = more;
		more[n++] = atoi(d->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

/*
 * All threads are listed first: a new thread of one that has its event inherits it, and
 * must not get another.  A new thread of one that has none yet is missed.
 */
int events_of_process(struct events *e, struct counter *c, int pid)
{
	size_t before = e->n, n, i;
	int *tids = NULL, err = ESRCH;

	n = list_threads(pid, &tids);
	for (i = 0; i < n; i++) {
		if (!add_event(e, c, tids[i], -1) || errno == ESRCH)
			continue;
		err = errno;
		break;
	}
	free(tids);
	errno = err;
	return e->n > before && err == ESRCH ? 0 : -1;
}

static void control(const struct events *e, unsigned long request)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		ioctl(e->event[i].fd, request, 0);
}

void events_enable(const struct events *e)
{
	control(e, PERF_EVENT_IOC_ENABLE);
}

void events_disable(const struct events *e)
{
	control(e, PERF_EVENT_IOC_DISABLE);
}

int events_read(const struct events *e, size_t first, size_t n,
		struct pmc_reading *r)
{
	uint64_t values[3];
	size_t i;

	memset(r, 0, sizeof(*r));
	for (i = first; i < first + n; i++) {
		if (read(e->event[i].fd, values, sizeof(values)) !=
		    sizeof(values))
			return -1;
		r->value += values[0];
		r->enabled += values[1];
		r->running += values[2];
	}
	return 0;
}

void events_close(struct events *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->event[i].fd >= 0)
			close(e->event[i].fd);
	free(e->event);
	memset(e, 0, sizeof(*e));
}
