// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dev.h"

int dev_open(void)
{
	int fd = open(DEV_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int dev_ioctl(int dev, unsigned long cmd, void *arg)
{
	return ioctl(dev, cmd, arg) ? -errno : 0;
}

int dev_configure(int dev, int fd)
{
	struct hwpmc_configurelog c = { .fd = fd };

	return dev_ioctl(dev, HWPMC_IOC_CONFIGURELOG, &c);
}

int dev_rotate(int dev, int fd)
{
	struct hwpmc_configurelog c = { .fd = fd };

	return dev_ioctl(dev, HWPMC_IOC_ROTATELOG, &c);
}

int dev_flush(int dev)
{
	return dev_ioctl(dev, HWPMC_IOC_FLUSHLOG, NULL);
}

int dev_closelog(int dev)
{
	return dev_ioctl(dev, HWPMC_IOC_CLOSELOG, NULL);
}

int dev_userdata(int dev, uint32_t value)
{
	struct hwpmc_writelog w = { .userdata = value };

	return dev_ioctl(dev, HWPMC_IOC_WRITELOG, &w);
}

int dev_bulk(int dev, const void *records, uint32_t len)
{
	struct hwpmc_writelog w = {
		.len = len,
		.records = (uintptr_t)records,
	};

	return dev_ioctl(dev, HWPMC_IOC_WRITELOG, &w);
}

int dev_allocate(int dev, struct hwpmc_allocate *a)
{
	return dev_ioctl(dev, HWPMC_IOC_PMCALLOCATE, a);
}

static int simple(int dev, unsigned long cmd, uint32_t id)
{
	struct hwpmc_simple s = { .id = id };

	return dev_ioctl(dev, cmd, &s);
}

int dev_release(int dev, uint32_t id)
{
	return simple(dev, HWPMC_IOC_PMCRELEASE, id);
}

int dev_start(int dev, uint32_t id)
{
	return simple(dev, HWPMC_IOC_PMCSTART, id);
}

int dev_stop(int dev, uint32_t id)
{
	return simple(dev, HWPMC_IOC_PMCSTOP, id);
}

int dev_setcount(int dev, uint32_t id, uint64_t *count)
{
	struct hwpmc_setcount s = { .id = id, .count = *count };
	int err = dev_ioctl(dev, HWPMC_IOC_PMCSETCOUNT, &s);

	*count = s.count;
	return err;
}

int dev_rw(int dev, struct hwpmc_rw *rw)
{
	return dev_ioctl(dev, HWPMC_IOC_PMCRW, rw);
}

int dev_read(int dev, uint32_t id, int cpu, uint64_t *value)
{
	struct hwpmc_rw rw = {
		.id = id,
		.flags = HWPMC_F_OLDVALUE,
		.cpu = cpu,
	};
	int err = dev_rw(dev, &rw);

	*value = rw.value;
	return err;
}

int dev_stats(int dev, uint32_t scope, struct hwpmc_driverstats *st)
{
	memset(st, 0, sizeof(*st));
	st->scope = scope;
	return dev_ioctl(dev, HWPMC_IOC_GETDRIVERSTATS, st);
}

struct hwpmc_allocate pmc_counter(uint32_t type, uint64_t config)
{
	struct hwpmc_allocate a = {
		.mode = HWPMC_MODE_SC,
		.cpu = HWPMC_CPU_ALL,
		.pmc_class = HWPMC_CLASS_SOFT,
		.type = type,
		.config = config,
		.name = "test-counter",
	};

	return a;
}

struct hwpmc_allocate pmc_sampler(uint32_t type, uint64_t config,
				  uint64_t period)
{
	struct hwpmc_allocate a = pmc_counter(type, config);

	a.mode = HWPMC_MODE_SS;
	a.flags = HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN;
	a.count = period;
	strcpy(a.name, "test-sampler");
	return a;
}

struct hwpmc_allocate pmc_clock(unsigned int hz)
{
	return pmc_sampler(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
			   1000000000U / hz);
}

int dev_run(int dev, struct hwpmc_allocate a, uint32_t *id)
{
	int err = dev_allocate(dev, &a);

	*id = a.id;
	return err ? err : dev_start(dev, a.id);
}

int perf_has(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}
