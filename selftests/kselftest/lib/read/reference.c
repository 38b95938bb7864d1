// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reference.h"

static struct perf_event_attr attr_of(const struct hwpmc_allocate *a)
{
	uint32_t modes = a->caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = a->type,
		.config = a->config,
		.config1 = a->config1,
		.config2 = a->config2,
		.exclude_guest = 1,
	};

	attr.exclude_kernel = modes == HWPMC_CAP_USER;
	attr.exclude_hv = attr.exclude_kernel;
	attr.exclude_user = modes == HWPMC_CAP_SYSTEM;
	return attr;
}

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int reference_open(const struct hwpmc_allocate *a, pid_t tid, bool inherit)
{
	struct perf_event_attr attr = attr_of(a);

	attr.disabled = 1;
	attr.inherit = inherit;
	return open_event(&attr, tid, -1);
}

bool reference_start(int fd)
{
	return !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

bool reference_stop(int fd)
{
	return !ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t reference_value(int fd)
{
	uint64_t value;

	return read(fd, &value, sizeof(value)) == sizeof(value) ? value : ~0ULL;
}

int reference_pin(const struct hwpmc_allocate *a, pid_t tid, int cpu)
{
	struct perf_event_attr attr = attr_of(a);
	struct hwpmc_rw r;
	int fd;

	attr.pinned = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = open_event(&attr, tid, cpu);
	if (fd < 0 || reference_times(fd, &r))
		return fd;
	close(fd);	/* reads nothing: it had to give up */
	return -EBUSY;
}

bool reference_times(int fd, struct hwpmc_rw *r)
{
	uint64_t v[3];

	if (read(fd, v, sizeof(v)) != sizeof(v))
		return false;
	r->value = v[0];
	r->enabled = v[1];
	r->running = v[2];
	return true;
}
